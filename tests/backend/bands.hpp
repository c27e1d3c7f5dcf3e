// Bands: the tests' own picture of a band matrix, from which both the library's BandMatrix and the oracle's dense
// matrix are made. The two share nothing else, so that BandMatrix itself is under test.
#pragma once

#include "bandmill/band/matrix.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bandmill::test {

enum class Storage { toeplitz, general };

struct Bands {
    std::int64_t n;
    int half_bandwidth;
    Boundary boundary;
    std::vector<std::vector<double>> diagonals; // [offset + half_bandwidth][row]; NaN outside an open matrix

    double at(int offset, std::int64_t row) const { return diagonals[offset + half_bandwidth][row]; }
    double& at(int offset, std::int64_t row) { return diagonals[offset + half_bandwidth][row]; }
    // The column of an entry, or -1 where an open matrix has none.
    std::int64_t column(int offset, std::int64_t row) const {
        const std::int64_t j = row + offset;
        if (j >= 0 && j < n) return j;
        return boundary == Boundary::open ? -1 : (j % n + n) % n;
    }
};

// All entries zero, those outside an open matrix NaN: the library must never look at them.
Bands empty_bands(std::int64_t n, int half_bandwidth, Boundary boundary);
Bands constant_bands(std::int64_t n, const std::vector<double>& weights, Boundary boundary);
Bands transposed(const Bands& bands);

// The same matrix for the library. Storage::toeplitz asks for constant diagonals.
BandMatrix as_matrix(const Bands& bands, Storage storage = Storage::general);

// |A_i|_1 of every row, entries that land on one A[i, j] added up first. To it is added `resolution` times the sum of
// the |entries| before they are added up: in n = 1 periodic rows they may cancel down to the rounding of long double.
std::vector<long double> row_norms(const Bands& bands, long double resolution = 0);

// Full matrix, row by row.
std::vector<long double> dense(const Bands& bands);

} // namespace bandmill::test
