// How much memory do contestants hold, and how large a batch fits? The paper's claim is 75% less than a matrix for each
// system where it is tridiagonal, 83% where it is pentadiagonal.
#pragma once

#include "solve_case.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace app {

struct MemoryUse {
    double bytes_per_system;                 // right-hand side, in place, with what else grows with the batch
    std::size_t shared_bytes;                // whatever the batch
    std::size_t bytes_held;                  // for the entry's batch
    std::optional<double> reduction_percent; // by using ours instead
    std::int64_t largest_batch;
    std::string limit; // what stops it there
    bool proved;       // its arrays were allocated
};

struct MemoryEntry {
    SolveCase what; // in the contestant's layout
    std::string contestant;
    std::variant<MemoryUse, std::string> outcome; // or why there is none
};

struct MemorySurvey {
    std::size_t free_bytes;
    bool proves; // largest batches are tried by allocating them
    std::vector<MemoryEntry> entries;
};

} // namespace app
