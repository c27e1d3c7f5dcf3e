// bandmill bench own: a matrix for every system, case by case, against what the memory allows and against rivals.
#include "command.hpp"
#include "environment.hpp"
#include "own_report.hpp"
#include "own_rivals.hpp"
#include "run_cases.hpp"
#include "solve_report.hpp"

#include "bandmill/base/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace app {
namespace {

// The options as typed; an empty text is an option that was not given.
struct Options : BenchOptions {
    std::string n, batch, half_bandwidth, boundary, layout, precision, sigma, blocks, chunks, max_bytes;
};

RunOptions read_run_options(const Options& options) {
    RunOptions run{};
    run.backend = choose_backend(options.backend, options.gpu, options.threads);
    run.device = choose_gpu(options.gpu);
    run.threads.count = options.thread_count(run.threads.count);
    run.placement = run.backend == Backend::cpu ? Placement::in_place : Placement::out_of_place;
    if (!options.sigma.empty()) run.sigma = parse_number("--sigma", options.sigma, 0);
    run.repetitions = options.repetition_count(run.repetitions);
    run.max_bytes =
        options.max_bytes.empty() ? SIZE_MAX : static_cast<std::size_t>(parse_size("--max-bytes", options.max_bytes));
    run.rivals = choose_rivals(options.rivals, own_rival_names(run.backend));
    return run;
}

std::vector<OwnCase> read_cases(const Options& options, Backend backend) {
    CaseLists lists;
    const auto given = [](const std::string& text) { return !text.empty(); };
    if (given(options.n)) lists.n = parse_sizes("--n", options.n);
    if (given(options.batch)) lists.batch = parse_sizes("--batch", options.batch);
    if (given(options.half_bandwidth))
        lists.half_bandwidth = parse_words("--half-bandwidth", options.half_bandwidth, half_bandwidth_words);
    if (given(options.boundary)) lists.boundary = parse_words("--boundary", options.boundary, boundary_words);
    if (given(options.layout)) lists.layout = parse_words("--layout", options.layout, layout_words);
    if (given(options.precision)) lists.precision = parse_words("--precision", options.precision, precision_words);
    const std::vector<std::int64_t> none{0};
    const auto blocks = given(options.blocks) ? parse_sizes("--blocks", options.blocks) : none;
    const auto chunks = given(options.chunks) ? parse_sizes("--chunks", options.chunks) : none;
    if ((given(options.blocks) || given(options.chunks)) && backend == Backend::cpu)
        throw UsageError("--blocks and --chunks are for a GPU");
    for (const std::int64_t count : chunks)
        if (count != 0 && count != 2 && count != 4 && count != 8 && count != 16)
            throw UsageError(fmt::format("--chunks {} is not possible: 2, 4, 8 or 16", count));
    for (const std::int64_t count : blocks)
        if (count > 32) throw UsageError(fmt::format("--blocks {} is not possible: at most 32", count));
    std::vector<OwnCase> cases;
    for (const OwnCase& what : make_own_cases(lists, backend))
        for (const std::int64_t block : blocks)
            for (const std::int64_t chunk : chunks) {
                cases.push_back(what);
                cases.back().blocks = static_cast<int>(block);
                cases.back().chunks = static_cast<int>(chunk);
            }
    return cases;
}

void run_bench(const Options& options) {
    const RunOptions run = read_run_options(options);
    const auto cases = read_cases(options, run.backend);
    if (options.list) return print_cases(cases, run.backend, run.rivals, own_rival_names(run.backend));
    std::optional<OutputFile> file = prepare_output(options, run.backend, run.device);
    const auto runner = make_own_runner(run);
    OwnBench bench{};
    bench.backend = word_of(run.backend, backend_words);
    bench.device = runner->device_name();
    bench.date = utc_now();
    bench.threads = runner->threads();
    bench.load_average = load_average();
    print_now(table_head(bench), options.silent());
    const int failed = run_cases(*runner, cases, bench, options.silent());
    print_now(absent_text(bench.records), options.silent());
    deliver(bench, file, failed, options);
    const auto any_wrong = [](const OwnRecord& record) { return is_wrong(record.combined) || is_wrong(record.solve); };
    refuse_wrong(bench.records, any_wrong, fmt::format("backward error over {} epsilons", wrong_beyond));
}

} // namespace

void add_bench_own(CLI::App& bench) {
    CLI::App* command =
        bench.add_subcommand("own", "Time the solver for systems with matrices of their own, beside rivals");
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
         "interleaved; on the CPU also contiguous, tiled [cpu tiled, cuda interleaved]")
        ->group("Cases");
    text("--precision", options->precision, "LIST", "f64, f32 [f64]")->group("Cases");
    text("--sigma", options->sigma, "S", "Stiffness: A = I + S * differences (default: W=1 1, W=2 1e6)")
        ->group("Cases");
    text("--blocks", options->blocks, "LIST", "GPU: blocks on a multiprocessor; 0 is the library's choice")
        ->group("Tuning");
    text("--chunks", options->chunks, "LIST",
         "GPU: chunks on their way to a thread: 2, 4, 8, 16 (a solve takes 8 at most); 0 likewise")
        ->group("Tuning");
    add_rivals_option(*command, *options);
    text("--repetitions", options->repetitions, "N", "Timings per case (default: 0.1 to 0.2 s of them)");
    text("--max-bytes", options->max_bytes, "SIZE", "Skip cases whose arrays need more (default: what is free)");
    add_output_options(*command, *options);
    command->footer("Sizes: 65536 or 2^16. If any list of cases is given, all combinations are run; without one, a\n"
                    "standard set for the backend. All matrices hold the same numbers, each in memory of its own.\n"
                    "With --blocks or --chunks long systems are not split over thread blocks. On a GPU open systems\n"
                    "of more than 8,960 rows, with W = 2 from 2,048 on, are faster if not stiff (--sigma).\n"
                    "Examples:\n"
                    "  bandmill bench own --json own.json\n"
                    "  bandmill bench own --n 1024 --boundary open --rivals none --blocks 1,2,3,4 --chunks 4,8,16\n"
                    "Every result is checked (the table's error column); a wrong one ends the run with exit code 1.");
    command->callback([options] { run_bench(*options); });
}

} // namespace app
