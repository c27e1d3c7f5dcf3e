// The paper's two algorithms, as rivals: cuThomasConstantBatch (W = 1) and cuPentConstantBatch (W = 2). One factor for
// all systems, a forward and a backward sweep through memory, in place, with the divisions the paper has; its misprints
// are corrected (the back sweep of Thomas uses c_i, c_i -= a_i e_{i-2} + b_i d_{i-1}, b_N -= a_N d_{N-2}).
// Periodic: Sherman-Morrison for W = 1, Navon's border of two rows and columns for W = 2; both solve the open system
// first and then correct it with responses computed once, in another pass over memory.
#pragma once

#include "bandmill/band/matrix.hpp"
#include "bandmill/base/macros.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace app {

// What the sweeps read, where they run; T = double or float.
template <class T> struct PaperTables {
    int half_bandwidth;
    bool periodic;
    std::int64_t n;
    std::int64_t rows; // under the sweeps: n, but n - 2 inside Navon's border
    const T* values;   // 2W + 1 diagonals of `rows` values, the lowest first; periodic: then W responses
    T border[10];

    BANDMILL_HD const T* diagonal(int k) const { return values + k * rows; }
    BANDMILL_HD const T* response(int k) const { return values + (2 * half_bandwidth + 1 + k) * rows; }
};

// W = 1: the amount of the response in x, (v . y) / (1 + v . z), from the first and the last row of y.
template <class T> BANDMILL_HD T sherman_morrison(const T* border, T first, T last) {
    return (first + border[0] * last) * border[1];
}

// W = 2: the two rows of the border, given their right-hand sides, from the first two and last two rows of y.
template <class T>
BANDMILL_HD void navon_border(const T* border, T first, T second, T next_to_last, T last, T& upper, T& lower) {
    const T* h = border;
    const T r0 = upper - h[0] * next_to_last - h[1] * last - h[2] * first;
    const T r1 = lower - h[3] * last - h[4] * first - h[5] * second;
    upper = h[6] * r0 + h[7] * r1;
    lower = h[8] * r0 + h[9] * r1;
}

template <class T> struct PaperFactor {
    PaperTables<T> tables; // whoever places the values sets `tables.values`
    std::vector<T> values;
};

inline constexpr std::int64_t paper_least_rows = 6; // fewer, and the corners of a periodic matrix would overlap

template <class T> PaperFactor<T> paper_factor(const bandmill::BandMatrix& matrix);

// The open system inside a periodic one that the sweeps solve, as a matrix of its own: for other solvers that are given
// the same border.
bandmill::BandMatrix paper_open_part(const bandmill::BandMatrix& periodic);

// How many values its tables hold.
std::size_t paper_values(int half_bandwidth, bandmill::Boundary boundary, std::int64_t n);

// The systems from `begin` to `end` of an interleaved batch, as plain loops. `scratch`: one value per system of the
// batch, for W = 1 periodic.
template <class T>
void paper_solve(const PaperTables<T>& tables, T* x, std::int64_t batch, std::int64_t begin, std::int64_t end,
                 T* scratch);

} // namespace app
