// A few systems with one matrix, against the error measure and the oracle: for tests about special matrices.
#pragma once

#include "solving.hpp"

namespace bandmill::test {

// Solves with `matrix`, which must be the library's form of `bands`.
template <class T> void expect_solves(const BandMatrix& matrix, const Bands& bands) {
    constexpr std::int64_t systems = 9; // every kind of right-hand side
    const auto factor = make_factor<T>(matrix);
    EXPECT_EQ(factor.size(), bands.n);
    EXPECT_EQ(factor.half_bandwidth(), bands.half_bandwidth);
    EXPECT_EQ(factor.boundary(), bands.boundary);
    const RightHandSides<T> rhs(bands, 7);
    const auto x = solve_batch(factor, systems, LayoutKind::interleaved, Placement::in_place, rhs);
    const double error = backward_error(bands, x, rhs);
    log_error(factor.report().path, name_of<T>(), error, "special matrix, n = " + std::to_string(bands.n));
    EXPECT_LE(error, allowed_error) << name(factor.report().path) << ", growth " << factor.report().pivot_growth
                                    << ", probed " << factor.report().backward_error;
    if (bands.n > oracle_max_rows) return;
    const Oracle oracle(bands);
    for (std::int64_t m = 0; m < systems; ++m)
        EXPECT_LE(forward_error(bands, oracle, &x[m * bands.n], rhs, m), allowed_error);
}

} // namespace bandmill::test
