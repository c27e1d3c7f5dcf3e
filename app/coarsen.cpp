// bandmill coarsen: how domains grow, with error bars and a fitted law.
#include "coarsen.hpp"

#include "bandmill/study/coarsening.hpp"

#include <cmath>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace app {
namespace {

using bandmill::CoarseningResult;
using bandmill::CoarseningSpec;

void add_options(Options& options) {
    using enum Decides;
    options.add("dimensions", "D", "1", "1 or 2: lines or planes", data, "Problem");
    options.add("members", "N", "8192", "Runs in the ensemble (planes: 8)", data, "Problem");
    options.add("points", "N", "", "Grid points; planes N or NXxNY (default: 256 for every 2pi, planes 128)", data,
                "Problem");
    options.add("length", "L", "2pi", "Length of the periodic domain; planes L or LXxLY (4pi)", data, "Problem");
    options.add("gamma", "G", "0.01", "gamma of the equation; interfaces are about its root wide", data, "Problem");
    options.add("noise", "A", "0.1", "Amplitude of the initial noise, uniform in [-A, A)", data, "Problem");
    options.add("mean", "C", "0", "Mean concentration", data, "Problem");
    options.add("seed", "N", "1", "Of the noise: member k of seed N is the same run everywhere", data, "Problem");
    options.add("until", "T", "100", "Final time (planes: 30)", data, "Time");
    options.add("dt", "DT", "", "Time step (default: a tenth of the grid spacing)", data, "Time");
    options.add("samples", "WHEN", "every-step", "every-step, log:COUNT or linear:COUNT times (planes: log:200)", data,
                "Time");
    options.add("histogram-times", "LIST", "1,2,5,10,20,50,100", "When to count domains; none for never (planes: none)",
                data, "Time");
    options.add("fit", "T1:T2", "0.4:100", "Window of the fit of l against log t (planes: last decade)", data, "Time");
    add_common_options(options, "coarsen.nc");
}

} // namespace

std::vector<double> read_sample_times(const std::string& text, double until, double time_step) {
    if (text == "every-step") return {};
    if (!text.starts_with("log:") && !text.starts_with("linear:"))
        throw UsageError(fmt::format("--samples '{}' is not known: write every-step, log:200 or linear:200", text));
    const auto [kind, count_text] = split_range("--samples", text);
    const int count = static_cast<int>(parse_size("--samples", count_text, 2, 100000000));
    if (kind == "linear") return bandmill::linear_times(0, until, count);
    // From the first step on, or from a thousandth of the end if that is later.
    return bandmill::logarithmic_times(std::min(until, std::max(time_step, until * 1e-3)), until, count);
}

