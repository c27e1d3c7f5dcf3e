// Open tridiagonal systems that are split over the blocks of a GPU.
#include "own_cuda.hpp"

namespace bandmill::test {
namespace {

// For factors that are made while it is there: this many teams at most, so that each has many tiles after one another.
class FewTeams {
  public:
    explicit FewTeams(int teams) { cuda::batch_tuning.teams = teams; }
    ~FewTeams() { cuda::batch_tuning = {}; }
    FewTeams(const FewTeams&) = delete;
    FewTeams& operator=(const FewTeams&) = delete;
};

TEST_F(OwnOnCuda, LongOpenTridiagonalSystemsAreSplit) {
    if (!splits_here()) GTEST_SKIP() << "for compute capability 9.x";
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {20, 447, 448, 1000, 4224, 4225, 8960, 8961})
            for (int w = 1; w <= 2; ++w)
                for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
                    if (limits().small && n > 1000) continue;
                    const OwnBatch own = make_batch(n, w, boundary, 2);
                    const OwnDiagonals<T> diagonals(own, {LayoutKind::interleaved}, 16);
                    const cuda::BatchPlan plan = plan_of<T>(factor_own<T>(diagonals.view()));
                    EXPECT_EQ(plan.split.width > 0, shall_be_split<T>(own)) << n << " rows, W " << w;
                    EXPECT_EQ(plan.piece > 0, may_be_in_pieces<T>(own)) << n << " rows, W " << w;
                }
    });
}

// What is split over threads and blocks, in an order of its own, is the solution of the other way but for rounding:
// around every number of rows where a team becomes larger or tiles narrower, in any layout, in place or not, with more
// tiles than teams, and with tiles that are not full.
TEST_F(OwnOnCuda, SplitSystemsAgreeWithTheOtherWay) {
    std::vector<std::int64_t> sizes{448, 700};
    if (!limits().small)
        sizes.insert(sizes.end(), {447,  449,  528,  529,  560,  561,  1055, 1056, 1057, 1119, 1120, 1121, 2000, 2111,
                                   2112, 2113, 2240, 2241, 4099, 4224, 4225, 4480, 4481, 6000, 8001, 8959, 8960, 8961});
    const LayoutKind layouts[] = {LayoutKind::interleaved, LayoutKind::contiguous, LayoutKind::tiled,
                                  LayoutKind::padded_rows, LayoutKind::reversed};
    constexpr int most_batches = 4;
    int turn = 0;
    for (std::int64_t n : sizes)
        for (LayoutKind layout : layouts)
            for (const std::int64_t batch : {1, 50, 64, 100}) {
                ++turn;
                if (!limits().small && (turn + turn / most_batches) % 2 == 0) continue; // half of the combinations
                if (limits().small && layout != LayoutKind::interleaved && turn % 3 != 0) continue;
                for_both_precisions([&]<class T>() {
                    if (limits().f64_only && sizeof(T) != 8) return;
                    const FewTeams few(batch == 100 ? 1 : batch == 64 ? 2 : 0);
                    const Placement placement = turn / 3 % 2 == 0 ? Placement::in_place : Placement::out_of_place;
                    SCOPED_TRACE("n " + std::to_string(n) + ", " + std::to_string(batch) + " systems, " + name(layout) +
                                 (sizeof(T) == 8 ? ", f64" : ", f32"));
                    OwnBatch own = make_batch(n, 1, Boundary::open, batch);
                    for (Bands& bands : own.matrices) bands = rounded<T>(bands);
                    const auto rhs = [&](std::int64_t row, std::int64_t m) { return own_rhs<T>(row, m, n); };
                    const auto split = solve_own_batch<T>(own, Way::factored, {layout, placement}, rhs);
                    const auto other = solve_own_batch<T>(own, Way::combined, {layout, placement}, rhs);
                    double largest = 0;
                    for (T value : other.x) largest = std::max<double>(largest, std::fabs(value));
                    const double allowed = 32 * std::numeric_limits<T>::epsilon() * largest;
                    std::int64_t wrong = 0;
                    for (std::size_t at = 0; at < other.x.size(); ++at)
                        wrong += !(std::fabs(split.x[at] - other.x[at]) <= allowed); // NaN is wrong
                    EXPECT_EQ(wrong, 0);
                });
            }
}

