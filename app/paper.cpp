#include "paper.hpp"

namespace app {
namespace {

using bandmill::BandMatrix;
using bandmill::Boundary;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// An open system of `rows` rows, as the paper keeps it: the diagonals a, b, c (W = 1) or a, b, c, d, e (W = 2).
struct Diagonals {
    std::int64_t rows;
    std::vector<std::vector<double>> of; // the lowest first

    Diagonals(const BandMatrix& matrix, std::int64_t leading) : rows(leading) {
        const int w = matrix.half_bandwidth();
        for (int k = -w; k <= w; ++k) {
            std::vector<double>& diagonal = of.emplace_back(at(rows));
            for (std::int64_t i = 0; i < rows; ++i)
                diagonal[at(i)] = i + k >= 0 && i + k < rows ? matrix.entry(k, i) : 0.0;
        }
    }
};

void factor_thomas(Diagonals& open) {
    auto &a = open.of[0], &b = open.of[1], &c = open.of[2];
    c[0] /= b[0];
    for (std::size_t i = 1; i < b.size(); ++i) {
        b[i] -= a[i] * c[i - 1];
        c[i] /= b[i];
    }
}

void factor_penta(Diagonals& open) {
    auto &a = open.of[0], &b = open.of[1], &c = open.of[2], &d = open.of[3], &e = open.of[4];
    for (std::size_t i = 0; i < c.size(); ++i) {
        if (i >= 2) {
            b[i] -= a[i] * d[i - 2];
            c[i] -= a[i] * e[i - 2];
        }
        if (i >= 1) {
            c[i] -= b[i] * d[i - 1];
            d[i] -= b[i] * e[i - 1];
        }
        d[i] /= c[i];
        e[i] /= c[i];
    }
}

// One system with the factored diagonals: for the responses.
void solve_one(const Diagonals& open, std::vector<double>& x) {
    const bool penta = open.of.size() == 5;
    const std::int64_t n = open.rows;
    for (std::int64_t i = 0; i < n; ++i) {
        if (penta && i >= 2) x[at(i)] -= open.of[0][at(i)] * x[at(i - 2)];
        if (i >= 1) x[at(i)] -= open.of[penta ? 1 : 0][at(i)] * x[at(i - 1)];
        x[at(i)] /= open.of[penta ? 2 : 1][at(i)];
    }
    for (std::int64_t i = n - 2; i >= 0; --i) {
        x[at(i)] -= open.of[penta ? 3 : 2][at(i)] * x[at(i + 1)];
        if (penta && i + 2 < n) x[at(i)] -= open.of[4][at(i)] * x[at(i + 2)];
    }
}

struct Solved { // in double, before rounding to T
    Diagonals open;
    std::vector<std::vector<double>> responses;
    double border[10] = {};
};

// A = A' + u v^T with u = (-b_1, 0, ..., c_n), v = (1, 0, ..., -a_1 / b_1): what A' is at its ends.
void open_ends(const BandMatrix& matrix, std::vector<double>& main) {
    const double b1 = matrix.entry(0, 0), a1 = matrix.entry(-1, 0), cn = matrix.entry(1, matrix.size() - 1);
    main.front() += b1;
    main.back() += cn * a1 / b1;
}

Solved factor_tridiagonal(const BandMatrix& matrix) {
    const std::int64_t n = matrix.size();
    Solved solved{Diagonals(matrix, n), {}};
    const bool periodic = matrix.boundary() == Boundary::periodic;
    if (periodic) open_ends(matrix, solved.open.of[1]);
    factor_thomas(solved.open);
    if (periodic) {
        const double b1 = matrix.entry(0, 0), a1 = matrix.entry(-1, 0);
        std::vector<double> z(at(n));
        z.front() = -b1;
        z.back() = matrix.entry(1, n - 1);
        solve_one(solved.open, z);
        solved.border[0] = -a1 / b1;
        solved.border[1] = 1 / (1 + z.front() - a1 / b1 * z.back());
        solved.responses = {z};
    }
    return solved;
}

// The matrix is [E F; H G] with two rows and columns in the border; x2 = (G - H E^-1 F)^-1 (b2 - H y), x1 = y - E^-1 F
// x2.
Solved factor_pentadiagonal(const BandMatrix& matrix) {
    const bool periodic = matrix.boundary() == Boundary::periodic;
    const std::int64_t n = matrix.size(), m = periodic ? n - 2 : n;
    Solved solved{Diagonals(matrix, m), {}};
    factor_penta(solved.open);
    if (!periodic) return solved;

    std::vector<double> f0(at(m)), f1(at(m));
    f0[0] = matrix.entry(-2, 0);
    f0[at(m - 2)] = matrix.entry(2, m - 2);
    f0[at(m - 1)] = matrix.entry(1, m - 1);
    f1[0] = matrix.entry(-1, 0);
    f1[1] = matrix.entry(-2, 1);
    f1[at(m - 1)] = matrix.entry(2, m - 1);
    solve_one(solved.open, f0);
    solve_one(solved.open, f1);

    double* h = solved.border;
    h[0] = matrix.entry(-2, m), h[1] = matrix.entry(-1, m), h[2] = matrix.entry(2, m);
    h[3] = matrix.entry(-2, m + 1), h[4] = matrix.entry(1, m + 1), h[5] = matrix.entry(2, m + 1);
    const auto upper = [&](const std::vector<double>& f) {
        return h[0] * f[at(m - 2)] + h[1] * f[at(m - 1)] + h[2] * f[0];
    };
    const auto lower = [&](const std::vector<double>& f) { return h[3] * f[at(m - 1)] + h[4] * f[0] + h[5] * f[1]; };
    const double s00 = matrix.entry(0, m) - upper(f0), s01 = matrix.entry(1, m) - upper(f1),
                 s10 = matrix.entry(-1, m + 1) - lower(f0), s11 = matrix.entry(0, m + 1) - lower(f1);
    const double determinant = s00 * s11 - s01 * s10;
    h[6] = s11 / determinant, h[7] = -s01 / determinant, h[8] = -s10 / determinant, h[9] = s00 / determinant;
    solved.responses = {f0, f1};
    return solved;
}

// ---- the solve, as loops over the systems `begin` to `end`, one row after the other

template <class T> struct Range {
    T* x;
    std::int64_t batch, begin, end;
    T* row(std::int64_t i) const { return x + i * batch; }
};

#define APP_INLINE __attribute__((always_inline)) inline

template <class T> APP_INLINE void sweep_thomas(const PaperTables<T>& tables, const Range<T>& range) {
    const T *a = tables.diagonal(0), *b = tables.diagonal(1), *c = tables.diagonal(2);
    for (std::int64_t i = 0; i < tables.rows; ++i) {
        T* __restrict__ x = range.row(i);
        const T* __restrict__ before = range.row(i > 0 ? i - 1 : i + 1), ai = i > 0 ? a[i] : T(0), bi = b[i];
        for (std::int64_t m = range.begin; m < range.end; ++m) x[m] = (x[m] - ai * before[m]) / bi;
    }
    for (std::int64_t i = tables.rows - 2; i >= 0; --i) {
        T* __restrict__ x = range.row(i);
        const T* __restrict__ after = range.row(i + 1), ci = c[i];
        for (std::int64_t m = range.begin; m < range.end; ++m) x[m] -= ci * after[m];
    }
}

template <class T> APP_INLINE void sweep_penta(const PaperTables<T>& tables, const Range<T>& range) {
    const T *a = tables.diagonal(0), *b = tables.diagonal(1), *c = tables.diagonal(2), *d = tables.diagonal(3),
            *e = tables.diagonal(4);
    for (std::int64_t i = 0; i < tables.rows; ++i) {
        T* __restrict__ x = range.row(i);
        if (i < 2) {
            const T* __restrict__ first = range.row(1 - i);
            const T bi = i == 1 ? b[1] : T(0), ci = c[i];
            for (std::int64_t m = range.begin; m < range.end; ++m) x[m] = (x[m] - bi * first[m]) / ci;
            continue;
        }
        const T* __restrict__ before = range.row(i - 1), * __restrict__ second = range.row(i - 2), ai = a[i], bi = b[i],
                              ci = c[i];
        for (std::int64_t m = range.begin; m < range.end; ++m) x[m] = (x[m] - ai * second[m] - bi * before[m]) / ci;
    }
    for (std::int64_t i = tables.rows - 2; i >= 0; --i) {
        T* __restrict__ x = range.row(i);
        const bool inner = i + 2 < tables.rows;
        const T* __restrict__ after = range.row(i + 1), * __restrict__ second = range.row(inner ? i + 2 : i + 1),
                              di = d[i], ei = inner ? e[i] : T(0);
        for (std::int64_t m = range.begin; m < range.end; ++m) x[m] = x[m] - di * after[m] - ei * second[m];
    }
}

template <class T> APP_INLINE void correct_thomas(const PaperTables<T>& tables, const Range<T>& range, T* scratch) {
    const T *first = range.row(0), *last = range.row(tables.n - 1), *z = tables.response(0);
    for (std::int64_t m = range.begin; m < range.end; ++m)
        scratch[m] = sherman_morrison(tables.border, first[m], last[m]);
    for (std::int64_t i = 0; i < tables.rows; ++i) {
        T* __restrict__ x = range.row(i);
        const T* __restrict__ amount = scratch, zi = z[i];
        for (std::int64_t m = range.begin; m < range.end; ++m) x[m] -= amount[m] * zi;
    }
}

template <class T> APP_INLINE void correct_penta(const PaperTables<T>& tables, const Range<T>& range) {
    const std::int64_t rows = tables.rows;
    T *upper = range.row(rows), *lower = range.row(rows + 1);
    for (std::int64_t m = range.begin; m < range.end; ++m)
        navon_border(tables.border, range.row(0)[m], range.row(1)[m], range.row(rows - 2)[m], range.row(rows - 1)[m],
                     upper[m], lower[m]);
    for (std::int64_t i = 0; i < rows; ++i) {
        T* __restrict__ x = range.row(i);
        const T* __restrict__ u = upper, * __restrict__ l = lower, wu = tables.response(0)[i],
                              wl = tables.response(1)[i];
        for (std::int64_t m = range.begin; m < range.end; ++m) x[m] = x[m] - wu * u[m] - wl * l[m];
    }
}

template <class T> APP_INLINE void solve_range(const PaperTables<T>& tables, const Range<T>& range, T* scratch) {
    if (tables.half_bandwidth == 1) {
        sweep_thomas(tables, range);
        if (tables.periodic) correct_thomas(tables, range, scratch);
    } else {
        sweep_penta(tables, range);
        if (tables.periodic) correct_penta(tables, range);
    }
}

// At the widest vectors the CPU has: a rival must not lose for want of them.
#if defined(__x86_64__)
template <class T>
__attribute__((target("avx512f,prefer-vector-width=512"))) void solve_v4(const PaperTables<T>& tables,
                                                                         const Range<T>& range, T* scratch) {
    solve_range(tables, range, scratch);
}
template <class T>
__attribute__((target("avx2"))) void solve_v3(const PaperTables<T>& tables, const Range<T>& range, T* scratch) {
    solve_range(tables, range, scratch);
}
#endif

} // namespace

template <class T> PaperFactor<T> paper_factor(const BandMatrix& matrix) {
    const int w = matrix.half_bandwidth();
    const Solved solved = w == 1 ? factor_tridiagonal(matrix) : factor_pentadiagonal(matrix);
    PaperFactor<T> factor{{w, matrix.boundary() == Boundary::periodic, matrix.size(), solved.open.rows, nullptr, {}},
                          {}};
    for (int k = 0; k < 10; ++k) factor.tables.border[k] = static_cast<T>(solved.border[k]);
    for (const auto* columns : {&solved.open.of, &solved.responses})
        for (const std::vector<double>& column : *columns)
            for (const double value : column) factor.values.push_back(static_cast<T>(value));
    return factor;
}

BandMatrix paper_open_part(const BandMatrix& periodic) {
    const bool tridiagonal = periodic.half_bandwidth() == 1;
    Diagonals open(periodic, tridiagonal ? periodic.size() : periodic.size() - 2);
    auto& of = open.of;
    if (tridiagonal) open_ends(periodic, of[1]);
    return tridiagonal ? BandMatrix::tridiagonal(of[0], of[1], of[2])
                       : BandMatrix::pentadiagonal(of[0], of[1], of[2], of[3], of[4]);
}

std::size_t paper_values(int half_bandwidth, Boundary boundary, std::int64_t n) {
    const bool periodic = boundary == Boundary::periodic;
    const std::int64_t rows = half_bandwidth == 2 && periodic ? n - 2 : n;
    return static_cast<std::size_t>((2 * half_bandwidth + 1 + (periodic ? half_bandwidth : 0)) * rows);
}

template <class T>
void paper_solve(const PaperTables<T>& tables, T* x, std::int64_t batch, std::int64_t begin, std::int64_t end,
                 T* scratch) {
    const Range<T> range{x, batch, begin, end};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return solve_v4(tables, range, scratch);
    if (__builtin_cpu_supports("avx2")) return solve_v3(tables, range, scratch);
#endif
    solve_range(tables, range, scratch);
}

template PaperFactor<double> paper_factor(const BandMatrix&);
template PaperFactor<float> paper_factor(const BandMatrix&);
template void paper_solve(const PaperTables<double>&, double*, std::int64_t, std::int64_t, std::int64_t, double*);
template void paper_solve(const PaperTables<float>&, float*, std::int64_t, std::int64_t, std::int64_t, float*);

} // namespace app
