// The forced equation carries what it holds to the left, at the speed v.
#include "verifying.hpp"

#include <cmath>
#include <complex>

namespace bandmill::test {
namespace {

using Advection = FullSizeTest;

// Where the first Fourier mode of a state has its crest.
double crest(const std::vector<double>& states, const Grid& grid) {
    std::complex<double> mode = 0;
    for (std::int64_t i = 0; i < grid.points(); ++i) mode += states[i] * std::polar(1.0, grid.position(i));
    return std::arg(mode);
}

// Without forcing a domain of C = 1 in C = -1 is at rest but for advection.
TEST_F(Advection, ADomainMovesToTheLeft) {
    constexpr double gamma_ = 0.01, speed = 0.5;
    const Grid grid(256, 2 * pi);
    std::vector<double> domain;
    for (std::int64_t i = 0; i < grid.points(); ++i)
        domain.push_back(std::tanh((1.5 - std::fabs(grid.position(i) - pi)) / std::sqrt(2 * gamma_)));
    Ensemble<> ensemble = start({.equation = ForcedCahnHilliard{gamma_, 1, speed},
                                 .grid = grid,
                                 .time_step = 0.02 * grid.spacing(),
                                 .parameters = {{0.0}}},
                                GivenStates{domain});
    EXPECT_NEAR(std::fabs(crest(domain, grid)), pi, 1e-10);
    ensemble.run({.end_time = 4});
    const std::vector<double> moved = ensemble.states();
    EXPECT_NEAR(crest(moved, grid), pi - speed * ensemble.time(), 2e-3);
    double difference = 0; // from the domain it was, 2.0 to the left
    for (std::int64_t i = 0; i < grid.points(); ++i) {
        const double from_centre = std::remainder(grid.position(i) - (pi - speed * ensemble.time()), 2 * pi);
        difference = std::fmax(difference,
                               std::fabs(moved[i] - std::tanh((1.5 - std::fabs(from_centre)) / std::sqrt(2 * gamma_))));
    }
    EXPECT_LT(difference, 0.02);
}

} // namespace
} // namespace bandmill::test
