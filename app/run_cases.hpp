// The loop of a benchmark command over its cases.
#pragma once

#include "bench_common.hpp"
#include "output_file.hpp"

#include "bandmill/base/error.hpp"

#include <optional>
#include <stdexcept>
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

// Writes the file, if one is wanted, and then complains of cases that failed: what was measured is kept.
template <class Bench> void deliver(const Bench& bench, std::optional<OutputFile>& file, int failed, bool quiet) {
    if (file) {
        file->write(to_json(bench));
        print_now(fmt::format("\nwritten to {}\n", file->path()), quiet);
    }
    if (failed > 0)
        throw std::runtime_error(
            fmt::format("{} of {} cases failed", failed, bench.records.size() + bench.skipped.size()));
    if (bench.records.empty()) throw std::runtime_error("nothing was measured: every case was skipped");
}

} // namespace app
