// Matrices that cannot be factored: typed errors that name the row.
#include "../base/expect_error.hpp"
#include "limits.hpp"
#include "solving.hpp"

namespace bandmill::test {
namespace {

using FactorErrors = BackendTest;

// The error has to name a row of the matrix, and its text that row or the unknown that is not determined.
template <class T> void expect_singular(const BandMatrix& matrix) {
    try {
        const auto factor = make_factor<T>(matrix);
        ADD_FAILURE() << "a singular matrix was factored: " << name(factor.report().path) << ", growth "
                      << factor.report().pivot_growth;
    } catch (const SingularMatrix& error) {
        EXPECT_GE(error.row(), 0);
        EXPECT_LT(error.row(), matrix.size());
        const std::string text = error.what();
        EXPECT_TRUE(text.find("row " + std::to_string(error.row())) != text.npos || text.find("unknown ") != text.npos)
            << text;
    } catch (const std::exception& error) {
        ADD_FAILURE() << "threw another type: " << error.what();
    }
}

std::string label(std::int64_t n, int w, Boundary boundary) {
    return "n " + std::to_string(n) + ", W " + std::to_string(w) +
           (boundary == Boundary::open ? ", open" : ", periodic");
}

// Calls check(n, W, boundary) over sizes where bands wrap and where they do not.
template <class Check> void for_each_shape(Check check) {
    for (std::int64_t n : {1, 2, 3, 4, 5, 8, 33, 257, 1000})
        for (int w = 1; w <= 2; ++w)
            for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
                SCOPED_TRACE(label(n, w, boundary));
                check(n, w, boundary);
            }
}

TEST_F(FactorErrors, ZeroMatrix) {
    for_both_precisions([]<class T>() {
        for_each_shape([](auto n, auto w, auto boundary) {
            const Bands bands = constant_bands(n, std::vector<double>(2 * w + 1, 0.0), boundary);
            expect_singular<T>(as_matrix(bands));
            expect_singular<T>(as_matrix(bands, Storage::toeplitz));
        });
    });
}

TEST_F(FactorErrors, ZeroRowIsNamed) {
    for_both_precisions([]<class T>() {
        for_each_shape([](auto n, auto w, auto boundary) {
            for (std::int64_t row : {std::int64_t{0}, n / 2, n - 1}) {
                Bands bands = make_bands({Family::dominant}, n, w, boundary, 3);
                for (int k = -w; k <= w; ++k)
                    if (bands.column(k, row) >= 0) bands.at(k, row) = 0;
                const std::int64_t named =
                    expect_error<SingularMatrix>([&] { make_factor<T>(as_matrix(bands)); }, {std::to_string(row)});
                EXPECT_EQ(named, row);
            }
        });
    });
}

TEST_F(FactorErrors, ZeroColumn) {
    for_both_precisions([]<class T>() {
        for_each_shape([](auto n, auto w, auto boundary) {
            Bands bands = make_bands({Family::dominant}, n, w, boundary, 3);
            for (int k = -w; k <= w; ++k)
                for (std::int64_t i = 0; i < n; ++i)
                    if (bands.column(k, i) == n / 2) bands.at(k, i) = 0;
            expect_singular<T>(as_matrix(bands));
        });
    });
}

// Periodic differences annihilate constants, whatever n is; in floating point no pivot becomes exactly zero.
TEST_F(FactorErrors, PeriodicDifferences) {
    const std::vector<std::vector<double>> stencils{
        {1, -2, 1}, {-1, 0, 1}, {1, -4, 6, -4, 1}, {-1, 16, -30, 16, -1}, {1, -8, 0, 8, -1}};
    std::vector<std::int64_t> sizes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 16, 17, 31, 32, 33, 63, 64, 65, 99, 100};
    if (!limits().small) sizes.insert(sizes.end(), {127, 128, 200, 255, 257, 333, 500, 512, 777, 999, 1000});
    for_both_precisions([&]<class T>() {
        for (const auto& weights : stencils)
            for (std::int64_t n : sizes) {
                SCOPED_TRACE("n " + std::to_string(n) + ", main weight " + std::to_string(weights[weights.size() / 2]));
                const Bands bands = constant_bands(n, weights, Boundary::periodic);
                expect_singular<T>(as_matrix(bands, Storage::toeplitz));
                if (n % 2 == 1) expect_singular<T>(as_matrix(bands));
            }
    });
}

