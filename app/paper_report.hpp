// What `bandmill bench diffusion` and `hyperdiffusion` show: a table for people, JSON for programs.
#pragma once

#include "paper_runner.hpp"

#include <string>
#include <vector>

namespace app {

struct PaperBench {
    std::string backend, device, date;
    double load_average; // before the first case
    EquationKind equation;
    int threads; // 0 on a GPU
    std::int64_t steps;
    std::vector<std::string> rivals; // by name, those asked for
    std::vector<PaperRecord> records;
    std::vector<PaperSkipped> skipped;
};

std::string table_head(const PaperBench& bench);
std::string table_lines(const PaperRecord& record); // and why a rival is missing
std::string table_line(const PaperSkipped& skipped);
std::string to_json(const PaperBench& bench);

} // namespace app
