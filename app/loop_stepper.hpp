// What rivals that step on the CPU have in common: states and right-hand sides in one of two layouts.
#pragma once

#include "parallel.hpp"
#include "rival_stepper.hpp"
#include "solve_case.hpp"
#include "step_case.hpp"

#include "bandmill/base/array.hpp"

#include <span>
#include <utility>

namespace app {

template <class T> class LoopStepper : public RivalStepper<T> {
  public:
    // Member m starts from number m % k of the k states given, [member][point].
    LoopStepper(const StepCase& what, Layout layout, std::span<const T> states, bandmill::Threads threads)
        // For little work, waking threads would cost more than it saves; the solver's benchmark has the same limit.
        : what_(what), threads_(what.points() < 16384 ? 1 : threads.count),
          row_stride_(layout == Layout::interleaved ? what.members : 1),
          member_stride_(layout == Layout::interleaved ? 1 : what.n), c_(what.n * what.members), f_(c_.size()) {
        const std::int64_t given = static_cast<std::int64_t>(states.size()) / what.n;
        for (std::int64_t m = 0; m < what.members; ++m)
            for (std::int64_t i = 0; i < what.n; ++i)
                c_[at(i, m)] = states[static_cast<std::size_t>(m % given * what.n + i)];
    }

    void advance(std::int64_t steps) final {
        for (std::int64_t k = 0; k < steps; ++k) {
            step();
            std::swap(c_, f_);
        }
    }

    std::vector<T> states(std::int64_t first, std::int64_t count) const final {
        std::vector<T> values;
        for (std::int64_t m = first; m < first + count; ++m)
            for (std::int64_t i = 0; i < what_.n; ++i) values.push_back(c_[at(i, m)]);
        return values;
    }

  protected:
    virtual void step() = 0; // the next states into f
    std::size_t field_bytes() const { return 2 * static_cast<std::size_t>(c_.size()) * sizeof(T); }
    template <class Work> void parallel_members(Work&& work, std::int64_t grain) const {
        parallel_ranges(threads_, what_.members, std::forward<Work>(work), grain);
    }

    const StepCase what_;
    const int threads_;

  private:
    std::int64_t at(std::int64_t i, std::int64_t m) const { return i * row_stride_ + m * member_stride_; }

    const std::int64_t row_stride_, member_stride_;

  protected:
    bandmill::Array<T, bandmill::Host> c_, f_; // states, right-hand sides
};

} // namespace app
