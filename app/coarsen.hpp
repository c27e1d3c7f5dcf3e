// What coarsening in one and in two dimensions have in common, and where the command goes for the latter.
#pragma once

#include "bench_common.hpp"
#include "json_head.hpp"
#include "study_command.hpp"

#include <limits>

#include <fmt/format.h>

namespace app {

// --samples; empty: every step.
std::vector<double> read_sample_times(const std::string& text, double until, double time_step);
// The samples nearest to 1, 2, 5, 10, ... that there are.
std::vector<std::size_t> chosen_samples(const std::vector<double>& times);
// What cannot be known of one run, or one group, is a dash.
std::string or_dash(double value, int digits = 4); // a dash for what is not finite

// Everything of a study's description but its grid; what was left to us is settled, so that the options which a file
// keeps are all there.
template <class Spec> void read_runs(Options& options, Spec& spec, std::int64_t points) {
    spec.members = parse_size("--members", options["members"], 1, most_elements / points);
    spec.equation.gamma = parse_positive("--gamma", options["gamma"]);
    spec.noise.amplitude = parse_number("--noise", options["noise"], 0);
    spec.noise.mean = {parse_real("--mean", options["mean"])};
    spec.noise.seed = static_cast<std::uint64_t>(parse_size("--seed", options["seed"], 0));
    spec.until = parse_positive("--until", options["until"]);
    if (options.given("dt")) spec.time_step = parse_positive("--dt", options["dt"]);
    if (spec.step_length() > spec.until)
        throw UsageError(
            fmt::format("--dt {:.6g} is longer than the whole run (--until {})", spec.step_length(), options["until"]));
    options.set("dt", fmt::format("{}", spec.step_length()));
    spec.times = read_sample_times(options["samples"], spec.until, spec.step_length());
    const auto [from, to] = split_range("--fit", options["fit"]);
    spec.fit_from = parse_positive("--fit", from);
    spec.fit_to = parse_positive("--fit", to);
    if (!(spec.fit_from < spec.fit_to))
        throw UsageError(fmt::format("--fit {} is empty: give the earlier time first", options["fit"]));
}
// Grid points of a domain, so many for every unit of length.
std::int64_t usual_points(double length, double per_length);

// Lines of a report: members that are not in it, why there is no fit.
std::string left_out_text(std::int64_t members);
std::string no_fit_text(double from, double to, double until);

// Runs a study, and writes what it found. begin(file) writes what is known at once,
// finish(file, result) the rest; report(result) is a text, summary(json, result) goes on after the head.
template <class T, class Study, class Begin, class Finish, class Report, class Summary>
int carry_out_coarsening(StudyRun<T>& run, Study& study, const Sampling& sampling, Options& options,
                         const Machine& machine, bandmill::Communicator& ranks, const Resumed* resumed, Begin begin,
                         Finish finish, Report report, Summary summary) {
    if (options.flag("dry-run")) {
        print_estimate(study, run.layout, sampling, options, machine, ranks);
        return 0;
    }
    run.begin = [&](bandmill::DataFile& file) {
        if (ranks.is_root()) begin(file);
    };
    decltype(study.result()) result;
    run.finish = [&](bandmill::DataFile& file) {
        result = study.result();
        finish(file, result);
        file.set_attribute("lost_members", static_cast<std::int64_t>(study.lost.size()));
    };
    const SummaryFile summary_file(options, ranks.is_root());
    const int code = carry_out(run, options, machine, ranks, resumed);
    if (code != 0 || !ranks.is_root()) return code;
    const std::string out = results_name(options, resumed);
    if (!summary_file.to_stdout())
        print_now(report(result) + lost_text(study.lost) + fmt::format("\nwritten to {}\n", out) +
                      speed_text(study, run.seconds, resumed) + "\n",
                  options.flag("quiet"));
    JsonWriter json;
    json.begin_object();
    write_study_head(json, "coarsen", out, machine);
    const double work = resumed ? std::numeric_limits<double>::quiet_NaN() : point_steps(study);
    json.value("lost_members", study.lost.size())
        .value("seconds", run.seconds)
        .value("stepping_seconds", study.stepping_seconds)
        .value("point_steps_per_second", work / run.seconds);
    summary(json, result);
    summary_file.write(json.end_object().text());
    return 0;
}

// --dimensions 2: what was left to us, and the study.
void settle_planes(Options& options);
int coarsen_planes(Options& options, bandmill::Communicator& ranks, const Resumed* resumed);

} // namespace app
