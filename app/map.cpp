// bandmill map: which pattern the forced Cahn-Hilliard equation ends in, over two of its parameters.
#include "bench_common.hpp"
#include "json_head.hpp"
#include "map_report.hpp"
#include "study_command.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::FlowMapResult;
using bandmill::FlowMapSpec;
using bandmill::FlowParameter;

constexpr Word<FlowParameter> parameter_words[] = {{"mean", FlowParameter::mean},
                                                   {"forcing", FlowParameter::forcing},
                                                   {"speed", FlowParameter::speed},
                                                   {"wavenumber", FlowParameter::wavenumber},
                                                   {"gamma", FlowParameter::gamma}};
constexpr Word<Classifier> classifier_words[] = {{"physical", Classifier::physical},
                                                 {"raw-kmeans", Classifier::raw_kmeans}};
constexpr std::int64_t most_cells = std::int64_t{1} << 28;

void add_options(Options& options) {
    using enum Decides;
    options.add("grid", "WxH", "96x96", "Cells of the map", data, "Map");
    options.add("x", "NAME", "mean", "Along it: mean, forcing, speed, wavenumber or gamma", data, "Map");
    options.add("y", "NAME", "forcing", "Up it: another of them", data, "Map");
    options.add("mean", "RANGE", "", "Mean concentration [0:1.5 as an axis]", data, "Map");
    options.add("forcing", "RANGE", "", "Amplitude f0 of the forcing [0:2 as an axis]", data, "Map");
    options.add("speed", "LIST", "", "Speed v of the forcing, 0 or more [0.5]", data, "Map");
    options.add("wavenumber", "LIST", "", "Wavenumber k of the forcing [1]", data, "Map");
    options.add("gamma", "LIST", "", "gamma of the equation [0.01]", data, "Map");
    options.add("points", "N", "256", "Grid points of a run, 5 or more", data, "Runs");
    options.add("length", "L", "2pi", "Length of the periodic domain", data, "Runs");
    options.add("amplitude", "A", "0.1", "Of the initial noise, uniform in [-A, A)", data, "Runs");
    options.add("seed", "N", "1", "Of the noise: cell k of seed N starts the same everywhere", data, "Runs");
    options.add("until", "T", "50", "Final time", data, "Runs");
    options.add("dt", "DT", "", "Longest time step (default: a tenth of the grid spacing)", data, "Runs");
    options.add("window", "T", "",
                "Before the end, for motion (default: a period of the forcing, at most half of the run)", data, "Runs");
    options.add("classifier", "NAME", "physical", "physical or raw-kmeans (the paper's)", data, "Classes");
    options.add("kmeans-restarts", "N", "8", "Starts of k-means; 0: without", data, "Classes");
    options.add("refine", "R", "0", "Run cells at a border again, with R other noises", data, "Classes");
    options.add("keep-states", "WxH", "48x48", "Cells whose final states are kept; 0x0: none", data, "Classes");
    add_common_options(options, "map.nc");
}

struct Shape {
    std::int64_t width, height;
};

Shape parse_shape(const std::string& option, const std::string& text, std::int64_t least) {
    const auto cross = text.find('x');
    if (cross == std::string::npos || text.find('x', cross + 1) != std::string::npos)
        throw UsageError(
            fmt::format("{} '{}' is not a size in cells: write 96x64 for 96 along and 64 up", option, text));
    return {parse_size(option, text.substr(0, cross), least, most_cells),
            parse_size(option, text.substr(cross + 1), least, most_cells)};
}

Shape read_grid(const Options& options) {
    const Shape shape = parse_shape("--grid", options["grid"], 1);
    if (shape.width > most_cells / shape.height)
        throw UsageError(fmt::format("--grid {} is too large: 2^28 cells at most", options["grid"]));
    return shape;
}

// Both ends are among them.
std::vector<double> spread(double from, double to, std::int64_t count) {
    std::vector<double> values(static_cast<std::size_t>(count), from);
    for (std::int64_t i = 1; i < count; ++i)
        values[static_cast<std::size_t>(i)] =
            i + 1 == count ? to : from + (to - from) * static_cast<double>(i) / static_cast<double>(count - 1);
    return values;
}

