// Planes on the CPU. All members lie side by side in every row, [y][member][x]: along y they are one interleaved batch,
// along x one contiguous batch, and a solve needs no other order of either.
#include "bandmill/cpu/plane.hpp"

#include "bandmill/band/solve.hpp"
#include "bandmill/base/array.hpp"
#include "bandmill/base/threads.hpp"
#include "bandmill/cpu/level.hpp"
#include "bandmill/cpu/plane_measure.hpp"
#include "bandmill/cpu/room.hpp"
#include "bandmill/cpu/tuning.hpp"
#include "bandmill/ensemble/scheme.hpp"

#include <algorithm>
#include <optional>

namespace bandmill::cpu {
namespace {

template <class T> PlaneFunctions<T> functions_for(Level level, std::size_t equation) {
    PlaneFunctions<T> functions{};
    switch (level) {
#if defined(__x86_64__)
    case Level::v4: v4::plane_functions(equation, functions); break;
    case Level::v3: v3::plane_functions(equation, functions); break;
    default: v2::plane_functions(equation, functions);
#else
    default: generic::plane_functions(equation, functions);
#endif
    }
    return functions;
}

template <class T> class CpuPlaneStepper final : public detail::Stepper<T> {
  public:
    CpuPlaneStepper(const detail::StepperSetup& setup, Threads threads)
        : setup_(setup), n_(setup.grid.points()), rows_(setup.grid_y->points()),
          threads_(detail::thread_count(threads)), functions_(functions_for<T>(level(), setup.equation.index())) {
        std::visit([&](const auto& equation) { prepare(equation); }, setup.equation);
        const std::int64_t bytes = n_ * rows_ * arrays() * static_cast<std::int64_t>(sizeof(T));
        const std::int64_t fits = std::max<std::int64_t>(1, available_memory() / 2 / bytes);
        capacity_ = std::min(setup.most_members > 0 ? setup.most_members : fits, setup.members);
    }

    std::string path() const override {
        return "planes by alternating directions (" + std::string(name(level())) + ", " + std::to_string(threads_) +
               (threads_ == 1 ? " thread)" : " threads)");
    }
    std::int64_t capacity() const override { return capacity_; }

    void load(std::int64_t, std::int64_t count, const T* states) override {
        const std::int64_t size = count * n_ * rows_;
        if (state_.size() != size) {
            state_ = Array<T, Host>(size);
            result_ = Array<T, Host>(size);
            if (corrected_) correction_ = Array<T, Host>(size);
        }
        count_ = count;
        for_each_row([&](std::int64_t member, std::int64_t y) {
            std::copy_n(states + (member * rows_ + y) * n_, n_, state_.data() + offset(member, y));
        });
    }
    void store(T* states) override {
        for_each_row([&](std::int64_t member, std::int64_t y) {
            std::copy_n(state_.data() + offset(member, y), n_, states + (member * rows_ + y) * n_);
        });
    }

    void advance(std::int64_t steps, const detail::SampleTarget* target) override {
        prepare_scratch();
        const std::size_t requests = target != nullptr ? target->requests.size() : 0;
        if (target == nullptr) return step(steps);
        for (std::int64_t s = 0; s < steps; ++s) {
            step(1);
            const auto at = static_cast<std::size_t>(s) * requests;
            const auto held = static_cast<std::size_t>(count_);
            observe({target->requests, target->statistics.subspan(at, requests),
                     target->values.empty() ? target->values : target->values.subspan(at * held, requests * held)});
        }
    }

    void observe(const detail::SampleTarget& target) override {
        unsigned wanted = 0;
        for (const ObservableRequest& request : target.requests) wanted |= 1u << static_cast<int>(request.observable);
        if (wanted == 0) return;
        const std::vector<double> values = measure(wanted);
        for (std::size_t r = 0; r < target.requests.size(); ++r)
            for (std::int64_t member = 0; member < count_; ++member) {
                const auto which = static_cast<std::int64_t>(target.requests[r].observable);
                const double value = values[static_cast<std::size_t>(member * observable_count + which)];
                target.statistics[r].add(value, target.requests[r].histogram);
                if (!target.values.empty())
                    target.values[r * static_cast<std::size_t>(count_) + static_cast<std::size_t>(member)] = value;
            }
    }

  private:
    template <class E> void prepare(const E& equation) {
        if constexpr (PlaneEquation<E>) {
            const Grid &x = setup_.grid, &y = *setup_.grid_y;
            const double dt = setup_.time_step;
            along_x_.emplace(factor<T>(detail::step_matrix(equation, x, dt)));
            along_y_.emplace(factor<T>(detail::step_matrix(equation, y, dt)));
            corrected_ = E::plane_corrections > 0;
            const auto rate =
                std::make_shared<const typename E::template PlaneRate<T>>(equation.template plane_rate<T>());
            rate_ = rate;
            job_.rate = rate.get();
            job_.n = n_;
            job_.rows = rows_;
            job_.laplacian = plane_weights<T>(1, x, y);
            job_.update = plane_weights<T>(dt * rate->scale, x, y);
            to_rate_ = plane_weights<T>(rate->scale, x, y);
            measure_row_ = measure_plane_row<E, T>;
        }
    }

    std::int64_t arrays() const { return corrected_ ? 3 : 2; }
    std::int64_t row_stride() const { return count_ * n_; }
    std::int64_t offset(std::int64_t member, std::int64_t y) const { return (y * count_ + member) * n_; }
    std::int64_t scratch_size() const { return plane_scratch_rows * (n_ + 2); }
    void prepare_scratch() { // for nothing to be allocated where exceptions have nowhere to go
        if (scratch_.size() == 0) scratch_ = Array<T, Host>(threads_ * scratch_size());
    }
    int workers(std::int64_t items) const {
        // Waking threads costs more than 16,384 points, which one core takes in about 15 us.
        if (count_ * n_ * rows_ < 16384) return 1;
        return static_cast<int>(std::min<std::int64_t>(threads_, items));
    }
    // Members, and the threads that step them.
    struct Team {
        std::int64_t first_member, members;
        std::int64_t first_worker;
        int threads;
    };
    Team everyone() const { return {0, count_, 0, threads_}; }

    // body(worker, begin, end) with equal shares of the items.
    template <class Body> void for_each_part(const Team& team, std::int64_t items, const Body& body) {
        const int count = std::min(team.threads, workers(items));
        detail::for_each_share(count, count, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t worker = begin; worker < end; ++worker)
                body(team.first_worker + worker, worker * items / count, (worker + 1) * items / count);
        });
    }
    template <class Body> void for_each_row(const Body& body) {
        for_each_part(everyone(), count_ * rows_, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) body(i / rows_, i % rows_);
        });
    }
    // Some rows of a member at a time: body(job, member, first, last).
    template <class Body> void for_each_strip_of_rows(const Team& team, const PlaneJob<T>& all, const Body& body) {
        const std::int64_t strips = (rows_ + plane_strip_rows - 1) / plane_strip_rows;
        for_each_part(team, team.members * strips, [&](std::int64_t worker, std::int64_t begin, std::int64_t end) {
            PlaneJob<T> job = all;
            job.row_stride = row_stride();
            job.scratch = scratch_.data() + worker * scratch_size();
            for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t member = team.first_member + i / strips, first = i % strips * plane_strip_rows;
                job.state = state_.data() + offset(member, 0);
                job.increment = all.increment == nullptr ? nullptr : all.increment + offset(member, 0);
                job.result = all.result + offset(member, 0);
                body(job, first, std::min(first + plane_strip_rows, rows_));
            }
        });
    }

    // Members have nothing to do with each other, so that a thread can take all the steps of some of them without
    // waiting for others: of as many as its cache holds, and then of the next. Where that would leave threads idle,
    // all share every step.
    void step(std::int64_t steps) {
        const int teams = workers(count_);
        const std::int64_t most = (count_ + teams - 1) / teams;
        if (teams < threads_ || 8 * most * teams > 9 * count_) {
            for (std::int64_t s = 0; s < steps; ++s) step(everyone());
            return;
        }
        const std::int64_t bytes = n_ * rows_ * arrays() * static_cast<std::int64_t>(sizeof(T));
        const std::int64_t together = std::max<std::int64_t>(1, plane_cache_bytes / bytes);
        detail::for_each_share(teams, teams, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t t = begin; t < end; ++t) {
                const std::int64_t last = (t + 1) * count_ / teams;
                for (std::int64_t first = t * count_ / teams; first < last; first += together)
                    for (std::int64_t s = 0; s < steps; ++s) step({first, std::min(together, last - first), t, 1});
            }
        });
    }
    void step(const Team& team) {
        solve_along_x(team, nullptr, result_.data());
        if (!corrected_)
            return solve_along_y(team, result_.data(),
                                 [&](T* increment, T* state, std::int64_t) { *state += *increment; });
        solve_along_y(team, result_.data(), [](T*, T*, std::int64_t) {});
        solve_along_x(team, result_.data(), correction_.data());
        const T* const first = result_.data();
        solve_along_y(team, correction_.data(),
                      [&](T* correction, T* state, std::int64_t at) { *state += first[at] + *correction; });
    }

    // Right-hand sides of some rows, and their solutions along x while they are in the cache.
    void solve_along_x(const Team& team, const T* increment, T* result) {
        PlaneJob<T> all = job_;
        all.increment = increment;
        all.result = result;
        for_each_strip_of_rows(team, all, [&](const PlaneJob<T>& job, std::int64_t first, std::int64_t last) {
            functions_.rate(job, first, last);
            solve(*along_x_, strided(job.result + first * job.row_stride, n_, last - first, 1, job.row_stride),
                  Threads{1});
        });
    }

    // In place, some columns at a time; finish(solution, state, offset) for each of their points.
    template <class Finish> void solve_along_y(const Team& team, T* right_hand_sides, const Finish& finish) {
        const std::int64_t stride = row_stride(), step = 64; // a multiple of every pack and of a cache line
        const std::int64_t from = team.first_member * n_, columns = team.members * n_;
        const std::int64_t widest = strip_bytes / static_cast<std::int64_t>(sizeof(T));
        const std::int64_t share = (columns / std::min(team.threads, workers(columns)) + step - 1) / step * step;
        const std::int64_t width = std::clamp(share, step, widest);
        for_each_part(team, (columns + width - 1) / width, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (std::int64_t first = begin * width; first < std::min(end * width, columns); first += width) {
                const std::int64_t some = std::min(width, columns - first);
                solve(*along_y_, strided(right_hand_sides + from + first, rows_, some, stride, 1), Threads{1});
                for (std::int64_t y = 0; y < rows_; ++y)
                    for (std::int64_t at = y * stride + from + first; at < y * stride + from + first + some; ++at)
                        finish(right_hand_sides + at, state_.data() + at, at);
            }
        });
    }

    // [member][observable]
    std::vector<double> measure(unsigned wanted) {
        const bool wants_rate = (wanted >> static_cast<int>(Observable::rate) & 1) != 0;
        prepare_scratch();
        if (wants_rate) {
            PlaneJob<T> all = job_;
            all.update = to_rate_;
            all.result = result_.data();
            for_each_strip_of_rows(everyone(), all, [&](const PlaneJob<T>& job, std::int64_t first, std::int64_t last) {
                functions_.rate(job, first, last);
            });
        }
        std::vector<detail::PlaneSums> sums(static_cast<std::size_t>(count_ * rows_)); // [member][row]
        for_each_row([&](std::int64_t member, std::int64_t y) {
            PlaneJob<T> job = job_;
            job.row_stride = row_stride();
            job.state = state_.data() + offset(member, 0);
            job.result = wants_rate ? result_.data() + offset(member, 0) : nullptr;
            sums[static_cast<std::size_t>(member * rows_ + y)] = measure_row_(job, y);
        });
        std::vector<double> values(static_cast<std::size_t>(count_ * observable_count));
        for (std::int64_t member = 0; member < count_; ++member) {
            detail::PlaneSums all; // row by row, so that threads do not matter
            for (std::int64_t y = 0; y < rows_; ++y) all.add(sums[static_cast<std::size_t>(member * rows_ + y)]);
            all.observables(setup_.grid, *setup_.grid_y, values.data() + member * observable_count);
        }
        return values;
    }

    detail::StepperSetup setup_;
    std::int64_t n_, rows_, capacity_ = 0, count_ = 0;
    int threads_;
    PlaneFunctions<T> functions_;
    detail::PlaneSums (*measure_row_)(const PlaneJob<T>&, std::int64_t) = nullptr;
    std::optional<Factor<T, Host>> along_x_, along_y_;
    bool corrected_ = false;
    std::shared_ptr<const void> rate_;
    PlaneJob<T> job_{}; // of no member yet
    PlaneWeights<T> to_rate_{};
    Array<T, Host> state_, result_, correction_; // [y][member][x]
    Array<T, Host> scratch_;                     // of each thread
};

} // namespace

template <class T>
std::unique_ptr<detail::Stepper<T>> make_plane_stepper(const detail::StepperSetup& setup, Threads threads) {
    return std::make_unique<CpuPlaneStepper<T>>(setup, threads);
}
template std::unique_ptr<detail::Stepper<double>> make_plane_stepper<double>(const detail::StepperSetup&, Threads);
template std::unique_ptr<detail::Stepper<float>> make_plane_stepper<float>(const detail::StepperSetup&, Threads);

} // namespace bandmill::cpu
