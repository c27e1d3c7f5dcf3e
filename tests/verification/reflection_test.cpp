// Cahn-Hilliard between two ends. What an end does is a reflection, so a run with ends is half of a periodic run on the
// domain and its mirror image; where no periodic run mirrors it (Dirichlet, g not 0), the order in space is measured.
#include "verifying.hpp"

#include <cmath>

namespace bandmill::test {
namespace {

using Reflection = VerificationTest;
using ReflectionOrder = FullSizeTest;

void expect_half_of_a_periodic_run(Ends ends, double sign) {
    const std::int64_t steps = limits().small ? 5 : 2000;
    for (const std::int64_t n : {5, 37, 64}) {
        SCOPED_TRACE(std::to_string(n) + " points");
        EnsembleSpec half{.equation = CahnHilliard{}, .grid = Grid(n, 2 * pi, ends), .members = 3, .time_step = 0.005};
        Ensemble<> run = start(half, UniformNoise{.seed = 3});
        const std::vector<double> first = run.states();
        std::vector<double> mirrored;
        for (std::int64_t k = 0; k < half.members; ++k) {
            const double* c = first.data() + k * n;
            mirrored.insert(mirrored.end(), c, c + n);
            for (std::int64_t i = n; i-- > 0;) mirrored.push_back(sign * c[i]);
        }
        EnsembleSpec whole = half;
        whole.grid = Grid(2 * n, 4 * pi);
        Ensemble<> periodic = start(whole, GivenStates{mirrored});
        run.advance(steps);
        periodic.advance(steps);
        const std::vector<double> found = run.states(), expected = periodic.states();
        double difference = 0;
        for (std::int64_t k = 0; k < half.members; ++k)
            for (std::int64_t i = 0; i < n; ++i)
                difference = std::fmax(difference, std::fabs(found[k * n + i] - expected[2 * k * n + i]));
        EXPECT_LT(difference, 1e-10);
    }
}
TEST_F(Reflection, NeumannIsHalfOfAnEvenRun) { expect_half_of_a_periodic_run(Ends::neumann, 1); }
TEST_F(Reflection, DirichletIsHalfOfAnOddRun) { expect_half_of_a_periodic_run(Ends::dirichlet, -1); }

// The points of a grid three times as fine hold those of the coarse one, cell centres as they are.
double order_in_space(Ends ends, double value, double amplitude) {
    std::vector<double> coarse;
    double error[2] = {};
    for (int level = 0; level < 3; ++level) {
        const std::int64_t n = level == 0 ? 48 : level == 1 ? 144 : 432;
        const Grid grid(n, 2 * pi, ends, value);
        std::vector<double> first;
        for (std::int64_t i = 0; i < n; ++i) {
            const double x = grid.position(i);
            first.push_back(value + amplitude * (ends == Ends::neumann ? std::cos(1.5 * x) : std::sin(1.5 * x)));
        }
        Ensemble<> ensemble =
            start({.equation = CahnHilliard{.gamma = 0.1}, .grid = grid, .time_step = 0.01}, GivenStates{first});
        ensemble.advance(200);
        std::vector<double> fine = ensemble.states();
        for (std::size_t i = 0; i < coarse.size(); ++i)
            error[level - 1] += std::fabs(fine[3 * i + 1] - coarse[i]) / static_cast<double>(coarse.size());
        coarse = std::move(fine);
    }
    return std::log(error[0] / error[1]) / std::log(3);
}
TEST_F(ReflectionOrder, SecondInSpace) {
    EXPECT_NEAR(order_in_space(Ends::neumann, 0, 0.3), 2, 0.03);
    EXPECT_NEAR(order_in_space(Ends::dirichlet, 0, 0.3), 2, 0.03);
    EXPECT_NEAR(order_in_space(Ends::dirichlet, 1, 0.3), 2, 0.03);
    EXPECT_NEAR(order_in_space(Ends::dirichlet, -0.5, 0.3), 2, 0.03);
}

// C = 1 with C = 1 at the ends has mu = 0 everywhere.
TEST_F(Reflection, AStateThatSuitsDirichletEndsStays) {
    Ensemble<> ensemble = start({.equation = CahnHilliard{}, .grid = Grid(33, 2, Ends::dirichlet, 1)}, Constant{{1}});
    ensemble.advance(100);
    for (const double c : ensemble.states()) EXPECT_EQ(c, 1);
}

} // namespace
} // namespace bandmill::test
