// The course of a benchmark command: its cases one after the other, a table, a file.
#pragma once

#include "bench_common.hpp"
#include "output_file.hpp"

#include "bandmill/base/error.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <variant>

#include <fmt/format.h>

namespace app {

// How many cases the library refused with an error. They are reported like skipped ones: what was measured before them
// is worth keeping.
template <class Runner, class Case, class Bench>
int run_cases(Runner& runner, const std::vector<Case>& cases, Bench& bench, bool quiet) {
    using Record = typename decltype(bench.records)::value_type;
    using Skipped = typename decltype(bench.skipped)::value_type;
    const ProgressLine progress(!quiet);
    int failed = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        progress.show(fmt::format("[{}/{}] {}", i + 1, cases.size(), describe(cases[i])));
        std::variant<Record, Skipped> outcome;
        try {
            outcome = runner.run(cases[i]);
        } catch (const bandmill::Error& error) {
            outcome = Skipped{cases[i], fmt::format("failed: {}", error.what())};
            ++failed;
        }
        progress.clear();
        if (const auto* skipped = std::get_if<Skipped>(&outcome)) {
            bench.skipped.push_back(*skipped);
            print_now(table_line(*skipped), quiet);
        } else {
            bench.records.push_back(std::get<Record>(std::move(outcome)));
            print_now(table_lines(bench.records.back()), quiet);
        }
    }
    return failed;
}

template <class Rival> auto parts_of(const Rival& rival) {
    if constexpr (requires { rival.outcome; })
        return std::tie(rival.name, rival.outcome);
    else
        return std::tie(rival.first, rival.second);
}

// Rivals that some cases are without, and why: a line for each reason.
template <class Record> std::string absent_text(const std::vector<Record>& records) {
    std::map<std::pair<std::string, std::string>, int> absent;
    for (const Record& record : records)
        for (const auto& rival : record.rivals) {
            const auto [name, outcome] = parts_of(rival);
            if (const auto* reason = std::get_if<std::string>(&outcome)) ++absent[{name, *reason}];
        }
    std::string text;
    for (const auto& [what, cases] : absent)
        text += fmt::format("\n{} is not beside {} of {} cases: {}", what.first, cases, records.size(), what.second);
    return text.empty() ? text : text + "\n";
}

template <class Case>
void print_cases(const std::vector<Case>& cases, Backend backend, const std::vector<std::string>& rivals,
                 std::span<const RivalName> names) {
    for (const Case& what : cases) fmt::print("{}\n", describe(what));
    fmt::print("\n{} case{} on {}, {}\n", cases.size(), cases.size() == 1 ? "" : "s", word_of(backend, backend_words),
               rivals.empty() ? "without rivals" : "beside:");
    for (const auto& [name, what] : names)
        if (std::find(rivals.begin(), rivals.end(), name) != rivals.end()) fmt::print("  {:<28}{}\n", name, what);
}

// Before anything is measured: the file can be written, and the GPU is there.
inline std::optional<OutputFile> prepare_output(const BenchOptions& options, Backend backend, bandmill::Device device) {
    std::optional<OutputFile> file;
    if (!options.json.empty() && !options.to_stdout())
        file.emplace(options.json, options.force_overwrite ? Overwrite::yes : Overwrite::no);
    if (backend == Backend::cuda) require_gpu(device);
    return file;
}

// Throws if any record is wrong.
template <class Record, class IsWrong>
void refuse_wrong(const std::vector<Record>& records, IsWrong is_wrong, const std::string& how) {
    const auto wrong = std::count_if(records.begin(), records.end(), is_wrong);
    if (wrong > 0)
        throw std::runtime_error(
            fmt::format("{} of {} results are wrong ({}): their times mean nothing", wrong, records.size(), how));
}

// Writes the file, if one is wanted, and then complains of cases that failed: what was measured is kept.
template <class Bench>
void deliver(const Bench& bench, std::optional<OutputFile>& file, int failed, const BenchOptions& options) {
    if (options.to_stdout()) print_now(to_json(bench), false);
    if (file) {
        file->write(to_json(bench));
        print_now(fmt::format("\nwritten to {}\n", file->path()), options.quiet);
    }
    if (failed > 0)
        throw std::runtime_error(
            fmt::format("{} of {} cases failed", failed, bench.records.size() + bench.skipped.size()));
    if (bench.records.empty()) throw std::runtime_error("nothing was measured: every case was skipped");
}

} // namespace app