namespace {

CoarseningSpec read_spec(Options& options) {
    CoarseningSpec spec;
    const double length = parse_positive("--length", options["length"]);
    const std::int64_t points = options.given("points")
                                    ? parse_size("--points", options["points"], bandmill::Grid::fewest_points)
                                    : usual_points(length, 256 / (2 * std::numbers::pi));
    options.set("points", fmt::format("{}", points));
    spec.grid = bandmill::Grid(points, length);
    read_runs(options, spec, points);
    spec.histogram_times.clear();
    if (options["histogram-times"] != "none")
        for (const std::string& time : split_list("--histogram-times", options["histogram-times"]))
            spec.histogram_times.push_back(parse_time("--histogram-times", time));
    return spec;
}

template <class T> bandmill::DataLayout layout_of(const bandmill::Coarsening<T>& study) {
    using enum bandmill::NumberType;
    bandmill::DataLayout layout;
    const auto count = [](const std::vector<double>& times) { return static_cast<std::int64_t>(times.size()); };
    layout.dimensions = {{"time", count(study.times())}};
    const auto add = [&](const char* name, bandmill::NumberType type, std::vector<std::string> dimensions,
                         const char* meaning) {
        layout.variables.push_back({name, type, std::move(dimensions), {{"long_name", meaning}, {"units", "1"}}});
    };
    add("time", f64, {"time"}, "time, in units of the equation");
    add("domain_size_mean", f64, {"time"}, "mean over members of l = 1 / (1 - <C^2>)");
    add("domain_size_stderr", f64, {"time"}, "standard error of domain_size_mean");
    add("domain_size_variance", f64, {"time"}, "variance of l from member to member");
    add("member_count", i64, {"time"}, "members in these statistics");
    add("left_out", i64, {"time"}, "members not finite or out of range");
    if (study.histogram_times().empty()) return layout;
    layout.dimensions.push_back({"histogram_time", count(study.histogram_times())});
    layout.dimensions.push_back({"interfaces", study.interface_bins().bins});
    layout.dimensions.push_back({"domain_size", study.size_bins().bins});
    add("histogram_time", f64, {"histogram_time"}, "times of the distributions");
    add("interfaces", i64, {"interfaces"}, "number of interfaces of a member (sign changes of C)");
    add("interface_histogram", i64, {"histogram_time", "interfaces"}, "members with that many interfaces");
    add("domain_size", f64, {"domain_size"}, "l at the middle of a bin; bins are 0.1 wide");
    add("domain_size_histogram", i64, {"histogram_time", "domain_size"}, "members with l in the bin");
    return layout;
}

void add_fit(bandmill::DataLayout& layout, const CoarseningSpec& spec) {
    for (const char* name :
         {"fit_intercept", "fit_intercept_error95", "fit_slope", "fit_slope_error95", "fit_correlation"})
        layout.attributes.push_back({name, std::numeric_limits<double>::quiet_NaN()});
    layout.attributes.push_back({"fit_from", spec.fit_from});
    layout.attributes.push_back({"fit_to", spec.fit_to});
    layout.attributes.push_back(
        {"fit_law", "domain_size_mean = fit_intercept + fit_slope * log(time), log to the base e"});
    layout.attributes.push_back({"fit_groups", std::int64_t{0}});
    layout.attributes.push_back({"lost_members", std::int64_t{0}});
    layout.attributes.push_back({"equation", "cahn-hilliard"});
    layout.attributes.push_back({"gamma", spec.equation.gamma});
    layout.attributes.push_back({"length", spec.grid.length()});
    layout.attributes.push_back({"points", spec.grid.points()});
    layout.attributes.push_back({"time_step", spec.step_length()});
    layout.attributes.push_back({"seed", static_cast<std::int64_t>(spec.noise.seed)});
}

using Reals = std::span<const double>;
using Counts = std::span<const std::int64_t>;

template <class T> void write_coordinates(bandmill::DataFile& file, const bandmill::Coarsening<T>& study) {
    file.write("time", 0, Reals(study.times()));
    if (study.histogram_times().empty()) return;
    std::vector<std::int64_t> interfaces(static_cast<std::size_t>(study.interface_bins().bins));
    for (std::size_t i = 0; i < interfaces.size(); ++i) interfaces[i] = static_cast<std::int64_t>(i);
    const bandmill::HistogramBins bins = study.size_bins();
    std::vector<double> sizes(static_cast<std::size_t>(bins.bins));
    for (std::size_t i = 0; i < sizes.size(); ++i)
        sizes[i] = bins.low + (static_cast<double>(i) + 0.5) * (bins.high - bins.low) / bins.bins;
    file.write("histogram_time", 0, Reals(study.histogram_times()));
    file.write("interfaces", 0, Counts(interfaces));
    file.write("domain_size", 0, Reals(sizes));
}

void write(bandmill::DataFile& file, const CoarseningResult& result) {
    file.write("domain_size_mean", 0, Reals(result.mean));
    file.write("domain_size_stderr", 0, Reals(result.standard_error));
    file.write("domain_size_variance", 0, Reals(result.variance));
    file.write("member_count", 0, Counts(result.members));
    file.write("left_out", 0, Counts(result.left_out));
    if (!result.histogram_times.empty()) {
        file.write("interface_histogram", 0, Counts(result.interface_counts));
        file.write("domain_size_histogram", 0, Counts(result.size_counts));
    }
    file.set_attribute("fit_intercept", result.fit.intercept);
    file.set_attribute("fit_intercept_error95", result.fit.intercept_error);
    file.set_attribute("fit_slope", result.fit.slope);
    file.set_attribute("fit_slope_error95", result.fit.slope_error);
    file.set_attribute("fit_correlation", result.fit.correlation);
    file.set_attribute("fit_to", result.fit.to);
    file.set_attribute("fit_groups", result.fit.groups);
}

} // namespace

