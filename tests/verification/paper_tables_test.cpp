// The paper's convergence tables, up to 1024 points.
#include "paper_tables.hpp"

namespace bandmill::test {
namespace {

constexpr std::int64_t largest = slow_build ? 256 : 1024;

using PaperTables = FullSizeTest;

TEST_F(PaperTables, Unforced) {
    const Table expected = {{128, 3.1018e-2}, {256, 2.2375e-3}, {512, 5.4499e-4}, {1024, 1.3541e-4}};
    expect_within_a_percent(errors(CahnHilliard{.gamma = 0.01}, 128, largest), expected);
}

// With advection taken upwind; the paper's own numbers are of the downwind derivative (1.2790e-3 at 256).
TEST_F(PaperTables, Forced) {
    const Table expected = {{256, 6.790e-4}, {512, 1.744e-4}, {1024, 4.500e-5}};
    expect_within_a_percent(errors(ForcedCahnHilliard{.gamma = 0.01, .wavenumber = 1, .speed = 0.5}, 256, largest),
                            expected);
}

} // namespace
} // namespace bandmill::test
