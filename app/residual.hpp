// Is the answer right? The row-wise backward error of a few systems of a solved batch, in long double.
#pragma once

#include "solve_case.hpp"

#include "bandmill/band/matrix.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace app {

// Systems worth a look: both ends of the batch, where tiles are cut short, and some in between. Neighbours lie close in
// memory in most layouts, which makes them cheap to fetch from a GPU. Long systems: fewer of them.
inline std::vector<std::int64_t> sample_systems(const SolveCase& what) {
    const std::int64_t count = std::clamp<std::int64_t>(2000000 / what.n, 2, 16), middle = what.batch * 3 / 8;
    std::vector<std::int64_t> systems;
    for (std::int64_t i = 0; i < count; ++i)
        systems.push_back(i < count / 4 ? i : i < count - count / 4 ? middle + i : what.batch - (count - i));
    for (std::int64_t& system : systems) system = std::clamp<std::int64_t>(system, 0, what.batch - 1);
    std::sort(systems.begin(), systems.end());
    systems.erase(std::unique(systems.begin(), systems.end()), systems.end());
    return systems;
}

// max_i |b - A x|_i / (|A_i|_1 |x|_inf + |b_i|), in units of T's epsilon; infinite if x is not finite.
template <class T>
double backward_error(const bandmill::BandMatrix& matrix, const std::vector<T>& b, const std::vector<T>& x) {
    const std::int64_t n = matrix.size();
    const int width = matrix.half_bandwidth();
    long double largest = 0, worst = 0;
    for (const T value : x) {
        if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
        largest = std::max(largest, std::fabs(static_cast<long double>(value)));
    }
    for (std::int64_t i = 0; i < n; ++i) {
        long double residual = b[static_cast<std::size_t>(i)], row = 0;
        for (int k = -width; k <= width; ++k) {
            const long double a = matrix.entry(k, i); // 0 outside an open matrix, so wrapping is harmless there
            const std::int64_t column = ((i + k) % n + n) % n;
            residual -= a * x[static_cast<std::size_t>(column)];
            row += std::fabs(a);
        }
        const long double scale = row * largest + std::fabs(static_cast<long double>(b[static_cast<std::size_t>(i)]));
        if (scale > 0) worst = std::max(worst, std::fabs(residual) / scale);
    }
    return static_cast<double>(worst / static_cast<long double>(std::numeric_limits<T>::epsilon()));
}

} // namespace app
