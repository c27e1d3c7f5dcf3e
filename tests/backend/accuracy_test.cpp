// Every kind of matrix, size, batch, layout, precision and boundary: the solution satisfies its equations row by row,
// agrees with the oracle, and nothing else in memory has changed.
#include "limits.hpp"
#include "solving.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <tuple>

namespace bandmill::test {
namespace {

constexpr std::int64_t oracle_systems = 4;  // of each batch: the kinds of right-hand side
constexpr int failures_shown = 5;           // of each test
constexpr std::size_t small_list_step = 24; // with BANDMILL_TEST_SMALL, one case of so many

std::uint64_t seed_of(const Case& c) {
    return mix(static_cast<std::uint64_t>(c.n)) ^ mix(1000 + static_cast<std::uint64_t>(c.kind.family)) ^
           mix(2000 + c.half_bandwidth * 2 + static_cast<int>(c.boundary));
}

template <class T> void check(const Case& c) {
    const Bands bands = make_bands(c.kind, c.n, c.half_bandwidth, c.boundary, seed_of(c));
    const auto factor = make_factor<T>(as_matrix(bands, c.storage));
    const RightHandSides<T> rhs(bands, seed_of(c));
    const std::vector<T> x = solve_batch(factor, c.batch, c.layout, c.placement, rhs);
    const double error = backward_error(bands, x, rhs);
    log_error(factor.report().path, name_of<T>(), error, describe(c));
    EXPECT_LE(error, allowed_error) << name(factor.report().path) << ", growth " << factor.report().pivot_growth
                                    << ", probed " << factor.report().backward_error;
    if (c.n > oracle_max_rows) return;
    const Oracle oracle(bands);
    for (std::int64_t m = 0; m < std::min(c.batch, oracle_systems); ++m)
        EXPECT_LE(forward_error(bands, oracle, &x[m * c.n], rhs, m), allowed_error)
            << "system " << m << " against the oracle, condition " << oracle.condition();
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

bool on_small_list(const Case& c, std::size_t number) {
    return (c.n <= 70 || c.n == 256 || c.n == 1024) && c.batch <= 33 && number % small_list_step == 0;
}

template <class Belongs> void check_all(const std::vector<Case>& cases, Belongs belongs) {
    int checked = 0, left_out = 0;
    for (std::size_t number = 0; number < cases.size() && failures_so_far() < failures_shown; ++number) {
        const Case& c = cases[number];
        if (!belongs(c)) continue;
        if (c.elements() > limits().max_elements || (limits().small && !on_small_list(c, number))) {
            ++left_out;
            continue;
        }
        check(c);
        ++checked;
    }
    if (left_out > 0) std::printf("[ left out ] %d cases beyond the size limit\n", left_out);
    if (checked == 0 && failures_so_far() == 0) GTEST_SKIP() << "all cases are beyond the size limit";
}

struct SizeGroup {
    const char* name;
    std::int64_t from, to;
};
constexpr SizeGroup size_groups[] = {
    {"n1_to_32", 1, 32},           {"n33_to_70", 33, 70},           {"n127_to_257", 127, 257},
    {"n1000_to_1025", 1000, 1025}, {"n4096_to_16384", 4096, 16384}, {"n100000", 100000, 100000}};

void PrintTo(const SizeGroup& group, std::ostream* out) { *out << group.name; }

class Pairwise : public BackendTest, public testing::WithParamInterface<std::tuple<SizeGroup, MatrixKind>> {};

TEST_P(Pairwise, MeetsTheErrorMeasure) {
    const auto& [group, kind] = GetParam();
    check_all(pairwise_cases(), [&](const Case& c) {
        return c.n >= group.from && c.n <= group.to && c.kind.family == kind.family && c.kind.sigma == kind.sigma;
    });
}

INSTANTIATE_TEST_SUITE_P(Accuracy, Pairwise,
                         testing::Combine(testing::ValuesIn(size_groups), testing::ValuesIn(matrix_kinds())),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param).name) + "_" + name(std::get<1>(info.param));
                         });

class Extremes : public BackendTest, public testing::WithParamInterface<std::int64_t> {};

TEST_P(Extremes, MeetTheErrorMeasure) {
    check_all(extreme_cases(), [](const Case& c) { return c.n == GetParam(); });
}

INSTANTIATE_TEST_SUITE_P(Accuracy, Extremes, testing::Values(1, 2, 3, 4, 5, 6, 70, 257, 4096, 100000),
                         [](const auto& info) { return std::string("n").append(std::to_string(info.param)); });

} // namespace
} // namespace bandmill::test
