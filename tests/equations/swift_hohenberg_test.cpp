// The equation of examples/new_equation.cpp.
#include "bandmill/ensemble/ensemble.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace bandmill {
namespace {

using Points = std::vector<long double>;

// (1 + D2) f, with the second difference on a ring
Points one_plus_d2(const Points& f, long double dx) {
    const std::size_t n = f.size();
    Points result(n);
    for (std::size_t i = 0; i < n; ++i) result[i] = f[i] + (f[(i + n - 1) % n] - 2 * f[i] + f[(i + 1) % n]) / (dx * dx);
    return result;
}

// One step from the definition: (1 + dt (1 + D2)^2) d = dt (r C - (1 + D2)^2 C - C^3), C += d. The matrix is symmetric
// and positive, so conjugate gradients solve it.
void oracle_step(Points& c, long double r, long double dx, long double dt) {
    const auto square = [&](const Points& f) { return one_plus_d2(one_plus_d2(f, dx), dx); };
    const auto dot = [](const Points& f, const Points& g) {
        long double sum = 0;
        for (std::size_t i = 0; i < f.size(); ++i) sum += f[i] * g[i];
        return sum;
    };
    const Points explicit_part = square(c);
    Points d(c.size(), 0), residual(c.size());
    for (std::size_t i = 0; i < c.size(); ++i) residual[i] = dt * (r * c[i] - explicit_part[i] - c[i] * c[i] * c[i]);
    Points direction = residual;
    for (int round = 0; round < 200 && dot(residual, residual) > 1e-38L; ++round) {
        Points image = square(direction);
        for (std::size_t i = 0; i < c.size(); ++i) image[i] = direction[i] + dt * image[i];
        const long double before = dot(residual, residual), length = before / dot(direction, image);
        for (std::size_t i = 0; i < c.size(); ++i) d[i] += length * direction[i], residual[i] -= length * image[i];
        const long double turn = dot(residual, residual) / before;
        for (std::size_t i = 0; i < c.size(); ++i) direction[i] = residual[i] + turn * direction[i];
    }
    for (std::size_t i = 0; i < c.size(); ++i) c[i] += d[i];
}

template <class T> void expect_oracle(double tolerance) {
    const Grid grid(37, 4 * std::numbers::pi); // not a multiple of anything
    const std::vector<double> r = {-0.3, 0, 0.5};
    Ensemble<T> ensemble(
        {.equation = SwiftHohenberg{}, .grid = grid, .members = 3, .time_step = 0.05, .parameters = {r}},
        UniformNoise{.amplitude = 0.8, .seed = 3});
    std::vector<Points> expected;
    for (std::int64_t m = 0; m < 3; ++m) {
        const std::vector<T> first = ensemble.states(m, 1);
        expected.emplace_back(first.begin(), first.end());
        for (int step = 0; step < 50; ++step) oracle_step(expected[m], r[m], grid.spacing(), 0.05L);
    }
    ensemble.advance(50);
    for (std::int64_t m = 0; m < 3; ++m) {
        const std::vector<T> last = ensemble.states(m, 1);
        for (std::size_t i = 0; i < last.size(); ++i)
            EXPECT_NEAR(last[i], static_cast<double>(expected[m][i]), tolerance);
    }
}

// Differences grow by e^(r t) = 3.5 at most. Round-off of the right-hand side comes from 1 / dx^4 = 75.
TEST(SwiftHohenberg, StepsAsDefined) {
    expect_oracle<double>(100 * std::numeric_limits<double>::epsilon());
    expect_oracle<float>(100 * std::numeric_limits<float>::epsilon());
}

// What falls is the free energy less r / 2 <C^2>.
TEST(SwiftHohenberg, LosesEnergy) {
    const double r = 0.3;
    Ensemble<double> ensemble({.equation = SwiftHohenberg{},
                               .grid = Grid(128, 8 * std::numbers::pi),
                               .members = 5,
                               .time_step = 0.05,
                               .parameters = {{r}}},
                              UniformNoise{.amplitude = 0.5});
    const RunResult result = ensemble.run({.end_time = 40,
                                           .times = linear_times(0, 40, 41),
                                           .observables = {{Observable::free_energy}, {Observable::mean_square}}});
    const auto energy = [&](std::size_t sample) {
        const auto& statistics = result.samples[sample].statistics;
        return statistics[0].mean() - r / 2 * statistics[1].mean();
    };
    for (std::size_t s = 1; s < result.samples.size(); ++s) EXPECT_LT(energy(s), energy(s - 1));
    // Of A cos x with A^2 = 4 r / 3: -r A^2 / 4 + 3 A^4 / 32 = -r^2 / 6
    EXPECT_NEAR(energy(result.samples.size() - 1), -r * r / 6, 0.003);
}

} // namespace
} // namespace bandmill
