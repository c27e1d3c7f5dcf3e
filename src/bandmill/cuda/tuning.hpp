// How systems are cut and blocks are shaped on the GPU. Plain data, beside what chose it (H200, f64, share of a
// device-to-device copy at 16 bytes per unknown; docs/performance.md holds the current figures).
#pragma once

#include "bandmill/band/partition.hpp"

#include <cstdint>
#include <optional>

namespace bandmill::cuda {

// Threads per block of the partitioned kernels: 128 registers each, so that 32 rows in f64 (64 registers) fit.
inline constexpr int block_threads = 512;

// The largest system that is held on chip: 128 segments of 32 rows, 4 systems per block.
inline constexpr std::int64_t largest_on_chip = 4096;

// Rows per thread. Long segments need fewer exchanges (n = 256, W = 2, 524,288 systems: 32 rows and two blocks per
// multiprocessor 0.86, 16 rows and one block 0.78), short ones give small systems enough threads (n = 64, 1,048,576
// systems: 16 rows 0.87). It decides the rounding, so it must not depend on the batch.
inline std::optional<detail::Partition> choose_partition(std::int64_t n) {
    if (n > largest_on_chip) return std::nullopt;
    const std::int64_t slots = n <= 32 ? 8 : n <= 128 ? 16 : 32;
    return detail::Partition{slots, static_cast<int>((n + slots - 1) / slots)};
}

// Systems per block, a power of two: rows of 32 systems (256 bytes) are what memory likes best (n = 512: 32 wide 0.85,
// 16 wide 0.79), more only fill a block.
inline int widest_lanes(int segments) {
    int lanes = 1;
    while (2 * lanes * segments <= block_threads && lanes < 32) lanes *= 2;
    return lanes;
}

// The plain kernel: narrow enough to give every multiprocessor two blocks. This shapes the launch only.
inline int choose_lanes(int segments, std::int64_t batch, int multiprocessors) {
    int lanes = widest_lanes(segments);
    while (lanes > 1 && lanes / 2 * segments >= 32 && (batch + lanes - 1) / lanes < 2 * multiprocessors) lanes /= 2;
    return lanes;
}

// The sequential kernels: rows a thread loads at once. Few systems mean few warps, so each must keep much on its way.
inline constexpr int rows_ahead = 32;

// The staged kernel: tiles on their way per block. More than three gained nothing.
inline constexpr int most_stages = 3;

} // namespace bandmill::cuda
