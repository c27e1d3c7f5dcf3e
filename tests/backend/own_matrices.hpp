// Batches in which every system has a matrix of its own, solved by the backend under test both ways: factored once and
// solved, and in one call. Everything around the data is checked.
#pragma once

#include "solving.hpp"

#include <functional>

namespace bandmill::test {

// As the library gets them: entries rounded to T. Those outside an open matrix stay NaN.
template <class T> Bands rounded(Bands bands) {
    for (auto& diagonal : bands.diagonals)
        for (double& value : diagonal) value = static_cast<T>(value);
    return bands;
}

// Largest row sum of |L||U| over that of |A|, by dense elimination without row exchanges in long double: what an error
// without row exchanges may grow by. Infinite if a pivot vanishes.
inline double growth_without_exchanges(const Bands& bands) {
    const std::int64_t n = bands.n;
    std::vector<long double> lu = dense(bands);
    const std::vector<long double> a = lu;
    for (std::int64_t k = 0; k < n; ++k) {
        if (lu[k * n + k] == 0) return std::numeric_limits<double>::infinity();
        for (std::int64_t i = k + 1; i < n; ++i) {
            if (lu[i * n + k] == 0) continue; // most of a band matrix
            const long double l = lu[i * n + k] /= lu[k * n + k];
            for (std::int64_t j = k + 1; j < n; ++j) lu[i * n + j] -= l * lu[k * n + j];
        }
    }
    std::vector<long double> u_sums(n, 0);
    for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t j = k; j < n; ++j) u_sums[k] += std::fabs(lu[k * n + j]);
    long double worst = 1;
    for (std::int64_t i = 0; i < n; ++i) {
        long double sum = u_sums[i], own = 0;
        for (std::int64_t k = 0; k < i; ++k) sum += std::fabs(lu[i * n + k]) * u_sums[k];
        for (std::int64_t j = 0; j < n; ++j) own += std::fabs(a[i * n + j]);
        worst = std::max(worst, sum / own);
    }
    return static_cast<double>(worst);
}

// System m has the matrix matrices[m % matrices.size()].
struct OwnBatch {
    std::vector<Bands> matrices;
    std::int64_t batch;

    std::int64_t n() const { return matrices[0].n; }
    int half_bandwidth() const { return matrices[0].half_bandwidth; }
    Boundary boundary() const { return matrices[0].boundary; }
    const Bands& of(std::int64_t system) const { return matrices[system % static_cast<std::int64_t>(matrices.size())]; }
    BatchShape shape() const { return {n(), batch, half_bandwidth(), boundary()}; }
};

// The diagonals of a batch where the backend works, in buffers of their own, whose padding is poisoned.
template <class T> class OwnDiagonals {
  public:
    // Diagonal d is laid out as kinds[d % kinds.size()].
    OwnDiagonals(const OwnBatch& batch, const std::vector<LayoutKind>& kinds, std::int64_t guard) {
        for (int d = 0; d < 2 * batch.half_bandwidth() + 1; ++d) {
            layouts_.push_back(make_layout(kinds[d % kinds.size()], batch.n(), batch.batch, guard));
            const Layout& layout = layouts_.back();
            std::vector<T> values(layout.size, poison<T>());
            for_each_element(layout.shape, [&](auto row, auto system) {
                const double value = batch.of(system).diagonals[d][row];
                values[layout.index(row, system)] = std::isnan(value) ? poison<T>() : static_cast<T>(value);
            });
            arrays_.push_back(make_array<T>(values));
            values_.push_back(std::move(values));
        }
        boundary_ = batch.boundary();
    }
    BandBatch<T, Space> view() const {
        const auto one = [&](int d) {
            return FieldView<const T, Space>(arrays_[d].data() + layouts_[d].origin, layouts_[d].shape);
        };
        if (arrays_.size() == 3) return {{one(0), one(1), one(2)}, boundary_};
        return {{one(0), one(1), one(2), one(3), one(4)}, boundary_};
    }
    void expect_unchanged() const {
        std::int64_t changed = 0;
        for (std::size_t d = 0; d < arrays_.size(); ++d) {
            const std::vector<T> now = download(arrays_[d]);
            for (std::size_t k = 0; k < now.size(); ++k) changed += !same_bits(now[k], values_[d][k]);
        }
        EXPECT_EQ(changed, 0) << "elements of the matrices changed";
    }

  private:
    std::vector<Layout> layouts_;
    std::vector<std::vector<T>> values_;
    std::vector<Array<T, Space>> arrays_;
    Boundary boundary_;
};

#if defined(BANDMILL_TEST_CUDA)
template <class T> BatchFactor<T, Cuda> factor_own(const BandBatch<T, Cuda>& matrices, Threads = {}) {
    return factor(matrices, Device{});
}
template <class T> BatchWorkspace<T, Cuda> make_workspace(const BatchShape& shape) {
    return BatchWorkspace<T, Cuda>(shape);
}
template <class T>
void solve_own(const BatchFactor<T, Cuda>& f, FieldView<const T, Cuda> b, FieldView<T, Cuda> x, Threads) {
    solve(f, b, x);
}
template <class T>
void solve_own(const BandBatch<T, Cuda>& matrices, FieldView<const T, Cuda> b, FieldView<T, Cuda> x,
               FieldView<std::int64_t, Cuda> status, BatchWorkspace<T, Cuda>& workspace, Threads) {
    solve(matrices, b, x, status, workspace);
}
#else
template <class T> BatchFactor<T, Host> factor_own(const BandBatch<T, Host>& matrices, Threads threads = {}) {
    return factor(matrices, threads);
}
template <class T> BatchWorkspace<T, Host> make_workspace(const BatchShape& shape) {
    return BatchWorkspace<T, Host>(shape);
}
template <class T>
void solve_own(const BatchFactor<T, Host>& f, FieldView<const T, Host> b, FieldView<T, Host> x, Threads threads) {
    solve(f, b, x, threads);
}
template <class T>
void solve_own(const BandBatch<T, Host>& matrices, FieldView<const T, Host> b, FieldView<T, Host> x,
               FieldView<std::int64_t, Host> status, BatchWorkspace<T, Host>& workspace, Threads threads) {
    solve(matrices, b, x, status, workspace, threads);
}
#endif

