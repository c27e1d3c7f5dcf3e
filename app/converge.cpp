// bandmill converge: the same problem on finer and finer grids, and the order at which the differences shrink.
#include "bench_common.hpp"
#include "equation_options.hpp"
#include "json_head.hpp"
#include "progress_bar.hpp"
#include "signals.hpp"
#include "study_command.hpp"
#include "study_files.hpp"

#include "bandmill/study/convergence.hpp"

#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::ConvergenceRow;
using bandmill::ConvergenceSpec;

void add_options(Options& options) {
    using enum Decides;
    add_equation_options(options);
    options.add("points", "N1:N2", "128:1024", "Grids, each twice as fine as the one before", data, "Problem");
    options.add("length", "L", "2pi", "Length of the periodic domain", data, "Problem");
    options.add("amplitude", "A", "1e-6", "Of the initial state A cos(K x) + C", data, "Start");
    options.add("mode", "K", "5", "Of the initial state", data, "Start");
    options.add("mean", "C", "0", "Of the initial state", data, "Start");
    options.add("until", "T", "20", "Final time", data, "Time");
    options.add("dt-over-dx", "R", "0.1", "Time step over grid spacing", data, "Time");
    add_common_options(options, "");
}

ConvergenceSpec read_spec(const Options& options) {
    ConvergenceSpec spec;
    spec.equation = read_equation(options);
    for (const std::vector<double>& values : read_member_parameters(options, 1)) spec.parameters.push_back(values[0]);
    const auto [fewest, most] = split_range("--points", options["points"]);
    spec.fewest_points = parse_size("--points", fewest);
    spec.most_points = parse_size("--points", most);
    spec.length = parse_positive("--length", options["length"]);
    spec.initial = {parse_real("--amplitude", options["amplitude"]), parse_real("--mode", options["mode"]),
                    parse_real("--mean", options["mean"])};
    spec.until = parse_positive("--until", options["until"]);
    spec.steps_per_spacing = 1 / parse_positive("--dt-over-dx", options["dt-over-dx"]);
    return spec;
}

std::string text_of(const ConvergenceRow& row) {
    return fmt::format("{:8d} {:10d}   {:12.4e} {:>8} {:10.2f} s\n", row.points, row.steps, row.difference,
                       std::isnan(row.order) ? std::string("-") : fmt::format("{:.4f}", row.order), row.seconds);
}

std::string json_of(const Options& options, const Machine& machine, const std::vector<ConvergenceRow>& rows) {
    JsonWriter json;
    json.begin_object()
        .value("study", "converge")
        .value("version", bandmill::version())
        .value("commit", commit())
        .value("device", machine.device)
        .value("date", utc_now())
        .value("options", options.config(true))
        .begin_array("rows");
    for (const ConvergenceRow& row : rows)
        json.begin_object()
            .value("points", row.points)
            .value("steps", row.steps)
            .value("difference", row.difference)
            .value("order", row.order)
            .value("seconds", row.seconds)
            .end_object();
    return json.end_array().end_object().text();
}

bandmill::DataLayout layout_of(const std::vector<ConvergenceRow>& rows) {
    using enum bandmill::NumberType;
    bandmill::DataLayout layout;
    layout.dimensions = {{"points", static_cast<std::int64_t>(rows.size())}};
    const auto add = [&](const char* name, bandmill::NumberType type, const char* meaning, const char* unit) {
        layout.variables.push_back({name, type, {"points"}, {{"long_name", meaning}, {"units", unit}}});
    };
    add("points", i64, "points of the grid", "1");
    add("steps", i64, "time steps", "1");
    add("difference", f64, "mean difference from the grid of half as many points, where both have points", "1");
    add("order", f64, "log2 of the difference before over this one", "1");
    add("seconds", f64, "time it took", "s");
    return layout;
}

void write(bandmill::DataFile& file, const std::vector<ConvergenceRow>& rows) {
    std::vector<std::int64_t> points, steps;
    std::vector<double> difference, order, seconds;
    for (const ConvergenceRow& row : rows) {
        points.push_back(row.points);
        steps.push_back(row.steps);
        difference.push_back(row.difference);
        order.push_back(row.order);
        seconds.push_back(row.seconds);
    }
    file.write("points", 0, std::span<const std::int64_t>(points));
    file.write("steps", 0, std::span<const std::int64_t>(steps));
    file.write("difference", 0, std::span<const double>(difference));
    file.write("order", 0, std::span<const double>(order));
    file.write("seconds", 0, std::span<const double>(seconds));
}

