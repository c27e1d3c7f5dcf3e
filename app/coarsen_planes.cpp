// bandmill coarsen --dimensions 2: how domains of planes grow, with error bars and the exponent of their law.
#include "coarsen.hpp"

#include "bandmill/study/plane_coarsening.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::PlaneCoarseningResult;
using bandmill::PlaneCoarseningSpec;
using bandmill::PowerFit;

constexpr double points_per_length = 128 / (2 * std::numbers::pi); // some six on an interface at gamma = 0.01

PlaneCoarseningSpec read_spec(Options& options) {
    PlaneCoarseningSpec spec;
    const auto [length_x, length_y] = split_sides("--length", options["length"]);
    const double lx = parse_positive("--length", length_x), ly = parse_positive("--length", length_y);
    if (!options.given("points"))
        options.set("points",
                    fmt::format("{}x{}", usual_points(lx, points_per_length), usual_points(ly, points_per_length)));
    const auto [points_x, points_y] = split_sides("--points", options["points"]);
    spec.x = bandmill::Grid(parse_size("--points", points_x, bandmill::Grid::fewest_points, 1LL << 29), lx);
    spec.y = bandmill::Grid(parse_size("--points", points_y, bandmill::Grid::fewest_points, 1LL << 29), ly);
    read_runs(options, spec, spec.points());
    if (spec.times.empty())
        throw UsageError("--samples every-step is for one dimension (planes take longer to measure than to step): "
                         "write log:200 or linear:200");
    if (options["histogram-times"] != "none")
        throw UsageError("--histogram-times is for one dimension, where domains can be counted: leave it out");
    return spec;
}

bandmill::DataLayout layout_of(const std::vector<double>& times) {
    using enum bandmill::NumberType;
    bandmill::DataLayout layout;
    layout.dimensions = {{"time", static_cast<std::int64_t>(times.size())}};
    const auto add = [&](const char* name, bandmill::NumberType type, const char* meaning) {
        layout.variables.push_back({name, type, {"time"}, {{"long_name", meaning}, {"units", "1"}}});
    };
    add("time", f64, "time, in units of the equation");
    add("domain_size_mean", f64, "mean over members of l = 1 / (1 - <C^2>)");
    add("domain_size_stderr", f64, "standard error of domain_size_mean");
    add("domain_size_variance", f64, "variance of l from member to member");
    add("interface_length_mean", f64, "mean over members of the length of the lines C = 0 in a plane");
    add("interface_length_stderr", f64, "standard error of interface_length_mean");
    add("domain_length", f64, "area of a plane / interface_length_mean");
    add("member_count", i64, "members in the statistics of l");
    add("left_out", i64, "members not finite or out of range");
    add("interface_left_out", i64, "members whose interface length is not finite or out of range");
    return layout;
}

void add_attributes(bandmill::DataLayout& layout, const PlaneCoarseningSpec& spec) {
    const auto add = [&](const char* name, auto value) { layout.attributes.push_back({name, value}); };
    for (const char* name :
         {"fit_exponent", "fit_exponent_error95", "fit_prefactor", "fit_correlation", "fit_length_exponent",
          "fit_length_exponent_error95", "fit_length_prefactor", "fit_length_correlation"})
        add(name, std::numeric_limits<double>::quiet_NaN());
    add("fit_from", spec.fit_from);
    add("fit_to", spec.fit_to);
    add("fit_law", "domain_size_mean = fit_prefactor * time ^ fit_exponent; domain_length likewise, fit_length_...");
    for (const char* name : {"fit_samples", "fit_groups", "fit_length_samples", "fit_length_groups"})
        add(name, std::int64_t{0});
    add("lost_members", std::int64_t{0});
    add("equation", "cahn-hilliard");
    add("dimensions", std::int64_t{2});
    add("gamma", spec.equation.gamma);
    add("length_x", spec.x.length());
    add("length_y", spec.y.length());
    add("points_x", spec.x.points());
    add("points_y", spec.y.points());
    add("time_step", spec.step_length());
    add("seed", static_cast<std::int64_t>(spec.noise.seed));
}

