// The folded order of a periodic system: position p = 0, 1, 2, 3, ... holds row 0, n-1, 1, n-2, ...
#pragma once

#include "bandmill/base/macros.hpp"

#include <cstdint>

namespace bandmill::detail {

BANDMILL_HD std::int64_t folded_row(std::int64_t position, std::int64_t n) {
    return position % 2 == 0 ? position / 2 : n - 1 - position / 2;
}

BANDMILL_HD std::int64_t folded_position(std::int64_t row, std::int64_t n) {
    return row <= (n - 1) / 2 ? 2 * row : 2 * (n - 1 - row) + 1;
}

} // namespace bandmill::detail
