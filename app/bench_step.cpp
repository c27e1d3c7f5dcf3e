// bandmill bench step: how many points of an ensemble are stepped per second, case by case, beside the paper's way.
#include "command.hpp"
#include "environment.hpp"
#include "run_cases.hpp"
#include "step_report.hpp"

#include "bandmill/base/error.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace app {
namespace {

// The options as typed; an empty text is an option that was not given.
struct Options : BenchOptions {
    std::string equation, n, members, precision, statistics, shape, steps;
};

StepOptions read_step_options(const Options& options) {
    StepOptions run{};
    run.backend = choose_backend(options.backend, options.gpu, options.threads);
    run.device = choose_gpu(options.gpu);
    if (!options.steps.empty()) run.patience.steps = parse_size("--steps", options.steps, 1, std::int64_t{1} << 40);
    run.patience.repetitions = options.repetition_count(7);
    run.rivals = choose_rivals(options.rivals, step_rival_names);
    return run;
}

StepLists read_lists(const Options& options, Backend backend) {
    StepLists lists;
    const auto given = [](const std::string& text) { return !text.empty(); };
    if (given(options.equation)) lists.equation = parse_words("--equation", options.equation, equation_words);
    if (given(options.n))
        for (const std::string& item : split_list("--n", options.n))
            lists.n.push_back(parse_size("--n", item, bandmill::Grid::fewest_points));
    if (given(options.members)) lists.members = parse_sizes("--members", options.members);
    if (given(options.precision)) lists.precision = parse_words("--precision", options.precision, precision_words);
    if (given(options.statistics)) lists.statistics = parse_words("--statistics", options.statistics, statistics_words);
    if (given(options.shape)) lists.shape = parse_words("--shape", options.shape, shape_words);
    if (given(options.threads))
        for (const std::string& item : split_list("--threads", options.threads))
            lists.threads.push_back(static_cast<int>(parse_size("--threads", item, 1, 4096)));
    const auto& shapes = lists.shape;
    if (backend == Backend::cpu && std::find(shapes.begin(), shapes.end(), bandmill::Shape::latency) != shapes.end())
        throw UsageError("--shape latency makes no sense on the CPU, where a member is never spread");
    return lists;
}

void run_bench(const Options& options) {
    const StepOptions run = read_step_options(options);
    const auto cases = make_step_cases(read_lists(options, run.backend), run.backend);
    if (options.list) return print_cases(cases, run.backend, run.rivals, step_rival_names);
    std::optional<OutputFile> file = prepare_output(options, run.backend, run.device);

    StepRunner runner(run);
    StepBench bench{word_of(run.backend, backend_words), runner.device_name(), utc_now(), load_average(), {}, {}};
    print_now(table_head(bench), options.silent());
    const int failed = run_cases(runner, cases, bench, options.silent());
    print_now(absent_text(bench.records), options.silent());
    deliver(bench, file, failed, options);
    refuse_wrong(
        bench.records, [](const StepRecord& record) { return record.wrong(); }, "members are not finite");
}

} // namespace

void add_bench_step(CLI::App& bench) {
    CLI::App* command = bench.add_subcommand("step", "Time the steps of ensembles, and the paper's way beside them");
    const auto options = std::make_shared<Options>();
    const auto text = [&](const char* flag, std::string& value, const char* type, const char* help) {
        return add_text(*command, flag, value, type, help);
    };
    add_place_options(*command, *options);
    text("--equation", options->equation, "LIST",
         "diffusion, hyperdiffusion, cahn-hilliard, forced-cahn-hilliard [cahn-hilliard]")
        ->group("Cases");
    text("--n", options->n, "LIST", "Points of a member, 5 or more [256]")->group("Cases");
    text("--members", options->members, "LIST", "Members of the ensemble [cpu 4096, cuda 2^18]")->group("Cases");
    text("--precision", options->precision, "LIST", "f64, f32 [f64]")->group("Cases");
    text("--statistics", options->statistics, "LIST", "none; domain-size: that of every member after every step [none]")
        ->group("Cases");
    text("--shape", options->shape, "LIST", "throughput; latency: a GPU spreads few members wider [throughput]")
        ->group("Cases");
    text("--threads", options->threads, "LIST", "CPU threads [all]")->group("Cases");
    add_rivals_option(*command, *options);
    text("--steps", options->steps, "N", "Steps per timing (default: as many as take 0.2 s)");
    text("--repetitions", options->repetitions, "N", "Timings per case (default 7)");
    add_output_options(*command, *options);
    command->footer(
        "Sizes: 65536 or 2^16. A LIST has commas: --n 64,256,2^10. If any list but --threads is given, all "
        "combinations\n"
        "are run, the others taking what stands in [brackets]; without one, a standard set for the backend is run\n"
        "(about a minute).\n"
        "Members start from noise of amplitude 0.1 and are stepped by 0.1 dx, or less where that is not stable.\n"
        "Examples:\n"
        "  bandmill bench step --json results.json\n"
        "  bandmill bench step --backend cpu --threads 1,2 --n 256 --equation cahn-hilliard,forced-cahn-hilliard\n"
        "  bandmill bench step --backend cuda --n 256 --members 64 --shape throughput,latency --rivals none\n"
        "A run that ends with members that are not finite is an error (exit code 1).");
    command->callback([options] { run_bench(*options); });
}

} // namespace app
