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
#include <optional>

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::ConvergenceRow;
using bandmill::ConvergenceSpec;

void add_options(Options& options) {
    using enum Decides;
    add_equation_options(options);
    options.add("points", "N1:N2", "", "Grids, each twice as fine as the one before (128:1024, forced 256:1024)", data,
                "Problem");
    options.add("length", "L", "2pi", "Length of the periodic domain", data, "Problem");
    options.add("amplitude", "A", "", "Of the initial state A cos(K x) + C (1e-6; 1 if it only decays)", data, "Start");
    options.add("mode", "K", "", "Of the initial state (5; 1 if it only decays)", data, "Start");
    options.add("mean", "C", "0", "Of the initial state", data, "Start");
    options.add("until", "T", "", "Final time (20; 1 if it only decays)", data, "Time");
    options.add("dt-over-dx", "R", "0.1", "Time step over grid spacing", data, "Time");
    add_common_options(options, "", false);
}

// The paper's two tables, or a wave that decays by a measurable amount. From 64 points the forced equation is not
// stable.
void settle_defaults(Options& options, const bandmill::Equation& equation) {
    const bool forced = std::holds_alternative<bandmill::ForcedCahnHilliard>(equation);
    const bool decays = !forced && !std::holds_alternative<bandmill::CahnHilliard>(equation);
    const auto settle = [&](const char* name, const char* value) {
        if (!options.given(name)) options.set(name, value);
    };
    settle("points", forced ? "256:1024" : "128:1024");
    settle("amplitude", decays ? "1" : "1e-6");
    settle("mode", decays ? "1" : "5");
    settle("until", decays ? "1" : "20");
}

ConvergenceSpec read_spec(Options& options) {
    ConvergenceSpec spec;
    spec.equation = read_equation(options);
    settle_defaults(options, spec.equation);
    for (const std::vector<double>& values : read_member_parameters(options, 1)) spec.parameters.push_back(values[0]);
    const auto [fewest, most] = split_range("--points", options["points"]);
    spec.fewest_points = parse_size("--points", fewest);
    spec.most_points = parse_size("--points", most);
    for (std::int64_t finest = spec.fewest_points; 0 < finest && finest < spec.most_points; finest *= 2)
        if (finest > spec.most_points / 2)
            throw UsageError(fmt::format("--points {} does not end with a grid of the study (each has twice as many "
                                         "points as the one before): {}:{} would",
                                         options["points"], spec.fewest_points, 2 * finest));
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
        .value("options", options.config(ConfigFor::results))
        .begin_array("rows");
    for (const ConvergenceRow& row : rows)
        json.begin_object()
            .value("points", row.points)
            .value("steps", row.steps)
            .value("time", row.time)
            .value("difference", row.difference)
            .value("order", row.order)
            .value("seconds", row.seconds)
            .end_object();
    return json.end_array().end_object().text();
}

bandmill::DataLayout layout_of(int grids) {
    using enum bandmill::NumberType;
    bandmill::DataLayout layout;
    layout.dimensions = {{"points", grids}};
    const auto add = [&](const char* name, bandmill::NumberType type, const char* meaning, const char* unit) {
        layout.variables.push_back({name, type, {"points"}, {{"long_name", meaning}, {"units", unit}}});
    };
    add("points", i64, "points of the grid", "1");
    add("steps", i64, "time steps", "1");
    add("time", f64, "time of the end, in units of the equation", "1");
    add("difference", f64, "mean difference from the grid of half as many points, where both have points", "1");
    add("order", f64, "log2 of the difference before over this one", "1");
    add("seconds", f64, "time it took", "s");
    return layout;
}

