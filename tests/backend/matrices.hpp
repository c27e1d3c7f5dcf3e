// The kinds of matrix that every backend has to solve.
#pragma once

#include "bands.hpp"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace bandmill::test {

enum class Family {
    dominant,          // |A_ii| > sum of the others
    dominant_constant, // the same with constant diagonals
    nonsingular,       // all entries uniform in (-1, 1): needs pivoting
    row_scaled,        // the same, rows multiplied by 1e-8 to 1e8
    nonsymmetric,      // upwind-like, dominant by rows or by columns
    nearly_singular,   // condition 1e9 to 1e11
    diffusion,         // 1 - sigma d2/dx2, second order (W = 1) or fourth (W = 2)
    hyperdiffusion,    // 1 + sigma d4/dx4, W = 2 only
    zero_diagonal,     // zeros on the main diagonal, the first row's always
};

struct MatrixKind {
    Family family;
    double sigma = 0;
};

// Every family, with sigma = 1e-3, 1, 1e3, 1e6, 1e10 where there is one.
const std::vector<MatrixKind>& matrix_kinds();
std::string name(const MatrixKind& kind);
inline void PrintTo(const MatrixKind& kind, std::ostream* out) { *out << name(kind); } // GoogleTest's hook
bool has_constant_diagonals(const MatrixKind& kind);
bool has_half_bandwidth(const MatrixKind& kind, int half_bandwidth);
bool has_size(const MatrixKind& kind, std::int64_t n);

// Non-singular: up to 257 rows random matrices are drawn until the oracle finds their condition below 1e12.
Bands make_bands(const MatrixKind& kind, std::int64_t n, int half_bandwidth, Boundary boundary, std::uint64_t seed);

} // namespace bandmill::test