// A view may have larger tiles than systems. What it does not reach, here nothing that was allocated, is not read.
TEST_F(OwnOnCuda, SplitSystemsInATileThatIsLargerThanTheBatch) {
    constexpr std::int64_t n = 500, batch = 18;
    const OwnBatch own = make_batch(n, 1, Boundary::open, batch);
    const OwnDiagonals<double> diagonals(own, {LayoutKind::interleaved}, 16);
    const auto factor = factor_own<double>(diagonals.view());
    const auto values = right_hand_sides(own, 3);
    Array<double, Cuda> b{std::span<const double>(values)};
    Array<double, Cuda> x{std::span<const double>(values)}, y{std::span<const double>(values)};
    solve(factor, interleaved(b, n, batch), interleaved(x, n, batch));
    const FieldShape shape{n, batch, batch, 1, 32, 0};
    solve(factor, FieldView<const double, Cuda>(b.data(), shape), FieldView<double, Cuda>(y.data(), shape));
    EXPECT_EQ(differences(download(x), download(y)), 0);
}

// Unknowns of very different scale, and a product of coefficients that leaves the range.
TEST_F(OwnOnCuda, SplitSystemsWithUnknownsOfVeryDifferentScale) {
    for (std::int64_t n : {448, 1000, 4000}) {
        if (limits().small && n > 500) continue;
        Bands scaled = empty_bands(n, 1, Boundary::open);
        const auto scale = [&](std::int64_t column) { return std::pow(10.0, 30 - 60.0 * column / n); };
        for (std::int64_t i = 0; i < n; ++i) {
            scaled.at(0, i) = 4 * scale(i);
            if (i > 0) scaled.at(-1, i) = -1.9 * scale(i - 1);
            if (i + 1 < n) scaled.at(1, i) = -1.9 * scale(i + 1);
        }
        const OwnBatch own{{rounded<float>(scaled)}, 40};
        const auto rhs = [&](std::int64_t row, std::int64_t m) { return own_rhs<float>(row, m, n); };
        const auto split = solve_own_batch<float>(own, Way::factored, {}, rhs);
        const auto other = solve_own_batch<float>(own, Way::combined, {}, rhs);
        std::int64_t wrong = 0;
        for (std::size_t at = 0; at < other.x.size(); ++at)
            wrong += !(std::fabs(split.x[at] * scale(at % n) - other.x[at] * scale(at % n)) <= 1e-4);
        EXPECT_EQ(wrong, 0) << n << " rows";
        // Growth without measure, of nothing: zeros stay zeros.
        Bands growing = empty_bands(n, 1, Boundary::open);
        for (std::int64_t i = 0; i < n; ++i) {
            growing.at(0, i) = 1;
            if (i > 0) growing.at(-1, i) = 6;
            if (i + 1 < n) growing.at(1, i) = 0;
        }
        for_both_precisions([&]<class T>() {
            const auto zeros = solve_own_batch<T>({{growing}, 40}, Way::factored, {}, [](auto, auto) { return T(0); });
            EXPECT_EQ(std::count(zeros.x.begin(), zeros.x.end(), T(0)), n * 40) << n << " rows";
        });
    }
}

// Stiff and nearly singular ones too: what enters a piece is known but for rounding, which must not grow from one piece
// to the next.
TEST_F(OwnOnCuda, SplitSystemsOfStiffMatricesMeetTheErrorMeasure) {
    if (limits().small) GTEST_SKIP() << "long systems are left out";
    for (std::int64_t n : {1000, 4096, 8000})
        for (double sigma : {1e2, 1e6, 1e12}) {
            SCOPED_TRACE("n " + std::to_string(n) + ", sigma " + std::to_string(sigma));
            Bands stiff = empty_bands(n, 1, Boundary::open);
            for (std::int64_t i = 0; i < n; ++i) {
                stiff.at(0, i) = 1 + 2 * sigma;
                if (i > 0) stiff.at(-1, i) = -sigma;
                if (i + 1 < n) stiff.at(1, i) = -sigma;
            }
            const OwnBatch own{{stiff}, 64};
            const auto rhs = [&](std::int64_t row, std::int64_t m) { return own_rhs<double>(row, m, n); };
            const auto found = solve_own_batch<double>(own, Way::factored, {}, rhs);
            const auto norms = row_norms(stiff, long_double_resolution<double>);
            double worst = 0;
            for (std::int64_t m = 0; m < own.batch; ++m)
                worst = std::max(worst, backward_error(stiff, norms, &found.x[m * n], rhs, m));
            EXPECT_LE(worst, 2 * allowed_error);
        }
}

} // namespace
} // namespace bandmill::test
