// The CPU backend of the ensemble engine: blocks of members, a SIMD lane each, stepped one block after the other while
// their rows are in the cache.
#include "bandmill/band/tables.hpp"
#include "bandmill/base/array.hpp"
#include "bandmill/base/text.hpp"
#include "bandmill/base/threads.hpp"
#include "bandmill/cpu/level.hpp"
#include "bandmill/cpu/plane.hpp"
#include "bandmill/cpu/room.hpp"
#include "bandmill/cpu/step_lanes.hpp"
#include "bandmill/ensemble/scheme.hpp"
#include "bandmill/ensemble/stepper.hpp"

#include <algorithm>
#include <atomic>

namespace bandmill {
namespace {

template <class T> cpu::StepFunctions<T> functions_for(cpu::Level level, std::size_t equation) {
    cpu::StepFunctions<T> functions{};
    switch (level) {
#if defined(__x86_64__)
    case cpu::Level::v4: cpu::v4::step_functions(equation, functions); break;
    case cpu::Level::v3: cpu::v3::step_functions(equation, functions); break;
    default: cpu::v2::step_functions(equation, functions);
#else
    default: cpu::generic::step_functions(equation, functions);
#endif
    }
    return functions;
}

// Steps exchange no rows: only an operator that makes modes grow needs that.
[[noreturn]] void refuse_step(const char* equation, double time_step) {
    throw InvalidArgument("the time step " + detail::text(time_step) + " makes the matrix of a step of '" + equation +
                          "' (nearly) singular (the implicit operator lets a mode grow as fast as 1 / time step): "
                          "choose a smaller time step");
}

template <class T> class CpuStepper final : public detail::Stepper<T> {
  public:
    CpuStepper(const detail::StepperSetup& setup, Threads threads)
        : members_(setup.members), n_(setup.grid.points()), threads_(detail::thread_count(threads)),
          functions_(functions_for<T>(cpu::level(), setup.equation.index())), parameters_(setup.parameters) {
        std::visit([&](const auto& equation) { prepare(equation, setup); }, setup.equation);
        for (double value : detail::profile(setup.equation, setup.grid)) profile_.push_back(static_cast<T>(value));
        job_.profile = profile_.data();
        job_.ends = setup.grid.ends();
        job_.twice_value = static_cast<T>(2 * setup.grid.value());

        const std::int64_t fits = cpu::available_memory() / 2 / block_size() / static_cast<std::int64_t>(sizeof(T));
        const std::int64_t most =
            setup.most_members > 0 ? setup.most_members : std::max<std::int64_t>(fits, 1) * lanes();
        capacity_ = std::min(most, members_);
    }

    std::string path() const override {
        return "one SIMD lane per member, " + std::to_string(lanes()) + " together in the cache (" +
               cpu::name(cpu::level()) + ", " + std::to_string(threads_) + (threads_ == 1 ? " thread)" : " threads)");
    }
    std::int64_t capacity() const override { return capacity_; }

    void load(std::int64_t first, std::int64_t count, const T* states) override {
        const std::int64_t blocks = (count + lanes() - 1) / lanes();
        if (blocks * block_size() > state_.size()) state_ = Array<T, Host>(blocks * block_size());
        if (blocks * parameter_size() > block_parameters_.size())
            block_parameters_ = Array<T, Host>(blocks * parameter_size());
        first_ = first;
        count_ = count;
        for_each_block(1, [&](int, std::int64_t block) {
            T* rows = row_0(block);
            for (int lane = 0; lane < lanes(); ++lane) {
                const std::int64_t member = member_in(block, lane);
                for (std::int64_t i = 0; i < n_; ++i) rows[i * lanes() + lane] = states[member * n_ + i];
                for (std::int64_t p = 0; p < parameter_count(); ++p)
                    block_parameters_[block * parameter_size() + p * lanes() + lane] =
                        static_cast<T>(parameters_[p * members_ + first_ + member]);
            }
        });
    }

    void store(T* states) override {
        for_each_block(1, [&](int, std::int64_t block) {
            const T* rows = row_0(block);
            for (int lane = 0; lane < used_lanes(block); ++lane)
                for (std::int64_t i = 0; i < n_; ++i)
                    states[(block * lanes() + lane) * n_ + i] = rows[i * lanes() + lane];
        });
    }

    void advance(std::int64_t steps, const detail::SampleTarget* target) override {
        if (target != nullptr) return sample(steps, 1, *target);
        prepare_scratch();
        for_each_block(steps,
                       [&](int worker, std::int64_t block) { functions_.advance(job_of(worker, block), steps); });
    }
    void observe(const detail::SampleTarget& target) override { sample(1, 0, target); }

  private:
    using Statistics = std::vector<EnsembleStatistic>;

    template <class E> void prepare(const E& equation, const detail::StepperSetup& setup) {
        try {
            const auto tables = detail::prepare<T>(detail::step_matrix(equation, setup.grid, setup.time_step));
            if (!tables.direct) refuse_step(E::name, setup.time_step);
            tables_ = *tables.direct;
        } catch (const SingularMatrix&) {
            refuse_step(E::name, setup.time_step);
        }
        job_.tables = tables_.view();
        const auto rate = std::make_shared<const typename E::template Rate<T>>(equation.template rate<T>(setup.grid));
        job_.rate = rate.get();
        rate_ = rate;
        job_.update = static_cast<T>(detail::update_factor(equation, setup.grid, setup.time_step));
        job_.to_rate = rate->scale / (setup.grid.spacing() * setup.grid.spacing());
    }

    int lanes() const { return functions_.lanes; }
    std::int64_t block_size() const { return (n_ + 2 * cpu::ghost_rows) * lanes(); }
    std::int64_t parameter_count() const { return static_cast<std::int64_t>(parameters_.size()) / members_; }
    std::int64_t parameter_size() const { return parameter_count() * lanes(); }
    std::int64_t blocks() const { return (count_ + lanes() - 1) / lanes(); }
    T* row_0(std::int64_t block) { return state_.data() + block * block_size() + cpu::ghost_rows * lanes(); }
    int used_lanes(std::int64_t block) const {
        return static_cast<int>(std::min<std::int64_t>(lanes(), count_ - block * lanes()));
    }
    // Lanes that nobody uses repeat the block's last member: no stray NaN to slow it down.
    std::int64_t member_in(std::int64_t block, int lane) const {
        return block * lanes() + std::min(lane, used_lanes(block) - 1);
    }

    cpu::StepJob<T> job_of(int worker, std::int64_t block) {
        cpu::StepJob<T> job = job_;
        job.state = row_0(block);
        job.parameters = block_parameters_.data() + block * parameter_size();
        job.scratch = scratch_.data() + worker * n_ * lanes();
        return job;
    }
    // A sweep's room for each thread, and for nothing to be allocated where exceptions have nowhere to go.
    void prepare_scratch() {
        if (scratch_.size() == 0) scratch_ = Array<T, Host>(threads_ * n_ * lanes());
    }

    // Waking threads costs more than 16,384 point-steps, which one core takes in about 15 us.
    int workers(std::int64_t steps) const {
        if (static_cast<double>(count_) * static_cast<double>(n_) * static_cast<double>(steps) < 16384) return 1;
        return static_cast<int>(std::min<std::int64_t>(threads_, blocks()));
    }
    // body(worker, block) for every block; a thread that is free takes the next.
    template <class Body> void for_each_block(std::int64_t steps, const Body& body) {
        const int count = workers(steps);
        std::atomic<std::int64_t> next{0};
        detail::for_each_share(count, count, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t worker = begin; worker < end; ++worker)
                for (std::int64_t block; (block = next.fetch_add(1)) < blocks();) body(static_cast<int>(worker), block);
        });
    }

