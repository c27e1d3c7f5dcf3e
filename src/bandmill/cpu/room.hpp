// How much memory the system can still give.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

namespace bandmill::cpu {

inline std::int64_t available_memory() {
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("MemAvailable:")) return std::strtoll(line.c_str() + 13, nullptr, 10) * 1024;
    return std::int64_t{4} << 30; // a system that does not say: what any has
}

} // namespace bandmill::cpu
