// bandmill bench solve: the time of one solve, case by case, against what the memory allows.
#include "command.hpp"
#include "environment.hpp"
#include "run_cases.hpp"
#include "solve_report.hpp"
#include "solve_runner.hpp"

#include "bandmill/base/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace app {
namespace {

// The options as typed; an empty text is an option that was not given.
struct Options : BenchOptions {
    std::string n, batch, half_bandwidth, boundary, layout, precision, matrix, sigma, max_bytes;
    bool in_place = false, out_of_place = false, memory = false, no_memory = false;
};

RunOptions read_run_options(const Options& options) {
    RunOptions run{};
    run.backend = choose_backend(options.backend, options.gpu, options.threads);
    run.device = choose_gpu(options.gpu);
    run.threads.count = options.thread_count(run.threads.count);
    if (options.in_place && options.out_of_place) throw UsageError("--in-place and --out-of-place exclude each other");
    run.placement = options.in_place || (run.backend == Backend::cpu && !options.out_of_place)
                        ? Placement::in_place
                        : Placement::out_of_place;
    if (!options.sigma.empty()) run.sigma = parse_number("--sigma", options.sigma, 0);
    run.repetitions = options.repetition_count(run.repetitions);
    run.max_bytes =
        options.max_bytes.empty() ? SIZE_MAX : static_cast<std::size_t>(parse_size("--max-bytes", options.max_bytes));
    if (options.memory && options.no_memory) throw UsageError("--memory and --no-memory exclude each other");
    run.rivals = choose_rivals(options.rivals, rival_names(run.backend));
    return run;
}

CaseLists read_lists(const Options& options) {
    CaseLists lists;
    const auto given = [](const std::string& text) { return !text.empty(); };
    if (given(options.n)) lists.n = parse_sizes("--n", options.n);
    if (given(options.batch)) lists.batch = parse_sizes("--batch", options.batch);
    if (given(options.half_bandwidth))
        lists.half_bandwidth = parse_words("--half-bandwidth", options.half_bandwidth, half_bandwidth_words);
    if (given(options.boundary)) lists.boundary = parse_words("--boundary", options.boundary, boundary_words);
    if (given(options.layout)) lists.layout = parse_words("--layout", options.layout, layout_words);
    if (given(options.precision)) lists.precision = parse_words("--precision", options.precision, precision_words);
    if (given(options.matrix)) lists.matrix = parse_words("--matrix", options.matrix, matrix_words);
    return lists;
}

// What is true of all cases; prints the head of the table, with the ceiling of the largest array that will be used.
SolveBench begin_bench(SolveRunner& runner, const RunOptions& run, const std::vector<SolveCase>& cases, bool quiet) {
    SolveBench bench{};
    bench.backend = word_of(run.backend, backend_words);
    bench.device = runner.device_name();
    bench.date = utc_now();
    bench.threads = runner.threads();
    bench.load_average = load_average();
    std::size_t largest = 0;
    for (const SolveCase& what : cases)
        if (!runner.obstacle(what))
            largest = std::max(largest, static_cast<std::size_t>(*what.elements()) * what.element_bytes());
    const Ceiling* ceiling = largest > 0 ? &runner.ceiling(largest) : nullptr;
    print_now(table_head(bench, ceiling, run.placement), quiet);
    return bench;
}

void run_bench(const Options& options) {
    const RunOptions run = read_run_options(options);
    const CaseLists lists = read_lists(options);
    const auto cases = make_cases(lists, run.backend);
    if (options.list) return print_cases(cases, run.backend, run.rivals, rival_names(run.backend));
    std::optional<OutputFile> file = prepare_output(options, run.backend, run.device);

    const auto runner = make_runner(run);
    SolveBench bench = begin_bench(*runner, run, cases, options.silent());
    const int failed = run_cases(*runner, cases, bench, options.silent());
    print_now(absent_text(bench.records), options.silent());
    bench.ceilings = runner->ceilings();
    if (options.memory || (lists.all_empty() && !options.no_memory)) {
        bench.memory = runner->survey_memory();
        print_now(memory_table(*bench.memory), options.silent());
    }
    deliver(bench, file, failed, options);
    refuse_wrong(
        bench.records, [](const Record& record) { return is_wrong(record.ours); },
        fmt::format("backward error over {} epsilons", wrong_beyond));
}

} // namespace

void add_bench_solve(CLI::App& bench) {
    CLI::App* command =
        bench.add_subcommand("solve", "Time the solver against a copy of the same memory, and against rivals");
    const auto options = std::make_shared<Options>();
    const auto text = [&](const char* flag, std::string& value, const char* type, const char* help) {
        return add_text(*command, flag, value, type, help);
    };
    add_place_options(*command, *options);
    add_threads_option(*command, *options);
    text("--n", options->n, "LIST", "Rows per system [256,1024]")->group("Cases");
    text("--batch", options->batch, "LIST", "Systems per batch [cpu 16384, cuda 65536]")->group("Cases");
    text("--half-bandwidth", options->half_bandwidth, "LIST", "1 tridiagonal, 2 pentadiagonal [1,2]")->group("Cases");
    text("--boundary", options->boundary, "LIST", "open, periodic [both]")->group("Cases");
    text("--layout", options->layout, "LIST",
         "interleaved, contiguous, tiled: 32 systems wide [cpu tiled, cuda interleaved]")
        ->group("Cases");
    text("--precision", options->precision, "LIST", "f64, f32 [f64]")->group("Cases");
    text("--matrix", options->matrix, "LIST", "general, toeplitz [general]")->group("Cases");
    text("--sigma", options->sigma, "S", "Stiffness: A = I + S * differences (default: W=1 1, W=2 1e6)");
    add_rivals_option(*command, *options);
    text("--repetitions", options->repetitions, "N", "Timings per case (default: 0.1 to 0.2 s of them)");
    text("--max-bytes", options->max_bytes, "SIZE", "Skip cases whose arrays need more (default: what is free)");
    command->add_flag("--in-place", options->in_place, "x overwrites b, refreshed between solves (default on the CPU)");
    command->add_flag("--out-of-place", options->out_of_place, "b is kept, x is another array (default on a GPU)");
    command->add_flag("--memory", options->memory, "Also compare memory (default without any list of cases)");
    command->add_flag("--no-memory", options->no_memory, "Do not compare memory");
    add_output_options(*command, *options);
    command->footer(
        "Sizes: 65536 or 2^16. A LIST has commas: --n 64,256,2^10. If any list is given, all combinations are run,\n"
        "the others taking what stands in [brackets]; without one, a standard set for the backend is run\n"
        "(a minute and a half on two cores, up to two and a half on an H200).\n"
        "Rivals run in the layout they are made for, in place; their matrices are factored beforehand where they can "
        "be.\n"
        "Examples:\n"
        "  bandmill bench solve --json results.json\n"
        "  bandmill bench solve --backend cpu --threads 2 --n 256 --batch 2^16 --layout tiled,interleaved\n"
        "  bandmill bench solve --backend cpu --n 512 --rivals gttrs,gbtrs --memory\n"
        "Every result is checked (the table's error column); a wrong one of ours ends the run with exit code 1.");
    command->callback([options] { run_bench(*options); });
}

} // namespace app
