// What a factor says about itself.
#include "limits.hpp"
#include "solving.hpp"

namespace bandmill::test {
namespace {

using Report = BackendTest;

TEST_F(Report, TellsPathGrowthErrorAndMemory) {
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {1, 2, 3, 64, 257, 1000})
            for (const MatrixKind& kind : matrix_kinds()) {
                if (!has_size(kind, n)) continue;
                SCOPED_TRACE(name(kind) + ", n " + std::to_string(n));
                for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
                    const FactorReport report = make_factor<T>(as_matrix(make_bands(kind, n, 2, boundary, 3))).report();
                    EXPECT_GE(report.pivot_growth, 0.99);
                    EXPECT_LT(report.pivot_growth, 1e6);
                    EXPECT_GE(report.backward_error, 0);
                    EXPECT_LE(report.backward_error, allowed_error);
                    EXPECT_GT(report.bytes, 0u);
                    EXPECT_NE(std::string(name(report.path)), "");
                }
            }
    });
}

TEST_F(Report, DominantMatricesAreNotPivoted) {
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {3, 64, 257, 1000})
            for (int w = 1; w <= 2; ++w)
                for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
                    if (n < 5 && boundary == Boundary::periodic) continue; // hardly a band matrix
                    const auto factor = make_factor<T>(as_matrix(make_bands({Family::dominant}, n, w, boundary, 3)));
                    EXPECT_STRNE(name(factor.report().path), "pivoted") << n;
                    EXPECT_LT(factor.report().pivot_growth, 10);
                }
    });
}

TEST_F(Report, ZeroDiagonalsArePivoted) {
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {3, 64, 257, 1000})
            for (int w = 1; w <= 2; ++w)
                for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
                    if (n < 5 && boundary == Boundary::periodic) continue; // entries wrap onto the zeros
                    const auto factor =
                        make_factor<T>(as_matrix(make_bands({Family::zero_diagonal}, n, w, boundary, 3)));
                    EXPECT_STREQ(name(factor.report().path), "pivoted") << n;
                }
    });
}

// Stiff matrices have to stay in the one-pass kernel: it is there that they would lose digits (METHOD.md 2).
TEST_F(Report, StiffMatricesKeepThePartitionedPath) {
    if (!on_cuda) GTEST_SKIP() << "the CPU has no partitioned path";
    for (double sigma : {1e-3, 1.0, 1e3, 1e6, 1e10})
        for (std::int64_t n : {64, 256, 1000, 1024, 2048, 4096}) {
            if (limits().small && n > 256) continue;
            const Bands bands = make_bands({Family::hyperdiffusion, sigma}, n, 2, Boundary::open, 0);
            const auto factor = make_factor<double>(as_matrix(bands, Storage::toeplitz));
            EXPECT_STREQ(name(factor.report().path), "partitioned")
                << "sigma " << sigma << ", n " << n << ", probed " << factor.report().backward_error;
        }
}

TEST_F(Report, MemoryGrowsWithTheNumberOfRows) {
    if (limits().small) GTEST_SKIP() << "large matrices";
    constexpr std::size_t fixed = 8192; // headers, alignment, tables of a fixed size
    for_both_precisions([]<class T>() {
        for (Family family : {Family::dominant, Family::zero_diagonal})
            for (int w = 1; w <= 2; ++w)
                for (Boundary boundary : {Boundary::open, Boundary::periodic})
                    for (std::int64_t n : {1000, 8000, 64000}) {
                        const auto one = make_factor<T>(as_matrix(make_bands({family}, n, w, boundary, 3))).report();
                        const auto two =
                            make_factor<T>(as_matrix(make_bands({family}, 2 * n, w, boundary, 3))).report();
                        if (one.path != two.path) continue;
                        EXPECT_LE(static_cast<double>(two.bytes), 2.2 * static_cast<double>(one.bytes) + fixed)
                            << name(MatrixKind{family}) << ", n " << n << ", " << name(one.path);
                        EXPECT_LE(one.bytes, static_cast<std::size_t>(n) * 64 * sizeof(T) + fixed);
                    }
    });
}

TEST_F(Report, PathsHaveNames) {
    EXPECT_STREQ(name(SolvePath::partitioned), "partitioned");
    EXPECT_STREQ(name(SolvePath::sequential), "sequential");
    EXPECT_STREQ(name(SolvePath::pivoted), "pivoted");
}

} // namespace
} // namespace bandmill::test
