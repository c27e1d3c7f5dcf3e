// Small periodic matrices whose bands wrap onto each other, and transposed copies.
#include "expect_solves.hpp"

namespace bandmill::test {
namespace {

using Wrap = BackendTest;
using Transposed = BackendTest;

TEST_F(Wrap, OneRowIsTheSumOfItsEntries) {
    for_both_precisions([]<class T>() {
        const std::vector<double> weights{1, 2, 4, 8, 16};
        const auto rhs = [](auto, auto) { return T{62}; };
        for (Storage storage : {Storage::toeplitz, Storage::general}) {
            const auto penta = make_factor<T>(as_matrix(constant_bands(1, weights, Boundary::periodic), storage));
            EXPECT_EQ(solve_batch(penta, 1, LayoutKind::contiguous, Placement::in_place, rhs)[0], T{2});
            const auto tri = make_factor<T>(as_matrix(constant_bands(1, {1, 28, 2}, Boundary::periodic), storage));
            EXPECT_EQ(solve_batch(tri, 1, LayoutKind::contiguous, Placement::in_place, rhs)[0], T{2});
            const auto open = make_factor<T>(as_matrix(constant_bands(1, weights, Boundary::open), storage));
            EXPECT_EQ(solve_batch(open, 1, LayoutKind::contiguous, Placement::in_place, rhs)[0], T{15.5});
        }
    });
}

TEST_F(Wrap, EntriesOnOnePlaceAddUp) {
    for_both_precisions([]<class T>() {
        for (std::int64_t n = 1; n <= 6; ++n)
            for (int w = 1; w <= 2; ++w)
                for (std::uint64_t seed = 0; seed < 20; ++seed)
                    for (Family family : {Family::nonsingular, Family::dominant, Family::row_scaled}) {
                        SCOPED_TRACE("n " + std::to_string(n) + ", W " + std::to_string(w) + ", seed " +
                                     std::to_string(seed) + ", " + name(MatrixKind{family}));
                        const Bands bands = make_bands({family}, n, w, Boundary::periodic, seed);
                        expect_solves<T>(as_matrix(bands), bands);
                    }
    });
}

TEST_F(Transposed, SolvesTheTransposedSystem) {
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {1, 2, 3, 4, 5, 6, 17, 64, 257, 1000})
            for (int w = 1; w <= 2; ++w)
                for (Boundary boundary : {Boundary::open, Boundary::periodic})
                    for (const MatrixKind& kind : matrix_kinds()) {
                        if (!has_size(kind, n) || !has_half_bandwidth(kind, w) || kind.sigma > 1) continue;
                        SCOPED_TRACE(name(kind) + ", n " + std::to_string(n) + ", W " + std::to_string(w) +
                                     (boundary == Boundary::open ? ", open" : ", periodic"));
                        const Bands bands = make_bands(kind, n, w, boundary, 99);
                        const Storage storage = has_constant_diagonals(kind) ? Storage::toeplitz : Storage::general;
                        expect_solves<T>(as_matrix(bands, storage).transposed(), transposed(bands));
                    }
    });
}

} // namespace
} // namespace bandmill::test
