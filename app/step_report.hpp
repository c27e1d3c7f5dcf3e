// What `bandmill bench step` shows: a table for people, JSON for programs.
#pragma once

#include "step_runner.hpp"

#include <string>
#include <vector>

namespace app {

struct StepBench {
    std::string backend, device, date;
    double load_average; // before the first case
    std::vector<StepRecord> records;
    std::vector<StepSkipped> skipped;
};

std::string table_head(const StepBench& bench);
std::string table_lines(const StepRecord& record); // ours, then its rivals
std::string table_line(const StepSkipped& skipped);
std::string to_json(const StepBench& bench);

} // namespace app
