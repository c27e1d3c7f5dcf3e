// bandmill bench stencil: the time of stencils and advection as a share of a copy, beside a naive way.
#include "command.hpp"
#include "environment.hpp"
#include "run_cases.hpp"
#include "stencil_report.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace app {
namespace {

// The options as typed; an empty text is an option that was not given.
struct Options : BenchOptions {
    std::string stencil, size, precision, edges;
};

StencilOptions read_stencil_options(const Options& options) {
    StencilOptions run{};
    run.backend = choose_backend(options.backend, options.gpu, options.threads);
    run.device = choose_gpu(options.gpu);
    run.threads.count = options.thread_count(run.threads.count);
    run.repetitions = options.repetition_count(run.repetitions);
    run.rivals = choose_rivals(options.rivals, stencil_rival_names);
    return run;
}

StencilLists read_lists(const Options& options) {
    StencilLists lists;
    if (!options.stencil.empty()) lists.kind = parse_words("--stencil", options.stencil, stencil_words);
    if (!options.size.empty())
        for (const std::string& item : split_list("--size", options.size))
            lists.size.push_back(parse_plane_size("--size", item));
    if (!options.precision.empty()) lists.precision = parse_words("--precision", options.precision, precision_words);
    if (!options.edges.empty()) lists.edges = parse_words("--edges", options.edges, edge_words);
    return lists;
}

void run_bench(const Options& options) {
    const StencilOptions run = read_stencil_options(options);
    const auto cases = make_stencil_cases(read_lists(options), run.backend);
    if (options.list) return print_cases(cases, run.backend, run.rivals, stencil_rival_names);
    std::optional<OutputFile> file = prepare_output(options, run.backend, run.device);

    const auto runner = make_stencil_runner(run);
    StencilBench bench{word_of(run.backend, backend_words), runner->device_name(), utc_now(), load_average(), {}, {}};
    print_now(table_head(bench), options.silent());
    const int failed = run_cases(*runner, cases, bench, options.silent());
    deliver(bench, file, failed, options);
    refuse_wrong(
        bench.records, [](const StencilRecord& record) { return record.ours.wrong; }, "please report this");
}

} // namespace

void add_bench_stencil(CLI::App& bench) {
    CLI::App* command = bench.add_subcommand("stencil", "Time stencils and advection, and a naive way beside them");
    const auto options = std::make_shared<Options>();
    const auto text = [&](const char* flag, std::string& value, const char* type, const char* help) {
        return add_text(*command, flag, value, type, help);
    };
    add_place_options(*command, *options);
    add_threads_option(*command, *options);
    text("--stencil", options->stencil, "LIST",
         "x3, x5, x7, y3, y5, y7, cross, 3x3, 5x5, advect-x, advect-y, advect [six]")
        ->group("Cases");
    text("--size", options->size, "LIST", "Rows x columns (x planes) [cpu 2048x2048, cuda 4096x4096]")->group("Cases");
    text("--precision", options->precision, "LIST", "f64, f32 [f64]")->group("Cases");
    text("--edges", options->edges, "LIST", "periodic, leave, even, odd [periodic]")->group("Cases");
    add_rivals_option(*command, *options);
    text("--repetitions", options->repetitions, "N", "Timings per case (default: 7 to 200, for 0.1 to 0.2 s)");
    add_output_options(*command, *options);
    command->footer(
        "A LIST has commas: --size 4096x4096,1024x1024x16. If any list is given, all combinations are run, the others\n"
        "taking what stands in [brackets]; without one, a standard set for the backend is run (a minute or two).\n"
        "[six] are x3, x7, y3, y7, 3x3 and 5x5.\n"
        "Planes are contiguous, row after row; repetitions take turns in enough of them to find no cache filled.\n"
        "Examples:\n"
        "  bandmill bench stencil --json results.json\n"
        "  bandmill bench stencil --backend cpu --threads 1 --stencil x3,5x5 --size 1000x1003\n"
        "Results that are wrong are an error (exit code 1).");
    command->callback([options] { run_bench(*options); });
}

} // namespace app