// What is taken where nothing was given; empty: it must be.
std::string usual_text(FlowParameter parameter, bool axis) {
    switch (parameter) {
    case FlowParameter::mean: return axis ? "0:1.5" : "";
    case FlowParameter::forcing: return axis ? "0:2" : "";
    case FlowParameter::speed: return axis ? "" : "0.5";
    case FlowParameter::wavenumber: return axis ? "" : "1";
    case FlowParameter::gamma: break;
    }
    return axis ? "" : "0.01";
}

double parse_parameter(const std::string& option, const std::string& text) {
    return option == "--gamma" ? parse_positive(option, text) : parse_real(option, text);
}

std::vector<double> read_axis(const std::string& word, const std::string& text, std::int64_t cells) {
    const std::string option = "--" + word;
    if (text.empty()) throw UsageError(fmt::format("{0} is an axis of the map: give its ends, --{0} A:B", word));
    if (text.find(':') == std::string::npos)
        throw UsageError(
            fmt::format("{} {} is not a range, but {} is an axis of the map: give its ends, A:B", option, text, word));
    const auto [from, to] = split_range(option, text);
    return spread(parse_parameter(option, from), parse_parameter(option, to), cells);
}

std::vector<double> read_values(const std::string& word, const std::string& text) {
    const std::string option = "--" + word;
    if (text.empty())
        throw UsageError(fmt::format("{0} is not an axis of this map: give --{0}, a value or a list of them", word));
    if (text.find(':') != std::string::npos)
        throw UsageError(fmt::format("{} {} is a range, but {} is not an axis: give --x {} or --y {}, or a list",
                                     option, text, word, word, word));
    std::vector<double> values;
    for (const std::string& item : split_list(option, text)) values.push_back(parse_parameter(option, item));
    return values;
}

void read_parameters(Options& options, FlowMapSpec& spec) {
    const Shape shape = read_grid(options);
    spec.x = parse_word("--x", options["x"], parameter_words);
    spec.y = parse_word("--y", options["y"], parameter_words);
    if (spec.x == spec.y) throw UsageError(fmt::format("--x and --y are both {}: give two parameters", options["x"]));
    for (const auto& [word, parameter] : parameter_words) {
        const bool axis = parameter == spec.x || parameter == spec.y;
        if (!options.given(word)) options.set(word, usual_text(parameter, axis));
        spec.values[static_cast<std::size_t>(parameter)] =
            axis ? read_axis(word, options[word], parameter == spec.x ? shape.width : shape.height)
                 : read_values(word, options[word]);
    }
}

// What was left to us is settled: the options that a file keeps are all there.
FlowMapSpec read_spec(Options& options) {
    FlowMapSpec spec;
    read_parameters(options, spec);
    const std::int64_t points = parse_size("--points", options["points"], bandmill::Grid::fewest_points,
                                           most_elements / (spec.width() * spec.height()));
    spec.grid = bandmill::Grid(points, parse_positive("--length", options["length"]));
    spec.amplitude = parse_number("--amplitude", options["amplitude"], 0);
    spec.seed = static_cast<std::uint64_t>(parse_size("--seed", options["seed"], 0));
    spec.until = parse_positive("--until", options["until"]);
    if (options.given("dt")) spec.time_step = parse_positive("--dt", options["dt"]);
    if (spec.step_length() > spec.until)
        throw UsageError(
            fmt::format("--dt {:.6g} is longer than the whole run (--until {})", spec.step_length(), options["until"]));
    if (options.given("window")) spec.window = parse_positive("--window", options["window"]);
    if (spec.window > spec.until)
        throw UsageError(
            fmt::format("--window {} is longer than the whole run (--until {})", options["window"], options["until"]));
    spec.refine = static_cast<int>(parse_size("--refine", options["refine"], 0, 1000));
    spec.kmeans_restarts = static_cast<int>(parse_size("--kmeans-restarts", options["kmeans-restarts"], 0, 10000));
    const Shape kept = parse_shape("--keep-states", options["keep-states"], 0);
    spec.keep_width = kept.width;
    spec.keep_height = kept.height;
    options.set("dt", fmt::format("{}", spec.step_length()));
    options.set("window", fmt::format("{}", spec.window_length()));
    return spec;
}

Classifier read_classifier(const Options& options, const FlowMapSpec& spec) {
    const Classifier classifier = parse_word("--classifier", options["classifier"], classifier_words);
    if (classifier == Classifier::raw_kmeans && spec.kmeans_restarts == 0)
        throw UsageError("--classifier raw-kmeans is not possible with --kmeans-restarts 0: give 1 or more");
    return classifier;
}