void write(bandmill::DataFile& file, const PlaneCoarseningResult& result) {
    using Reals = std::span<const double>;
    using Counts = std::span<const std::int64_t>;
    file.write("domain_size_mean", 0, Reals(result.size));
    file.write("domain_size_stderr", 0, Reals(result.size_error));
    file.write("domain_size_variance", 0, Reals(result.size_variance));
    file.write("interface_length_mean", 0, Reals(result.interfaces));
    file.write("interface_length_stderr", 0, Reals(result.interfaces_error));
    file.write("domain_length", 0, Reals(result.length));
    file.write("member_count", 0, Counts(result.members));
    file.write("left_out", 0, Counts(result.left_out));
    file.write("interface_left_out", 0, Counts(result.interfaces_left_out));
    file.set_attribute("fit_exponent", result.size_fit.exponent);
    file.set_attribute("fit_exponent_error95", result.size_fit.exponent_error);
    file.set_attribute("fit_prefactor", result.size_fit.prefactor);
    file.set_attribute("fit_correlation", result.size_fit.correlation);
    file.set_attribute("fit_length_exponent", result.length_fit.exponent);
    file.set_attribute("fit_length_exponent_error95", result.length_fit.exponent_error);
    file.set_attribute("fit_length_prefactor", result.length_fit.prefactor);
    file.set_attribute("fit_length_correlation", result.length_fit.correlation);
    file.set_attribute("fit_to", result.fit_to);
    file.set_attribute("fit_samples", result.size_fit.samples);
    file.set_attribute("fit_groups", result.size_fit.groups);
    file.set_attribute("fit_length_samples", result.length_fit.samples);
    file.set_attribute("fit_length_groups", result.length_fit.groups);
}

// What has no logarithm is not in the fit.
std::string fit_line(const char* name, const PowerFit& fit, const PlaneCoarseningResult& result,
                     const std::string& obstacle, const std::string& obstacle_of_a_group) {
    if (!std::isfinite(fit.exponent)) return fmt::format("{:<8} no fit: there are samples {}\n", name, obstacle);
    const std::string error = std::isfinite(fit.exponent_error) ? fmt::format(" +- {:.4f}", fit.exponent_error) : "";
    std::string text = fmt::format("{:<8} {:.4f} t^({:.4f}{})   r = {}\n", name, fit.prefactor, fit.exponent, error,
                                   or_dash(fit.correlation, 5));
    if (fit.samples < result.window_samples)
        text += fmt::format("         (of {} of {} samples: there are others {})\n", fit.samples, result.window_samples,
                            obstacle);
    if (fit.groups < result.groups && result.groups > 1)
        text += fmt::format("         ({} {} of {} groups of runs: the others have samples {})\n",
                            error.empty() ? "no +- from" : "+- from", fit.groups, result.groups, obstacle_of_a_group);
    return text;
}

// Of the samples in the fit's window: why some have no area per interface length.
struct NoLength {
    std::string of_samples = "without lines C = 0", of_groups = of_samples;
};
NoLength no_length_text(const PlaneCoarseningResult& result) {
    bool left_out = false, none = false, some_left_out = false;
    const double slack = 1e-9 * result.fit_to; // as the fit has it
    for (std::size_t i = 0; i < result.times.size(); ++i) {
        if (result.times[i] < result.fit_from - slack || result.times[i] > result.fit_to + slack) continue;
        left_out = left_out || std::isnan(result.interfaces[i]); // of all members: there is no mean
        none = none || result.interfaces[i] == 0;
        some_left_out = some_left_out || result.interfaces_left_out[i] > 0;
    }
    NoLength text;
    if (left_out)
        text.of_samples =
            none ? "whose interfaces are left out, and some without lines C = 0" : "whose interfaces are left out";
    if (some_left_out)
        text.of_groups = "whose interfaces are left out, or without lines C = 0"; // groups are not looked at
    return text;
}

// Samples that lack interfaces of some members or of all: a fine grid of a large plane has that many in noise.
std::string left_out_lengths_text(const PlaneCoarseningResult& result) {
    const auto& left_out = result.interfaces_left_out;
    const auto samples = std::count_if(left_out.begin(), left_out.end(), [](auto members) { return members > 0; });
    if (samples == 0) return "";
    return fmt::format("{} of {} samples leave out up to {} members from the interface length: not finite, or longer "
                       "than {}\n",
                       samples, left_out.size(), *std::max_element(left_out.begin(), left_out.end()),
                       bandmill::PlaneCoarsening<double>::longest_interfaces);
}

