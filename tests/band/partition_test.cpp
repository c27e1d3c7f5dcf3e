// The partitioned elimination, run on the host as the kernels run it: every way to cut a system gives a solution as
// accurate as any other, so that the factor accepts it.
#include "bandmill/band/matrix.hpp"
#include "bandmill/band/tables.hpp"
#include "bandmill/cuda/tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace bandmill;

// Rows of changing size, neither symmetric nor Toeplitz; `stiffness` is how far values reach.
BandMatrix make_matrix(std::int64_t n, int width, Boundary boundary, double stiffness) {
    std::vector<std::vector<double>> diagonals(2 * width + 1, std::vector<double>(n));
    for (std::int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int d = 0; d <= 2 * width; ++d) {
            if (d == width) continue;
            const double sign = width == 2 && (d == 0 || d == 4) ? 0.24 : -1;
            diagonals[d][i] = stiffness * sign * (1 + 0.1 * static_cast<double>((7 * i + 3 * d) % 5));
            sum += diagonals[d][i] < 0 ? -diagonals[d][i] : diagonals[d][i];
        }
        diagonals[width][i] = 1 + sum;
    }
    return width == 1 ? BandMatrix::tridiagonal(diagonals[0], diagonals[1], diagonals[2], boundary)
                      : BandMatrix::pentadiagonal(diagonals[0], diagonals[1], diagonals[2], diagonals[3], diagonals[4],
                                                  boundary);
}

std::int64_t shortest_segment(std::int64_t n, const detail::Partition& partition) {
    std::int64_t shortest = n;
    for (std::int64_t p = 0; p < partition.segments; ++p)
        shortest = std::min(shortest, detail::segment_start<std::int64_t>(p + 1, partition.segments, n) -
                                          detail::segment_start<std::int64_t>(p, partition.segments, n));
    return shortest;
}

template <class T> void expect_accepted(std::int64_t n, int width, Boundary boundary, double stiffness, int groups) {
    for (const std::int64_t slots : {16, 32}) {
        const auto group = static_cast<int>((n + groups * slots - 1) / (groups * slots));
        const detail::Partition partition{slots, groups * group, group};
        if (n <= 2 * width || shortest_segment(n, partition) < width) continue;
        const auto tables = detail::prepare<T>(make_matrix(n, width, boundary, stiffness), partition);
        EXPECT_EQ(tables.report.path, SolvePath::partitioned)
            << "n = " << n << ", W = " << width << (boundary == Boundary::periodic ? ", periodic" : ", open")
            << ", stiffness " << stiffness << ", " << slots << " slots, " << groups << " groups of " << group << ", f"
            << 8 * sizeof(T);
        EXPECT_LE(tables.report.backward_error, 2);
    }
}

TEST(Partition, EveryCutIsAccurate) {
    for (const std::int64_t n : {5, 8, 16, 33, 64, 100, 128, 257, 300, 511, 1000})
        for (const int width : {1, 2})
            for (const Boundary boundary : {Boundary::open, Boundary::periodic})
                for (const double stiffness : {0.1, 1e3, 1e8})
                    for (const int groups : {1, 2, 3, 4, 7, 16}) {
                        expect_accepted<double>(n, width, boundary, stiffness, groups);
                        if (stiffness < 1e4) expect_accepted<float>(n, width, boundary, stiffness, groups);
                    }
}

TEST(Partition, ManyGroups) {
    for (const int width : {1, 2})
        for (const Boundary boundary : {Boundary::open, Boundary::periodic})
            expect_accepted<double>(20000, width, boundary, 1e6, 79);
}

// What the kernels take for granted.
TEST(Partition, TheGpuCutsEverySizeAsItsKernelsNeedIt) {
    for (std::int64_t n = 1; n < 40000; n += n < 9000 ? 1 : 7)
        for (const int width : {1, 2}) {
            const detail::Partition cut = cuda::choose_partition(n, width);
            SCOPED_TRACE("n = " + std::to_string(n) + ", W = " + std::to_string(width));
            ASSERT_EQ(cut.segments, cut.groups() * cut.group);
            ASSERT_TRUE(cut.slots == cuda::few_slots || cut.slots == cuda::most_slots);
            ASSERT_TRUE(cut.slots == cuda::most_slots || cut.groups() == 1);
            ASSERT_LE(cut.group, cuda::block_threads);
            std::int64_t longest = 0, shortest = n;
            for (std::int64_t p = 0; p < cut.segments; ++p) {
                const std::int64_t start = detail::segment_start<std::int64_t>(p, cut.segments, n);
                const std::int64_t rows = detail::segment_start<std::int64_t>(p + 1, cut.segments, n) - start;
                longest = std::max(longest, rows);
                shortest = std::min(shortest, rows);
                ASSERT_TRUE(n % 4 != 0 || start % 4 == 0);
            }
            ASSERT_LE(longest, cut.slots);
            ASSERT_TRUE(n < width || shortest >= width);
            ASSERT_LE(cut.slots - shortest, cuda::most_unused(static_cast<int>(cut.slots)));
        }
}

} // namespace