void warn_of_wavenumbers(const FlowMapSpec& spec) {
    for (const double wavenumber : spec.of(FlowParameter::wavenumber)) {
        const double waves = wavenumber * spec.grid.length() / (2 * std::numbers::pi);
        if (std::abs(waves - std::round(waves)) <= 1e-9 * std::max(1.0, std::abs(waves))) continue;
        make_warner(false)(fmt::format("the forcing does not keep the mean: {:.6g} waves of it (wavenumber {:.6g}) are "
                                       "in the domain, which is not a whole number",
                                       waves, wavenumber));
        return;
    }
}

template <class T>
std::string heading(const FlowMapSpec& spec, const bandmill::FlowMap<T>& study, const Machine& machine) {
    std::int64_t most_steps = 0;
    for (const bandmill::MemberGroup& group : study.groups()) most_steps = std::max(most_steps, group.steps);
    const std::string panels = spec.panels() > 1 ? fmt::format("{} maps of ", spec.panels()) : "";
    const std::string steps =
        most_steps > study.steps() ? fmt::format("{} to {}", study.steps(), most_steps) : fmt::format("{}", most_steps);
    return fmt::format("{}{} x {} cells, runs of {} points on {}, to t = {:.6g} in {} steps\n", panels, spec.width(),
                       spec.height(), spec.grid.points(), machine.device, spec.until, steps);
}

template <class T>
std::string report(const FlowMapSpec& spec, const bandmill::FlowMap<T>& study, const FlowMapResult<T>& result,
                   const std::vector<MapPanel>& panels, const std::string& out) {
    std::string text = panels_text(spec, panels) + "\n" + rule_text(result.rule);
    const auto shorter = std::count_if(result.halvings.begin(), result.halvings.end(), [](int n) { return n > 0; });
    text +=
        fmt::format("steps    {:.4g} long, shorter in {} cells; {} times a cell was stepped again with half of it\n",
                    spec.step_length(), shorter, study.repeated);
    const auto too_long = std::count(result.step_too_long.begin(), result.step_too_long.end(), char{1});
    if (too_long > 0) text += fmt::format("         {} cells had steps that were too long even so\n", too_long);
    if (spec.refine > 0) text += fmt::format("borders  {} more runs of cells at a border\n", study.refined);
    if (!study.lost.empty()) text += fmt::format("{} cells have no finite run\n", study.lost.size());
    return text + fmt::format("\nwritten to {}\n", out);
}

void write_panel(JsonWriter& json, const FlowMapSpec& spec, const MapPanel& panel) {
    json.begin_object();
    const std::vector<FlowParameter> others = spec.panel_parameters();
    for (std::size_t i = 0; i < others.size(); ++i) json.value(name(others[i]), panel.parameters[i]);
    for (std::size_t kind = 0; kind < panel.cells.size(); ++kind)
        json.value(fmt::format("a{}_cells", kind), panel.cells[kind]);
    json.value("speckle", panel.speckle)
        .value("kmeans_speckle", panel.kmeans_speckle)
        .value("unsettled_cells", panel.unsettled)
        .end_object();
}

template <class T>
std::string summary_json(const Machine& machine, const FlowMapSpec& spec, const bandmill::FlowMap<T>& study,
                         const FlowMapResult<T>& result, const std::vector<MapPanel>& panels, const std::string& out,
                         double seconds, double total_seconds, double work) {
    JsonWriter json;
    json.begin_object();
    write_study_head(json, "map", out, machine);
    json.value("x", name(spec.x))
        .value("y", name(spec.y))
        .value("width", spec.width())
        .value("height", spec.height())
        .value("points", spec.grid.points())
        .value("length", spec.grid.length())
        .value("until", study.time())
        .value("lost_members", study.lost.size())
        .value("repeated_cells", study.repeated)
        .value("refined_runs", study.refined)
        .value("seconds", seconds)
        .value("total_seconds", total_seconds) // with the file
        .value("stepping_seconds", study.stepping_seconds)
        .value("kmeans_seconds", study.kmeans_seconds)
        .value("point_steps_per_second", work / seconds)
        .value("limit_motion_log10", result.rule.motion.value)
        .value("limit_depth", result.rule.depth.value)
        .value("limit_harmonics_log10", result.rule.harmonics.value)
        .value("corner_largest", largest_size(result.features.back()))
        .begin_array("panels");
    for (const MapPanel& panel : panels) write_panel(json, spec, panel);
    return json.end_array().end_object().text();
}