    // `samples` samples, each after so many steps.
    void sample(std::int64_t samples, std::int64_t steps, const detail::SampleTarget& target) {
        const std::size_t requests = target.requests.size();
        unsigned wanted = 0;
        for (const ObservableRequest& request : target.requests) wanted |= 1u << static_cast<int>(request.observable);

        prepare_scratch();
        // Threads count for themselves; the sums do not depend on the order in which they are put together.
        Statistics empty(samples * requests);
        for (std::size_t k = 0; k < empty.size(); ++k)
            if (const auto& bins = target.requests[k % requests].histogram) empty[k].histogram.resize(bins->bins);
        std::vector<Statistics> statistics(workers(samples), empty);
        std::vector<std::vector<double>> values(statistics.size(), std::vector<double>(observable_count * lanes()));

        for_each_block(samples, [&](int worker, std::int64_t block) {
            const cpu::StepJob<T> job = job_of(worker, block);
            double* const measured = values[worker].data();
            for (std::int64_t s = 0; s < samples; ++s) {
                if (steps > 0) functions_.advance(job, steps);
                functions_.measure(job, wanted, measured);
                for (std::size_t r = 0; r < requests; ++r) {
                    const ObservableRequest& request = target.requests[r];
                    const double* const of = measured + static_cast<int>(request.observable) * lanes();
                    EnsembleStatistic& statistic = statistics[worker][s * requests + r];
                    for (int lane = 0; lane < used_lanes(block); ++lane) {
                        statistic.add(of[lane], request.histogram);
                        if (!target.values.empty())
                            target.values[(s * requests + r) * count_ + block * lanes() + lane] = of[lane];
                    }
                }
            }
        });
        for (const Statistics& of_worker : statistics)
            for (std::size_t k = 0; k < of_worker.size(); ++k) target.statistics[k].add(of_worker[k]);
    }

    std::int64_t members_, n_;
    int threads_;
    cpu::StepFunctions<T> functions_;
    std::vector<double> parameters_; // [parameter][member]
    detail::DirectTables<T> tables_;
    std::shared_ptr<const void> rate_;
    std::vector<T> profile_;
    cpu::StepJob<T> job_{}; // of no block yet
    std::int64_t capacity_ = 0, first_ = 0, count_ = 0;
    // Of the members held: [block][row][lane] with ghosts, and [block][parameter][lane].
    Array<T, Host> state_, block_parameters_;
    Array<T, Host> scratch_; // [thread][row][lane]
};

} // namespace

template <class T>
std::unique_ptr<detail::Stepper<T>> detail::make_stepper(const StepperSetup& setup, Threads threads) {
    if (setup.grid_y) return cpu::make_plane_stepper<T>(setup, threads);
    return std::make_unique<CpuStepper<T>>(setup, threads);
}
template std::unique_ptr<detail::Stepper<double>> detail::make_stepper<double>(const StepperSetup&, Threads);
template std::unique_ptr<detail::Stepper<float>> detail::make_stepper<float>(const StepperSetup&, Threads);

} // namespace bandmill
