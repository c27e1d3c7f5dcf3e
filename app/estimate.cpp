// --dry-run: what a study would take, from a short trial of it.
#include "json.hpp"
#include "output_file.hpp"
#include "study_files.hpp"
#include "study_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <new>
#include <optional>

#include <fmt/format.h>

namespace app {
namespace {

constexpr double structure_bytes = 16 << 10; // of a file, beside the values

using Seconds = std::chrono::duration<double>;

struct Rate {
    double point_steps;         // per second; NaN if it does not fit in memory
    double seconds_of_a_sample; // for every point; those of every step are steps
};

// What one rank manages, from about half a second of the real thing.
template <class T> Rate try_rate(const bandmill::Study<T>& study, const Sampling& sampling, const Machine& machine) {
    const std::int64_t points = study.spec(0, 1).points();
    const std::int64_t enough = machine.backend == Backend::cuda ? std::int64_t{1} << 24 : std::int64_t{1} << 18;
    const bandmill::MemberGroup group = study.groups().front();
    const std::int64_t members = std::clamp<std::int64_t>(enough / points, 1, group.count);
    std::optional<bandmill::Ensemble<T>> made;
    try {
        std::visit([&](auto place) { made.emplace(study.spec(0, members), study.initial(0, members), place); },
                   machine.where);
    } catch (const bandmill::OutOfMemory&) {
    } catch (const std::bad_alloc&) {
    }
    if (!made) return {std::numeric_limits<double>::quiet_NaN(), 0};
    bandmill::Ensemble<T>& trial = *made;
    bandmill::RunPlan plan{.end_time = static_cast<double>(group.steps) * trial.time_step(),
                           .every_step = sampling.every_step,
                           .chunk = std::clamp<std::int64_t>(50 * enough / (members * points), 1, 50)};
    if (sampling.every_step) plan.observables = sampling.observables;
    auto start = std::chrono::steady_clock::now();
    std::int64_t first = 0, steps = 0;
    double seconds = 0;
    plan.progress = [&](const bandmill::Progress& progress) {
        const auto now = std::chrono::steady_clock::now();
        steps = progress.step - first;
        seconds = Seconds(now - start).count();
        if (first == 0 && seconds < 0.5) { // the first chunk warms up, and counts only if it is all there is
            first = progress.step;
            start = now;
            return true;
        }
        return seconds < 0.5;
    };
    trial.run(plan);
    const auto all_points = static_cast<double>(members * points);
    Rate rate{1e9, 0}; // where there is nothing to step
    if (steps > 0) rate.point_steps = static_cast<double>(steps) * all_points / std::max(seconds, 1e-9);
    if (sampling.samples > 0) {
        const auto take = [&] {
            start = std::chrono::steady_clock::now();
            trial.sample(sampling.observables);
            return Seconds(std::chrono::steady_clock::now() - start).count();
        };
        int count = 1;
        if (seconds = take(); seconds < 0.05) // it warmed up
            for (seconds = 0, count = 0; seconds < 0.05; ++count) seconds += take();
        rate.seconds_of_a_sample = seconds / count / all_points;
    }
    return rate;
}

// What the real run would refuse, but for files that stand in its way.
void check_running(const Options& options) {
    (void)parse_duration("--checkpoint-every", options["checkpoint-every"]);
    const StudyFiles files(options["out"], "");
    files.try_folder();
    const std::string& json = options["json"];
    if (json.empty() || json == "-") return;
    files.refuse_own(json);
    const OutputFile tried(json, Overwrite::yes);
}

} // namespace

template <class T>
void print_estimate(bandmill::Study<T>& study, const bandmill::DataLayout& layout, const Sampling& sampling,
                    const Options& options, const Machine& machine, const bandmill::Communicator& ranks,
                    double kept_bytes) {
    if (!ranks.is_root()) return;
    check_running(options);
    check(study);
    const std::int64_t points = study.spec(0, 1).points();
    const std::vector<bandmill::MemberGroup> groups = study.groups();
    const double work = bandmill::member_steps(groups) * static_cast<double>(points) / ranks.size();
    std::int64_t steps = 0, largest_group = 0;
    for (const bandmill::MemberGroup& group : groups) {
        steps = std::max(steps, group.steps);
        largest_group = std::max(largest_group, group.count);
    }
    const Rate rate = try_rate(study, sampling, machine);
    const double seconds = work / rate.point_steps + rate.seconds_of_a_sample * static_cast<double>(sampling.samples) *
                                                         static_cast<double>(study.members() * points) / ranks.size();
    // A piece holds one member at least, however large that is.
    const std::int64_t most = std::max<std::int64_t>(largest_piece(machine) / points, 1);
    const double piece = static_cast<double>(std::min(largest_group, most)) * static_cast<double>(points) * sizeof(T);
    const auto sums = static_cast<double>(study.sums().size_bytes()),
               file = static_cast<double>(data_bytes(layout)) + structure_bytes;
    // Initial states on the host, the stepper's own copy, and one for a checkpoint; planes keep right-hand sides too.
    const double memory = (study.spec(0, 1).grid_y ? 4 : 3) * piece + sums + kept_bytes / ranks.size();
    const double checkpoint = piece * ranks.size() + sums + kept_bytes;
    if (options["json"] == "-") {
        JsonWriter json;
        json.begin_object()
            .value("members", study.members())
            .value("points", points)
            .value("steps", steps)
            .value("device", machine.device)
            .value("ranks", ranks.size())
            .value("seconds", seconds)
            .value("point_steps_per_second", rate.point_steps * ranks.size())
            .value("memory_bytes", memory)
            .value("file_bytes", file)
            .value("checkpoint_bytes", checkpoint)
            .end_object();
        fmt::print("{}", json.text());
        return;
    }
    fmt::print("members    {} of {} points, {} steps\n", study.members(), points, steps);
    fmt::print("machine    {}{}\n", machine.device, ranks.size() > 1 ? fmt::format(", {} ranks", ranks.size()) : "");
    if (std::isnan(rate.point_steps))
        fmt::print("time       not known: a trial does not fit in memory here\n");
    else
        fmt::print("time       {}{} at {} point-steps per second (tried for half a second)\n",
                   seconds < longest_told ? "about " : "", readable_duration(seconds),
                   readable_rate(rate.point_steps * ranks.size()));
    fmt::print("memory     about {}{} for the data\n", readable_bytes(memory), ranks.size() > 1 ? " per rank" : "");
    fmt::print("file       {}\n", readable_bytes(file));
    fmt::print("checkpoint up to {}\n", readable_bytes(checkpoint));
}

template void print_estimate(bandmill::Study<double>&, const bandmill::DataLayout&, const Sampling&, const Options&,
                             const Machine&, const bandmill::Communicator&, double);
template void print_estimate(bandmill::Study<float>&, const bandmill::DataLayout&, const Sampling&, const Options&,
                             const Machine&, const bandmill::Communicator&, double);

} // namespace app
