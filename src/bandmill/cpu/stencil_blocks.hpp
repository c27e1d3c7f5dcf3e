// Weighted sums over patches of several rows, for some rows of results at once: what is loaded of a row serves all of
// them. Only for files that are compiled once per instruction-set level.
#pragma once

#include "bandmill/cpu/lanes.hpp"
#include "bandmill/cpu/stencil_lanes.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {

// Vectors of a row that are summed at once. With the rows of a block they fill half of the registers.
template <class T> inline constexpr int block_vectors = sizeof(Native<T>) == 64 ? 4 : 2;

// A vector of every result, and some more along the rows. `lines`: the rows from the first that is looked at on, at the
// first column that is looked at. In the order of all backends: row by row of the patch, each from the left.
template <int R, bool Dense, int Count, class T>
BANDMILL_INLINE void sum_block(const T* const* lines, const T* weights, int columns, std::int64_t i,
                               Pack<T, Count> (&sums)[stencil_block_rows]) {
    constexpr int P = stencil_block_rows;
    for (int p = 0; p < P; ++p) sums[p] = {};
#pragma GCC unroll 16
    for (int r = 0; r < R + P - 1; ++r) {
        const T* const line = lines[r] + i;
        for (int dx = 0; dx < columns; ++dx) {
            Pack<T, Count> value;
            load(value, line + dx);
#pragma GCC unroll 8
            for (int p = 0; p < P; ++p) {
                if (r - p < 0 || r - p >= R) continue;
                const T weight = weights[(r - p) * columns + dx];
                if (Dense || weight != T(0)) sums[p] = multiply_add(weight, value, sums[p]);
            }
        }
    }
}

} // namespace bandmill::cpu::BANDMILL_LEVEL
