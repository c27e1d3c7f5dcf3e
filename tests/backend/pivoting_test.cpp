// Matrices that are regular but cannot be eliminated in the order they come.
#include "expect_solves.hpp"
#include "limits.hpp"

#include <numbers>

namespace bandmill::test {
namespace {

using LeadingBlock = BackendTest;
using Oscillating = BackendTest;

// circ(1, -2 cos(pi/m), 1) with n = m rows: the leading n - 1 rows are singular (their kernel is a sine), A is not.
TEST_F(LeadingBlock, MayBeSingular) {
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {3, 4, 5, 8, 9, 16, 33, 64, 100, 257, 500}) {
            SCOPED_TRACE("n " + std::to_string(n));
            const double main = -2 * std::cos(std::numbers::pi / static_cast<double>(n));
            const Bands bands = constant_bands(n, {1, main, 1}, Boundary::periodic);
            expect_solves<T>(as_matrix(bands, Storage::toeplitz), bands);
            expect_solves<T>(as_matrix(bands), bands);
        }
    });
}

// With two wrapping rows the leading block has n - 2 of them: the angle is pi / (n - 1).
TEST_F(LeadingBlock, MayBeSingularForFiveDiagonals) {
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {5, 6, 8, 9, 16, 33, 64, 257}) {
            SCOPED_TRACE("n " + std::to_string(n));
            const double main = -2 * std::cos(std::numbers::pi / static_cast<double>(n - 1));
            const Bands bands = constant_bands(n, {0, 1, main, 1, 0}, Boundary::periodic);
            expect_solves<T>(as_matrix(bands, Storage::toeplitz), bands);
            expect_solves<T>(as_matrix(bands), bands);
        }
    });
}

// The first column has entries in the wrapping rows only.
TEST_F(LeadingBlock, MayHaveAZeroColumn) {
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {5, 6, 7, 8, 31, 64, 100, 257})
            for (int w = 1; w <= 2; ++w)
                for (std::uint64_t seed = 0; seed < 4; ++seed) {
                    SCOPED_TRACE("n " + std::to_string(n) + ", W " + std::to_string(w));
                    Bands bands = make_bands({Family::nonsingular}, n, w, Boundary::periodic, seed);
                    for (int i = 0; i <= w; ++i) bands.at(-i, i) = 0;
                    if (Oracle(bands).condition() > 1e12L) continue;
                    expect_solves<T>(as_matrix(bands), bands);
                }
    });
}

// Leading blocks that are zero matrices, or have zero rows or columns: only the wrapped entries make A regular.
TEST_F(LeadingBlock, MayBeZero) {
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {3, 4, 5, 7, 8, 64, 257}) {
            SCOPED_TRACE("n " + std::to_string(n));
            const Bands shift = constant_bands(n, {0, 0, 3}, Boundary::periodic); // A x = 3 x_{i+1}
            expect_solves<T>(as_matrix(shift, Storage::toeplitz), shift);
            const Bands back = constant_bands(n, {2, 0, 0}, Boundary::periodic);
            expect_solves<T>(as_matrix(back), back);
            const Bands shift2 = constant_bands(n, {0, 0, 0, 0, 3}, Boundary::periodic);
            expect_solves<T>(as_matrix(shift2, Storage::toeplitz), shift2);
            const Bands back2 = constant_bands(n, {2, 0, 0, 0, 0}, Boundary::periodic);
            expect_solves<T>(as_matrix(back2), back2);
        }
    });
}

// Their solutions oscillate, and choosing the largest pivot in a column carries one row down through hundreds of steps:
// its rounding errors add up although no entry grows. (Exchanging only when the gain is twofold ends such journeys.)
TEST_F(Oscillating, RowsAreNotCarriedFar) {
    const std::vector<std::vector<double>> stencils{
        {1, 0.01, 1}, {1, 0.001, -1}, {1, 1, 0.1, 1, 1}, {1, -8, 0.01, 8, -1}, {1, -8, 0.001, 8, -1}};
    std::vector<std::int64_t> sizes{64, 257, 1000};
    if (!limits().small) sizes.insert(sizes.end(), {2000, 4096, 10000, 16384});
    for_both_precisions([&]<class T>() {
        for (const auto& weights : stencils)
            for (std::int64_t n : sizes)
                for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
                    SCOPED_TRACE("n " + std::to_string(n) + ", W " + std::to_string(weights.size() / 2) +
                                 ", main weight " + std::to_string(weights[weights.size() / 2]) +
                                 (boundary == Boundary::open ? ", open" : ", periodic"));
                    const Bands bands = constant_bands(n, weights, boundary);
                    expect_solves<T>(as_matrix(bands, Storage::toeplitz), bands);
                }
    });
}

} // namespace
} // namespace bandmill::test
