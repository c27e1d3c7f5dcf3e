// The engine with an equation that is not the library's own.
#include "bandmill/ensemble/ensemble.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <type_traits>

namespace bandmill {
namespace {

constexpr double pi = std::numbers::pi;

using Points = std::vector<long double>;

// One step from the definition: (1 - dt gamma D2) d = dt (gamma D2 C + C - C^3), C += d. The matrix is diagonally
// dominant, so Gauss-Seidel sweeps solve it.
void oracle_step(Points& c, long double gamma, long double dx, long double dt) {
    const std::size_t n = c.size();
    const long double r = dt * gamma / (dx * dx);
    const auto neighbours = [&](const Points& f, std::size_t i) { return f[(i + n - 1) % n] + f[(i + 1) % n]; };
    Points b(n), d(n, 0);
    for (std::size_t i = 0; i < n; ++i) b[i] = r * (neighbours(c, i) - 2 * c[i]) + dt * (c[i] - c[i] * c[i] * c[i]);
    for (int sweep = 0; sweep < 200; ++sweep)
        for (std::size_t i = 0; i < n; ++i) d[i] = (b[i] + r * neighbours(d, i)) / (1 + 2 * r);
    for (std::size_t i = 0; i < n; ++i) c[i] += d[i];
}

template <class T> void expect_oracle(double tolerance) {
    const Grid grid(37, 2 * pi); // not a multiple of anything
    const double dt = 0.05;
    const UniformNoise noise{.amplitude = 0.8, .seed = 3};
    Ensemble<T> ensemble({.equation = AllenCahn{.gamma = 0.02}, .grid = grid, .members = 19, .time_step = dt}, noise);
    const std::vector<T> first = ensemble.states(18, 1);
    Points expected(first.begin(), first.end());
    for (int step = 0; step < 50; ++step) oracle_step(expected, 0.02L, grid.spacing(), dt);
    ensemble.advance(50);
    const std::vector<T> last = ensemble.states(18, 1);
    for (std::size_t i = 0; i < last.size(); ++i) EXPECT_NEAR(last[i], static_cast<double>(expected[i]), tolerance);
}

TEST(AllenCahn, IsTheLastOfTheList) {
    constexpr std::size_t last = std::variant_size_v<Equation> - 1;
    static_assert(std::is_same_v<std::variant_alternative_t<last, Equation>, AllenCahn>);
    const Equation equation = AllenCahn{};
    EXPECT_STREQ(std::visit([](const auto& e) { return e.name; }, equation), "allen-cahn");
}

// Differences of two members grow by e^t at most, so rounding grows by no more than e^2.5 over these steps.
TEST(AllenCahn, StepsAsDefined) {
    expect_oracle<double>(100 * std::numeric_limits<double>::epsilon());
    expect_oracle<float>(100 * std::numeric_limits<float>::epsilon());
}

// One step multiplies a small mode about 0 by (1 + dt) / (1 + dt gamma kappa), with the second difference -kappa of the
// mode on this grid.
TEST(AllenCahn, SmallModesGrowAtTheLinearRate) {
    const Grid grid(64, 2 * pi);
    const double gamma = 0.01, dt = 0.01, k = 3;
    const int steps = 100;
    Ensemble<double> ensemble({.equation = AllenCahn{gamma}, .grid = grid, .time_step = dt},
                              Cosine{.amplitude = 1e-7, .wavenumber = k});
    ensemble.advance(steps);
    const double kappa = std::pow(2 / grid.spacing() * std::sin(k * grid.spacing() / 2), 2);
    const double growth = std::pow((1 + dt) / (1 + dt * gamma * kappa), steps);
    EXPECT_NEAR(ensemble.states()[0], 1e-7 * growth, 1e-7 * growth * 1e-12); // C^3 is 1e-14 of it
}

TEST(AllenCahn, StaysAtItsSteadyStates) {
    Ensemble<double> ensemble({.equation = AllenCahn{}, .grid = Grid(50, 1), .members = 3},
                              Constant{.value = {-1, 0, 1}});
    ensemble.advance(1000);
    const std::vector<double> states = ensemble.states();
    for (std::size_t at = 0; at < states.size(); ++at) EXPECT_EQ(states[at], static_cast<double>(at / 50) - 1);
}

// Deviations from 1 decay at the rate 2 + gamma k^2: the error falls with dx^2, if dt goes with dx^2.
TEST(AllenCahn, DecaysAtSecondOrder) {
    const double gamma = 0.1, k = 2, end = 0.5, amplitude = 1e-6;
    const auto error = [&](int points) {
        const double dt = 3.2 / (points * points);
        Ensemble<double> ensemble({.equation = AllenCahn{gamma}, .grid = Grid(points, 2 * pi), .time_step = dt},
                                  Cosine{.amplitude = amplitude, .wavenumber = k, .mean = 1});
        ensemble.advance(std::lround(end / dt));
        return (ensemble.states()[0] - 1) / amplitude - std::exp(-(2 + gamma * k * k) * end);
    };
    // The nonlinear term is 3e-6 of the deviation, and the smallest error 1e-3.
    EXPECT_NEAR(std::log2(error(64) / error(128)), 2, 0.03);
}

TEST(AllenCahn, LosesEnergyAndIsMeasured) {
    Ensemble<double> ensemble({.equation = AllenCahn{}, .grid = Grid(128, 2 * pi), .members = 5}, UniformNoise{});
    const RunResult result = ensemble.run({.end_time = 10,
                                           .times = linear_times(0, 10, 21),
                                           .observables = {{Observable::free_energy}, {Observable::rate}}});
    for (std::size_t s = 1; s < result.samples.size(); ++s)
        EXPECT_LT(result.samples[s].statistics[0].mean(), result.samples[s - 1].statistics[0].mean());
    EXPECT_NEAR(result.samples[0].statistics[0].mean(), 0.25, 0.02); // (0 - 1)^2 / 4, and the noise
    EXPECT_LT(result.samples.back().statistics[1].mean(), 0.2);
}

// The second block of docs/equations.md.
TEST(AllenCahn, RunsAsDocumented) {
#include "equations_cpp_1"
    EXPECT_EQ(result.samples.at(0).statistics[0].members, 64);
}

TEST(AllenCahn, KnowsItsLimits) {
    EXPECT_THROW(Ensemble<double>({.equation = AllenCahn{-1}, .grid = Grid(64, 1)}, UniformNoise{}), InvalidArgument);
    // A source has no reflection.
    EXPECT_THROW(Ensemble<double>({.equation = AllenCahn{}, .grid = Grid(64, 1, Ends::neumann)}, UniformNoise{}),
                 InvalidArgument);
    // 2 / (3 * 1.05^2 - 1) = 0.87
    int warnings = 0;
    Ensemble<double> ensemble({.equation = AllenCahn{}, .grid = Grid(64, 1), .time_step = 0.9}, UniformNoise{});
    ensemble.run({.end_time = 9, .warn = [&](const std::string&) { ++warnings; }});
    EXPECT_EQ(warnings, 1);
}

} // namespace
} // namespace bandmill
