// The tests' own tools, checked by hand-made data before anything is judged by them.
#include "cases.hpp"
#include "oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace bandmill::test {
namespace {

TEST(Oracle, SolvesAMatrixThatNeedsARowExchange) {
    // [0 2 0; 1 0 1; 0 3 4] x = (4, 4, 18)  has the solution (1, 2, 3)
    Bands bands = empty_bands(3, 1, Boundary::open);
    bands.at(0, 0) = 0, bands.at(1, 0) = 2;
    bands.at(-1, 1) = 1, bands.at(0, 1) = 0, bands.at(1, 1) = 1;
    bands.at(-1, 2) = 3, bands.at(0, 2) = 4;
    const auto x = Oracle(bands).solve({4, 4, 18});
    EXPECT_NEAR(static_cast<double>(x[0]), 1, 1e-17);
    EXPECT_NEAR(static_cast<double>(x[1]), 2, 1e-17);
    EXPECT_NEAR(static_cast<double>(x[2]), 3, 1e-17);
}

TEST(Oracle, KnowsConditionAndInverse) {
    // [2 1; 1 1]: the inverse is [1 -1; -1 2]; rows scaled to 1 (by 3 and 2) it is [3 -2; -3 4], largest row sum 7.
    Bands bands = empty_bands(2, 1, Boundary::open);
    bands.at(0, 0) = 2, bands.at(1, 0) = 1, bands.at(-1, 1) = 1, bands.at(0, 1) = 1;
    const Oracle oracle(bands);
    EXPECT_NEAR(static_cast<double>(oracle.condition()), 7, 1e-15);
    const auto bound = oracle.inverse_magnitude_times({1, 10});
    EXPECT_NEAR(static_cast<double>(bound[0]), 11, 1e-15);
    EXPECT_NEAR(static_cast<double>(bound[1]), 21, 1e-15);
}

TEST(Oracle, FindsSingularMatrices) {
    EXPECT_TRUE(std::isinf(Oracle(constant_bands(1, {0, 0, 0}, Boundary::open)).condition()));
    EXPECT_GT(Oracle(constant_bands(8, {1, -2, 1}, Boundary::periodic)).condition(), 1e17L);
}

TEST(Oracle, AddsUpEntriesThatWrapOntoEachOther) {
    // One row: everything lands on A[0, 0] = 1 + 2 + 4 + 8 + 16.
    EXPECT_EQ(dense(constant_bands(1, {1, 2, 4, 8, 16}, Boundary::periodic))[0], 31);
    // Two rows: even offsets on the diagonal, odd ones beside it.
    const auto a = dense(constant_bands(2, {1, 2, 4, 8, 16}, Boundary::periodic));
    EXPECT_EQ(a[0], 21);
    EXPECT_EQ(a[1], 10);
    EXPECT_EQ(row_norms(constant_bands(2, {1, 2, 4, -8, 16}, Boundary::periodic))[0], 27);
}

TEST(Cases, CoverEveryPairThatIsAllowed) {
    const std::vector<int> sizes{9, 7, 2, 3, 5};
    const PairRule rule = [](int d, int a, int e, int b) { return !(d + e == 1 && a + b == 3); };
    const auto rows = cover_pairs(sizes, rule, [](const Row& row) { return row[0] > 6; });
    for (int d = 0; d < 5; ++d)
        for (int e = d + 1; e < 5; ++e)
            for (int a = 0; a < sizes[d]; ++a)
                for (int b = 0; b < sizes[e]; ++b) {
                    const bool found = std::any_of(rows.begin(), rows.end(),
                                                   [&](const Row& row) { return row[d] == a && row[e] == b; });
                    EXPECT_EQ(found, rule(d, a, e, b)) << d << " " << a << " " << e << " " << b;
                }
    EXPECT_LT(rows.size(), 80u); // 63 pairs of the two longest dimensions; the full product has 1890
}

TEST(Cases, TakeTheLargestBatchOnlyAsOftenAsNeeded) {
    std::int64_t largest = 0;
    for (const Case& c : pairwise_cases()) largest += c.n == 100000 && c.batch == 1000;
    EXPECT_GE(largest, 1);
    EXPECT_LE(largest, 2);
}

TEST(Layouts, HoldEveryElementOnceWithinTheBuffer) {
    for (LayoutKind kind : all_layouts)
        for (std::int64_t batch : {1, 2, 5, 31, 33, 64}) {
            SCOPED_TRACE(name(kind) + ", batch " + std::to_string(batch));
            const Layout layout = make_layout(kind, 7, batch, 3);
            std::vector<int> used(layout.size, 0);
            for_each_element(layout.shape, [&](auto row, auto system) { ++used.at(layout.index(row, system)); });
            EXPECT_EQ(std::count(used.begin(), used.end(), 1), 7 * batch);
            EXPECT_EQ(std::count_if(used.begin(), used.end(), [](int times) { return times > 1; }), 0);
        }
}

} // namespace
} // namespace bandmill::test
