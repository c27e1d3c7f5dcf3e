// The CPU solve has its own loops, over strips of systems; its arithmetic is that of band/sweeps.hpp, to the bit.
#include "bandmill/band/probe.hpp"
#include "bandmill/band/tables.hpp"
#include "solving.hpp"

#include <string_view>

namespace bandmill::test {
namespace {

template <class T> void expect_bits_of_the_sweeps(std::int64_t n, int half_bandwidth, Boundary boundary) {
    const Bands bands = make_bands({Family::dominant}, n, half_bandwidth, boundary, 5);
    const auto factor = make_factor<T>(as_matrix(bands));
    ASSERT_EQ(factor.report().path, SolvePath::sequential);
    const RightHandSides<T> rhs(bands, 3);
    const std::int64_t batch = 1100; // wider than a strip of f64, several packs, and a rest that fills none
    std::vector<T> expected(n * batch);
    for (std::int64_t m = 0; m < batch; ++m) {
        for (std::int64_t i = 0; i < n; ++i) expected[m * n + i] = rhs(i, m);
        detail::solve_direct(factor.data().tables.direct->view(), half_bandwidth, boundary == Boundary::periodic,
                             expected.data() + m * n);
    }
    for (LayoutKind layout : {LayoutKind::interleaved, LayoutKind::contiguous, LayoutKind::tiled}) {
        const auto found = solve_batch(factor, batch, layout, Placement::in_place, rhs, Threads{1});
        std::int64_t different = 0;
        for (std::size_t k = 0; k < found.size(); ++k) different += !same_bits(found[k], expected[k]);
        EXPECT_EQ(different, 0) << name(layout) << ", n " << n << ", W " << half_bandwidth;
    }
}

TEST(CpuBits, AreThoseOfTheSweeps) {
    const std::string_view level = cpu_isa();
    if (level != "v3" && level != "v4") GTEST_SKIP() << "level " << level << " may round products and sums apart";
    // Below and above: 8 rows (sums, visits), 64 (staged at a time), 1024 (what is kept of staged systems, in f64).
    for (std::int64_t n : {6, 8, 13, 64, 67, 1030})
        for (Boundary boundary : {Boundary::open, Boundary::periodic})
            for (int w = 1; w <= 2; ++w)
                for_both_precisions([&]<class T>() { expect_bits_of_the_sweeps<T>(n, w, boundary); });
}

} // namespace
} // namespace bandmill::test
