// The paper's coarsening: gamma = 0.01, L = 2 pi, 256 points, dt = 0.1 dx, noise in [-0.1, 0.1], and the average over
// runs of l = 1 / (1 - <C^2>). Expected values and their standard errors are of 16,384 runs by another program.
#include "verifying.hpp"

#include <cmath>
#include <string>

namespace bandmill::test {
namespace {

using Coarsening = FullSizeTest;

TEST_F(Coarsening, DomainSizesAreThePapers) {
    struct Row {
        double time, size, standard_error;
    };
    std::vector<Row> table = {
        {1, 1.9553, 0.0015}, {2, 2.1513, 0.0017}, {5, 2.4717, 0.0023}, {10, 2.7301, 0.0022}, {20, 2.9996, 0.0032}};
    if (slow_build) table.resize(1);
    RunPlan plan{.end_time = table.back().time, .observables = {{Observable::domain_size}}};
    for (const Row& row : table) plan.times.push_back(row.time);
    Ensemble<> ensemble =
        start({.equation = CahnHilliard{.gamma = 0.01}, .grid = Grid(256, 2 * pi), .members = slow_build ? 128 : 2048},
              UniformNoise{.amplitude = 0.1, .seed = 1});
    const RunResult result = ensemble.run(plan);
    ASSERT_EQ(result.samples.size(), table.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
        const EnsembleStatistic& found = result.samples[i].statistics[0];
        EXPECT_EQ(found.members, ensemble.spec().members);
        const double error = std::hypot(found.standard_error(), table[i].standard_error);
        EXPECT_NEAR(found.mean(), table[i].size, 4 * error) << "t = " << table[i].time;
        RecordProperty("l_at_" + std::to_string(static_cast<int>(table[i].time)),
                       std::to_string(found.mean()) + " +- " + std::to_string(found.standard_error()));
    }
}

} // namespace
} // namespace bandmill::test
