// What is wrong in one right-hand side stays there; a batch of nothing is nothing; input may be shared.
#include "solving.hpp"

namespace bandmill::test {
namespace {

using Isolation = BackendTest;

template <class T> void expect_isolated(const Bands& bands, LayoutKind layout) {
    constexpr std::int64_t batch = 40, with_nan = 13, with_inf = 27;
    const auto factor = make_factor<T>(as_matrix(bands));
    const RightHandSides<T> clean(bands, 4);
    const auto spoilt = [&](std::int64_t row, std::int64_t system) {
        if (system == with_nan && row == bands.n / 2) return std::numeric_limits<T>::quiet_NaN();
        if (system == with_inf && row == bands.n - 1) return std::numeric_limits<T>::infinity();
        return clean(row, system);
    };
    for (Placement placement : {Placement::in_place, Placement::out_of_place}) {
        const auto expected = solve_batch(factor, batch, layout, placement, clean);
        const auto found = solve_batch(factor, batch, layout, placement, spoilt);
        for (std::int64_t m = 0; m < batch; ++m) {
            std::int64_t different = 0, not_finite = 0;
            for (std::int64_t at = m * bands.n; at < (m + 1) * bands.n; ++at) {
                different += !same_bits(found[at], expected[at]);
                not_finite += !std::isfinite(found[at]);
            }
            // A NaN must not be lost either: that system's solution has to show it.
            if (m == with_nan || m == with_inf)
                EXPECT_GT(not_finite, 0) << "system " << m;
            else
                EXPECT_EQ(different, 0) << "system " << m;
        }
    }
}

TEST_F(Isolation, NanAndInfinityStayInTheirSystem) {
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {1, 3, 64, 200, 1000})
            for (int w = 1; w <= 2; ++w)
                for (Boundary boundary : {Boundary::open, Boundary::periodic})
                    for (Family family : {Family::dominant, Family::zero_diagonal}) {
                        if (!has_size({family}, n)) continue;
                        SCOPED_TRACE(name(MatrixKind{family}) + ", n " + std::to_string(n) + ", W " +
                                     std::to_string(w));
                        const Bands bands = make_bands({family}, n, w, boundary, 11);
                        for (LayoutKind layout : all_layouts) expect_isolated<T>(bands, layout);
                    }
    });
}

TEST_F(Isolation, NoSystemsNoWork) {
    for_both_precisions([]<class T>() {
        const auto factor = make_factor<T>(as_matrix(make_bands({Family::dominant}, 50, 2, Boundary::periodic, 1)));
        for (LayoutKind layout : all_layouts)
            for (Placement placement : {Placement::in_place, Placement::other_layout}) {
                const auto x = solve_batch(factor, 0, layout, placement, [](auto, auto) { return T{1}; });
                EXPECT_TRUE(x.empty());
            }
        T* const nothing = nullptr;
        EXPECT_NO_THROW(solve(factor, interleaved<Space>(nothing, 50, 0)));
    });
}

TEST_F(Isolation, OneRightHandSideMayServeAllSystems) {
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {5, 64, 1000}) {
            const Bands bands = make_bands({Family::dominant}, n, 2, Boundary::periodic, 1);
            const auto factor = make_factor<T>(as_matrix(bands));
            const RightHandSides<T> rhs(bands, 3);
            constexpr std::int64_t batch = 35;
            std::vector<T> b(n);
            for (std::int64_t i = 0; i < n; ++i) b[i] = rhs(i, 0);
            const Layout shared{{n, batch, 1, 0, batch, 0}, 0, n};
            const Layout out = make_layout(LayoutKind::interleaved, n, batch, 16);
            std::vector<T> x(out.size, poison<T>());
            solve_out_of_place(factor, b, shared, x, out);
            const auto alone = solve_batch(factor, 1, LayoutKind::contiguous, Placement::in_place, rhs);
            std::int64_t different = 0;
            for_each_element(out.shape,
                             [&](auto row, auto m) { different += !same_bits(x[out.index(row, m)], alone[row]); });
            EXPECT_EQ(different, 0);
        }
    });
}

// Input and output may be strangers in one buffer: here they take turns, element by element.
TEST_F(Isolation, DisjointViewsOfOneBuffer) {
    for_both_precisions([]<class T>() {
        constexpr std::int64_t n = 60, batch = 33;
        const Bands bands = make_bands({Family::dominant}, n, 1, Boundary::open, 1);
        const auto factor = make_factor<T>(as_matrix(bands));
        const RightHandSides<T> rhs(bands, 3);
        std::vector<T> values(2 * n * batch, poison<T>());
        for (std::int64_t m = 0; m < batch; ++m)
            for (std::int64_t i = 0; i < n; ++i) values[2 * (m * n + i)] = rhs(i, m);
        auto array = make_array<T>(values);
        const FieldShape shape{n, batch, 2, 2 * n, batch, 0};
        solve(factor, FieldView<const T, Space>(array.data(), shape), FieldView<T, Space>(array.data() + 1, shape));
        const auto result = download(array);
        const auto expected = solve_batch(factor, batch, LayoutKind::contiguous, Placement::out_of_place, rhs);
        std::int64_t different = 0;
        for (std::int64_t at = 0; at < n * batch; ++at)
            different += !same_bits(result[2 * at + 1], expected[at]) + !same_bits(result[2 * at], values[2 * at]);
        EXPECT_EQ(different, 0);
    });
}

} // namespace
} // namespace bandmill::test
