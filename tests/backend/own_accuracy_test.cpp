// Every system with a matrix of its own, over the same sizes, batches, layouts, precisions and boundaries as the shared
// matrix: the equations are satisfied row by row, both ways agree to the bit where they do the same operations, and
// nothing else in memory has changed.
#include "limits.hpp"
#include "own_matrices.hpp"

#include <cstdio>
#include <ostream>

namespace bandmill::test {
namespace {

// Those whose pivots may grow are measured against the growth, which is known by dense elimination.
bool may_grow(Family family) { return family == Family::nonsingular || family == Family::row_scaled; }

bool belongs(const Case& c) {
    if (c.storage == Storage::toeplitz || c.kind.family == Family::zero_diagonal) return false;
    // Rounded to f32 these are singular, or as good as that.
    if (c.precision == Precision::f32 && (c.kind.family == Family::nearly_singular || c.kind.sigma > 1e6)) return false;
    return !may_grow(c.kind.family) || c.n <= 70;
}

template <class T> OwnBatch make_own(const Case& c) {
    OwnBatch batch{{}, c.batch};
    const std::int64_t different = c.n > 1000 ? 2 : may_grow(c.kind.family) ? 3 : 5;
    for (std::int64_t k = 0; k < std::min(different, c.batch); ++k)
        batch.matrices.push_back(rounded<T>(make_bands(
            c.kind, c.n, c.half_bandwidth, c.boundary,
            mix(static_cast<std::uint64_t>(c.n)) ^ mix(1000 + static_cast<std::uint64_t>(c.kind.family) + 100 * k))));
    return batch;
}

template <class T> void check(const Case& c) {
    const OwnBatch batch = make_own<T>(c);
    const auto rhs = [&](std::int64_t row, std::int64_t system) { return own_rhs<T>(row, system, c.n); };
    OwnPlacing placing{c.layout, c.placement, {c.layout}};
    if (c.placement == Placement::other_layout)
        placing.diagonals = {c.layout, next_kind(c.layout), next_kind(c.layout, 3)};
    const auto solution = solve_own_batch<T>(batch, Way::factored, placing, rhs);
    const auto combined = solve_own_batch<T>(batch, Way::combined, placing, rhs);
    const bool agree = ways_agree_to_the_bit<T>(batch);
    if (agree) {
        EXPECT_EQ(differences(solution.x, combined.x), 0) << "the two ways differ";
    }
    EXPECT_EQ(solution.status, combined.status);
    for (std::int64_t status : solution.status) ASSERT_EQ(status, 0);
    std::vector<double> growth;
    std::vector<std::vector<long double>> norms;
    for (const Bands& bands : batch.matrices) {
        growth.push_back(may_grow(c.kind.family) ? growth_without_exchanges(bands) : 1.0);
        norms.push_back(row_norms(bands, long_double_resolution<T>));
    }
    double worst = 0;
    for (std::int64_t m = 0; m < c.batch; ++m) {
        const std::size_t which = m % batch.matrices.size();
        for (const auto* found : {&solution, &combined}) {
            if (agree && found == &combined) continue;
            const double error = backward_error(batch.of(m), norms[which], &found->x[m * c.n], rhs, m);
            worst = std::max(worst, error / growth[which]);
        }
    }
    EXPECT_LE(worst, allowed_own_error);
}

void check(const Case& c) {
    SCOPED_TRACE(describe(c));
    try {
        c.precision == Precision::f64 ? check<double>(c) : check<float>(c);
    } catch (const std::exception& error) {
        ADD_FAILURE() << "threw: " << error.what();
    }
}

int failures_so_far() { return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count(); }

template <class Belongs> void check_all(const std::vector<Case>& cases, Belongs here) {
    int checked = 0, left_out = 0;
    for (std::size_t number = 0; number < cases.size() && failures_so_far() < 5; ++number) {
        const Case& c = cases[number];
        if (!belongs(c) || !here(c)) continue;
        if (c.n == 100000 && c.batch == 2 && number % 8 != 0)
            continue; // each touches 300 MB of tiles for its two systems
        const bool small = c.n <= 257 && c.batch <= 33 && number % 12 == 0;
        if ((limits().f64_only && c.precision != Precision::f64) ||
            c.elements() > limits().max_elements / 25 || // a matrix has five times as many
            (limits().small && !small)) {
            ++left_out;
            continue;
        }
        check(c);
        ++checked;
    }
    if (left_out > 0) std::printf("[ left out ] %d cases beyond the size limit\n", left_out);
    if (checked == 0 && failures_so_far() == 0) GTEST_SKIP() << "all cases are beyond the size limit";
}

class OwnMatrices : public BackendTest, public testing::WithParamInterface<std::int64_t> {};

TEST_P(OwnMatrices, MeetTheErrorMeasure) {
    const std::int64_t to = GetParam();
    const std::int64_t from = to == 32 ? 1 : to == 70 ? 33 : to == 1025 ? 71 : to == 16384 ? 1026 : 16385;
    check_all(pairwise_cases(), [&](const Case& c) { return c.n >= from && c.n <= to; });
}

INSTANTIATE_TEST_SUITE_P(Pairwise, OwnMatrices, testing::Values(32, 70, 1025, 16384, 100000),
                         [](const auto& info) { return std::string("to_n").append(std::to_string(info.param)); });

class OwnExtremes : public BackendTest, public testing::WithParamInterface<std::int64_t> {};

TEST_P(OwnExtremes, MeetTheErrorMeasure) {
    check_all(extreme_cases(), [](const Case& c) { return c.n == GetParam(); });
}

INSTANTIATE_TEST_SUITE_P(Own, OwnExtremes, testing::Values(1, 2, 3, 4, 5, 6, 70, 257, 4096, 100000),
                         [](const auto& info) { return std::string("n").append(std::to_string(info.param)); });

} // namespace
} // namespace bandmill::test