template <class T> struct OwnSolution {
    std::vector<T> x; // contiguous
    std::vector<std::int64_t> status;
};

// Of matrices that need no row exchanges. Rounding of the factor itself adds to that of the solve, so twice what a
// factor of higher precision is allowed.
constexpr double allowed_own_error = 2 * allowed_error;

enum class Way { factored, combined };

// A GPU splits long open tridiagonal systems that are solved with a factor, and solves other long open ones in pieces
// (docs/solver.md).
template <class T> bool shall_be_split(const OwnBatch& batch) {
    const std::int64_t most = sizeof(T) == 8 ? 8960 : 4224;
    return batch.half_bandwidth() == 1 && batch.boundary() == Boundary::open && batch.n() >= 448 && batch.n() <= most;
}
template <class T> bool may_be_in_pieces(const OwnBatch& batch) {
    return batch.boundary() == Boundary::open && batch.n() >= 2048 && !shall_be_split<T>(batch);
}
// Whether both ways do the same operations.
template <class T> bool ways_agree_to_the_bit(const OwnBatch& batch) {
#if defined(BANDMILL_TEST_CUDA)
    return !shall_be_split<T>(batch) && !may_be_in_pieces<T>(batch);
#else
    return batch.n() > 0;
#endif
}

// Where right-hand sides and solutions stand.
struct OwnPlacing {
    LayoutKind layout = LayoutKind::interleaved;
    Placement placement = Placement::out_of_place;
    std::vector<LayoutKind> diagonals = {LayoutKind::interleaved};
    Threads threads = {};
};

inline LayoutKind next_kind(LayoutKind kind, std::size_t step = 1) {
    return all_layouts[(static_cast<std::size_t>(kind) + step) % std::size(all_layouts)];
}

template <class T, class Rhs>
OwnSolution<T> solve_own_batch(const OwnBatch& batch, Way way, const OwnPlacing& placing, const Rhs& rhs) {
    const std::int64_t n = batch.n(), systems = batch.batch, guard = (n + systems) % 2 == 0 ? 16 : 3;
    const bool in_place = placing.placement == Placement::in_place;
    const Layout in = make_layout(placing.layout, n, systems, guard);
    const Layout out = make_layout(
        placing.placement == Placement::other_layout ? next_kind(placing.layout) : placing.layout, n, systems, guard);
    std::vector<T> b(in.size, poison<T>());
    for_each_element(in.shape, [&](auto row, auto system) { b[in.index(row, system)] = rhs(row, system); });
    const OwnDiagonals<T> diagonals(batch, placing.diagonals, guard);
    Array<T, Space> b_array = make_array<T>(b), x_array = make_array<T>(std::vector<T>(out.size, poison<T>()));
    const FieldView<const T, Space> b_view(b_array.data() + in.origin, in.shape);
    const FieldView<T, Space> x_view((in_place ? b_array : x_array).data() + (in_place ? in : out).origin,
                                     (in_place ? in : out).shape);
    OwnSolution<T> solution{std::vector<T>(n * systems), std::vector<std::int64_t>(systems, -7)};
    if (way == Way::factored) {
        const auto factor = factor_own<T>(diagonals.view(), placing.threads);
        solve_own<T>(factor, b_view, x_view, placing.threads);
        solution.status = download(factor.status());
    } else {
        Array<std::int64_t, Space> status = make_array<std::int64_t>(solution.status);
        auto workspace = make_workspace<T>(batch.shape());
        solve_own<T>(diagonals.view(), b_view, x_view, interleaved(status, 1, systems), workspace, placing.threads);
        solution.status = download(status);
    }
    diagonals.expect_unchanged();
    const Layout& where = in_place ? in : out;
    std::vector<T> x = download(in_place ? b_array : x_array);
    for_each_element(where.shape, [&](auto row, auto system) {
        T& element = x[where.index(row, system)];
        solution.x[system * n + row] = element;
        element = poison<T>();
    });
    std::int64_t changed = 0;
    for (T element : x) changed += !same_bits(element, poison<T>());
    EXPECT_EQ(changed, 0) << "elements of the padding changed";
    if (!in_place) {
        const std::vector<T> b_now = download(b_array);
        changed = 0;
        for (std::size_t k = 0; k < b.size(); ++k) changed += !same_bits(b_now[k], b[k]);
        EXPECT_EQ(changed, 0) << "elements of the input buffer changed";
    }
    return solution;
}

// Uniform in (-1, 1); of seven systems one is a single spike and one is zero.
template <class T> T own_rhs(std::int64_t row, std::int64_t system, std::int64_t n) {
    const std::uint64_t bits = mix(static_cast<std::uint64_t>(system * n + row) + 77);
    const double value = static_cast<double>(static_cast<std::int64_t>(bits) >> 11) * 0x1p-52;
    if (system % 7 == 3) return static_cast<T>(row == system * 7 % n ? value : 0.0);
    if (system % 7 == 6) return T{0};
    return static_cast<T>(value);
}

template <class T> std::int64_t differences(const std::vector<T>& a, const std::vector<T>& b) {
    std::int64_t count = 0;
    for (std::size_t k = 0; k < a.size(); ++k) count += !same_bits(a[k], b[k]);
    return count;
}

} // namespace bandmill::test
