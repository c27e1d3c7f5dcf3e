// The paper's convergence tables where it lost its digits: second order must go on up to 8192 points.
#include "paper_tables.hpp"

namespace bandmill::test {
namespace {

using PaperTablesLarge = FullSizeTest;

TEST_F(PaperTablesLarge, UnforcedStaysSecondOrder) {
    const Table found = errors(CahnHilliard{.gamma = 0.01}, 512, 8192);
    expect_within_a_percent(found, {{2048, 3.3801e-5}, {4096, 8.448e-6}, {8192, 2.1116e-6}});
    for (std::int64_t n = 512; n < 8192; n *= 2)
        EXPECT_NEAR(std::log2(found.at(n) / found.at(2 * n)), 2, 0.02) << "from " << n << " to " << 2 * n;
}

TEST_F(PaperTablesLarge, Forced) {
    const Table found = errors(ForcedCahnHilliard{.gamma = 0.01, .wavenumber = 1, .speed = 0.5}, 2048, 4096);
    // The second by a program of its own in long double, in both the plain and the increment form.
    expect_within_a_percent(found, {{2048, 1.112e-5}, {4096, 2.7114e-6}});
}

} // namespace
} // namespace bandmill::test
