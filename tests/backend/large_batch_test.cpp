// Large interleaved batches may take another kernel than small ones (on a GPU the staged one); the bits must be the
// same.
#include "limits.hpp"
#include "solving.hpp"

#include <cstring>

namespace bandmill::test {
namespace {

using LargeBatch = BackendTest;

// `distinct` different systems, over and over: their solutions are known from a batch of just those, contiguous.
template <class T> void expect_bits_of_small_batch(const Bands& bands, std::int64_t batch, std::int64_t row_stride) {
    constexpr std::int64_t distinct = 37; // prime, so that no power of two falls in step with it
    const std::int64_t n = bands.n;
    const auto factor = make_factor<T>(as_matrix(bands));
    const RightHandSides<T> rhs(bands, 5);
    std::vector<T> expected(n * distinct);
    for (std::int64_t m = 0; m < distinct; ++m)
        for (std::int64_t i = 0; i < n; ++i) expected[m * n + i] = rhs(i, m);
    std::vector<T> large(n * row_stride, T(-7));
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t m = 0; m < batch; ++m) large[i * row_stride + m] = expected[m % distinct * n + i];

    solve_in_place(factor, expected, make_layout(LayoutKind::contiguous, n, distinct, 0));
    Layout layout = make_layout(LayoutKind::interleaved, n, batch, 0);
    layout.shape.row_stride = row_stride;
    std::vector<T> out_of_place(n * row_stride, T(-7));
    solve_out_of_place(factor, large, layout, out_of_place, layout);
    solve_in_place(factor, large, layout);
    ASSERT_EQ(0, std::memcmp(large.data(), out_of_place.data(), large.size() * sizeof(T))) << "in place, out of place";

    std::int64_t different = 0;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t m = 0; m < row_stride; ++m) {
            const T want = m < batch ? expected[m % distinct * n + i] : T(-7); // padding stays
            different += std::memcmp(&want, &large[i * row_stride + m], sizeof(T)) != 0;
        }
    EXPECT_EQ(different, 0) << name(factor.report().path);
}

TEST_F(LargeBatch, HasTheBitsOfASmallOne) {
    std::vector<std::int64_t> sizes{4, 5, 31, 33, 64};
    if (!limits().small)
        sizes.insert(sizes.end(), {100, 128, 129, 200, 256, 257, 300, 511, 512, 513, 1000, 1024, 1100});
    if (!limits().small && on_cuda) sizes.insert(sizes.end(), {2049, 4096}); // other shapes of block
    for_both_precisions([&]<class T>() {
        for (std::int64_t n : sizes)
            for (int w = 1; w <= 2; ++w)
                for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
                    SCOPED_TRACE("n " + std::to_string(n) + ", W " + std::to_string(w) +
                                 (boundary == Boundary::open ? ", open" : ", periodic"));
                    const Bands bands = make_bands({Family::dominant}, n, w, boundary, 11);
                    // More than 32 systems for each of 132 multiprocessors, the last tile not full.
                    if (n * 4400 <= limits().max_elements) expect_bits_of_small_batch<T>(bands, 4350, 4400);
                }
    });
}

// Rows that do not start on 16 bytes.
TEST_F(LargeBatch, MayHaveAnyRowStride) {
    for_both_precisions([&]<class T>() {
        for (std::int64_t n : {33, 64})
            for (std::int64_t stride : {4351, 4353}) {
                SCOPED_TRACE("n " + std::to_string(n) + ", stride " + std::to_string(stride));
                expect_bits_of_small_batch<T>(make_bands({Family::dominant}, n, 2, Boundary::periodic, 11), 4351,
                                              stride);
            }
    });
}

} // namespace
} // namespace bandmill::test
