// The numbers the CPU solve was tuned with. Shares are of an in-place scale of the same array, medians, f64, 256 MiB, W
// = 1 and open unless said; numbers in one sentence come from one process that ran its variants in turn, on two cores
// of an EPYC (Zen 3: AVX2, L1 32 KiB, L2 512 KiB, L3 32 MiB) that other programs used too: differences below 0.05 mean
// nothing.
#pragma once

#include <cstdint>

namespace bandmill::cpu {

// A strip is this wide. Each row of it is one piece of memory, so that fully interleaved data is read in long runs.
// That decides more than what stays in the L2. Interleaved, n = 1024: 256 B 0.39, 512 B 0.54, 1 KiB 0.67, 2 KiB 0.67.
// n = 16,384: 2 KiB 0.31, 4 KiB 0.42, 8 KiB 0.53, 16 KiB 0.49.
inline constexpr int strip_bytes = 8192;

// Rows that a pack of a strip sweeps before the next pack takes them, where rows are far apart. If they are apart by a
// power of two, they share the sets of the L1, which hold 8. Interleaved, n = 256: 8 rows 0.63, 16 rows 0.41, 32 rows
// 0.28.
inline constexpr int far_visit_rows = 8;
// So far ahead in the strip a pack asks for what the next ones will need. Interleaved, n = 1024: nothing asked for
// 0.45, the next 8 rows 0.51, 256 B ahead in the same rows 0.55.
inline constexpr int ahead_bytes = 256;

// Rows no further apart than this are found by the hardware, and visits may be longer. Tiles of 32, W = 2, periodic
// (two packs to a tile), n = 1024, best times: 8 rows 0.67, 64 rows 0.69, 1024 rows 0.61; in the cache 45, 37 and 35
// us.
inline constexpr int near_bytes = 512;
inline constexpr int near_visit_rows = 64;

// Vectors of a pack, up to the 32 lanes of a tile as recommended. Tiles, n = 64: 4 vectors 0.69, 8 (a whole row of the
// tile at once) 0.95; W = 2, n = 1024: 0.56, 0.77. W = 2 periodic has 3 times the state: in the cache 4 vectors take
// 17 us, 8 take 23.
constexpr int vectors_of_pack(int half_bandwidth, bool periodic) { return half_bandwidth == 2 && periodic ? 4 : 8; }
inline constexpr int most_pack_lanes = 32;

// Systems that are brought side by side at a time. Each is a stream of its own, and with n a power of two all meet in
// the same 8 lines of the L1: contiguous, n = 1024: 8 lanes 0.49, 16 lanes 0.24, 32 lanes 0.15.
inline constexpr int staged_lanes = 8;
// Rows brought at a time. Contiguous, n = 256: 16 rows 0.40, 32 rows 0.41, 64 rows 0.43, 128 rows 0.44.
inline constexpr int staged_rows = 64;
// Systems up to this size (all lanes together) are asked for while those before are solved. Contiguous, n = 256: 0.41,
// asked for 0.49; n = 16,384: 0.47, asked for 0.40.
inline constexpr int staged_ahead_bytes = 32 * 1024;
// The intermediate values of staged systems stay on the stack if they fit: within any L2, and half of the smallest
// stack that threads commonly get (musl: 128 KiB). Otherwise they go to the solution's own memory.
inline constexpr int scratch_bytes = 64 * 1024;

// Stores that pass by the cache were tried for interleaved data: 0.15 to 0.36, where ordinary ones reached 0.50 to
// 0.67.

// A matrix for every system: rows that a pack eliminates before the next pack takes them, systems side by side in a
// strip, bytes that a strip keeps between the two sweeps of a combined factor and solve (an L2 holds them), vectors
// that solve together.
inline constexpr int batch_visit_rows = 8;
inline constexpr int most_batch_strip = 128;
inline constexpr int batch_scratch_bytes = 256 * 1024;
inline constexpr int batch_solve_vectors = 4;
// Vectors that are eliminated together: each waits for a division in every row, but compilers keep larger states in
// memory. n = 256 in tiles, in the cache, ns per unknown of a combined factor and solve on one core, 1 and 2 vectors:
// W = 1 open 3.9, 3.4, periodic 4.7, 7.9; W = 2 open 4.9, 6.3.
constexpr int batch_factor_vectors(int half_bandwidth, bool periodic) {
    return half_bandwidth == 1 && !periodic ? 2 : 1;
}

// Vectors of members that are stepped together: one waits for its own recurrence, more do not fit the registers of
// AVX2. Cahn-Hilliard, periodic, n = 256, 10^9 point-steps per second of one core: 1 vector 1.07, 2 vectors 1.31, 3
// vectors 1.07, 4 vectors 0.93.
inline constexpr int step_vectors = 2;

// Stencils: bytes of a strip of columns that is swept down the rows, so that the rows a patch reaches stay in the L2.
inline constexpr std::int64_t stencil_panel_bytes = 256 * 1024;
// Outputs of so many bytes, in rows of so many, are stored past the cache, which saves reading them first.
inline constexpr std::int64_t stencil_stream_bytes = 32 << 20, stencil_stream_row_bytes = 1024;

// Rows of a plane whose right-hand sides are computed, and then solved along x while they are in the cache. Every strip
// looks at four rows more.
inline constexpr std::int64_t plane_strip_rows = 32;
// Planes that a thread has for itself: as many are stepped together as take so many bytes, one at least. Coarsening by
// two threads, in seconds, where they share every step / for one plane at a time / 300 KB / 1 MB / all: 8 planes of
// 256 x 256 8.4, 3.0, 2.8, 3.2, 4.4; 200 of 64 x 64 4.7, 2.5, 2.4, 2.4, 2.5; 2,000 of 24 x 24 3.8, 3.1, 2.7, 2.9, 3.0.
inline constexpr std::int64_t plane_cache_bytes = 300'000;

} // namespace bandmill::cpu