std::vector<std::size_t> chosen_samples(const std::vector<double>& times) {
    std::vector<std::size_t> chosen;
    for (double decade = 0.1; decade < 1e9; decade *= 10)
        for (const double factor : {1.0, 2.0, 5.0}) {
            const double wanted = decade * factor;
            auto nearest = std::lower_bound(times.begin(), times.end(), wanted);
            if (nearest == times.end() || (nearest != times.begin() && *nearest - wanted > wanted - nearest[-1]))
                --nearest;
            if (std::abs(*nearest - wanted) > 0.1 * wanted) continue;
            chosen.push_back(static_cast<std::size_t>(nearest - times.begin()));
        }
    chosen.push_back(times.size() - 1);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    return chosen;
}

std::string or_dash(double value, int digits) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}

std::int64_t usual_points(double length, double per_length) {
    const double usual = std::ceil(per_length * length - 1e-9);
    if (!(usual <= 1e9))
        throw UsageError(fmt::format("--length {} is too long for the usual spacing: give --points", length));
    return std::max<std::int64_t>(bandmill::Grid::fewest_points, static_cast<std::int64_t>(usual));
}

std::string left_out_text(std::int64_t members) {
    if (members == 0) return "";
    return fmt::format("{} left out at the end: not finite, or l out of range\n",
                       members == 1 ? "1 member is" : fmt::format("{} members are", members));
}

std::string no_fit_text(double from, double to, double until) {
    if (from >= until) return fmt::format("\nno fit: its window begins at t = {:.4g}, after the end\n", from);
    return fmt::format("\nno fit: fewer than two samples lie in {:.4g} <= t <= {:.4g}\n", from, to);
}

