// What `bandmill bench own` shows: a table for people, JSON for programs.
#pragma once

#include "own_runner.hpp"

#include <string>
#include <vector>

namespace app {

struct OwnBench {
    std::string backend, device, date;
    int threads;
    double load_average;
    std::vector<OwnRecord> records;
    std::vector<OwnSkipped> skipped;
};

std::string describe(const OwnCase& what);
std::string table_head(const OwnBench& bench);
std::string table_lines(const OwnRecord& record); // both ways of ours, then the rivals
std::string table_line(const OwnSkipped& skipped);
std::string to_json(const OwnBench& bench);

} // namespace app
