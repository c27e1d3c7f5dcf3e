// What the equations keep, and what they only let fall.
#include "verifying.hpp"

#include <cmath>

namespace bandmill::test {
namespace {

using Laws = FullSizeTest;

template <class T> std::vector<double> means(const std::vector<T>& states, std::int64_t n) {
    std::vector<double> result;
    for (auto at = states.begin(); at != states.end(); at += n) {
        long double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += at[i];
        result.push_back(static_cast<double>(sum / n));
    }
    return result;
}

// The largest change of a member's mean.
template <class T> double drift(const Equation& equation, const Grid& grid, std::int64_t steps) {
    EnsembleSpec spec{.equation = equation, .grid = grid, .members = 8};
    Ensemble<T> ensemble = start<T>(spec, UniformNoise{.mean = {0, 0.1, 0.2, 0.3, 0.4, -0.1, -0.2, -0.5}});
    const std::vector<double> first = means(ensemble.states(), grid.points());
    ensemble.advance(steps);
    const std::vector<double> last = means(ensemble.states(), grid.points());
    double largest = 0;
    for (std::size_t k = 0; k < first.size(); ++k) largest = std::fmax(largest, std::fabs(last[k] - first[k]));
    return largest;
}

TEST_F(Laws, TheMeanIsKept) {
    constexpr std::int64_t steps = slow_build ? 1000 : 40'000;
    // Hyperdiffusion as strong as Cahn-Hilliard's. At K = 1 and 256 points Crank-Nicolson keeps the noise for all the
    // 40,000 steps, turning its sign in each: the round-off of so many solves moves the mean by 2e-12.
    for (const Equation& equation : {Equation(Diffusion{}), Equation(Hyperdiffusion{0.01}), Equation(CahnHilliard{})})
        for (const Ends ends : {Ends::periodic, Ends::neumann})
            for (const std::int64_t n : {64, 256}) {
                const Grid grid(n, 2 * pi, ends);
                EXPECT_LT(drift<double>(equation, grid, steps), 1e-12) << name_of(equation) << ", " << name(ends);
                EXPECT_LT(drift<float>(equation, grid, steps), 2e-5) << name_of(equation) << ", " << name(ends);
            }
}

// The largest rise of any member's free energy in any one step, as a part of its value.
double largest_rise(const Equation& equation, const Grid& grid, std::int64_t steps) {
    Ensemble<> ensemble = start({.equation = equation, .grid = grid, .members = 16}, UniformNoise{.mean = {0.1}});
    RunPlan plan{.end_time = static_cast<double>(steps) * ensemble.time_step(),
                 .every_step = true,
                 .observables = {{Observable::free_energy}},
                 .keep_values = true};
    std::vector<double> before = ensemble.sample(plan.observables, true).values[0];
    const std::vector<double> first = before;
    double largest = 0;
    for (const Sample& sample : ensemble.run(plan).samples) {
        const std::vector<double>& now = sample.values[0];
        for (std::size_t k = 0; k < now.size(); ++k)
            // What is left of a diffusing state's energy is round-off in the end.
            largest = std::fmax(largest, (now[k] - before[k]) / std::fmax(now[k], 1e-12 * first[k]));
        before = now;
    }
    for (std::size_t k = 0; k < first.size(); ++k) EXPECT_LT(before[k], 0.9 * first[k]); // it does fall
    return largest;
}
TEST_F(Laws, FreeEnergyNeverRises) {
    constexpr std::int64_t steps = slow_build ? 300 : 5000;
    for (const Equation& equation : {Equation(Diffusion{}), Equation(Hyperdiffusion{}), Equation(CahnHilliard{})})
        for (const Ends ends : {Ends::periodic, Ends::neumann})
            EXPECT_LT(largest_rise(equation, Grid(64, 2 * pi, ends), steps), 1e-12)
                << name_of(equation) << ", " << name(ends);
}

// Half an interval lies beyond either end.
TEST_F(Laws, FreeEnergyNeverRisesBetweenDirichletEnds) {
    constexpr std::int64_t steps = slow_build ? 300 : 5000;
    for (const Equation& equation : {Equation(Diffusion{}), Equation(Hyperdiffusion{}), Equation(CahnHilliard{})})
        EXPECT_LT(largest_rise(equation, Grid(64, 2 * pi, Ends::dirichlet), steps), 1e-12) << name_of(equation);
}

} // namespace
} // namespace bandmill::test
