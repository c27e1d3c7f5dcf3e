// How systems are cut and blocks are shaped on the GPU. Plain data; docs/performance.md holds the measurements.
#pragma once

#include "bandmill/band/partition.hpp"

#include <cstdint>
#include <optional>

namespace bandmill::cuda {

// Threads per block of the partitioned kernel: 128 registers each, so that 32 rows in f64 (64 registers) fit.
inline constexpr int block_threads = 512;

// The largest system that is held on chip: 128 segments of 32 rows, 4 systems per block.
inline constexpr std::int64_t largest_on_chip = 4096;

// Rows per thread: short segments leave little work between exchanges, long ones leave too few threads for small n.
// It decides the rounding, so it must not depend on the batch.
inline std::optional<detail::Partition> choose_partition(std::int64_t n) {
    if (n > largest_on_chip) return std::nullopt;
    const std::int64_t slots = n <= 64 ? 8 : n <= 256 ? 16 : 32;
    return detail::Partition{slots, static_cast<int>((n + slots - 1) / slots)};
}

// Systems per block, a power of two: as wide as fits, but narrow enough to give every multiprocessor two blocks. This
// shapes the launch only.
inline int choose_lanes(int segments, std::int64_t batch, int multiprocessors) {
    int lanes = 1;
    while (2 * lanes * segments <= block_threads && lanes < 128) lanes *= 2;
    while (lanes > 1 && lanes / 2 * segments >= 32 && (batch + lanes - 1) / lanes < 2 * multiprocessors) lanes /= 2;
    return lanes;
}

} // namespace bandmill::cuda
