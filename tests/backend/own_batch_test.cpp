// Batches with a matrix for every system: bad systems stay alone, the status names their row, and neither the place in
// the batch, nor the layout, nor the threads show in a solution.
#include "own_matrices.hpp"

namespace bandmill::test {
namespace {

using OwnBatches = BackendTest;

OwnBatch make_batch(std::int64_t n, int w, Boundary boundary, std::int64_t batch, std::int64_t different) {
    OwnBatch own{{}, batch};
    for (std::int64_t k = 0; k < different; ++k)
        own.matrices.push_back(rounded<float>(make_bands({Family::dominant}, n, w, boundary, 40 + k)));
    return own;
}

template <class Check> void for_each_kind(Check check) {
    for (std::int64_t n : {1, 2, 3, 4, 5, 8, 9, 31, 64, 130, 700})
        for (int w = 1; w <= 2; ++w)
            for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
                SCOPED_TRACE("n " + std::to_string(n) + ", W " + std::to_string(w) +
                             (boundary == Boundary::open ? ", open" : ", periodic"));
                for_both_precisions([&]<class T>() { check.template operator()<T>(n, w, boundary); });
            }
}

// The first row that elimination without row exchanges cannot pass, in exact arithmetic; the matrices below are made of
// small integers, so that every precision finds it too.
std::int64_t first_zero_pivot(const Bands& bands) {
    const std::int64_t n = bands.n;
    std::vector<long double> lu = dense(bands);
    for (std::int64_t k = 0; k < n; ++k) {
        if (!std::isfinite(lu[k * n + k]) || lu[k * n + k] == 0) return k + 1;
        for (std::int64_t i = k + 1; i < n; ++i)
            for (std::int64_t j = n - 1; j >= k; --j)
                if (lu[k * n + j] != 0 && lu[i * n + k] != 0)
                    lu[i * n + j] -= lu[i * n + k] / lu[k * n + k] * lu[k * n + j];
    }
    return 0;
}

// The unit matrix, but that the pivot of row `row` vanishes only by elimination: its main diagonal holds a 1 that the
// row before takes away, where there is one.
Bands unit_with_bad_row(std::int64_t n, int w, Boundary boundary, std::int64_t row) {
    Bands bands = empty_bands(n, w, boundary);
    for (std::int64_t i = 0; i < n; ++i) bands.at(0, i) = 1;
    if (row == 0 || n <= 2 * w)
        bands.at(0, row) = 0;
    else
        bands.at(-1, row) = bands.at(1, row - 1) = 1;
    return bands;
}

TEST_F(OwnBatches, BadSystemsAreNamedAndStayAlone) {
    for_each_kind([]<class T>(std::int64_t n, int w, Boundary boundary) {
        constexpr std::int64_t batch = 75;
        OwnBatch good = make_batch(n, w, boundary, batch, batch), bad = good;
        std::vector<std::int64_t> expected(batch, 0);
        const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
        int kind = 0;
        for (std::int64_t m : {0, 13, 31, 32, 40, 63, 64, 74}) {
            const std::int64_t row = (m * 7 + 3) % n;
            Bands& bands = bad.matrices[m];
            switch (kind++ % 4) {
            case 0: bands = unit_with_bad_row(n, w, boundary, row); break;
            case 1: bands = unit_with_bad_row(n, w, boundary, n - 1); break;
            case 2: bands.at(0, row) = nan; break;
            case 3: bands.at(0, row) = kind % 8 == 0 ? inf : nan; break;
            }
            expected[m] = kind % 4 == 1 || kind % 4 == 2 ? first_zero_pivot(bands) : row + 1;
            EXPECT_GT(expected[m], 0);
        }
        const auto rhs = [&](std::int64_t row, std::int64_t system) { return own_rhs<T>(row, system, n); };
        for (Way way : {Way::factored, Way::combined})
            for (LayoutKind layout : {LayoutKind::interleaved, LayoutKind::contiguous}) {
                const OwnPlacing placing{layout, Placement::out_of_place, {layout}};
                const auto clean = solve_own_batch<T>(good, way, placing, rhs);
                const auto found = solve_own_batch<T>(bad, way, placing, rhs);
                EXPECT_EQ(found.status, expected);
                EXPECT_EQ(clean.status, std::vector<std::int64_t>(batch, 0));
                for (std::int64_t m = 0; m < batch; ++m) {
                    std::int64_t different = 0, numbers = 0;
                    for (std::int64_t at = m * n; at < (m + 1) * n; ++at) {
                        different += !same_bits(found.x[at], clean.x[at]);
                        numbers += !std::isnan(found.x[at]);
                    }
                    if (expected[m] > 0)
                        EXPECT_EQ(numbers, 0) << "system " << m << " is bad in row " << expected[m] - 1;
                    else
                        EXPECT_EQ(different, 0) << "system " << m;
                }
            }
    });
}

// Just usable, and just not.
TEST_F(OwnBatches, PivotsAtTheLimitsOfTheRange) {
    for_both_precisions([]<class T>() {
        const double least = std::numeric_limits<T>::min(), beyond = 1 / least;
        const std::vector<double> pivots{least, least / 2, -least, beyond / 2, beyond, 0.0, -0.0};
        const std::vector<std::int64_t> expected{0, 1, 0, 0, 1, 1, 1};
        OwnBatch own{{}, 7};
        for (double pivot : pivots) {
            own.matrices.push_back(empty_bands(1, 1, Boundary::open));
            own.matrices.back().at(0, 0) = pivot;
        }
        for (Way way : {Way::factored, Way::combined}) {
            const auto found = solve_own_batch<T>(own, way, {}, [](auto, auto) { return T(0.5); });
            EXPECT_EQ(found.status, expected);
            for (std::size_t m = 0; m < pivots.size(); ++m)
                if (expected[m] == 0 && std::fabs(pivots[m]) > 1) {
                    EXPECT_NEAR(found.x[m] * pivots[m], 0.5, 1e-6);
                }
        }
    });
}

TEST_F(OwnBatches, NanInARightHandSideIsNoBadMatrix) {
    for_each_kind([]<class T>(std::int64_t n, int w, Boundary boundary) {
        const OwnBatch own = make_batch(n, w, boundary, 40, 5);
        const auto rhs = [&](std::int64_t row, std::int64_t system) {
            return system == 17 && row == n / 2 ? std::numeric_limits<T>::quiet_NaN() : own_rhs<T>(row, system, n);
        };
        for (Way way : {Way::factored, Way::combined}) {
            const auto found = solve_own_batch<T>(own, way, {}, rhs);
            EXPECT_EQ(found.status, std::vector<std::int64_t>(40, 0));
            std::int64_t not_finite = 0;
            for (std::int64_t at = 0; at < 40 * n; ++at) not_finite += at / n != 17 && !std::isfinite(found.x[at]);
            EXPECT_EQ(not_finite, 0);
            EXPECT_TRUE(std::isnan(found.x[17 * n + n / 2]));
        }
    });
}

TEST_F(OwnBatches, TheSameSystemHasTheSameBitsEverywhere) {
    for_each_kind([]<class T>(std::int64_t n, int w, Boundary boundary) {
        const OwnBatch one = make_batch(n, w, boundary, 1, 1);
        const auto same = [&](std::int64_t row, std::int64_t) { return own_rhs<T>(row, 0, n); };
        const auto solve_alone = [&](Way way) {
            return solve_own_batch<T>(one, way, {LayoutKind::contiguous, Placement::in_place}, same);
        };
        const OwnSolution<T> alone[] = {solve_alone(Way::factored), solve_alone(Way::combined)};
        if (ways_agree_to_the_bit<T>(one)) {
            EXPECT_EQ(differences(alone[0].x, alone[1].x), 0);
        }
        for (std::int64_t batch : {2, 33, 200})
            for (LayoutKind layout : all_layouts) {
                if (n > 64 && layout != LayoutKind::interleaved) continue;
                OwnBatch many{one.matrices, batch};
                for (Way way : {Way::factored, Way::combined}) {
                    const auto found = solve_own_batch<T>(
                        many, way, {layout, Placement::other_layout, {layout, next_kind(layout, 2)}, Threads{3}}, same);
                    std::int64_t different = 0;
                    for (std::int64_t at = 0; at < batch * n; ++at)
                        different += !same_bits(found.x[at], alone[way == Way::combined].x[at % n]);
                    EXPECT_EQ(different, 0) << batch << " systems, " << name(layout);
                }
            }
    });
}

TEST_F(OwnBatches, OneWorkspaceAndOneFactorServeManySolves) {
    for_both_precisions([]<class T>() {
        const OwnBatch own = make_batch(90, 2, Boundary::periodic, 70, 7);
        const OwnDiagonals<T> diagonals(own, {LayoutKind::interleaved}, 16);
        const auto factor = factor_own<T>(diagonals.view());
        const auto copy = factor;
        auto workspace = make_workspace<T>(own.shape());
        Array<std::int64_t, Space> status(own.batch);
        for (int turn = 0; turn < 3; ++turn) {
            std::vector<T> b(90 * 70);
            for (std::size_t k = 0; k < b.size(); ++k) b[k] = own_rhs<T>(static_cast<std::int64_t>(k), turn, 1 << 20);
            Array<T, Space> in = make_array<T>(b), one = make_array<T>(b), two = make_array<T>(b);
            solve_own<T>(turn == 1 ? copy : factor, interleaved(in, 90, 70), interleaved(one, 90, 70), Threads{});
            solve_own<T>(diagonals.view(), interleaved(two, 90, 70), interleaved(two, 90, 70), // in place
                         interleaved(status, 1, 70), workspace, Threads{});
            EXPECT_EQ(differences(download(one), download(two)), 0);
        }
    });
}

TEST_F(OwnBatches, NoSystemsNoWork) {
    for_both_precisions([]<class T>() {
        OwnBatch own = make_batch(20, 1, Boundary::periodic, 0, 1);
        for (Way way : {Way::factored, Way::combined})
            EXPECT_TRUE(solve_own_batch<T>(own, way, {}, [](auto, auto) { return T{1}; }).x.empty());
    });
}

} // namespace
} // namespace bandmill::test
