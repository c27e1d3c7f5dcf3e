// How planes are stepped on the GPU. Apart from tuning.hpp, so that trying a value compiles two files only.
#pragma once

#include <cstdint>

namespace bandmill::cuda {

// Planes: right-hand sides of so many bytes are computed and at once solved along x, while they are in the L2 cache (50
// MB); 0: those of a whole plane. A third of the cache, since C itself passes through it too.
inline constexpr std::int64_t plane_chunk_bytes = std::int64_t{16} << 20;
// Their kernel: rows that a warp marches down, less where that leaves too few warps; a march looks at four rows more.
inline constexpr int plane_march_rows = 32, plane_shortest_march = 8;
inline constexpr std::int64_t plane_warps_wanted = 132 * 24;
inline constexpr int plane_block_threads = 128, plane_blocks = 4; // that a multiprocessor holds, by registers
inline constexpr int plane_rows_ahead = 3;                        // that are on their way

} // namespace bandmill::cuda
