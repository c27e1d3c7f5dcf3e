// A batch solved by the backend under test, with everything around it checked, and the measure of its error.
#pragma once

#include "backend_under_test.hpp"
#include "bands.hpp"
#include "cases.hpp"
#include "oracle.hpp"
#include "random.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace bandmill::test {

// Right-hand sides, computed when asked for: uniform in (-1, 1), and of four systems one is scaled with the rows of the
// matrix, one is a single spike and one is zero.
template <class T> class RightHandSides {
  public:
    RightHandSides(const Bands& bands, std::uint64_t seed) : n_(bands.n), seed_(mix(seed)), norms_(bands.n) {
        const auto norms = row_norms(bands);
        for (std::int64_t i = 0; i < n_; ++i) norms_[i] = static_cast<double>(norms[i]);
    }
    T operator()(std::int64_t row, std::int64_t system) const {
        const std::uint64_t bits = mix(seed_ + static_cast<std::uint64_t>(system * n_ + row));
        const double value = static_cast<double>(static_cast<std::int64_t>(bits) >> 11) * 0x1p-52;
        if (system % 8 == 1) return static_cast<T>(value * norms_[row]);
        if (system % 8 == 3) return static_cast<T>(row == system * 7 % n_ ? value : 0.0);
        if (system % 8 == 6) return T{0};
        return static_cast<T>(value);
    }

  private:
    std::int64_t n_;
    std::uint64_t seed_;
    std::vector<double> norms_;
};

template <class T> std::string name_of() { return sizeof(T) == 8 ? "f64" : "f32"; }

// Solves x(row, system) = rhs(row, system) and returns the solutions, contiguous. Fails the test if anything but the
// elements of the output was changed.
template <class T, class Rhs>
std::vector<T> solve_batch(const Factor<T, Space>& factor, std::int64_t batch, LayoutKind kind, Placement placement,
                           const Rhs& rhs, Threads threads = {}) {
    const std::int64_t n = factor.size();
    const std::int64_t guard = (n + batch) % 2 == 0 ? 16 : 3;
    const Layout in = make_layout(kind, n, batch, guard);
    const LayoutKind out_kind = placement == Placement::other_layout
                                    ? all_layouts[(static_cast<std::size_t>(kind) + 1) % std::size(all_layouts)]
                                    : kind;
    const Layout out = make_layout(out_kind, n, batch, guard);

    std::vector<T> b(in.size, poison<T>()), x;
    for_each_element(in.shape, [&](auto row, auto system) { b[in.index(row, system)] = rhs(row, system); });
    if (placement == Placement::in_place) {
        solve_in_place(factor, b, in, threads);
        x = std::move(b);
    } else {
        x.assign(out.size, poison<T>());
        solve_out_of_place(factor, b, in, x, out, threads);
        std::int64_t changed = 0;
        for_each_element(in.shape, [&](auto row, auto system) {
            T& element = b[in.index(row, system)];
            changed += !same_bits(element, rhs(row, system));
            element = poison<T>();
        });
        for (T element : b) changed += !same_bits(element, poison<T>());
        EXPECT_EQ(changed, 0) << "elements of the input buffer changed";
    }

    std::vector<T> solution(n * batch);
    for_each_element(out.shape, [&](auto row, auto system) {
        T& element = x[out.index(row, system)];
        solution[system * n + row] = element;
        element = poison<T>();
    });
    std::int64_t changed = 0;
    for (T element : x) changed += !same_bits(element, poison<T>());
    EXPECT_EQ(changed, 0) << "elements of the padding changed";
    return solution;
}

// What rounding in long double adds to |A_i|_1, in units of T's eps: 5e-4 for f64.
template <class T>
constexpr long double
    long_double_resolution = std::numeric_limits<long double>::epsilon() / std::numeric_limits<T>::epsilon();

// Largest |r_i| / (eps (|A_i|_1 |x|_inf + |b_i|)) over the rows of one system, the residual in long double. Scaling a
// row scales both sides, so this is the measure after row equilibration as it stands. Infinite if x is not finite.
template <class T, class Rhs>
double backward_error(const Bands& bands, const std::vector<long double>& norms, const T* x, const Rhs& rhs,
                      std::int64_t system) {
    const int w = bands.half_bandwidth;
    T largest = 0;
    bool finite = true;
    for (std::int64_t i = 0; i < bands.n; ++i) {
        finite = finite && std::isfinite(x[i]);
        largest = std::max(largest, std::fabs(x[i]));
    }
    if (!finite) return std::numeric_limits<double>::infinity();
    long double worst = 0;
    for (std::int64_t i = 0; i < bands.n; ++i) {
        const long double b = rhs(i, system);
        long double residual = b;
        for (int k = -w; k <= w; ++k)
            if (const std::int64_t j = bands.column(k, i); j >= 0)
                residual -= static_cast<long double>(bands.at(k, i)) * x[j];
        if (residual != 0) worst = std::max(worst, std::fabs(residual) / (norms[i] * largest + std::fabs(b)));
    }
    return static_cast<double>(worst / std::numeric_limits<T>::epsilon());
}

template <class T, class Rhs>
double backward_error(const Bands& bands, const std::vector<T>& solution, const Rhs& rhs) {
    const auto norms = row_norms(bands, long_double_resolution<T>);
    double worst = 0;
    for (std::int64_t m = 0; m * bands.n < static_cast<std::int64_t>(solution.size()); ++m)
        worst = std::max(worst, backward_error(bands, norms, &solution[m * bands.n], rhs, m));
    return worst;
}

// Largest |x - x_ref|_i / (eps (|A^-1| w)_i) with w_i = |A_i|_1 |x_ref|_inf + |b_i| of one system: the error against
// the oracle, in units of what a backward error of one eps could cause.
template <class T, class Rhs>
double forward_error(const Bands& bands, const Oracle& oracle, const T* x, const Rhs& rhs, std::int64_t system) {
    std::vector<long double> b(bands.n), w = row_norms(bands, long_double_resolution<T>);
    for (std::int64_t i = 0; i < bands.n; ++i) b[i] = rhs(i, system);
    const auto reference = oracle.solve(b);
    long double largest = 0, worst = 0;
    for (long double value : reference) largest = std::max(largest, std::fabs(value));
    for (std::int64_t i = 0; i < bands.n; ++i) w[i] = w[i] * largest + std::fabs(b[i]);
    const auto bound = oracle.inverse_magnitude_times(w);
    for (std::int64_t i = 0; i < bands.n; ++i) {
        const long double error = std::fabs(x[i] - reference[i]);
        if (!std::isfinite(x[i])) return std::numeric_limits<double>::infinity();
        if (error != 0) worst = std::max(worst, error / bound[i]);
    }
    return static_cast<double>(worst / std::numeric_limits<T>::epsilon());
}

// The measure every solve has to meet, as |r_i| <= allowed_error eps (|A_i|_1 |x|_inf + |b_i|).
constexpr double allowed_error = 8;

// Keeps the largest error of each path and precision; printed when the program ends.
void log_error(SolvePath path, const std::string& precision, double error, const std::string& what);

} // namespace bandmill::test
