// How planes are stepped on the GPU. Apart from tuning.hpp, so that trying a value compiles two files only.
#pragma once

#include <cstdint>

namespace bandmill::cuda {

// Planes: right-hand sides of so many bytes are computed and at once solved along x, while they are in the L2 cache (50
// MB); 0: those of a whole plane. On an H200 a step of 4096 x 4096 points in f64 took 343 us with 0 and 461 us with 16
// MiB, before the kernel below took less: launches that small wait more than the cache saves.
inline constexpr std::int64_t plane_chunk_bytes = 0;
// Their kernel: marches at once, and how many of them one after the other (f64: 1, 2, 3 and 4 took 301, 302, 303 and
// 304 us).
inline constexpr int plane_block_threads = 128, plane_blocks = 4; // that a multiprocessor holds, by registers
inline constexpr std::int64_t plane_warps_at_once = 132 * plane_blocks * (plane_block_threads / 32);
inline constexpr int plane_waves = 2, plane_shortest_march = 8;
inline constexpr int plane_rows_ahead = 3; // that are on their way

} // namespace bandmill::cuda
