// --dry-run: what a study would take, from a short trial of it.
#include "json.hpp"
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

using Seconds = std::chrono::duration<double>;

// Point-steps per second of one rank, from about half a second of the real thing. NaN if it does not fit in memory.
template <class T> double try_rate(const bandmill::Study<T>& study, bool samples_every_step, const Machine& machine) {
    const std::int64_t points = study.spec(0, 1).points();
    const std::int64_t enough =
        (machine.backend == Backend::cuda ? std::int64_t{1} << 24 : std::int64_t{1} << 18) / points;
    const bandmill::MemberGroup group = study.groups().front();
    const std::int64_t members = std::clamp<std::int64_t>(enough, 1, group.count);
    std::optional<bandmill::Ensemble<T>> made;
    try {
        std::visit([&](auto place) { made.emplace(study.spec(0, members), study.initial(0, members), place); },
                   machine.where);
    } catch (const bandmill::OutOfMemory&) {
    } catch (const std::bad_alloc&) {
    }
    if (!made) return std::numeric_limits<double>::quiet_NaN();
    bandmill::Ensemble<T>& trial = *made;
    bandmill::RunPlan plan{.end_time = static_cast<double>(group.steps) * trial.time_step(),
                           .every_step = samples_every_step,
                           .chunk = 50,
                           .warn = [](const std::string&) {}};
    if (samples_every_step) plan.observables = {{bandmill::Observable::domain_size, {}}};
    auto start = std::chrono::steady_clock::now();
    std::int64_t first = 0, steps = 0;
    double seconds = 0;
    plan.progress = [&](const bandmill::Progress& progress) {
        const auto now = std::chrono::steady_clock::now();
        steps = progress.step - first;
        seconds = Seconds(now - start).count();
        if (first == 0) { // the first chunk warms up, and counts only if it is all there is
            first = progress.step;
            start = now;
            return true;
        }
        return seconds < 0.5;
    };
    trial.run(plan);
    if (steps == 0) return 1e9; // there is nothing to step
    return static_cast<double>(steps) * static_cast<double>(members * points) / std::max(seconds, 1e-9);
}

} // namespace

template <class T>
void print_estimate(bandmill::Study<T>& study, const bandmill::DataLayout& layout, bool samples_every_step,
                    const Options& options, const Machine& machine, const bandmill::Communicator& ranks,
                    double kept_bytes) {
    if (!ranks.is_root()) return;
    check(study);
    const std::int64_t points = study.spec(0, 1).points();
    const std::vector<bandmill::MemberGroup> groups = study.groups();
    const double work = bandmill::member_steps(groups) * static_cast<double>(points) / ranks.size();
    std::int64_t steps = 0, largest_group = 0;
    for (const bandmill::MemberGroup& group : groups) {
        steps = std::max(steps, group.steps);
        largest_group = std::max(largest_group, group.count);
    }
    const double rate = try_rate(study, samples_every_step, machine);
    // A piece holds one member at least, however large that is.
    const std::int64_t most = std::max<std::int64_t>(largest_piece(machine) / points, 1);
    const double piece = static_cast<double>(std::min(largest_group, most)) * static_cast<double>(points) * sizeof(T);
    const auto sums = static_cast<double>(study.sums().size_bytes()), file = static_cast<double>(data_bytes(layout));
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
            .value("seconds", work / rate)
            .value("point_steps_per_second", rate * ranks.size())
            .value("memory_bytes", memory)
            .value("file_bytes", file)
            .value("checkpoint_bytes", checkpoint)
            .end_object();
        fmt::print("{}", json.text());
        return;
    }
    fmt::print("members    {} of {} points, {} steps\n", study.members(), points, steps);
    fmt::print("machine    {}{}\n", machine.device, ranks.size() > 1 ? fmt::format(", {} ranks", ranks.size()) : "");
    if (std::isnan(rate))
        fmt::print("time       not known: a trial does not fit in memory here\n");
    else
        fmt::print("time       about {} at {} point-steps per second (tried for half a second)\n",
                   readable_duration(work / rate), readable_rate(rate * ranks.size()));
    fmt::print("memory     about {}{}\n", readable_bytes(memory), ranks.size() > 1 ? " per rank" : "");
    fmt::print("file       {}\n", readable_bytes(file));
    fmt::print("checkpoint up to {}\n", readable_bytes(checkpoint));
}

template void print_estimate(bandmill::Study<double>&, const bandmill::DataLayout&, bool, const Options&,
                             const Machine&, const bandmill::Communicator&, double);
template void print_estimate(bandmill::Study<float>&, const bandmill::DataLayout&, bool, const Options&, const Machine&,
                             const bandmill::Communicator&, double);

} // namespace app