std::string report(const PlaneCoarseningSpec& spec, const PlaneCoarseningResult& result) {
    std::string text = "\n      time   mean l   std. error   area / interface length    members\n";
    for (const std::size_t i : chosen_samples(result.times))
        text += fmt::format("{:10.4g} {:8.4f} {:>12} {:>25} {:10d}\n", result.times[i], result.size[i],
                            or_dash(result.size_error[i]), or_dash(result.length[i]), result.members[i]);
    text += left_out_text(result.left_out.back()) + left_out_lengths_text(result);
    if (result.window_samples < 2) return text + no_fit_text(result.fit_from, result.fit_to, spec.until);
    text += fmt::format("\nfit for {:.4g} <= t <= {:.4g}\n", result.fit_from, result.fit_to);
    const std::string no_size = "whose l is not finite and above 0";
    text += fit_line("l", result.size_fit, result, no_size, no_size);
    const NoLength no_length = no_length_text(result);
    text += fit_line("length", result.length_fit, result, no_length.of_samples, no_length.of_groups);
    if (result.groups > 1)
        text += fmt::format("         (+- at 95 %, from the scatter of {} groups of runs)\n", result.groups);
    return text + "theory   1/3 (Lifshitz-Slyozov), when domains are much larger than interfaces and smaller than the "
                  "plane\n";
}

void write_fit(JsonWriter& json, const char* name, const PowerFit& fit) {
    json.begin_object(name)
        .value("prefactor", fit.prefactor)
        .value("exponent", fit.exponent)
        .value("exponent_error95", fit.exponent_error)
        .value("correlation", fit.correlation)
        .value("samples", fit.samples)
        .value("groups", fit.groups)
        .end_object();
}

void write_summary(JsonWriter& json, const PlaneCoarseningSpec& spec, const PlaneCoarseningResult& result) {
    json.value("dimensions", 2)
        .value("members", spec.members)
        .value("points_x", spec.x.points())
        .value("points_y", spec.y.points())
        .value("length_x", spec.x.length())
        .value("length_y", spec.y.length())
        .value("gamma", spec.equation.gamma)
        .value("mean", spec.noise.mean.front());
    json.begin_object("fit").value("from", result.fit_from).value("to", result.fit_to).value("groups", result.groups);
    write_fit(json, "domain_size", result.size_fit);
    write_fit(json, "domain_length", result.length_fit);
    json.end_object().begin_array("samples");
    for (const std::size_t i : chosen_samples(result.times))
        json.begin_object()
            .value("time", result.times[i])
            .value("domain_size_mean", result.size[i])
            .value("domain_size_stderr", result.size_error[i])
            .value("domain_length", result.length[i])
            .value("member_count", result.members[i])
            .value("left_out", result.left_out[i])
            .value("interface_left_out", result.interfaces_left_out[i])
            .end_object();
    json.end_array();
}

template <class T> int coarsen(Options& options, bandmill::Communicator& ranks, const Resumed* resumed) {
    const PlaneCoarseningSpec spec = read_spec(options);
    const Machine machine = choose_machine(options, ranks);
    bandmill::PlaneCoarsening<T> study(spec);
    StudyRun<T> run{
        .name = "coarsen", .study = study, .layout = layout_of(study.times()), .records = false, .finish = {}};
    run.layout.attributes =
        provenance("Growth of domains in two-dimensional Cahn-Hilliard runs", options, machine, ranks);
    add_attributes(run.layout, spec);
    run.heading = fmt::format("{} runs of {} x {} points on {}, to t = {:.6g} in {} steps\n", spec.members,
                              spec.x.points(), spec.y.points(), machine.device, spec.until, study.steps());
    const Sampling sampling{
        .samples = std::ssize(study.times()),
        .observables = {{bandmill::Observable::domain_size, {}}, {bandmill::Observable::interfaces, {}}}};
    return carry_out_coarsening(
        run, study, sampling, options, machine, ranks, resumed,
        [&](bandmill::DataFile& file) { file.write("time", 0, std::span<const double>(study.times())); },
        [&](bandmill::DataFile& file, const PlaneCoarseningResult& result) { write(file, result); },
        [&](const PlaneCoarseningResult& result) { return report(spec, result); },
        [&](JsonWriter& json, const PlaneCoarseningResult& result) { write_summary(json, spec, result); });
}

} // namespace

void settle_planes(Options& options) {
    const auto usually = [&](const char* name, const std::string& value) {
        if (!options.chosen(name)) options.set(name, value);
    };
    usually("members", "8");
    usually("length", "4pi");
    usually("until", "30");
    usually("samples", "log:200");
    usually("histogram-times", "none");
    // The last decade.
    const double until = parse_positive("--until", options["until"]);
    usually("fit", fmt::format("{}:{}", until / 10, until));
}

int coarsen_planes(Options& options, bandmill::Communicator& ranks, const Resumed* resumed) {
    return with_precision(options, [&]<class T>() { return coarsen<T>(options, ranks, resumed); });
}

} // namespace app