template <class T> int converge(Options& options, bandmill::Communicator& ranks) {
    const ConvergenceSpec spec = read_spec(options);
    const Machine machine = choose_machine(options, ranks);
    if (ranks.size() > 1) throw UsageError("converge is one run after the other: start it without mpirun");
    const SummaryFile summary(options);
    const bool quiet = options.flag("quiet") || summary.to_stdout(), to_file = options.given("out");
    const StudyFiles files(to_file ? options["out"] : "none", "");
    if (to_file) files.make_room(options.flag("force-overwrite"));
    if (options.flag("dry-run")) {
        double work = 0;
        for (std::int64_t points = spec.fewest_points / 2; points <= spec.most_points; points *= 2)
            work += spec.until * spec.steps_per_spacing / spec.length * std::pow(static_cast<double>(points), 2);
        fmt::print("{:.3g} point-steps, one run after the other, and no file larger than a few kilobytes\n", work);
        return 0;
    }

    const std::string heading =
        fmt::format("{} on {}: E = mean |C_N - C_N/2| at t = {:.6g}, order = log2(E_N/2 / E_N)\n\n"
                    "  points      steps              E    order       time\n",
                    options["equation"], machine.device, spec.until);
    const SignalWatch signals;
    ProgressBar bar(!quiet);
    const auto start = std::chrono::steady_clock::now();
    double done = 0; // point-steps of the grids that are finished
    const auto rows = bandmill::study_convergence<T>(
        spec, machine.where,
        [&](const ConvergenceRow& row) {
            bar.clear();
            if (done == 0) print_now(heading, quiet);
            print_now(text_of(row), quiet);
            done += static_cast<double>(row.points * row.steps);
        },
        [&](std::int64_t points, double share) {
            // The work grows as the square of the points.
            const auto work = [&](std::int64_t n) {
                return spec.until * spec.steps_per_spacing / spec.length * static_cast<double>(n) *
                       static_cast<double>(n);
            };
            double total = 0;
            for (std::int64_t n = spec.fewest_points / 2; n <= spec.most_points; n *= 2) total += work(n);
            const double now = done + share * work(points);
            const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            bar.show({std::min(1.0, now / total), now, seconds, 0, fmt::format("N = {}", points)});
            return SignalWatch::seen() == 0;
        });
    bar.clear();
    if (SignalWatch::seen() != 0) {
        fmt::print(stderr, "bandmill: stopped; the grids that were finished stand above, there is no checkpoint\n");
        return 128 + SignalWatch::seen();
    }
    if (to_file) {
        bandmill::DataLayout layout = layout_of(rows);
        layout.attributes = provenance("Convergence under refinement of the grid", options, machine, ranks);
        bandmill::DataFile file = files.open(layout, Start::overwrite, ranks);
        write(file, rows);
        file.set_attribute("finished", utc_now());
        file.flush();
        files.publish(options.flag("force-overwrite"));
        print_now(fmt::format("\nwritten to {}\n", files.out()), quiet);
    }
    summary.write(json_of(options, machine, rows));
    return 0;
}

int run(Options& options, bandmill::Communicator& ranks, const Resumed*) {
    return with_precision(options, [&]<class T>() { return converge<T>(options, ranks); });
}

} // namespace

const StudyCommand converge_command{
    "converge", "Refine the grid and measure the order of convergence",
    "Grids of N1, 2 N1, 4 N1, ... N2 points; each is compared with half as many points, so N1/2 is run too.\n"
    "The defaults are the paper's table without its finest grids, which take minutes on a CPU (--points 128:8192).\n"
    "Examples:\n"
    "  bandmill converge --points 128:8192\n"
    "  bandmill converge --equation forced-cahn-hilliard --points 256:2048 --json -\n"
    "  bandmill converge --equation diffusion --mode 1 --amplitude 1 --until 1",
    add_options, run};

} // namespace app
