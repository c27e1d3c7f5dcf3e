// Numbers as an error text shows them: std::to_string would print 1e-9 as 0.000000.
#pragma once

#include <cstdio>
#include <string>

namespace bandmill::detail {

inline std::string text(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.6g", value);
    return buffer;
}

} // namespace bandmill::detail
