// What `bandmill bench solve` shows: a table for people, JSON for programs.
#pragma once

#include "solve_runner.hpp"

#include <optional>
#include <string>
#include <vector>

namespace app {

// Beyond this many epsilons a result is wrong, and its time worth nothing. The solver promises a small multiple of 1.
inline constexpr double wrong_beyond = 32;

struct SolveBench {
    std::string backend, device, date;
    int threads;         // 0 on a GPU
    double load_average; // before the first case
    std::vector<Ceiling> ceilings;
    std::vector<Record> records;
    std::vector<Skipped> skipped;
    std::optional<MemorySurvey> memory;
};

bool is_wrong(const Result& result);
inline double speedup(const Record& record, const Result& rival) {
    return rival.time_us.median / record.ours.time_us.median;
}

std::string describe(const SolveCase& what);
// Header and legend of the table, with the ceiling that holds for most cases.
std::string table_head(const SolveBench& bench, const Ceiling* ceiling, Placement placement);
std::string table_lines(const Record& record); // ours, then its rivals
std::string table_line(const Skipped& skipped);
std::string memory_table(const MemorySurvey& survey);
std::string to_json(const SolveBench& bench);

} // namespace app
