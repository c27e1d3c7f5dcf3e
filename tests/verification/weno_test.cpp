// The WENO derivative by itself: its order, what it does to a step, and which way it looks.
#include "verifying.hpp"

#include "bandmill/pde/weno.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bandmill::test {
namespace {

using Points = std::vector<double>;

// The derivative at every point of a periodic grid on [0, 1).
template <class T> Points right_biased(const Points& c) {
    const std::size_t n = c.size();
    const RightWeno5<T> weno(1 / static_cast<double>(n));
    Points result;
    for (std::size_t i = 0; i < n; ++i) {
        std::array<T, 6> near{};
        for (std::size_t k = 0; k < 6; ++k) near[k] = static_cast<T>(c[(i + n + k - 2) % n]);
        result.push_back(static_cast<double>(weno(near.data()) * weno.to_derivative()));
    }
    return result;
}
// The mirror image: it looks to the left.
Points left_biased(Points c) {
    std::reverse(c.begin(), c.end());
    Points result = right_biased<double>(c);
    std::reverse(result.begin(), result.end());
    for (double& x : result) x = -x;
    return result;
}

// C_t = C_x for a time, by Shu and Osher's third-order Runge-Kutta steps, which add no overshoot of their own.
template <class Derivative> Points advected(Points c, double time, double courant, const Derivative& derivative) {
    const std::size_t n = c.size();
    const auto steps = static_cast<int>(std::ceil(time * static_cast<double>(n) / courant));
    const double dt = time / steps;
    const auto mix = [&](double old, const Points& from, double part, const Points& now) {
        const Points rate = derivative(now);
        Points next(n);
        for (std::size_t i = 0; i < n; ++i) next[i] = old * from[i] + part * (now[i] + dt * rate[i]);
        return next;
    };
    for (int step = 0; step < steps; ++step) {
        const Points one = mix(0, c, 1, c), two = mix(3.0 / 4, c, 1.0 / 4, one);
        c = mix(1.0 / 3, c, 2.0 / 3, two);
    }
    return c;
}

Points sampled(std::size_t n, double (*f)(double)) {
    Points c;
    for (std::size_t i = 0; i < n; ++i) c.push_back(f(static_cast<double>(i) / static_cast<double>(n)));
    return c;
}
double wave(double x) { return std::sin(2 * pi * x); }
double hump(double x) { return std::exp(-150 * (x - 0.6) * (x - 0.6)); }
double box(double x) { return x > 0.4 && x < 0.7 ? 1 : 0; }

double mean_difference(const Points& a, const Points& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::fabs(a[i] - b[i]);
    return sum / static_cast<double>(a.size());
}

TEST(Weno, FifthOrderOnASmoothWave) {
    double error[3];
    for (int level = 0; level < 3; ++level) {
        const std::size_t n = std::size_t(40) << level;
        const Points exact = sampled(n, [](double x) { return 2 * pi * std::cos(2 * pi * x); });
        error[level] = mean_difference(right_biased<double>(sampled(n, wave)), exact);
    }
    EXPECT_GT(std::log2(error[0] / error[1]), 4.5) << error[0] << " " << error[1];
    EXPECT_GT(std::log2(error[1] / error[2]), 4.5) << error[1] << " " << error[2];
}

TEST(Weno, TheSameInSinglePrecision) {
    const Points exact = sampled(80, [](double x) { return 2 * pi * std::cos(2 * pi * x); });
    EXPECT_LT(mean_difference(right_biased<float>(sampled(80, wave)), exact), 1e-4);
}

TEST(Weno, LooksThreePointsToTheRightAndTwoToTheLeft) {
    constexpr std::size_t n = 40, here = 20;
    const Points smooth = sampled(n, wave);
    const double expected = right_biased<double>(smooth)[here];
    for (std::size_t other = here - 6; other <= here + 6; ++other) {
        Points disturbed = smooth;
        disturbed[other] += 0.01;
        const bool matters = other + 2 >= here && other <= here + 3;
        EXPECT_EQ(right_biased<double>(disturbed)[here] != expected, matters) << "point " << other;
    }
}

TEST(Weno, TakesTheSmoothSideOfAStep) {
    // A ramp that ends in a step on the right, or on the left: its slope is seen through the smooth side.
    for (const double at : {0.525, 0.475}) {
        Points c(40);
        for (std::size_t i = 0; i < 40; ++i) {
            const double x = static_cast<double>(i) / 40;
            const bool beyond = at > 0.5 ? x > at : x < at;
            c[i] = x + (beyond ? 1.0 : 0.0);
        }
        EXPECT_NEAR(right_biased<double>(c)[20], 1, 1e-4) << "step at " << at;
    }
}

TEST(Weno, AStepIsCarriedWithoutOvershoot) {
    for (const std::size_t n : {100, 200}) {
        const Points first = sampled(n, box), last = advected(first, 0.25, 0.4, right_biased<double>);
        const auto [low, high] = std::minmax_element(last.begin(), last.end());
        // 2e-6 is seen; the same derivatives with fixed weights overshoot by 0.09.
        EXPECT_LT(*high, 1 + 1e-5);
        EXPECT_GT(*low, -1e-5);
        Points moved(n);
        for (std::size_t i = 0; i < n; ++i) moved[i] = first[(i + n / 4) % n];
        EXPECT_LT(mean_difference(last, moved), 4.0 / static_cast<double>(n)); // two edges, some points wide
    }
}

TEST(Weno, UpwindCarriesAHumpToTheLeftAndDownwindTearsIt) {
    constexpr std::size_t n = 100;
    const Points first = sampled(n, hump), moved = sampled(n, [](double x) { return hump(x + 0.25); });
    EXPECT_LT(mean_difference(advected(first, 0.25, 0.4, right_biased<double>), moved), 1e-3);
    const Points torn = advected(first, 0.25, 0.4, left_biased);
    EXPECT_FALSE(mean_difference(torn, moved) < 0.1); // NaN is as good
}

} // namespace
} // namespace bandmill::test
