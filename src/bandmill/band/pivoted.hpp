// LU with row exchanges, for matrices that need them. One matrix, so one sequence of exchanges for all systems.
#pragma once

#include "bandmill/band/extended.hpp"

#include <cstdint>
#include <vector>

namespace bandmill::detail {

// P S A = L U with threshold pivoting and rows scaled by powers of two (S). A periodic matrix is first reordered
// 0, n-1, 1, n-2, ...: then it is an open band of twice the half-bandwidth. `reach` is the half-bandwidth that results.
struct PivotedFactor {
    int reach;
    bool folded;
    std::vector<Extended> scale;         // S, by position
    std::vector<std::int8_t> pivot;      // exchange position k with k + pivot[k]
    std::vector<std::int64_t> origin;    // the row of the matrix that became pivot row k
    std::vector<Extended> pivot_inverse; // 1 / U[k, k]
    std::vector<Extended> lower;         // [k][j - 1]: multiplier for position k + j
    std::vector<Extended> upper;         // [k][j - 1] = U[k, k + j] / U[k, k], j = 1 .. 2 reach
    Extended growth;
};

// Throws SingularMatrix.
PivotedFactor factor_pivoted(const BandMatrix& matrix);

} // namespace bandmill::detail
