// bandmill simulate: the fields of some runs over time, in a file.
#include "bench_common.hpp"
#include "equation_options.hpp"
#include "json_head.hpp"
#include "study_command.hpp"

#include "bandmill/study/simulation.hpp"

#include <fmt/format.h>

namespace app {
namespace {

enum class InitialKind { noise, cosine, constant };
constexpr Word<InitialKind> initial_words[] = {
    {"noise", InitialKind::noise}, {"cosine", InitialKind::cosine}, {"constant", InitialKind::constant}};
constexpr Word<bandmill::Ends> end_words[] = {{"periodic", bandmill::Ends::periodic},
                                              {"neumann", bandmill::Ends::neumann},
                                              {"dirichlet", bandmill::Ends::dirichlet}};

void add_options(Options& options) {
    using enum Decides;
    add_equation_options(options);
    options.add("members", "N", "1", "Runs in the ensemble", data, "Problem");
    options.add("points", "N", "256", "Grid points of a run, 5 or more", data, "Problem");
    options.add("length", "L", "2pi", "Length of the domain", data, "Problem");
    options.add("ends", "NAME", "periodic", "periodic, neumann or dirichlet", data, "Problem");
    options.add("end-value", "C", "", "C at dirichlet ends (0)", data, "Problem");
    options.add("initial", "NAME", "noise", "noise, cosine or constant", data, "Start");
    options.add("amplitude", "A", "0.1", "Of the noise, uniform in [-A, A), or of the cosine", data, "Start");
    options.add("mode", "K", "1", "K of the cosine A cos(K x)", data, "Start");
    options.add("mean", "C", "0", "Mean of the initial state; A:B from the first member to the last", data, "Start");
    options.add_flag("exact-mean", "Take the noise's own mean away from each member", data, "Start");
    options.add("seed", "N", "1", "Of the noise: member k of seed N is the same run everywhere", data, "Start");
    options.add("until", "T", "10", "Final time", data, "Time");
    options.add("dt", "DT", "", "Time step (default: a tenth of the grid spacing)", data, "Time");
    options.add("save-every", "T", "1", "Time between records; 0 saves every step", data, "Time");
    add_common_options(options, "simulate.nc");
}

// An option of another initial state is a mistake, unless it has its default: files of results hold all options.
void refuse_others(const Options& options) {
    const InitialKind kind = parse_word("--initial", options["initial"], initial_words);
    const auto refuse = [&](const char* name, bool departs) {
        if (departs) throw UsageError(fmt::format("--{} makes no sense with --initial {}", name, options["initial"]));
    };
    const auto departs = [&](const char* name, const auto& parse) {
        return parse(fmt::format("--{}", name), options[name]) != parse(name, options.standard(name));
    };
    const auto seed = [](std::string_view name, std::string_view text) { return parse_size(name, text, 0); };
    refuse("amplitude", kind == InitialKind::constant && departs("amplitude", parse_real));
    refuse("mode", kind != InitialKind::cosine && departs("mode", parse_real));
    refuse("exact-mean", kind != InitialKind::noise && options.flag("exact-mean"));
    refuse("seed", kind != InitialKind::noise && departs("seed", seed));
}

bandmill::InitialState read_initial(const Options& options, std::int64_t members) {
    const std::vector<double> mean = read_spread("--mean", options["mean"], members);
    const double amplitude = parse_real("--amplitude", options["amplitude"]);
    switch (parse_word("--initial", options["initial"], initial_words)) {
    case InitialKind::constant: return bandmill::Constant{mean};
    case InitialKind::cosine:
        if (options["mean"].find(':') != std::string::npos)
            throw UsageError("--mean cannot be a range with --initial cosine");
        return bandmill::Cosine{amplitude, parse_real("--mode", options["mode"]), mean[0]};
    case InitialKind::noise: break;
    }
    return bandmill::UniformNoise{amplitude, mean, options.flag("exact-mean"),
                                  static_cast<std::uint64_t>(parse_size("--seed", options["seed"], 0))};
}

// What was left to us is settled: the options that a file keeps are all there.
bandmill::SimulationSpec read_spec(Options& options) {
    const std::int64_t points = parse_size("--points", options["points"], bandmill::Grid::fewest_points, most_elements);
    const std::int64_t members = parse_size("--members", options["members"], 1, most_elements / points);
    const bandmill::Ends ends = parse_word("--ends", options["ends"], end_words);
    if (ends == bandmill::Ends::dirichlet && !options.given("end-value")) options.set("end-value", "0");
    const double end_value = options.given("end-value") ? parse_real("--end-value", options["end-value"]) : 0;
    const bandmill::Grid grid(points, parse_positive("--length", options["length"]), ends, end_value);
    bandmill::SimulationSpec spec{.ensemble = {.equation = read_equation(options), .grid = grid, .members = members},
                                  .initial = read_initial(options, members)};
    if (options.given("dt")) spec.ensemble.time_step = parse_positive("--dt", options["dt"]);
    options.set("dt", fmt::format("{}", spec.step_length()));
    spec.ensemble.parameters = read_member_parameters(options, members);
    spec.until = parse_time("--until", options["until"]);
    spec.save_every = parse_time("--save-every", options["save-every"]);
    return spec;
}

template <class T>
bandmill::DataLayout layout_of(const bandmill::Simulation<T>& study, std::int64_t points, bool forced) {
    using enum bandmill::NumberType;
    const auto described = [](const char* meaning) {
        return std::vector<bandmill::Attribute>{{"long_name", meaning}, {"units", "1"}};
    };
    bandmill::DataLayout layout;
    layout.dimensions = {{"time", study.records()}, {"member", study.members()}, {"x", points}};
    layout.variables = {{"time", f64, {"time"}, described("time of the record, in units of the equation")},
                        {"member", i64, {"member"}, described("number of the run")},
                        {"x", f64, {"x"}, described("position")},
                        {"initial_mean", f64, {"member"}, described("mean that the initial state was given")},
                        {"C", sizeof(T) == 8 ? f64 : f32, {"time", "member", "x"}, described("concentration")}};
    if (forced) layout.variables.push_back({"forcing", f64, {"member"}, described("amplitude of the forcing")});
    return layout;
}

template <class T>
void write_coordinates(bandmill::DataFile& file, const bandmill::Simulation<T>& study,
                       const bandmill::SimulationSpec& spec, std::vector<double> mean) {
    const bandmill::Grid& grid = spec.ensemble.grid;
    std::vector<std::int64_t> members(static_cast<std::size_t>(study.members()));
    for (std::size_t k = 0; k < members.size(); ++k) members[k] = static_cast<std::int64_t>(k);
    std::vector<double> positions;
    for (std::int64_t i = 0; i < grid.points(); ++i) positions.push_back(grid.position(i));
    file.write("time", 0, std::span<const double>(study.times()));
    file.write("member", 0, std::span<const std::int64_t>(members));
    file.write("x", 0, std::span<const double>(positions));
    const auto for_all = [&](std::vector<double> values) {
        if (values.size() == 1) values.resize(members.size(), values[0]);
        return values;
    };
    file.write("initial_mean", 0, std::span<const double>(for_all(std::move(mean))));
    for (const std::vector<double>& forcing : spec.ensemble.parameters)
        file.write("forcing", 0, std::span<const double>(for_all(forcing)));
}

template <class T> int simulate(Options& options, bandmill::Communicator& ranks, const Resumed* resumed) {
    if (!resumed) refuse_others(options); // a checkpoint of an earlier version may hold what this one refuses
    const bandmill::SimulationSpec spec = read_spec(options);
    const Machine machine = choose_machine(options, ranks);
    bandmill::Simulation<T> study(spec);
    StudyRun<T> run{.name = "simulate",
                    .study = study,
                    .layout = layout_of(study, spec.ensemble.grid.points(), !spec.ensemble.parameters.empty()),
                    .records = true,
                    .finish = {}};
    run.layout.attributes = provenance("Fields of one-dimensional runs over time", options, machine, ranks);
    run.layout.attributes.push_back({"lost_members", std::int64_t{0}});
    run.layout.attributes.push_back({"equation", options["equation"]});
    run.layout.attributes.push_back({"length", spec.ensemble.grid.length()});
    run.layout.attributes.push_back({"time_step", spec.step_length()});
    if (options.flag("dry-run")) {
        print_estimate(study, run.layout, {}, options, machine, ranks);
        return 0;
    }
    run.begin = [&](bandmill::DataFile& file) {
        study.file = &file;
        if (ranks.is_root())
            write_coordinates(file, study, spec, read_spread("--mean", options["mean"], spec.ensemble.members));
    };
    run.finish = [&](bandmill::DataFile& file) {
        if (!study.complete())
            throw bandmill::FileError("some records are missing or were written twice: this is a bug");
        file.set_attribute("lost_members", static_cast<std::int64_t>(study.lost.size()));
    };
    const SummaryFile summary(options, ranks.is_root());
    const bool quiet = options.flag("quiet") || summary.to_stdout() || !ranks.is_root();
    run.heading =
        fmt::format("{} runs of {} points on {}, to t = {:.6g} in {} steps, {} records\n", spec.ensemble.members,
                    spec.ensemble.grid.points(), machine.device, spec.until, study.steps(), study.records());
    const int code = carry_out(run, options, machine, ranks, resumed);
    if (code != 0 || !ranks.is_root()) return code;
    const std::string out = results_name(options, resumed);
    print_now(lost_text(study.lost) + fmt::format("written to {}\n{}\n", out, speed_text(study, run.seconds, resumed)),
              quiet);
    JsonWriter json;
    json.begin_object()
        .value("study", "simulate")
        .value("file", out)
        .value("version", bandmill::version())
        .value("commit", commit())
        .value("device", machine.device)
        .value("members", spec.ensemble.members)
        .value("points", spec.ensemble.grid.points())
        .value("steps", study.steps())
        .value("records", study.records())
        .value("lost_members", study.lost.size())
        .value("seconds", run.seconds)
        .value("point_steps_per_second",
               resumed ? std::numeric_limits<double>::quiet_NaN() : point_steps(study) / run.seconds)
        .end_object();
    summary.write(json.text());
    return 0;
}

int run(Options& options, bandmill::Communicator& ranks, const Resumed* resumed) {
    return with_precision(options, [&]<class T>() { return simulate<T>(options, ranks, resumed); });
}

} // namespace

const StudyCommand simulate_command{
    "simulate", "Run an equation and save its fields over time",
    "cahn-hilliard: C_t = (C^3 - C - gamma C_xx)_xx;  forced-cahn-hilliard: + v C_x + f0 k cos(k x);\n"
    "diffusion: C_t = D C_xx;  hyperdiffusion: C_t = -D C_xxxx. The cosine of the start is A cos(K x).\n"
    "Lengths and times: 6.28 or 2pi. Sizes: 65536, 2^16 or 1e6.\n"
    "The file has C(time, member, x); while it grows it is FILE.partial, and what is not reached yet is NaN.\n"
    "Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 write a checkpoint and stop; bandmill resume goes on.\n"
    "Examples:\n"
    "  bandmill simulate --members 8 --until 1000 --save-every 1 --out run.nc\n"
    "  bandmill simulate --equation forced-cahn-hilliard --members 64 --forcing 0:2 --dt 0.001 --until 50\n"
    "  bandmill simulate --equation diffusion --initial cosine --amplitude 1 --ends neumann --until 1 --save-every 0.1",
    add_options, run};

} // namespace app