void write(bandmill::DataFile& file, const std::vector<ConvergenceRow>& rows) {
    std::vector<std::int64_t> points, steps;
    std::vector<double> time, difference, order, seconds;
    for (const ConvergenceRow& row : rows) {
        points.push_back(row.points);
        steps.push_back(row.steps);
        time.push_back(row.time);
        difference.push_back(row.difference);
        order.push_back(row.order);
        seconds.push_back(row.seconds);
    }
    file.write("points", 0, std::span<const std::int64_t>(points));
    file.write("steps", 0, std::span<const std::int64_t>(steps));
    file.write("time", 0, std::span<const double>(time));
    file.write("difference", 0, std::span<const double>(difference));
    file.write("order", 0, std::span<const double>(order));
    file.write("seconds", 0, std::span<const double>(seconds));
}

template <class T> int converge(Options& options, bandmill::Communicator& ranks) {
    const ConvergenceSpec spec = read_spec(options);
    const Machine machine = choose_machine(options, ranks);
    if (ranks.size() > 1) throw UsageError("converge is one run after the other: start it without mpirun");
    const SummaryFile summary(options, ranks.is_root());
    const bool quiet = options.flag("quiet") || summary.to_stdout(), to_file = options.given("out");
    StudyFiles files(to_file ? options["out"] : "none", "");
    if (to_file && !options["json"].empty()) files.refuse_own(options["json"]);
    if (options.flag("dry-run")) {
        if (to_file) files.try_folder();
        double work = 0;
        for (std::int64_t points = spec.fewest_points / 2; points <= spec.most_points; points *= 2)
            work += spec.until * spec.steps_per_spacing / spec.length * std::pow(static_cast<double>(points), 2);
        fmt::print("{:.3g} point-steps, one run after the other, and no file larger than a few kilobytes\n", work);
        return 0;
    }

    std::optional<bandmill::DataFile> file;
    const bool overwrite = options.flag("force-overwrite");
    bandmill::DataLayout layout = layout_of(bandmill::convergence_grids(spec));
    layout.attributes = provenance("Convergence under refinement of the grid", options, machine, ranks);
    if (to_file) file.emplace(files.open(layout, overwrite ? Start::overwrite : Start::fresh, ranks));
    const SignalWatch signals;
    ProgressBar bar(!quiet);
    const auto start = std::chrono::steady_clock::now();
    double done = 0; // point-steps of the grids that are finished
    std::vector<ConvergenceRow> rows;
    try {
        rows = bandmill::study_convergence<T>(
            spec, machine.where,
            [&](const ConvergenceRow& row) {
                bar.clear();
                if (done == 0)
                    print_now(
                        fmt::format("{} on {}: E = mean |C_N - C_N/2| at t = {:.6g}, order = log2(E_N/2 / E_N)\n\n"
                                    "  points      steps              E    order       time\n",
                                    options["equation"], machine.device, row.time),
                        quiet);
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
    } catch (const bandmill::Unstable& error) {
        bar.clear();
        if (to_file) files.leave(false);
        throw std::runtime_error(
            fmt::format("{}: start with more points, or make --dt-over-dx smaller",
                        std::string(error.what()).substr(0, std::string(error.what()).rfind(':'))));
    } catch (...) {
        bar.clear();
        if (to_file) files.leave(false);
        throw;
    }
    bar.clear();
    if (SignalWatch::seen() != 0) {
        if (to_file) files.leave(false);
        fmt::print(stderr, "bandmill: stopped; the grids that were finished stand above, there is no checkpoint\n");
        return 128 + SignalWatch::seen();
    }
    if (to_file) {
        write(*file, rows);
        file->set_attribute("finished", utc_now());
        file->set_attribute("seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        file->flush();
        files.publish(overwrite);
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
    "All end at the same time. The defaults are the paper's tables without their finest grids, which take minutes on "
    "a\n"
    "CPU (--points 128:8192).\n"
    "Examples:\n"
    "  bandmill converge --points 128:8192\n"
    "  bandmill converge --equation forced-cahn-hilliard --points 256:2048 --json -\n"
    "  bandmill converge --equation diffusion --out diffusion.nc",
    add_options, run};

} // namespace app
