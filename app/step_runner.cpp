#include "step_runner.hpp"

#include "environment.hpp"
#include "step_paper.hpp"

#include "bandmill/base/array.hpp"

#include <cmath>

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::Ensemble;
using bandmill::Observable;
using bandmill::ObservableRequest;

template <class T> Ensemble<T> make_ensemble(const StepCase& what, const StepOptions& options) {
    const bandmill::EnsembleSpec spec = make_spec(what);
    const bandmill::UniformNoise noise{0.1};
    if (options.backend == Backend::cuda) return Ensemble<T>(spec, noise, options.device);
    return Ensemble<T>(spec, noise, bandmill::Threads{what.threads});
}

template <class T> void take_steps(Ensemble<T>& ensemble, Statistics statistics, std::int64_t steps) {
    if (statistics == Statistics::none) return ensemble.advance(steps);
    bandmill::RunPlan plan{};
    // Half a step short: rounded up, that is the step meant, whatever a division rounds to.
    plan.end_time = (static_cast<double>(ensemble.step() + steps) - 0.5) * ensemble.time_step();
    plan.every_step = true;
    plan.observables = {ObservableRequest{Observable::domain_size, {}}};
    plan.warn = [](const std::string&) {}; // what is lost in the end is counted
    ensemble.run(plan);
}

StepResult make_result(const StepCase& what, std::string path, const StepTiming& time) {
    return {std::move(path), time, 1e-3 * what.points() * static_cast<double>(time.steps) / time.median};
}

template <class T> double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
        if (!(difference <= largest)) largest = difference; // NaN stays
        if (std::isnan(largest)) break;
    }
    return largest;
}

std::optional<std::string> paper_memory(const StepCase& what, const StepOptions& options) {
    const double needed = 2 * what.state_bytes();
    const double free = static_cast<double>(options.backend == Backend::cuda ? bandmill::free_memory(options.device)
                                                                             : available_memory());
    if (needed <= 0.9 * free) return std::nullopt;
    return fmt::format("needs {}, and {} are free", readable_bytes(needed), readable_bytes(free));
}

} // namespace

std::optional<std::string> host_obstacle(const StepCase& what) {
    if (what.points() > 0x1p60) return "more points than 64-bit addressing allows";
    const double needed = 2 * what.state_bytes(), free = static_cast<double>(available_memory());
    if (needed > 0.9 * free)
        return fmt::format("needs {}, and {} of host memory are free", readable_bytes(needed), readable_bytes(free));
    return std::nullopt;
}

std::optional<double> StepRecord::speedup(const std::string& rival) const {
    const auto found = rivals.find(rival);
    if (found == rivals.end()) return std::nullopt;
    const auto* theirs = std::get_if<StepRivalResult>(&found->second);
    if (!theirs || theirs->wrong) return std::nullopt;
    return ours.gpoint_steps_per_s / theirs->result.gpoint_steps_per_s;
}

std::string StepRunner::device_name() const {
    if (options_.backend == Backend::cpu) return cpu_model();
    for (const bandmill::DeviceInfo& gpu : bandmill::cuda_devices())
        if (gpu.index == options_.device.index) return gpu.name;
    return "unknown GPU";
}

std::variant<StepRecord, StepSkipped> StepRunner::run(const StepCase& what) {
    if (const auto reason = host_obstacle(what)) return StepSkipped{what, *reason};
    return what.precision == Precision::f64 ? run_in<double>(what) : run_in<float>(what);
}

template <class T> StepRecord StepRunner::run_in(const StepCase& what) {
    StepRecord record{};
    record.what = what;
    { // its memory is free again when the rival runs
        Ensemble<T> ensemble = make_ensemble<T>(what, options_);
        record.length = ensemble.spec().grid.length();
        record.time_step = ensemble.time_step();
        record.members_per_slice = ensemble.members_per_slice();
        const StepTiming time =
            measure_steps(options_.patience, [&](std::int64_t steps) { take_steps(ensemble, what.statistics, steps); });
        record.ours = make_result(what, ensemble.path(), time);
        const ObservableRequest largest[] = {{Observable::largest, {}}};
        const bandmill::Sample sample = ensemble.sample(largest, true);
        for (const double value : sample.values[0]) {
            if (std::isfinite(value))
                record.largest = std::max(record.largest, value);
            else
                ++record.lost;
        }
    }
    for (const std::string& rival : options_.rivals) record.rivals.emplace(rival, run_paper<T>(what));
    return record;
}

template <class T> std::variant<StepRivalResult, std::string> StepRunner::run_paper(const StepCase& what) {
    if (const auto reason = paper_obstacle(what)) return *reason;
    if (const auto reason = paper_memory(what, options_)) return *reason;
    // A member's run does not depend on how many others there are: a few are enough to compare with.
    StepCase few = what;
    few.members = std::min<std::int64_t>(what.members, 64);
    const std::int64_t compared_steps = 10;
    try {
        Ensemble<T> ensemble = make_ensemble<T>(few, options_);
        const std::vector<T> start = ensemble.states();
        const PaperScheme scheme = paper_scheme(what, ensemble.spec());
        const auto stepper = options_.backend == Backend::cuda
                                 ? make_paper_stepper<T>(what, scheme, start, options_.device)
                                 : make_paper_stepper<T>(what, scheme, start, bandmill::Threads{what.threads});
        ensemble.advance(compared_steps);
        stepper->advance(compared_steps);
        const double difference = largest_difference(ensemble.states(), stepper->states(0, few.members));
        const StepTiming time = measure_steps(options_.patience, [&](std::int64_t steps) { stepper->advance(steps); });
        // C itself goes through the inverse of a stiff matrix there, and loses digits that ours keeps.
        const bool right = difference <= (what.precision == Precision::f64 ? 1e-6 : 1e-2);
        return StepRivalResult{make_result(what, stepper->path(), time), difference, !right};
    } catch (const bandmill::Error& error) { // ours was measured, and is worth keeping
        return fmt::format("failed: {}", error.what());
    }
}

} // namespace app