TEST_F(FactorErrors, EqualOrProportionalRows) {
    for_both_precisions([]<class T>() {
        for (double factor : {1.0, -0.25, 0x1p40}) { // powers of two: the products are exact
            for (std::int64_t n : {2, 3, 50, 300}) {
                SCOPED_TRACE("n " + std::to_string(n) + ", factor " + std::to_string(factor));
                // Rows 0 and 1 of an open tridiagonal matrix, both with entries in columns 0 and 1 only.
                Bands bands = make_bands({Family::dominant}, n, 1, Boundary::open, 3);
                bands.at(-1, 1) = factor * bands.at(0, 0);
                bands.at(0, 1) = factor * bands.at(1, 0);
                if (n > 2) bands.at(1, 1) = 0;
                expect_singular<T>(as_matrix(bands));
            }
        }
    });
}

// Singular but for the rounding of its entries (0.1 + 0.2 - 0.3 = 3e-17): to be refused, or solved as it stands.
TEST_F(FactorErrors, SingularUpToRounding) {
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {1, 2, 3, 5, 8, 17, 64, 100, 257, 1000}) {
            SCOPED_TRACE("n " + std::to_string(n));
            const Bands bands = constant_bands(n, {0.1, -0.3, 0.2}, Boundary::periodic);
            const RightHandSides<T> rhs(bands, 3);
            try {
                const auto factor = make_factor<T>(as_matrix(bands, Storage::toeplitz));
                const auto x = solve_batch(factor, 9, LayoutKind::interleaved, Placement::in_place, rhs);
                EXPECT_LE(backward_error(bands, x, rhs), allowed_error) << name(factor.report().path);
            } catch (const SingularMatrix&) {
            }
        }
    });
}

TEST_F(FactorErrors, SingularAtAnyScale) {
    for_both_precisions([]<class T>() {
        for (double scale : {1e-30, 1e-8, 1e8, 1e30}) {
            const Bands bands = constant_bands(100, {scale, -2 * scale, scale}, Boundary::periodic);
            expect_singular<T>(as_matrix(bands, Storage::toeplitz));
        }
    });
}

// The scale of a matrix, or of its rows, says nothing about its singularity.
TEST_F(FactorErrors, NotSingularBecauseSmall) {
    for_both_precisions([]<class T>() {
        for (double scale : {1e-30, 1e30})
            for (int w = 1; w <= 2; ++w)
                for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
                    SCOPED_TRACE(label(64, w, boundary) + ", scale " + std::to_string(scale));
                    Bands bands = make_bands({Family::dominant}, 64, w, boundary, 3);
                    for (auto& diagonal : bands.diagonals)
                        for (double& value : diagonal) value *= scale;
                    const auto factor = make_factor<T>(as_matrix(bands));
                    const RightHandSides<T> base(bands, 3);
                    const auto rhs = [&](auto row, auto system) {
                        return static_cast<T>(base(row, system) * (system % 8 == 1 ? 1.0 : scale));
                    };
                    const auto x = solve_batch(factor, 9, LayoutKind::interleaved, Placement::in_place, rhs);
                    EXPECT_LE(backward_error(bands, x, rhs), allowed_error);
                }
    });
}

TEST_F(FactorErrors, NanAndInfinityAreNamedWithTheirRow) {
    for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity()})
        for_each_shape([&](auto n, auto w, auto boundary) {
            for (int k = -w; k <= w; ++k)
                for (std::int64_t row : {std::int64_t{0}, n / 2, n - 1}) {
                    Bands bands = make_bands({Family::dominant}, n, w, boundary, 3);
                    if (bands.column(k, row) < 0) continue;
                    bands.at(k, row) = bad;
                    const std::int64_t named =
                        expect_error<InvalidMatrix>([&] { make_factor<double>(as_matrix(bands)); },
                                                    {std::to_string(row), std::isnan(bad) ? "nan" : "inf"});
                    EXPECT_EQ(named, row);
                }
        });
}

TEST_F(FactorErrors, EntriesBeyondSinglePrecision) {
    Bands bands = make_bands({Family::dominant}, 40, 2, Boundary::open, 3);
    bands.at(0, 17) = 1e39;
    const BandMatrix matrix = as_matrix(bands);
    EXPECT_EQ(expect_error<InvalidMatrix>([&] { make_factor<float>(matrix); }, {"17", "f32"}), 17);
    const RightHandSides<double> rhs(bands, 1);
    const auto x = solve_batch(make_factor<double>(matrix), 4, LayoutKind::tiled, Placement::in_place, rhs);
    EXPECT_LE(backward_error(bands, x, rhs), allowed_error);
    const std::vector<double> weights{1, 1e300, 1};
    expect_error<InvalidMatrix>([&] { make_factor<float>(BandMatrix::toeplitz(9, weights)); }, {"f32"});
}

} // namespace
} // namespace bandmill::test
