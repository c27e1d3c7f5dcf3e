// Extended precision: every table is computed in it and rounded once.
#pragma once

#include "bandmill/band/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace bandmill::detail {

using Extended = long double; // 64 bits of mantissa on x86, more elsewhere

// A difference that remembers the size of what went into it, so that a pivot made of rounding alone is recognised.
struct Term {
    Extended value = 0;
    Extended magnitude = 0;

    void add(const Term& other) {
        value += other.value;
        magnitude += other.magnitude;
    }
    void subtract(Extended a, Extended b) {
        value -= a * b;
        magnitude += std::abs(a * b);
    }
    // Half an ulp of one matrix entry would make this pivot zero. Rounding in extended precision leaves less than that
    // where n is small, so the bound is tighter there, and more where n is beyond 131,072.
    bool vanishes(std::int64_t n) const {
        const Extended half_ulp = std::ldexp(Extended(1), -54) * std::max(Extended(1), Extended(n) / 131072);
        const Extended rounding = std::numeric_limits<Extended>::epsilon() * (8 * Extended(n) + 64);
        const Extended tolerance = std::min(half_ulp, rounding);
        return !(std::abs(value) > tolerance * magnitude);
    }
};

// Pivot inverses and scales must not overflow in T, nor underflow: products with a right-hand side would lose digits.
template <class T> bool in_range(Extended value) {
    const Extended size = std::abs(value);
    return size <= std::numeric_limits<T>::max() && size >= std::numeric_limits<T>::min();
}

// The power of two that brings the largest entry of a row to [1, 2); 1 for a row of zeros.
inline Extended row_scale(Extended largest) {
    return largest > 0 ? std::ldexp(Extended(1), -std::ilogb(largest)) : Extended(1);
}

inline Term term(Extended value) { return {value, std::abs(value)}; }

// Calls visit(column, value) once for every column that row `row` reaches; entries that land on one column are added up
// first, as the matrix means them: their sum may be far smaller than they are.
template <class Visit> void for_each_entry(const BandMatrix& matrix, std::int64_t row, Visit&& visit) {
    const std::int64_t n = matrix.size();
    const int width = matrix.half_bandwidth();
    const bool wraps = matrix.boundary() == Boundary::periodic;
    auto column_of = [&](int offset) { return ((row + offset) % n + n) % n; };
    for (int offset = -width; offset <= width; ++offset) {
        if (!wraps && (row + offset < 0 || row + offset >= n)) continue;
        if (wraps && offset >= -width + n) break; // from here on columns come again
        Extended value = matrix.entry(offset, row);
        for (std::int64_t again = offset + n; wraps && again <= width; again += n)
            value += matrix.entry(static_cast<int>(again), row);
        visit(column_of(offset), value);
    }
}

// sum_j |A[row, j]|
inline Extended row_sum(const BandMatrix& matrix, std::int64_t row) {
    Extended sum = 0;
    for_each_entry(matrix, row, [&](std::int64_t, Extended value) { sum += std::abs(value); });
    return sum;
}

} // namespace bandmill::detail
