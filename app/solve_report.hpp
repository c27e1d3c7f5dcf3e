// What `bandmill bench solve` shows: a table for people, JSON for programs.
#pragma once

#include "solve_runner.hpp"

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
};

std::string describe(const SolveCase& what);
// Header and legend of the table, with the ceiling that holds for most cases.
std::string table_head(const SolveBench& bench, const Ceiling* ceiling, Placement placement);
std::string table_line(const Record& record);
std::string table_line(const Skipped& skipped);
std::string to_json(const SolveBench& bench);

} // namespace app
