// Rows of very different size, and numbers at the ends of a precision's range.
#include "../base/expect_error.hpp"
#include "expect_solves.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace bandmill::test {
namespace {

using Scale = BackendTest;

// Any one row may be 1e30 times the others, in f32 too; its right-hand side is zero, so the solution is of ordinary
// size.
TEST_F(Scale, OneLargeRow) {
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {5, 12, 40, 100})
            for (Boundary boundary : {Boundary::open, Boundary::periodic})
                for (std::int64_t large = 0; large < n; ++large) {
                    SCOPED_TRACE("n " + std::to_string(n) + ", row " + std::to_string(large));
                    Bands bands = constant_bands(n, {-1, 2.5, -1}, boundary);
                    for (int k = -1; k <= 1; ++k) bands.at(k, large) *= 1e30;
                    const auto factor = make_factor<T>(as_matrix(bands));
                    std::vector<T> x(n, T(1e9));
                    x[large] = 0;
                    const std::vector<T> b = x;
                    solve_in_place(factor, x, make_layout(LayoutKind::contiguous, n, 1, 0));
                    for (std::int64_t i = 0; i < n; ++i) {
                        long double residual = b[i], size = std::abs(b[i]);
                        for (int k = -1; k <= 1; ++k) {
                            const std::int64_t j = i + k;
                            if (boundary == Boundary::open && (j < 0 || j >= n)) continue;
                            const long double product = (long double)bands.at(k, i) * x[(j + n) % n];
                            residual -= product;
                            size += std::abs((long double)bands.at(k, i)) * 1e9L;
                        }
                        ASSERT_LE(std::abs(residual), 16 * std::numeric_limits<T>::epsilon() * size);
                    }
                }
    });
}

// Entries that are finite, but whose ratio is not.
TEST_F(Scale, RatiosBeyondTheRangeAreRefused) {
    const std::vector<double> zeros(4, 0.0), upper{10, 0, 0, 0}, single{1.9, 0, 0, 0};
    expect_error<InvalidMatrix>(
        [&] {
            make_factor<double>(BandMatrix::tridiagonal(zeros, std::vector{5e-308, 1.0, 1.0, 1.0}, upper));
        },
        {"row 0"});
    expect_error<InvalidMatrix>(
        [&] {
            make_factor<float>(BandMatrix::tridiagonal(zeros, std::vector{4e-39, 1.0, 1.0, 1.0}, single));
        },
        {"row 0", "f32"});
}

TEST_F(Scale, AMovedFactorStillSolves) {
    const Bands bands = make_bands({Family::dominant}, 20, 1, Boundary::open, 3);
    auto factor = make_factor<double>(as_matrix(bands));
    const auto other = std::move(factor);
    std::vector<double> x(20, 1.0), y(20, 1.0);
    solve_in_place(factor, x, make_layout(LayoutKind::contiguous, 20, 1, 0));
    solve_in_place(other, y, make_layout(LayoutKind::contiguous, 20, 1, 0));
    EXPECT_EQ(x, y);
}

TEST_F(Scale, AMatrixTooLargeForMemoryIsRefused) {
    expect_error<Error>(
        [] {
            make_factor<double>(BandMatrix::toeplitz(INT64_MAX / 2, std::array{-1.0, 3.0, -1.0}));
        },
        {std::to_string(INT64_MAX / 2)});
}

} // namespace
} // namespace bandmill::test
