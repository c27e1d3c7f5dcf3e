// bandmill bench plane: how fast planes are stepped, case by case, beside the usual way and a copy of memory.
#include "command.hpp"
#include "environment.hpp"
#include "place_host.hpp"
#include "plane_bench.hpp"
#include "plane_rival.hpp"
#include "run_cases.hpp"
#include "timing.hpp"

#include "bandmill/base/array.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace app {
namespace {

// Without the forced equation, which has no planes.
constexpr Word<EquationKind> plane_equation_words[] = {equation_words[0], equation_words[1], equation_words[2]};

// The options as typed; an empty text is an option that was not given.
struct PlaneOptions : BenchOptions {
    std::string equation, points, members, precision, steps;
};

// Periodic, dx = 2 pi / 256 whatever the size (linear equations: whatever it makes of 2 pi), steps of 0.1 dx.
bandmill::EnsembleSpec make_spec(const PlaneCase& what) {
    const bool linear = what.equation != EquationKind::cahn_hilliard;
    const auto grid = [&](std::int64_t n) {
        const double scale = linear ? 1 : static_cast<double>(n) / 256;
        return bandmill::Grid(n, 2 * std::numbers::pi * scale);
    };
    bandmill::EnsembleSpec spec{.equation = bandmill::CahnHilliard{}, .grid = grid(what.nx), .members = what.members};
    if (what.equation == EquationKind::diffusion) spec.equation = bandmill::Diffusion{};
    if (what.equation == EquationKind::hyperdiffusion) spec.equation = bandmill::Hyperdiffusion{};
    spec.grid_y = grid(what.ny);
    spec.time_step = 0.1 * spec.spacing();
    return spec;
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

class PlaneRunner {
  public:
    PlaneRunner(Backend backend, bandmill::Device device, StepPatience patience, std::vector<std::string> rivals)
        : backend_(backend), device_(device), patience_(patience), rivals_(std::move(rivals)) {}

    std::string device_name() const {
        if (backend_ == Backend::cpu) return cpu_model();
        for (const bandmill::DeviceInfo& gpu : bandmill::cuda_devices())
            if (gpu.index == device_.index) return gpu.name;
        return "unknown GPU";
    }
    const char* ceiling() const { return backend_ == Backend::cuda ? "device-to-device copy" : "scale in place"; }

    std::variant<PlaneRecord, PlaneSkipped> run(const PlaneCase& what) {
        const double needed = 4 * what.state_bytes(), free = static_cast<double>(available_memory());
        if (needed > 0.9 * free)
            return PlaneSkipped{what, fmt::format("needs {}, and {} of host memory are free", readable_bytes(needed),
                                                  readable_bytes(free))};
        return what.precision == Precision::f64 ? run_in<double>(what) : run_in<float>(what);
    }

  private:
    template <class T> bandmill::Ensemble<T> make_ensemble(const PlaneCase& what) const {
        const bandmill::UniformNoise noise{0.1};
        if (backend_ == Backend::cuda) return bandmill::Ensemble<T>(make_spec(what), noise, device_);
        return bandmill::Ensemble<T>(make_spec(what), noise, bandmill::Threads{what.threads});
    }

    // Bytes read and written per second, of memory as large as the case's on a CPU, of 1 GiB on a GPU.
    double measure_ceiling(const PlaneCase& what) const {
        if (backend_ == Backend::cuda) {
            const std::int64_t bytes = std::int64_t{1} << 30;
            bandmill::Array<char, bandmill::Cuda> from(bytes, device_), to(bytes, device_);
            const StepTiming time = measure_steps({0, patience_.repetitions}, [&](std::int64_t copies) {
                for (std::int64_t k = 0; k < copies; ++k)
                    bandmill::copy_on_device(device_, to.data(), from.data(), static_cast<std::size_t>(bytes));
                bandmill::synchronize(device_);
            });
            return 2e-3 * static_cast<double>(bytes) * static_cast<double>(time.steps) / time.median;
        }
        Place<bandmill::Host> place(bandmill::Threads{what.threads});
        const std::size_t bytes = place.ceiling_bytes(static_cast<std::size_t>(what.state_bytes()));
        place.prepare_ceiling(bytes);
        const Timing time = measure(
            place, Patience{0, 2, 7}, [](int count) { return count; }, [](int, int) {},
            [&](int number) { place.run_ceiling(number); });
        place.end_ceiling();
        return 2e-3 * static_cast<double>(bytes) / time.median;
    }

    PlaneResult make_result(const PlaneCase& what, std::string path, const StepTiming& time, double ceiling) const {
        const double speed = 1e-3 * what.points() * static_cast<double>(time.steps) / time.median;
        return {std::move(path), time, speed, speed * counted_numbers * what.element_bytes() / ceiling};
    }

    template <class T> PlaneRecord run_in(const PlaneCase& what) {
        PlaneRecord record{};
        record.what = what;
        record.ceiling_gbytes_per_s = measure_ceiling(what);
        { // its memory is free again when the rival runs
            bandmill::Ensemble<T> ensemble = make_ensemble<T>(what);
            record.spacing = ensemble.spec().spacing();
            record.time_step = ensemble.time_step();
            const StepTiming time = measure_steps(patience_, [&](std::int64_t steps) { ensemble.advance(steps); });
            record.ours = make_result(what, ensemble.path(), time, record.ceiling_gbytes_per_s);
            const bandmill::ObservableRequest largest[] = {{bandmill::Observable::largest, {}}};
            const bandmill::Sample sample = ensemble.sample(largest, true);
            for (const double value : sample.values[0]) record.lost += !std::isfinite(value);
        }
        for (const std::string& rival : rivals_)
            record.rivals.emplace(rival, run_rival<T>(what, record.ceiling_gbytes_per_s));
        return record;
    }

    template <class T>
    std::variant<PlaneRivalResult, std::string> run_rival(const PlaneCase& what, double ceiling) const {
        if (what.equation != EquationKind::cahn_hilliard) return std::string("cahn-hilliard only");
        if (std::min(what.nx, what.ny) < 6) return std::string("needs at least 6 points");
        try {
            bandmill::Ensemble<T> ensemble = make_ensemble<T>(what);
            const std::vector<T> start = ensemble.states();
            const auto stepper =
                backend_ == Backend::cuda
                    ? make_plane_rival<T>(ensemble.spec(), std::span<const T>(start), device_)
                    : make_plane_rival<T>(ensemble.spec(), std::span<const T>(start), bandmill::Threads{what.threads});
            const std::int64_t compared_steps = 10;
            ensemble.advance(compared_steps);
            stepper->advance(compared_steps);
            const double difference = largest_difference(ensemble.states(), stepper->states(0, what.members));
            const StepTiming time = measure_steps(patience_, [&](std::int64_t steps) { stepper->advance(steps); });
            const bool right = difference <= (what.precision == Precision::f64 ? 1e-9 : 1e-3);
            return PlaneRivalResult{make_result(what, stepper->path(), time, ceiling), difference, !right};
        } catch (const bandmill::Error& error) { // ours was measured, and is worth keeping
            return fmt::format("failed: {}", error.what());
        }
    }

    Backend backend_;
    bandmill::Device device_;
    StepPatience patience_;
    std::vector<std::string> rivals_;
};

struct Sides {
    std::int64_t nx, ny;
};
Sides parse_sides(const std::string& text) {
    const auto side = [](const std::string& part) {
        return parse_size("--points", part, bandmill::Grid::fewest_points, std::int64_t{1} << 29);
    };
    const auto [x, y] = split_sides("--points", text);
    return {side(x), side(y)};
}

std::vector<PlaneCase> make_cases(const PlaneOptions& options, Backend backend) {
    const bool cuda = backend == Backend::cuda;
    const int threads = cuda ? 0 : options.thread_count(default_threads());
    const auto kind = EquationKind::cahn_hilliard;
    using enum Precision;
    if (options.equation.empty() && options.points.empty() && options.members.empty() && options.precision.empty()) {
        if (!cuda)
            return {{kind, 1024, 1024, 1, f64, threads},
                    {kind, 1024, 1024, 1, f32, threads},
                    {kind, 256, 256, 16, f64, threads}};
        return {{kind, 4096, 4096, 1, f64, 0},
                {kind, 4096, 4096, 1, f32, 0},
                {kind, 1024, 1024, 16, f64, 0},
                {kind, 1024, 1024, 1, f64, 0},
                {EquationKind::diffusion, 4096, 4096, 1, f64, 0},
                {EquationKind::hyperdiffusion, 4096, 4096, 1, f64, 0}};
    }
    const auto or_else = [](const std::string& text, const char* usual) { return text.empty() ? usual : text; };
    std::vector<PlaneCase> cases;
    for (const EquationKind equation :
         parse_words("--equation", or_else(options.equation, "cahn-hilliard"), plane_equation_words)) {
        for (const std::string& points : split_list("--points", or_else(options.points, cuda ? "4096" : "1024")))
            for (const std::int64_t members : parse_sizes("--members", or_else(options.members, "1")))
                for (const Precision precision :
                     parse_words("--precision", or_else(options.precision, "f64"), precision_words)) {
                    const auto [nx, ny] = parse_sides(points);
                    cases.push_back({equation, nx, ny, members, precision, threads});
                }
    }
    return cases;
}

void run_bench(const PlaneOptions& options) {
    const Backend backend = choose_backend(options.backend, options.gpu, options.threads);
    const bandmill::Device device = choose_gpu(options.gpu);
    StepPatience patience{};
    if (!options.steps.empty()) patience.steps = parse_size("--steps", options.steps, 1, std::int64_t{1} << 40);
    patience.repetitions = options.repetition_count(7);
    const std::vector<std::string> rivals = choose_rivals(options.rivals, plane_rival_names);
    const std::vector<PlaneCase> cases = make_cases(options, backend);
    if (options.list) return print_cases(cases, backend, rivals, plane_rival_names);
    std::optional<OutputFile> file = prepare_output(options, backend, device);
    PlaneRunner runner(backend, device, patience, rivals);
    PlaneBench bench{
        word_of(backend, backend_words), runner.device_name(), utc_now(), load_average(), runner.ceiling(), {}, {}};
    print_now(table_head(bench), options.silent());
    const int failed = run_cases(runner, cases, bench, options.silent());
    print_now(absent_text(bench.records), options.silent());
    deliver(bench, file, failed, options);
    refuse_wrong(
        bench.records, [](const PlaneRecord& record) { return record.wrong(); }, "members are not finite");
}

} // namespace

void add_bench_plane(CLI::App& bench) {
    CLI::App* command = bench.add_subcommand("plane", "Time the steps of planes, and the usual way beside them");
    const auto options = std::make_shared<PlaneOptions>();
    const auto text = [&](const char* flag, std::string& value, const char* type, const char* help) {
        return add_text(*command, flag, value, type, help);
    };
    add_place_options(*command, *options);
    add_threads_option(*command, *options);
    text("--equation", options->equation, "LIST", "diffusion, hyperdiffusion, cahn-hilliard [cahn-hilliard]")
        ->group("Cases");
    text("--points", options->points, "LIST", "Points of a plane, N or NXxNY [cpu 1024, cuda 4096]")->group("Cases");
    text("--members", options->members, "LIST", "Planes that are stepped together [1]")->group("Cases");
    text("--precision", options->precision, "LIST", "f64, f32 [f64]")->group("Cases");
    add_rivals_option(*command, *options);
    text("--steps", options->steps, "N", "Steps per timing (default: as many as take 0.2 s)");
    text("--repetitions", options->repetitions, "N", "Timings per case (default 7)");
    add_output_options(*command, *options);
    command->footer("A LIST has commas: --points 1024,4096x512. If any list is given, all combinations are run, the "
                    "others taking\n"
                    "what stands in [brackets]; without one, a standard set for the backend.\n"
                    "Examples:\n"
                    "  bandmill bench plane --json results.json\n"
                    "  bandmill bench plane --backend cpu --threads 2 --points 512 --members 1,8\n"
                    "A run that ends with members that are not finite is an error (exit code 1).");
    command->callback([options] { run_bench(*options); });
}

} // namespace app
