// bandmill bench diffusion, bandmill bench hyperdiffusion: the paper's two timings of a thousand steps, side by side
// with the paper's way and a library's.
#include "command.hpp"
#include "environment.hpp"
#include "paper_case.hpp"
#include "paper_report.hpp"
#include "run_cases.hpp"
#include "step_ways.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace app {
namespace {

// The options as typed; an empty text is an option that was not given.
struct Options : BenchOptions {
    std::string n, members, steps = "1000", most_seconds = "30";
};

PaperOptions read_options(const Options& options) {
    PaperOptions run{};
    run.backend = choose_backend(options.backend, options.gpu, options.threads);
    run.device = choose_gpu(options.gpu);
    if (run.backend == Backend::cpu) run.threads = options.thread_count(default_threads());
    run.steps = parse_size("--steps", options.steps, 1, std::int64_t{1} << 40);
    run.repetitions = options.repetition_count(run.repetitions);
    run.most_seconds = parse_number("--most-seconds", options.most_seconds, 1e-3);
    const auto chosen = choose_rivals(options.rivals, way_names(run.backend));
    for (const RivalName& rival : way_names(run.backend)) // in the order of the table, each once
        if (std::find(chosen.begin(), chosen.end(), rival.name) != chosen.end()) run.rivals.emplace_back(rival.name);
    return run;
}

PaperLists read_lists(const Options& options, const PaperOptions& run) {
    PaperLists lists{};
    if (!options.n.empty())
        for (const std::string& item : split_list("--n", options.n))
            lists.n.push_back(parse_size("--n", item, bandmill::Grid::fewest_points));
    if (!options.members.empty()) lists.members = parse_sizes("--members", options.members);
    lists.threads = run.threads;
    return lists;
}

void run_bench(const Options& options, EquationKind equation) {
    const PaperOptions run = read_options(options);
    const auto cases = make_paper_cases(equation, read_lists(options, run), run.backend);
    if (options.list) return print_cases(cases, run.backend, run.rivals, way_names(run.backend));
    std::optional<OutputFile> file = prepare_output(options, run.backend, run.device);

    const auto runner = make_paper_runner(run);
    PaperBench bench{word_of(run.backend, backend_words),
                     runner->device_name(),
                     utc_now(),
                     load_average(),
                     equation,
                     run.threads,
                     run.steps,
                     run.rivals,
                     {},
                     {}};
    print_now(table_head(bench), options.silent());
    const int failed = run_cases(*runner, cases, bench, options.silent());
    deliver(bench, file, failed, options);
    refuse_wrong(
        bench.records, [](const PaperRecord& record) { return record.any_wrong(); }, "states of one of the ways");
}

void add_command(CLI::App& bench, EquationKind equation) {
    const char* name = word_of(equation, equation_words);
    CLI::App* command = bench.add_subcommand(
        name, fmt::format("The paper's benchmark: 1000 steps of batched {}, beside its rivals", name));
    const auto options = std::make_shared<Options>();
    const auto text = [&](const char* flag, std::string& value, const char* type, const char* help) {
        return add_text(*command, flag, value, type, help);
    };
    add_place_options(*command, *options);
    add_threads_option(*command, *options);
    text("--n", options->n, "LIST", "Points of a member, 5 or more [64,256,1024]")->group("Cases");
    text("--members", options->members, "LIST",
         "Members [cuda 2^6,2^8,..,2^16,2^20; cpu 2^6,..,2^12, at most 2^20 points in all]")
        ->group("Cases");
    text("--steps", options->steps, "N", "Time steps (default 1000)");
    text("--repetitions", options->repetitions, "N", "Timings of each (default: as many as take 0.3 s, 5 at most)");
    text("--most-seconds", options->most_seconds, "S",
         "Who would take longer takes fewer steps, scaled and marked by ~ (default 30)");
    add_rivals_option(*command, *options);
    add_output_options(*command, *options);
    command->footer(fmt::format(
        "Sizes: 65536 or 2^16. A LIST has commas: --n 64,256,2^10; all combinations are run, with what stands in\n"
        "[brackets] for a list that is not given. All of them take about three minutes on an H200, and less than one\n"
        "on two CPU cores.\n"
        "Noise on a periodic length of 1, Crank-Nicolson with dt = 0.1 dx, f64 as in the paper. Everybody's states "
        "are\n"
        "compared in the end; wrong ones are an error (exit code 1).\n"
        "Examples:\n"
        "  bandmill bench {0} --json results.json\n"
        "  bandmill bench {0} --backend cpu --n 256 --members 2^14 --rivals paper",
        name));
    command->callback([options, equation] { run_bench(*options, equation); });
}

} // namespace

void add_bench_paper(CLI::App& bench) {
    add_command(bench, EquationKind::diffusion);
    add_command(bench, EquationKind::hyperdiffusion);
}

} // namespace app