template <class T> int map(Options& options, bandmill::Communicator& ranks, const Resumed* resumed) {
    const auto began = std::chrono::steady_clock::now();
    const FlowMapSpec spec = read_spec(options);
    const Classifier classifier = read_classifier(options, spec);
    const Machine machine = choose_machine(options, ranks);
    bandmill::FlowMap<T> study(spec, machine.where);
    FlowMapResult<T> result;
    using enum bandmill::NumberType;
    StudyRun<T> run{.name = "map",
                    .study = study,
                    .layout = map_layout(spec, classifier, sizeof(T) == 8 ? f64 : f32),
                    .records = false,
                    .finish = {}};
    const auto origin = provenance("Patterns of the forced Cahn-Hilliard equation", options, machine, ranks);
    run.layout.attributes.insert(run.layout.attributes.begin(), origin.begin(), origin.end());
    if (options.flag("dry-run")) {
        // k-means needs all final states at the end; what was found is there three times.
        const double states = static_cast<double>(spec.cells() * spec.grid.points()) * sizeof(T);
        const auto found = static_cast<double>(study.sums().size_bytes());
        print_estimate(study, run.layout, {}, options, machine, ranks,
                       (spec.kmeans_restarts > 0 ? states : 0) + 2 * found);
        return 0;
    }
    run.begin = [&](bandmill::DataFile& file) {
        if (ranks.is_root()) write_map_coordinates(file, spec);
    };
    run.finish = [&](bandmill::DataFile& file) {
        result = study.result();
        write_map(file, study, spec, result, classifier);
    };
    const SummaryFile summary(options, ranks.is_root());
    if (!resumed && ranks.is_root() && !options.flag("quiet")) {
        warn_of_wavenumbers(spec);
        if (study.hidden_motion() > 0.02)
            fmt::print(stderr,
                       "bandmill: warning: round-off hides motion below {:.2g} of the forcing's speed, so that slow "
                       "patterns look held (--precision {}, {} points): use f64, or fewer points\n",
                       study.hidden_motion(), options["precision"], spec.grid.points());
    }
    run.heading = heading(spec, study, machine);
    const int code = carry_out(run, options, machine, ranks, resumed);
    if (code != 0 || !ranks.is_root()) return code;
    const std::string out = results_name(options, resumed);
    const std::vector<MapPanel> panels = map_panels(spec, result, classifier);
    if (!summary.to_stdout())
        print_now(report(spec, study, result, panels, out) + speed_text(study, run.seconds, resumed) + "\n",
                  options.flag("quiet"));
    const double total = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    summary.write(summary_json(machine, spec, study, result, panels, out, run.seconds, total,
                               resumed ? std::numeric_limits<double>::quiet_NaN() : point_steps(study)));
    return 0;
}

int run(Options& options, bandmill::Communicator& ranks, const Resumed* resumed) {
    return with_precision(options, [&]<class T>() { return map<T>(options, ranks, resumed); });
}

} // namespace

const StudyCommand map_command{
    "map", "Which pattern the forced Cahn-Hilliard equation ends in, over two of its parameters",
    "C_t = (C^3 - C - gamma C_xx)_xx + v C_x + f0 k cos(k x), periodic, in the frame of the forcing. A run for each "
    "cell.\n"
    "A0: the forcing leaves the domains behind; A1: domains that it holds; A2: a sinusoidal wave about the mean.\n"
    "An axis has a range A:B with both ends on the grid; other parameters have a value or a list, 0.5,1.0: a map for\n"
    "each. Lengths and times: 6.28 or 2pi. Sizes: 65536, 2^16 or 1e6. The defaults take about 5 minutes on two cores.\n"
    "Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 write a checkpoint and stop; bandmill resume goes on.\n"
    "Under mpirun or srun the cells are split over the ranks; the results do not depend on how many there are.\n"
    "Examples:\n"
    "  bandmill map --grid 48x48 --until 20\n"
    "  bandmill map --speed 0.5,1.0 --refine 8 --out borders.nc\n"
    "  bandmill map --x speed --speed 0:2 --mean 0.3 --classifier raw-kmeans\n"
    "  bandmill map --grid 768x768 --points 512 --backend cuda",
    add_options, run};

} // namespace app