namespace {

std::string report(const CoarseningSpec& spec, const CoarseningResult& result) {
    std::string text = "\n      time   mean l   std. error    members\n";
    for (const std::size_t i : chosen_samples(result.times))
        text += fmt::format("{:10.4g} {:8.4f} {:>12} {:10d}\n", result.times[i], result.mean[i],
                            or_dash(result.standard_error[i]), result.members[i]);
    text += left_out_text(result.left_out.back());
    const bandmill::LogFit& fit = result.fit;
    if (fit.samples < 2) return text + no_fit_text(fit.from, fit.to, spec.until);
    const auto error = [](double value) { return std::isfinite(value) ? fmt::format("(+-{:.4f})", value) : ""; };
    text += fmt::format("\nfit      l = {:.4f}{} {} {:.4f}{} log t   for {:.4g} <= t <= {:.4g}, r = {}\n",
                        fit.intercept, error(fit.intercept_error), fit.slope < 0 ? "-" : "+", std::abs(fit.slope),
                        error(fit.slope_error), fit.from, fit.to, or_dash(fit.correlation, 5));
    if (fit.groups > 1)
        text += fmt::format("         (+- at 95 %, from the scatter of {} groups of runs)\n", fit.groups);
    text += "theory   l grows with log t: interfaces attract each other by forces that fall off exponentially;\n";
    return text + fmt::format("         l = {:.1f} / n for a run with n interfaces\n", spec.interface_size());
}

void write_summary(JsonWriter& json, const CoarseningSpec& spec, const CoarseningResult& result) {
    json.value("members", spec.members)
        .value("points", spec.grid.points())
        .value("length", spec.grid.length())
        .value("gamma", spec.equation.gamma)
        .value("mean", spec.noise.mean.front());
    json.begin_object("fit")
        .value("from", result.fit.from)
        .value("to", result.fit.to)
        .value("intercept", result.fit.intercept)
        .value("intercept_error95", result.fit.intercept_error)
        .value("slope", result.fit.slope)
        .value("slope_error95", result.fit.slope_error)
        .value("correlation", result.fit.correlation)
        .value("groups", result.fit.groups)
        .end_object()
        .begin_array("samples");
    for (const std::size_t i : chosen_samples(result.times))
        json.begin_object()
            .value("time", result.times[i])
            .value("domain_size_mean", result.mean[i])
            .value("domain_size_stderr", result.standard_error[i])
            .value("member_count", result.members[i])
            .end_object();
    json.end_array();
}

template <class T> int coarsen(Options& options, bandmill::Communicator& ranks, const Resumed* resumed) {
    const CoarseningSpec spec = read_spec(options);
    const Machine machine = choose_machine(options, ranks);
    bandmill::Coarsening<T> study(spec);
    StudyRun<T> run{.name = "coarsen", .study = study, .layout = layout_of(study), .records = false, .finish = {}};
    run.layout.attributes =
        provenance("Growth of domains in one-dimensional Cahn-Hilliard runs", options, machine, ranks);
    add_fit(run.layout, spec);
    run.heading = fmt::format("{} runs of {} points on {}, to t = {:.6g} in {} steps\n", spec.members,
                              spec.grid.points(), machine.device, spec.until, study.steps());
    const Sampling sampling{.every_step = spec.times.empty(),
                            .samples = std::ssize(spec.times),
                            .observables = {{bandmill::Observable::domain_size, {}}}};
    return carry_out_coarsening(
        run, study, sampling, options, machine, ranks, resumed,
        [&](bandmill::DataFile& file) { write_coordinates(file, study); },
        [&](bandmill::DataFile& file, const CoarseningResult& result) { write(file, result); },
        [&](const CoarseningResult& result) { return report(spec, result); },
        [&](JsonWriter& json, const CoarseningResult& result) { write_summary(json, spec, result); });
}

bool has_planes(const Options& options) { return parse_size("--dimensions", options["dimensions"], 1, 2) == 2; }
void settle(Options& options) {
    if (has_planes(options)) settle_planes(options);
}

int run(Options& options, bandmill::Communicator& ranks, const Resumed* resumed) {
    if (has_planes(options)) return coarsen_planes(options, ranks, resumed);
    return with_precision(options, [&]<class T>() { return coarsen<T>(options, ranks, resumed); });
}

} // namespace

const StudyCommand coarsen_command{
    "coarsen",
    "How domains grow in an ensemble of Cahn-Hilliard runs: l(t) with error bars, and its law",
    "Lengths and times: 6.28 or 2pi. Sizes: 65536, 2^16 or 1e6.\n"
    "C_t = (C^3 - C - gamma C_xx)_xx, periodic. l = 1 / (1 - <C^2>) measures the domains of a run. The defaults take\n"
    "about a minute on two cores. Planes (--dimensions 2): C_t = lap(C^3 - C - gamma lap C), and the exponent of "
    "l(t).\n"
    "Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 write a checkpoint and stop; bandmill resume goes on.\n"
    "Under mpirun or srun the members are split over the ranks; the results do not depend on how many there are.\n"
    "Examples:\n"
    "  bandmill coarsen --members 2^20 --out big.nc\n"
    "  bandmill coarsen --length 4pi --samples log:200 --precision f32\n"
    "  bandmill coarsen --dimensions 2 --members 64 --points 1024 --length 16pi --until 100 --backend cuda\n"
    "  mpirun -n 4 bandmill coarsen --members 2^24 --backend cuda --checkpoint-every 5m",
    add_options,
    run,
    settle};

} // namespace app
