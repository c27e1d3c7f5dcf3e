// What rivals that step on a GPU have in common: interleaved members, a kernel for the right-hand sides, then a solve
// in place.
#pragma once

#include "rival_stepper.hpp"
#include "rivals_cuda.hpp"
#include "step_case.hpp"
#include "step_paper_row.hpp"

#include "bandmill/base/array.hpp"

#include <span>
#include <utility>

namespace app {

template <class T> class KernelStepper : public RivalStepper<T> {
  public:
    // `factor` is that of the differences in the right-hand side. Member m starts from number m % k of the k states
    // given, [member][point].
    KernelStepper(const StepCase& what, T factor, std::span<const T> states, bandmill::Device device)
        : what_(what), device_(device), factor_(factor), c_(what.n * what.members, device), f_(c_.size(), device) {
        const auto n = static_cast<std::size_t>(what.n), given = states.size() / n;
        std::vector<T> row(static_cast<std::size_t>(what.members));
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t m = 0; m < row.size(); ++m) row[m] = m < given ? states[m * n + i] : row[m - given];
            bandmill::copy_to_device(device, c_.data() + static_cast<std::int64_t>(i) * what.members, row.data(),
                                     row.size() * sizeof(T));
        }
        bandmill::synchronize(device);
    }

    void advance(std::int64_t steps) final {
        for (std::int64_t k = 0; k < steps; ++k) {
            paper_right_sides_cuda(device_, what_.equation, c_.data(), f_.data(), what_.n, what_.members, factor_);
            solve(f_.data());
            std::swap(c_, f_);
        }
        bandmill::synchronize(device_);
    }

    std::vector<T> states(std::int64_t first, std::int64_t count) const final {
        std::vector<std::int64_t> where;
        for (std::int64_t m = first; m < first + count; ++m)
            for (std::int64_t i = 0; i < what_.n; ++i) where.push_back(i * what_.members + m);
        const bandmill::Array<std::int64_t, bandmill::Cuda> positions(where, device_);
        bandmill::Array<T, bandmill::Cuda> gathered(positions.size(), device_);
        gather_cuda(device_, c_.data(), positions.data(), positions.size(), gathered.data());
        std::vector<T> values(where.size());
        gathered.copy_to(values);
        return values;
    }

  protected:
    virtual void solve(T* x) = 0; // all members, in place, on the default stream
    std::size_t field_bytes() const { return 2 * static_cast<std::size_t>(c_.size()) * sizeof(T); }

    const StepCase what_;
    const bandmill::Device device_;

  private:
    T factor_;
    bandmill::Array<T, bandmill::Cuda> c_, f_; // states, right-hand sides
};

} // namespace app
