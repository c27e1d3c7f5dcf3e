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
struct Options {
    std::string backend = "auto", gpu, threads;
    std::string n, batch, half_bandwidth, boundary, layout, precision, blocks, chunks;
    std::string repetitions, max_bytes, json, rivals = "all";
    bool list = false, force_overwrite = false, quiet = false;
};

RunOptions read_run_options(const Options& options) {
    RunOptions run{};
    run.backend = choose_backend(options.backend, options.gpu, options.threads);
    run.device = choose_gpu(options.gpu);
    if (!options.threads.empty())
        run.threads.count = static_cast<int>(parse_size("--threads", options.threads, 1, 4096));
    run.placement = run.backend == Backend::cpu ? Placement::in_place : Placement::out_of_place;
    if (!options.repetitions.empty())
        run.repetitions = static_cast<int>(parse_size("--repetitions", options.repetitions, 1, 1000000));
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
    if (options.list) {
        for (const OwnCase& what : cases) fmt::print("{}\n", describe(what));
        fmt::print("\n{} cases on {}\n", cases.size(), word_of(run.backend, backend_words));
        for (const auto& [name, what] : own_rival_names(run.backend)) fmt::print("  {:<28}{}\n", name, what);
        return;
    }
    std::optional<OutputFile> file;
    if (!options.json.empty()) file.emplace(options.json, options.force_overwrite ? Overwrite::yes : Overwrite::no);
    if (run.backend == Backend::cuda) require_gpu(run.device);
    const auto runner = make_own_runner(run);
    OwnBench bench{};
    bench.backend = word_of(run.backend, backend_words);
    bench.device = runner->device_name();
    bench.date = utc_now();
    bench.threads = runner->threads();
    bench.load_average = load_average();
    print_now(table_head(bench), options.quiet);
    const int failed = run_cases(*runner, cases, bench, options.quiet);
    deliver(bench, file, failed, options.quiet);
    const auto wrong = std::count_if(bench.records.begin(), bench.records.end(), [](const OwnRecord& record) {
        return is_wrong(record.combined) || is_wrong(record.solve);
    });
    if (wrong > 0)
        throw std::runtime_error(fmt::format("{} of {} results are wrong (backward error over {} epsilons): their "
                                             "times mean nothing",
                                             wrong, bench.records.size(), wrong_beyond));
}

} // namespace

void add_bench_own(CLI::App& bench) {
    CLI::App* command =
        bench.add_subcommand("own", "Time the solver for systems with matrices of their own, beside rivals");
    const auto options = std::make_shared<Options>();
    const auto text = [&](const char* flag, std::string& value, const char* type, const char* help) {
        return add_text(*command, flag, value, type, help);
    };
    text("--backend", options->backend, "NAME", "auto, cpu or cuda");
    text("--gpu", options->gpu, "N", "Which GPU (default 0; see bandmill info)");
    text("--threads", options->threads, "N", "CPU threads (default: all)");
    text("--n", options->n, "LIST", "Rows per system [256,1024]")->group("Cases");
    text("--batch", options->batch, "LIST", "Systems per batch [cpu 16384, cuda 65536]")->group("Cases");
    text("--half-bandwidth", options->half_bandwidth, "LIST", "1 tridiagonal, 2 pentadiagonal [1,2]")->group("Cases");
    text("--boundary", options->boundary, "LIST", "open, periodic [both]")->group("Cases");
    text("--layout", options->layout, "LIST",
         "interleaved; on the CPU also contiguous, tiled [cpu tiled, cuda interleaved]")
        ->group("Cases");
    text("--precision", options->precision, "LIST", "f64, f32 [f64]")->group("Cases");
    text("--blocks", options->blocks, "LIST", "GPU: blocks on a multiprocessor; 0 is the library's choice")
        ->group("Tuning");
    text("--chunks", options->chunks, "LIST", "GPU: chunks on their way to a thread: 2, 4, 8, 16; 0 likewise")
        ->group("Tuning");
    text("--rivals", options->rivals, "NAMES", "Compare with all, none, or some of those that --list shows");
    text("--repetitions", options->repetitions, "N", "Timings per case (default: 0.1 to 0.2 s of them)");
    text("--max-bytes", options->max_bytes, "SIZE", "Skip cases whose arrays need more (default: what is free)");
    command->add_flag("--list", options->list, "Only show the cases and the rivals");
    text("--json", options->json, "FILE", "Also write the results, with device, date and commit");
    command->add_flag("--force-overwrite", options->force_overwrite, "Replace FILE if it exists");
    command->add_flag("--quiet", options->quiet, "Print nothing but errors");
    command->footer("Sizes: 65536 or 2^16. If any list of cases is given, all combinations are run; without one, a\n"
                    "standard set for the backend. All matrices hold the same numbers, each in memory of its own.\n"
                    "Examples:\n"
                    "  bandmill bench own --json own.json\n"
                    "  bandmill bench own --n 1024 --boundary open --rivals none --blocks 1,2,3,4 --chunks 4,8,16\n"
                    "Every result is checked (the table's error column); a wrong one ends the run with exit code 1.");
    command->callback([options] { run_bench(*options); });
}

} // namespace app
