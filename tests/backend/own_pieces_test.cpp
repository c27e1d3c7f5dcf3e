// Long open systems that are solved in pieces, where their matrices soon forget the rows above.
#include "own_cuda.hpp"

#include <algorithm>

namespace bandmill::test {
namespace {

// A row's coefficients, the diagonal between 2 and infinity: the smaller it is, the further a row is felt. W = 2: the
// same, squared.
Bands forgetful(std::int64_t n, int w, double diagonal) {
    Bands bands = empty_bands(n, w, Boundary::open);
    const double one[] = {-1, diagonal, -1}, two[] = {1, -2 * diagonal, diagonal * diagonal + 2, -2 * diagonal, 1};
    for (std::int64_t i = 0; i < n; ++i)
        for (int k = -w; k <= w; ++k)
            if (i + k >= 0 && i + k < n) bands.at(k, i) = w == 1 ? one[k + 1] : two[k + 2];
    return bands;
}

// Rows of a piece.
template <class T> int piece_of(std::int64_t n, int w) {
    const DeviceLimits limits = device_limits(Device{});
    constexpr int barriers = cuda::batch_stream_barrier_bytes;
    const cuda::BatchShared shared = cuda::choose_shared(
        {}, cuda::batch_stream_blocks, 1, {cuda::batch_stream_chunk, w + 2, 1, true}, static_cast<int>(n),
        limits.shared_bytes_per_multiprocessor, limits.shared_bytes_per_block - barriers,
        limits.reserved_shared_bytes_per_block + barriers);
    return cuda::choose_piece(static_cast<int>(n), shared);
}

template <class T> std::vector<int> reaches(const OwnBatch& own) {
    const OwnDiagonals<T> diagonals(own, {LayoutKind::interleaved}, 16);
    const auto factor = factor_own<T>(diagonals.view());
    EXPECT_EQ(plan_of(factor).piece, piece_of<T>(own.n(), own.half_bandwidth()));
    EXPECT_EQ(factor.data().reach.size(), own.batch);
    return download(factor.data().reach);
}

// Far from the first row a row is felt k rows further on as r^k (W = 1) or as about k r^k (W = 2), where r is the root
// of the recurrence.
TEST_F(OwnOnCuda, ReachIsMeasured) {
    if (!splits_here()) GTEST_SKIP() << "for compute capability 9.x";
    const std::int64_t n = limits().small ? 2100 : 9000;
    for_both_precisions([&]<class T>() {
        for (int w = limits().small ? 2 : 1; w <= 2; ++w) {
            OwnBatch own{{}, 40};
            std::vector<int> expected;
            for (double diagonal : {2.002, 2.2, 3.0, 5.0, 1e3}) {
                own.matrices.push_back(rounded<T>(forgetful(n, w, diagonal)));
                const double r = diagonal / 2 - std::sqrt(diagonal * diagonal / 4 - 1);
                int rows = 16;
                while ((w == 1 ? 1 + r : rows) * std::pow(r, w == 1 ? rows : rows - 1) >= cuda::unfelt<T>) rows += 16;
                expected.push_back(rows <= cuda::longest_reach ? rows : cuda::felt_throughout);
            }
            own.matrices.push_back(own.matrices[2]);
            own.matrices.back().at(0, n / 3) = std::numeric_limits<double>::quiet_NaN();
            expected.push_back(cuda::felt_throughout);
            const std::vector<int> reach = reaches<T>(own);
            for (std::int64_t m = 0; m < own.batch; ++m) {
                const int wanted = expected[m % expected.size()];
                const int allowed = w == 1 || wanted == cuda::felt_throughout ? 0 : 16;
                EXPECT_LE(std::abs(reach[m] - wanted), allowed) << "W " << w << ", matrix " << m % expected.size();
            }
        }
    });
}

// Systems that forget soon, late and never, and a bad one, beside each other in some blocks and warps and among their
// like in others, in any layout: the error measure is met, and a system's bits are the same everywhere. Only where a
// whole block of systems forgets, and rows stand one after the other, are they solved in pieces. On the right there are
// a few numbers far from each other, so that it shows where y begins anew.
TEST_F(OwnOnCuda, SystemsInPiecesAmongOthers) {
    if (!splits_here()) GTEST_SKIP() << "for compute capability 9.x";
    constexpr std::int64_t batch = 140, first_other = 40, last_other = 70, bad = 55;
    for_both_precisions([&]<class T>() {
        if (limits().f64_only && sizeof(T) != 8) return;
        for (int w = limits().small ? 2 : 1; w <= 2; ++w) {
            std::vector<std::int64_t> sizes{2048}; // even ones, so that rows are aligned
            if (!limits().small) {
                sizes.insert(sizes.end(), {3002, 9000});
                std::int64_t n = 20000; // whose last piece is a part of a chunk
                while (n % piece_of<T>(n, w) == 0 || n % piece_of<T>(n, w) >= cuda::batch_stream_chunk) n += 2;
                ASSERT_LT(n, 40000);
                sizes.push_back(n);
            }
            for (std::int64_t n : sizes) {
                SCOPED_TRACE("n " + std::to_string(n) + ", W " + std::to_string(w) + (sizeof(T) == 8 ? "" : ", f32"));
                const auto rhs = [&](std::int64_t row, std::int64_t m) {
                    return (row + 37 * m) % 150 == 0 ? own_rhs<T>(row, m, n) + T(0.5) : T(0);
                };
                const double diagonals[] = {3.0, 20.0, sizeof(T) == 8 ? 2.4 : 2.1};
                OwnBatch alone{{}, batch};
                for (std::int64_t m = 0; m < batch; ++m)
                    alone.matrices.push_back(rounded<T>(forgetful(n, w, diagonals[m % 3])));
                OwnBatch mixed = alone;
                for (std::int64_t m = first_other; m < last_other; m += 3)
                    mixed.matrices[m] = rounded<T>(forgetful(n, w, 2.0001));
                for (int k = -w; k <= w; ++k) mixed.matrices[bad].at(k, n / 3) = 0;
                const auto is_other = [&](std::int64_t m) {
                    return m == bad || (m >= first_other && m < last_other && (m - first_other) % 3 == 0);
                };
                if (may_be_in_pieces<T>(alone)) {
                    const std::vector<int> reach = reaches<T>(alone), among_others = reaches<T>(mixed);
                    EXPECT_LE(*std::max_element(reach.begin(), reach.end()), cuda::longest_reach);
                    for (std::int64_t m = 0; m < batch; ++m)
                        EXPECT_EQ(among_others[m], is_other(m) ? cuda::felt_throughout : reach[m]) << "system " << m;
                }
                const auto expected = solve_own_batch<T>(alone, Way::factored, {}, rhs);
                std::int64_t not_zero = 0;
                for (T value : expected.x) not_zero += value != 0;
                EXPECT_GT(not_zero, n * batch / 10);
                const auto expect_right = [&](const OwnBatch& own, LayoutKind layout, Placement placement) {
                    SCOPED_TRACE(name(layout) + (placement == Placement::in_place ? ", in place" : ""));
                    const auto found = solve_own_batch<T>(own, Way::factored, {layout, placement}, rhs);
                    std::int64_t different = 0;
                    for (std::int64_t m = 0; m < batch; ++m) {
                        if (&own == &alone || !is_other(m)) {
                            for (std::int64_t i = 0; i < n; ++i)
                                different += !same_bits(found.x[m * n + i], expected.x[m * n + i]);
                        } else if (m == bad) {
                            EXPECT_EQ(found.status[m], n / 3 + 1);
                            EXPECT_EQ(std::count_if(&found.x[m * n], &found.x[m * n] + n,
                                                    [](T value) { return std::isnan(value); }),
                                      n);
                            continue;
                        }
                        if (m % 9 != 4) continue; // some of all kinds
                        const auto norms = row_norms(own.matrices[m], long_double_resolution<T>);
                        EXPECT_LE(backward_error(own.matrices[m], norms, &found.x[m * n], rhs, m), allowed_own_error)
                            << "system " << m;
                    }
                    EXPECT_EQ(different, 0);
                };
                expect_right(alone, LayoutKind::interleaved, Placement::in_place);
                expect_right(alone, LayoutKind::contiguous, Placement::out_of_place);
                expect_right(mixed, LayoutKind::interleaved, Placement::out_of_place);
                expect_right(mixed, LayoutKind::tiled, Placement::in_place);
                if (!limits().small) expect_right(mixed, LayoutKind::padded_rows, Placement::in_place);
            }
        }
    });
}

// Unknowns whose scale jumps where a piece might be cut off from the rows above it: y is much larger than any of them
// there.
TEST_F(OwnOnCuda, PiecesAreNotCutWhereScalesJump) {
    if (!splits_here()) GTEST_SKIP() << "for compute capability 9.x";
    for_both_precisions([&]<class T>() {
        if (limits().f64_only && sizeof(T) != 8) return;
        for (int w = limits().small ? 2 : 1; w <= 2; ++w) {
            const std::int64_t n = limits().small ? 2048 : 9000, piece = piece_of<T>(n, w);
            ASSERT_GT(piece, 0);
            OwnBatch own{{}, 64};
            for (int above = 16; above <= cuda::longest_reach; above += 16)
                for (double scale : {0x1p20, 0x1p40}) {
                    if (sizeof(T) == 4) scale = std::sqrt(scale);
                    Bands bands = forgetful(n, w, 2.4);
                    for (std::int64_t i = 0; i < n; ++i)
                        for (int k = -w; k <= w; ++k) {
                            const std::int64_t column = i + k, place = (column + above) % piece;
                            if (column >= 0 && column < n && column + above >= piece && place < above + 100)
                                bands.at(k, i) *= scale;
                        }
                    own.matrices.push_back(rounded<T>(bands));
                }
            const auto rhs = [&](std::int64_t row, std::int64_t m) { // unknowns near one
                double sum = 0;
                for (int k = -w; k <= w; ++k)
                    if (row + k >= 0 && row + k < n) sum += own.of(m).at(k, row);
                return static_cast<T>(sum);
            };
            const auto found = solve_own_batch<T>(own, Way::factored, {}, rhs);
            for (std::int64_t m = 0; m < static_cast<std::int64_t>(own.matrices.size()); ++m) {
                const auto norms = row_norms(own.of(m), long_double_resolution<T>);
                EXPECT_LE(backward_error(own.of(m), norms, &found.x[m * n], rhs, m), allowed_own_error)
                    << "W " << w << ", " << 16 * (m / 2 + 1) << " rows above";
            }
        }
    });
}

} // namespace
} // namespace bandmill::test
