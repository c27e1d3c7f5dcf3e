// Diffusion and hyperdiffusion of one Fourier mode, which only decays: at the rate D k^2 or K k^4 in the equation, with
// kappa = (2/dx sin(k dx/2))^2 for k^2 on the grid, and by (1 - r dt/2) / (1 + r dt/2) in a Crank-Nicolson step.
#include "verifying.hpp"

#include <cmath>

namespace bandmill::test {
namespace {

using FourierDecay = FullSizeTest;

constexpr double length = 3;

// g + sin or cos: the mode number `waves` that the ends allow.
struct Mode {
    Ends ends;
    int waves;
    double value; // g

    Grid grid(std::int64_t n) const { return Grid(n, length, ends, value); }
    double wavenumber() const { return (ends == Ends::periodic ? 2 : 1) * pi * waves / length; }
    double shape(double x) const {
        return ends == Ends::dirichlet ? std::sin(wavenumber() * x) : std::cos(wavenumber() * x);
    }
    double grid_square(std::int64_t n) const { // kappa
        const double dx = grid(n).spacing();
        return std::pow(2 / dx * std::sin(wavenumber() * dx / 2), 2);
    }
};

double rate(const Equation& equation, double square) {
    if (const auto* hyper = std::get_if<Hyperdiffusion>(&equation)) return hyper->diffusivity * square * square;
    return std::get<Diffusion>(equation).diffusivity * square;
}

struct Decayed {
    double amplitude, elsewhere; // the largest of what is not the mode
};
template <class T = double>
Decayed decayed(const Equation& equation, const Mode& mode, std::int64_t n, double time_step, std::int64_t steps) {
    const Grid grid = mode.grid(n);
    std::vector<double> first;
    for (std::int64_t i = 0; i < n; ++i) first.push_back(mode.value + mode.shape(grid.position(i)));
    Ensemble<T> ensemble =
        start<T>({.equation = equation, .grid = grid, .time_step = time_step}, GivenStates{std::move(first)});
    ensemble.advance(steps);
    const std::vector<T> last = ensemble.states();
    double product = 0, square = 0, elsewhere = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const double shape = mode.shape(grid.position(i));
        product += (last[i] - mode.value) * shape;
        square += shape * shape;
    }
    for (std::int64_t i = 0; i < n; ++i)
        elsewhere =
            std::fmax(elsewhere, std::fabs(last[i] - mode.value - product / square * mode.shape(grid.position(i))));
    return {product / square, elsewhere};
}

template <class Check> void for_all_modes(const Check& check) {
    const Mode modes[] = {{Ends::periodic, 1, 0},  {Ends::neumann, 1, 0},   {Ends::neumann, 2, 0},
                          {Ends::dirichlet, 1, 0}, {Ends::dirichlet, 2, 0}, {Ends::dirichlet, 3, 0.4}};
    for (const Equation& equation : {Equation(Diffusion{0.5}), Equation(Hyperdiffusion{0.05})})
        for (const Mode& mode : modes) {
            SCOPED_TRACE(std::string(name_of(equation)) + ", " + name(mode.ends) + ", " + std::to_string(mode.waves) +
                         " waves");
            check(equation, mode);
        }
}

// To round-off: the longest step's matrix at 64 points has a condition of 1e7, and 1e-12 is seen.
TEST_F(FourierDecay, AStepIsCrankNicolsons) {
    for_all_modes([](const Equation& equation, const Mode& mode) {
        for (const std::int64_t n : {5, 16, 37, 64}) {
            const double r = rate(equation, mode.grid_square(n));
            for (const double r_dt : {0.01, 0.5, 6.0}) { // the last changes sign with every step
                const double step = (1 - r_dt / 2) / (1 + r_dt / 2);
                const Decayed f64 = decayed(equation, mode, n, r_dt / r, 9);
                EXPECT_NEAR(f64.amplitude, std::pow(step, 9), 1e-11) << n << " points, r dt = " << r_dt;
                EXPECT_LT(f64.elsewhere, 1e-11);
                const Decayed f32 = decayed<float>(equation, mode, n, r_dt / r, 9);
                EXPECT_NEAR(f32.amplitude, std::pow(step, 9), 1e-5) << n << " points, r dt = " << r_dt;
                EXPECT_LT(f32.elsewhere, 1e-5);
            }
        }
    });
}

// On a fixed grid, against what that grid's mode does in continuous time.
TEST_F(FourierDecay, SecondOrderInTime) {
    for_all_modes([](const Equation& equation, const Mode& mode) {
        constexpr std::int64_t n = 32;
        const double r = rate(equation, mode.grid_square(n)), end = 1 / r;
        double error[3];
        for (int level = 0; level < 3; ++level) {
            const std::int64_t steps = 10 << level;
            error[level] = decayed(equation, mode, n, end / static_cast<double>(steps), steps).amplitude - std::exp(-1);
        }
        EXPECT_NEAR(std::log2(error[0] / error[1]), 2, 0.01);
        EXPECT_NEAR(std::log2(error[1] / error[2]), 2, 0.01);
    });
}

// Against the equation's own decay, with a time step that shrinks as dx^2: its error is of fourth order and does not
// show.
TEST_F(FourierDecay, SecondOrderInSpace) {
    for_all_modes([](const Equation& equation, const Mode& mode) {
        const double end = 1 / rate(equation, std::pow(mode.wavenumber(), 2));
        double error[3];
        for (int level = 0; level < 3; ++level) {
            const std::int64_t steps = 120 << (2 * level);
            error[level] =
                decayed(equation, mode, 32 << level, end / static_cast<double>(steps), steps).amplitude - std::exp(-1);
        }
        EXPECT_NEAR(std::log2(error[0] / error[1]), 2, 0.03);
        EXPECT_NEAR(std::log2(error[1] / error[2]), 2, 0.01);
    });
}

// Crank-Nicolson damps the finest modes slowest: by 1 - 4 / (r dt) a step.
void expect_goes_to_the_value_at_its_ends(const Equation& equation) {
    Ensemble<> ensemble =
        start({.equation = equation, .grid = Grid(37, length, Ends::dirichlet, -0.7), .members = 3, .time_step = 0.02},
              UniformNoise{.amplitude = 1, .mean = {0.5}});
    ensemble.advance(40'000);
    double farthest = 0;
    for (const double c : ensemble.states()) farthest = std::fmax(farthest, std::fabs(c + 0.7));
    EXPECT_LT(farthest, 1e-12);
}
TEST_F(FourierDecay, HyperdiffusionGoesToTheValueAtItsEnds) {
    expect_goes_to_the_value_at_its_ends(Hyperdiffusion{0.05});
}
// Its potential is C itself, which is not 0 there.
TEST_F(FourierDecay, DiffusionGoesToTheValueAtItsEnds) { expect_goes_to_the_value_at_its_ends(Diffusion{0.5}); }

} // namespace
} // namespace bandmill::test
