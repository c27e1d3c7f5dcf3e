// What `bandmill bench stencil` shows: a table for people, JSON for programs.
#pragma once

#include "stencil_runner.hpp"

#include <string>
#include <vector>

namespace app {

struct StencilBench {
    std::string backend, device, date;
    double load_average; // before the first case
    std::vector<StencilRecord> records;
    std::vector<StencilSkipped> skipped;
};

std::string table_head(const StencilBench& bench);
std::string table_lines(const StencilRecord& record); // ours, then the rival
std::string table_line(const StencilSkipped& skipped);
std::string to_json(const StencilBench& bench);

} // namespace app
