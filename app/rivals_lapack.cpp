#include "rivals_lapack.hpp"

#include "place_host.hpp"

#include <fmt/format.h>
#include <lapacke.h>

extern "C" void openblas_set_num_threads(int count);

namespace app {
namespace {

using bandmill::BandMatrix;
using bandmill::Boundary;
using bandmill::FieldView;
using bandmill::Host;

std::size_t to_size(std::int64_t value) { return static_cast<std::size_t>(value); }

// A thread hands its share to LAPACK in pieces that stay in a level-2 cache: gbtrs works row by row across all
// right-hand sides of a call (n = 64, W = 2: 21 ns per unknown in such pieces, 36 in one call; gttrs 12 either way).
constexpr std::int64_t piece_elements = 65536;

void require(lapack_int info, const char* routine) {
    if (info != 0) throw bandmill::Error(fmt::format("{} failed with info = {}", routine, info));
}

// The _work functions: LAPACKE's others look through all data for NaN first.
lapack_int factor_tri(lapack_int n, double* dl, double* d, double* du, double* du2, lapack_int* pivots) {
    return LAPACKE_dgttrf_work(n, dl, d, du, du2, pivots);
}
lapack_int factor_tri(lapack_int n, float* dl, float* d, float* du, float* du2, lapack_int* pivots) {
    return LAPACKE_sgttrf_work(n, dl, d, du, du2, pivots);
}
lapack_int solve_tri(lapack_int n, lapack_int count, const double* dl, const double* d, const double* du,
                     const double* du2, const lapack_int* pivots, double* x, lapack_int stride) {
    return LAPACKE_dgttrs_work(LAPACK_COL_MAJOR, 'N', n, count, dl, d, du, du2, pivots, x, stride);
}
lapack_int solve_tri(lapack_int n, lapack_int count, const float* dl, const float* d, const float* du, const float* du2,
                     const lapack_int* pivots, float* x, lapack_int stride) {
    return LAPACKE_sgttrs_work(LAPACK_COL_MAJOR, 'N', n, count, dl, d, du, du2, pivots, x, stride);
}
lapack_int factor_band(lapack_int n, lapack_int w, double* band, lapack_int rows, lapack_int* pivots) {
    return LAPACKE_dgbtrf_work(LAPACK_COL_MAJOR, n, n, w, w, band, rows, pivots);
}
lapack_int factor_band(lapack_int n, lapack_int w, float* band, lapack_int rows, lapack_int* pivots) {
    return LAPACKE_sgbtrf_work(LAPACK_COL_MAJOR, n, n, w, w, band, rows, pivots);
}
lapack_int solve_band(lapack_int n, lapack_int w, lapack_int count, const double* band, lapack_int rows,
                      const lapack_int* pivots, double* x, lapack_int stride) {
    return LAPACKE_dgbtrs_work(LAPACK_COL_MAJOR, 'N', n, w, w, count, band, rows, pivots, x, stride);
}
lapack_int solve_band(lapack_int n, lapack_int w, lapack_int count, const float* band, lapack_int rows,
                      const lapack_int* pivots, float* x, lapack_int stride) {
    return LAPACKE_sgbtrs_work(LAPACK_COL_MAJOR, 'N', n, w, w, count, band, rows, pivots, x, stride);
}

lapack_int solve_own_tri(lapack_int n, double* dl, double* d, double* du, double* x) {
    return LAPACKE_dgtsv_work(LAPACK_COL_MAJOR, n, 1, dl, d, du, x, n);
}
lapack_int solve_own_tri(lapack_int n, float* dl, float* d, float* du, float* x) {
    return LAPACKE_sgtsv_work(LAPACK_COL_MAJOR, n, 1, dl, d, du, x, n);
}
lapack_int solve_own_band(lapack_int n, lapack_int w, double* band, lapack_int rows, lapack_int* pivots, double* x) {
    return LAPACKE_dgbsv_work(LAPACK_COL_MAJOR, n, w, w, 1, band, rows, pivots, x, n);
}
lapack_int solve_own_band(lapack_int n, lapack_int w, float* band, lapack_int rows, lapack_int* pivots, float* x) {
    return LAPACKE_sgbsv_work(LAPACK_COL_MAJOR, n, w, w, 1, band, rows, pivots, x, n);
}

// Divides the systems over our threads; each calls LAPACK, with one BLAS thread, for its own.
template <class T> class Lapack : public Contestant<T, Host> {
  public:
    explicit Lapack(const Place<Host>& place) : place_(place) { openblas_set_num_threads(1); }
    std::string path() const override { return "LAPACKE, OpenBLAS"; }
    void solve(FieldView<const T, Host>, FieldView<T, Host> x) override {
        const std::int64_t n = x.rows(), stride = x.shape().batch_stride; // from one system to the next
        const std::int64_t most = std::max<std::int64_t>(1, piece_elements / n);
        parallel_ranges(
            place_.threads_for(n * x.batch()), x.batch(),
            [&](std::int64_t begin, std::int64_t end) {
                for (; begin < end; begin += most)
                    solve_piece(static_cast<lapack_int>(n), static_cast<lapack_int>(std::min(most, end - begin)),
                                x.data() + begin * stride, static_cast<lapack_int>(stride));
            },
            1);
    }

  private:
    virtual void solve_piece(lapack_int n, lapack_int count, T* x, lapack_int stride) const = 0;
    const Place<Host>& place_;
};

template <class T> class Gttrs : public Lapack<T> {
  public:
    Gttrs(const Place<Host>& place, const SolveCase& what, const BandMatrix& matrix)
        : Lapack<T>(place), values_(4 * to_size(what.n)), pivots_(to_size(what.n)) {
        for (std::int64_t i = 0; i < what.n; ++i) {
            if (i > 0) lower()[i - 1] = static_cast<T>(matrix.entry(-1, i));
            main()[i] = static_cast<T>(matrix.entry(0, i));
            if (i + 1 < what.n) upper()[i] = static_cast<T>(matrix.entry(1, i));
        }
        require(factor_tri(static_cast<lapack_int>(what.n), lower(), main(), upper(), second(), pivots_.data()),
                "gttrf");
    }
    static Holding holding(const SolveCase& what) {
        return {to_size(what.n) * (4 * what.element_bytes() + sizeof(lapack_int)), {}};
    }
    std::size_t held_bytes() const override { return values_.size() * sizeof(T) + pivots_.size() * sizeof(lapack_int); }

  private:
    T* part(std::size_t k) { return values_.data() + k * pivots_.size(); }
    const T* part(std::size_t k) const { return values_.data() + k * pivots_.size(); }
    T* lower() { return part(0); }
    T* main() { return part(1); }
    T* upper() { return part(2); }
    T* second() { return part(3); } // the second upper diagonal, which row exchanges fill
    void solve_piece(lapack_int n, lapack_int count, T* x, lapack_int stride) const override {
        require(solve_tri(n, count, part(0), part(1), part(2), part(3), pivots_.data(), x, stride), "gttrs");
    }

    std::vector<T> values_;
    std::vector<lapack_int> pivots_;
};

template <class T> class Gbtrs : public Lapack<T> {
  public:
    Gbtrs(const Place<Host>& place, const SolveCase& what, const BandMatrix& matrix)
        : Lapack<T>(place), width_(what.half_bandwidth), rows_(3 * width_ + 1), band_(to_size(what.n * rows_)),
          pivots_(to_size(what.n)) {
        for (std::int64_t i = 0; i < what.n; ++i) // A[i, j] stands in row 2W + i - j of column j
            for (int k = -width_; k <= width_; ++k)
                if (const std::int64_t j = i + k; j >= 0 && j < what.n)
                    band_[to_size(j * rows_ + 2 * width_ - k)] = static_cast<T>(matrix.entry(k, i));
        require(factor_band(static_cast<lapack_int>(what.n), width_, band_.data(), rows_, pivots_.data()), "gbtrf");
    }
    static Holding holding(const SolveCase& what) {
        const std::size_t rows = 3 * static_cast<std::size_t>(what.half_bandwidth) + 1;
        return {to_size(what.n) * (rows * what.element_bytes() + sizeof(lapack_int)), {}};
    }
    std::size_t held_bytes() const override { return band_.size() * sizeof(T) + pivots_.size() * sizeof(lapack_int); }

  private:
    void solve_piece(lapack_int n, lapack_int count, T* x, lapack_int stride) const override {
        require(solve_band(n, width_, count, band_.data(), rows_, pivots_.data(), x, stride), "gbtrs");
    }

    lapack_int width_, rows_;
    std::vector<T> band_;
    std::vector<lapack_int> pivots_;
};

// A copy of the matrix for every system, which LAPACK factors in place; put back off the clock.
template <class T, bool Band> class OwnLapack : public Contestant<T, Host> {
  public:
    OwnLapack(const Place<Host>& place, const SolveCase& what, const BandMatrix& matrix)
        : place_(place), width_(what.half_bandwidth), rows_(Band ? 3 * width_ + 1 : 3), one_(to_size(what.n * rows_)),
          values_(what.batch * what.n * rows_) {
        openblas_set_num_threads(1);
        for (std::int64_t i = 0; i < what.n; ++i)
            for (int k = -width_; k <= width_; ++k)
                if (const std::int64_t j = i + k; j >= 0 && j < what.n) { // tridiagonal: lower, main, upper
                    const std::int64_t at = Band ? j * rows_ + 2 * width_ - k : (k + 1) * what.n + (k < 0 ? j : i);
                    one_[to_size(at)] = static_cast<T>(matrix.entry(k, i));
                }
    }
    static Holding holding(const SolveCase& what) {
        const std::size_t rows = Band ? 3 * static_cast<std::size_t>(what.half_bandwidth) + 1 : 3;
        return {rows * to_size(what.n) * what.element_bytes(),
                {rows * to_size(what.n * what.batch) * what.element_bytes()}};
    }
    std::string path() const override { return "LAPACKE, OpenBLAS, matrices put back off the clock"; }
    std::size_t held_bytes() const override { return (one_.size() + to_size(values_.size())) * sizeof(T); }
    bool needs_restore() const override { return true; }
    void restore() override { place_.template fill<T>(values_, one_); }
    void solve(FieldView<const T, Host>, FieldView<T, Host> x) override {
        const std::int64_t n = x.rows(), stride = x.shape().batch_stride;
        const auto size = static_cast<lapack_int>(n);
        parallel_ranges(
            place_.threads_for(n * x.batch()), x.batch(),
            [&](std::int64_t begin, std::int64_t end) {
                std::vector<lapack_int> pivots(to_size(n));
                for (std::int64_t m = begin; m < end; ++m) {
                    T* const own = values_.data() + m * n * rows_;
                    if constexpr (Band)
                        require(solve_own_band(size, width_, own, rows_, pivots.data(), x.data() + m * stride), "gbsv");
                    else
                        require(solve_own_tri(size, own, own + n, own + 2 * n, x.data() + m * stride), "gtsv");
                }
            },
            1);
    }

  private:
    const Place<Host>& place_;
    lapack_int width_, rows_;
    std::vector<T> one_;
    bandmill::Array<T, Host> values_;
};
template <class T> using Gtsv = OwnLapack<T, false>;
template <class T> using Gbsv = OwnLapack<T, true>;

std::optional<std::string> lapack_obstacle(const SolveCase& what) {
    if (what.boundary == Boundary::periodic) return "open only";
    if (what.n < 2 || what.n > INT32_MAX / 8) return "LAPACK is called for 2 rows up to 2^28";
    return std::nullopt;
}

template <template <class> class Solver> Rival<Host> describe(const char* name, const Place<Host>& place) {
    Rival<Host> rival{name, Layout::contiguous, INT64_MAX, lapack_obstacle, Solver<double>::holding, {}, {}};
    rival.make_f64 = [&place](const SolveCase& what, const BandMatrix& matrix) {
        return std::make_unique<Solver<double>>(place, what, matrix);
    };
    rival.make_f32 = [&place](const SolveCase& what, const BandMatrix& matrix) {
        return std::make_unique<Solver<float>>(place, what, matrix);
    };
    return rival;
}

} // namespace

namespace {
Rival<Host> tridiagonal_only(Rival<Host> rival) {
    rival.obstacle = [](const SolveCase& what) {
        return what.half_bandwidth == 1 ? lapack_obstacle(what) : "tridiagonal only";
    };
    return rival;
}
} // namespace

Rival<Host> lapack_gttrs(const Place<Host>& place) { return tridiagonal_only(describe<Gttrs>("gttrs", place)); }
Rival<Host> lapack_gtsv(const Place<Host>& place) { return tridiagonal_only(describe<Gtsv>("gtsv", place)); }
Rival<Host> lapack_gbsv(const Place<Host>& place) { return describe<Gbsv>("gbsv", place); }

Rival<Host> lapack_gbtrs(const Place<Host>& place) { return describe<Gbtrs>("gbtrs", place); }

} // namespace app
