// A uniform mixture C0 with a ripple of wavenumber k far too small to feel itself: it grows at the rate
// -a k^2 - gamma k^4, a = 3 C0^2 - 1, so that every ripple dies out where C0^2 > 1/3 and long ones grow where C0^2 <
// 1/3.
#include "verifying.hpp"

#include <cmath>

namespace bandmill::test {
namespace {

using LinearRate = FullSizeTest;

constexpr double gamma_ = 0.01, ripple = 1e-7;

// The ripple's growth over `steps` steps.
double growth(double mean, int k, std::int64_t n, double time_step, std::int64_t steps) {
    const Grid grid(n, 2 * pi);
    Ensemble<> ensemble = start({.equation = CahnHilliard{gamma_}, .grid = grid, .time_step = time_step},
                                Cosine{.amplitude = ripple, .wavenumber = static_cast<double>(k), .mean = mean});
    ensemble.advance(steps);
    const std::vector<double> states = ensemble.states();
    double amplitude = 0;
    for (std::int64_t i = 0; i < n; ++i)
        amplitude += (states[i] - mean) * std::cos(k * grid.position(i)) * 2 / static_cast<double>(n);
    return amplitude / ripple;
}

// Both sides of 1/3, close to it and away from it.
const double means[] = {0, 0.5, -0.55, 0.57, 0.585, 0.6, -0.8};

TEST_F(LinearRate, IsTheSchemes) {
    for (const double mean : means)
        for (const int k : {1, 3, 7, 12})
            for (const std::int64_t n : {37, 64}) {
                const double dx = 2 * pi / static_cast<double>(n), dt = 0.005, a = 3 * mean * mean - 1;
                const double kappa = std::pow(2 / dx * std::sin(k * dx / 2), 2);
                const double step = (1 - dt * a * kappa) / (1 + dt * gamma_ * kappa * kappa);
                const double expected = std::pow(step, 30);
                EXPECT_NEAR(growth(mean, k, n, dt, 30), expected, 1e-7 * std::fmax(1, expected))
                    << "C0 = " << mean << ", k = " << k << ", n = " << n;
            }
}

TEST_F(LinearRate, IsTheEquationsInSmallSteps) {
    for (const double mean : means)
        for (const int k : {1, 4, 8}) {
            const double a = 3 * mean * mean - 1, k2 = k * k, rate = -a * k2 - gamma_ * k2 * k2;
            constexpr double dt = 1e-5;
            constexpr std::int64_t steps = 2000;
            EXPECT_NEAR(std::log(growth(mean, k, 1024, dt, steps)) / (dt * steps), rate,
                        0.002 * std::fabs(rate) + 0.001)
                << "C0 = " << mean << ", k = " << k;
        }
}

TEST_F(LinearRate, ChangesSignAtAThird) {
    const double third = std::sqrt(1.0 / 3);
    // gamma k^2 = 0.01 moves the border for k = 1 to C0^2 = 0.33.
    EXPECT_GT(growth(third - 0.01, 1, 64, 0.01, 1000), 1.1);
    EXPECT_LT(growth(third + 0.01, 1, 64, 0.01, 1000), 0.9);
}

} // namespace
} // namespace bandmill::test
