// How systems are cut and blocks are shaped on the GPU. Plain data, beside what chose it (H200, f64, share of a
// device-to-device copy at 16 bytes per unknown; docs/performance.md holds the current figures).
#pragma once

#include "bandmill/band/partition.hpp"

#include <cstdint>

namespace bandmill::cuda {

// Threads per block of the partitioned kernels: 128 registers each, so that 32 rows in f64 (64 registers) fit.
inline constexpr int block_threads = 512;

// Blocks per cluster. Beyond 8 a kernel has to ask for it.
inline constexpr int largest_cluster = 16;
// The largest system that one block can hold, for layouts that the staged kernel cannot fetch: 4 systems at once.
inline constexpr int most_segments_in_block = 128;

// Rows per thread, and how a system is spread over the blocks of a cluster. It decides the rounding, so it must not
// depend on the batch. Measured with 65,536 systems (in brackets: 1,048,576), f64, W = 1 / W = 2:
// clang-format off
//   n = 64    16 rows of two systems per thread     0.78 / 0.78
//             16 rows of one                        0.71 / 0.71
//             8 rows of two                         0.67 / 0.66
//   n = 128   16 rows of two systems per thread     0.82 / 0.79
//             16 rows of one                        0.78 / 0.72
//   n = 256   16 rows of two systems per thread     0.82 / 0.77
//             32 rows of one, 128 rows per block    0.85 / 0.80
//             32 rows of one, 256 rows per block    0.83 / 0.78
//   n = 512   128 rows per block                    0.85 / 0.81 (0.89 / 0.86)
//             256 rows per block                    0.86 / 0.81 (0.92 / 0.90)
//             512 rows per block                    0.82 / 0.80 (0.91 / 0.92)
//   n = 1024  256 rows per block                    0.86 / 0.82 (0.90 / 0.87)
//             512 rows per block                    0.86 / 0.84 (0.92 / 0.91)
//   n = 4096  256 rows per block                    0.85 / 0.70
//             512 rows per block                    0.86 / 0.77
// clang-format on
inline constexpr int few_slots = 16, most_slots = 32;
inline detail::Partition choose_partition(std::int64_t n, int half_bandwidth) {
    auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    auto cut = [&](std::int64_t slots, std::int64_t rows_per_block) {
        const std::int64_t groups = up(n, rows_per_block), group = up(n, groups * slots);
        return detail::Partition{slots, static_cast<int>(groups * group), static_cast<int>(group)};
    };
    if (n <= 128) return cut(few_slots, 128);
    if (n <= 192) return cut(most_slots, 192);
    if (n <= 256) return cut(most_slots, 128);
    if (n <= 512) return cut(most_slots, 256);
    if (n <= 512 * largest_cluster) {
        const detail::Partition large = cut(most_slots, 512);
        // Two smaller blocks fill a multiprocessor better than one of which many threads are missing.
        return large.group >= 14 || n > 256 * largest_cluster ? large : cut(most_slots, 256);
    }
    // Above 8192 rows the tables of W = 2 do not fit beside the rows, above 16,384 nothing fits: two passes, for which
    // two small blocks on a multiprocessor are best.
    return cut(most_slots, n <= 1024 * largest_cluster && half_bandwidth == 1 ? 1024 : 256);
}
// Slots at the front of a segment that this may leave unused.
constexpr int most_unused(int slots) { return slots == most_slots ? 8 : slots; }

// The staged kernel: bytes of one row that a thread holds, of neighbouring systems. Either way its rows take 64
// registers.
constexpr int row_bytes(int slots) { return slots == most_slots ? 8 : 16; }

// Threads side by side in a row, a power of two: rows of 256 bytes are what memory likes best (n = 512: 32 wide 0.85,
// 16 wide 0.79), more only fill a block.
inline int widest_lanes(int segments) {
    int lanes = 1;
    while (2 * lanes * segments <= block_threads && lanes < 32) lanes *= 2;
    return lanes;
}

// Narrower for small batches, to give half the multiprocessors a block, but not below a warp (4096 systems, n = 256: 32
// wide 8.4 us, 16 wide 8.7, 8 wide 10.2). `segments` are those of a block, `blocks` those of a system, `systems` what a
// thread holds. This shapes the launch only.
inline int choose_lanes(int segments, int blocks, int systems, std::int64_t batch, int multiprocessors, int narrowest) {
    int lanes = widest_lanes(segments);
    auto launched = [&] { return (batch + lanes * systems - 1) / (lanes * systems) * blocks; };
    while (lanes / 2 >= narrowest && lanes / 2 * segments >= 32 && 2 * launched() < multiprocessors) lanes /= 2;
    return lanes;
}

// Two passes: tiles of systems per block, for each of which the group's tables are loaded once.
inline constexpr int tiles_per_block = 16;

// The sequential kernels: rows a thread loads at once. Few systems mean few warps, so each must keep much on its way.
inline constexpr int rows_ahead = 32;

// The staged kernel: tiles on their way per block. More than three gained nothing.
inline constexpr int most_stages = 3;

// Matrices of their own, a thread per system: threads of a block, so that a row of it is 256 bytes.
template <class T> inline constexpr int batch_width = 256 / static_cast<int>(sizeof(T));
// Rows that are fetched and worked on together.
inline constexpr int batch_solve_chunk = 8, batch_factor_chunk = 4;
// The same where the copy engine fetches. A chunk costs the warp that fetches it some 300 cycles, so that with 8 rows
// to one it was too slow for a single block (4,096 systems, n = 256, open W = 1: 8 rows 0.63, 16 rows 0.77).
inline constexpr int batch_stream_chunk = 16;

// What may be tried by `bandmill bench own` and by tests; 0: as chosen below.
struct BatchTuning {
    int blocks = 0;     // on a multiprocessor
    int chunks = 0;     // on their way to a thread: 2, 4, 8 or 16 (8 where the copy engine fetches)
    bool splits = true; // long systems over blocks
    int teams = 0;      // of those, at most
};
// Blocks on a multiprocessor where not all rows can be kept on chip. A solve has little to compute, so few blocks with
// much room are best, and one if a warp of its own fetches for it; elimination waits for a division in every row.
inline constexpr int batch_solve_blocks = 2, batch_stream_blocks = 1, batch_factor_blocks = 4;
inline constexpr int most_batch_blocks = 8, most_batch_chunks = 16, most_stream_chunks = 8;
// Those whose registers fit beside each other; there is no room for the rings of more, unless a system has few rows.
inline constexpr int most_stream_blocks = 6;
// The barriers of the streamed kernel, before its ring: two per chunk and one more, in whole lines.
inline constexpr int batch_stream_barrier_bytes = (8 * (2 * most_stream_chunks + 1) + 127) / 128 * 128;
// On their way to a multiprocessor. Memory answers after about 1 us, in which it could send 32 KB to each. Streams have
// larger chunks, one of which is being read.
inline constexpr int batch_bytes_ahead = 64 * 1024, batch_stream_bytes_ahead = 72 * 1024;

struct BatchShared {
    int chunks;
    int first_kept; // row: those from here on are kept, and it is a multiple of the chunk
    int bytes;
    int first_once = 0; // row: those from here on are fetched as what is read once
};

// What a block needs shared memory for. A value takes 256 bytes.
struct BatchUse {
    int chunk;       // rows
    int row_values;  // on their way, per row
    int kept_values; // to be kept, per row
    bool streams;    // a warp of its own fetches
};

inline int chunks_ahead(const BatchUse& use, int blocks, int chunk_bytes) {
    if (use.streams) {
        const int fewest = blocks == 1 ? 4 : 2, chunks = batch_stream_bytes_ahead / (blocks * chunk_bytes);
        return chunks < fewest ? fewest : chunks < most_stream_chunks ? chunks : most_stream_chunks;
    }
    int chunks = most_batch_chunks; // stays a power of two, for Ring::wait
    while (chunks > 2 && chunks * chunk_bytes * blocks > batch_bytes_ahead) chunks /= 2;
    return chunks;
}

// Of one block.
inline BatchShared choose_shared(const BatchTuning& tuning, int blocks, const BatchUse& use, int rows,
                                 int bytes_per_multiprocessor, int bytes_per_block, int reserved) {
    constexpr int value_bytes = 256;
    const int chunk_bytes = use.chunk * use.row_values * value_bytes;
    BatchShared shared{chunks_ahead(use, blocks, chunk_bytes), 0, 0};
    const int most_chunks = use.streams ? most_stream_chunks : most_batch_chunks;
    if (tuning.chunks > 0) shared.chunks = tuning.chunks < most_chunks ? tuning.chunks : most_chunks;
    int room = bytes_per_multiprocessor / blocks - reserved;
    if (room > bytes_per_block) room = bytes_per_block;
    // The last rows, which may not fill a chunk, are always kept.
    const int row_bytes = use.kept_values * value_bytes, least = (rows < use.chunk ? rows : use.chunk) * row_bytes;
    while (shared.chunks > 2 && shared.chunks * chunk_bytes + least > room)
        shared.chunks = use.streams ? shared.chunks - 1 : shared.chunks / 2;
    int kept_bytes = 0;
    if (use.kept_values > 0) {
        const int ring = shared.chunks * chunk_bytes;
        int fits = room > ring ? (room - ring) / row_bytes : 0;
        fits = fits > use.chunk ? fits : use.chunk;
        if (fits < rows) shared.first_kept = (rows - fits + use.chunk - 1) / use.chunk * use.chunk;
        kept_bytes = rows > shared.first_kept ? (rows - shared.first_kept) * row_bytes : 0;
    }
    if (use.streams && shared.first_kept == 0 && tuning.chunks == 0) // nothing else wants the room that is left
        while (shared.chunks < most_stream_chunks && (shared.chunks + 1) * chunk_bytes + kept_bytes <= room)
            ++shared.chunks;
    shared.bytes = shared.chunks * chunk_bytes + kept_bytes;
    return shared;
}

// As many blocks as keep all their rows on chip, if that is several; else some that keep a part. Never more than the
// batch gives each multiprocessor.
inline BatchShared choose_shared(const BatchTuning& tuning, int usual_blocks, std::int64_t blocks_per_multiprocessor,
                                 const BatchUse& use, int rows, int bytes_per_multiprocessor, int bytes_per_block,
                                 int reserved) {
    const auto with = [&](int blocks) {
        return choose_shared(tuning, blocks, use, rows, bytes_per_multiprocessor, bytes_per_block, reserved);
    };
    if (tuning.blocks > 0) return with(tuning.blocks);
    const int limit = use.streams ? most_stream_blocks : most_batch_blocks,
              most = static_cast<int>(blocks_per_multiprocessor < limit ? blocks_per_multiprocessor : limit);
    for (int blocks = most; blocks >= usual_blocks; --blocks)
        if (const BatchShared shared = with(blocks); shared.first_kept == 0) return shared;
    return with(most < usual_blocks ? most : usual_blocks);
}

// Where y goes through memory the second-level cache catches its last rows, if everything else around them is fetched
// as what is read once: two fifths of the cache, for what all blocks write. To fetch all rows like this is slow: once
// the cache is full of other things, what is read once has little room in it, and so have writes (H200, open W = 2, n =
// 100,000: 7.36 ms, rows from here on only 6.94; n = 4,096: 4.68, 4.51; n = 1,024 as here 1.00, none 1.04). Where y
// does not leave the chip nothing has to be left in the cache (n = 256, periodic W = 2: 353 us, all read once 367). But
// what is a little larger than the cache, and solved again and again, would drive itself out (4,096 systems with n =
// 256, 75 MiB: 27.1 us, all read once 23.7; 40 MiB: 10.6, all read once 12.8).
inline int choose_once(int first_kept, int kept_values, double bytes, std::int64_t cache_bytes, std::int64_t blocks) {
    const double cache = static_cast<double>(cache_bytes);
    if (first_kept == 0) return bytes > 0.85 * cache && bytes < 4 * cache ? 0 : INT32_MAX;
    const std::int64_t rows = cache_bytes * 2 / 5 / (256 * kept_values * (blocks > 0 ? blocks : 1));
    return first_kept > rows ? static_cast<int>(first_kept - rows) : 0;
}

// Systems of which y would leave the chip are solved in pieces of as many rows as stay there, where what happened
// before is forgotten within so few rows (batch_reach.cuh). Shorter systems would gain nothing.
inline constexpr int pieces_from = 2048, longest_reach = 192, felt_throughout = INT32_MAX;
// What counts as forgotten, for something of size 1.
template <class T> inline constexpr T unfelt = sizeof(T) == 8 ? T(0x1p-65) : T(0x1p-36);
// Rows of a piece; 0: not in pieces.
inline int choose_piece(int rows, const BatchShared& shared) {
    if (rows < pieces_from || shared.first_kept == 0) return 0;
    const auto up = [](int a, int b) { return (a + b - 1) / b; };
    const int fits = (rows - shared.first_kept) / batch_stream_chunk;
    if (fits == 0) return 0;
    const int pieces = up(rows, fits * batch_stream_chunk),
              piece = up(rows, pieces * batch_stream_chunk) * batch_stream_chunk;
    return piece >= longest_reach ? piece : 0;
}

// Long open tridiagonal systems are split over the threads of a team of blocks (batch_split.cuh), from here on.
inline constexpr int split_from = 448;
// Warps that compute, two more fetch, and rows that a thread holds, two values each: what registers have room for. f64:
// one block of 168 registers a thread on a multiprocessor. f32: two blocks of 128.
template <class T> inline constexpr int most_split_warps = sizeof(T) == 8 ? 10 : 6;
template <class T> inline constexpr int split_blocks = sizeof(T) == 8 ? 1 : 2;
template <class T> inline constexpr int split_rows = sizeof(T) == 8 ? 28 : 44;
inline constexpr int split_barrier_bytes = (8 * (4 * most_split_warps<double> + 2) + 127) / 128 * 128;

// How a system's rows are split: over a team of blocks, their warps, and the parts of a warp that work on the same
// systems. It depends on the number of rows, never on the batch.
struct BatchSplit {
    int width = 0; // systems of a team; 0: not split
    int team = 1, warps = 0;
    int rows = 0;                     // of a thread
    int down_slots = 0, up_slots = 0; // of shared memory, for what a warp needs on the way down, and up
    int bytes = 0;
};

// As few blocks as hold all rows, with the most room to fetch ahead: half of what the way down needs, and all for the
// way up, where every warp would wait for its own (n = 2,048: 5 and 10 slots 0.97, 6 and 6 slots 0.91, 9 and 2 slots
// 0.65). Where there is room for all of both f64 takes it (n = 2,300: 0.91, half 0.76); f32 would have no room for its
// second block (n = 4,096: 0.84, with one block and all slots 0.73). Teams of 16 come late, they leave 20 of 132
// multiprocessors without work (n = 4,096: 0.81, teams of 8 with tiles half as wide 0.91), and teams of 4 leave 12,
// which shows in small batches (4,096 systems with n = 1,024: 0.72, teams of 2 with half as wide tiles 0.81). Lines of
// less than 128 bytes are slow to fetch (64 bytes: 0.6 to 0.7).
template <class T> BatchSplit choose_split(int rows, int room) {
    constexpr struct { int parts, team; } shapes[] = {{1, 1}, {1, 2}, {2, 2}, {1, 4}, {1, 8}, {2, 8}, {1, 16}, {2, 16}};
    for (const auto& [parts, team] : shapes) {
        BatchSplit split;
        split.team = team;
        split.width = 32 / parts;
        if (split.width * int(sizeof(T)) < 128) continue;
        const int block_rows = (rows + parts * team - 1) / (parts * team);
        split.warps = (block_rows + split_rows<T> - 1) / split_rows<T>;
        if (split.warps > most_split_warps<T> || split.warps < 1) continue;
        split.rows = (block_rows + split.warps - 1) / split.warps;
        const auto fits = [&](int down, int up) {
            split.down_slots = down;
            split.up_slots = up;
            const int slots = (3 * down + up) * split.rows * 32, messages = 2 * (split.warps + team) * 2 * split.width;
            split.bytes = split_barrier_bytes + (slots + messages) * int(sizeof(T));
            return split.bytes <= room;
        };
        const int half = (split.warps + 1) / 2;
        if ((sizeof(T) == 8 && fits(split.warps, split.warps)) || fits(half, split.warps)) return split;
    }
    return {};
}

// The staged kernel that adds its solutions: rows of sums that a thread reads at once. More would spill registers.
template <class T> constexpr int rows_added_at_once(int slots) {
    return slots != most_slots ? 2 : sizeof(T) == 8 ? 8 : 4;
}

// Resident stepping: points a thread holds. f64 has room for 32 (64 registers for the state, 64 for the right-hand
// side) unless the rate needs many itself.
template <class E, class T> constexpr int resident_slots() {
    return E::template Rate<T>::has_source && sizeof(T) == 8 ? 16 : 32;
}
// For small grids, and where the time of a step counts more than the number of members.
inline constexpr int few_resident_slots = 8;
inline constexpr int resident_threads = 128; // of a block that holds several members
// Where no thread has more unused slots than this, a kernel need not ask about the others.
inline constexpr int few_unused_slots = 2;
// Blocks that a multiprocessor shall hold: what registers leave room for, without spilling any. f32, n = 256: 6 blocks
// 1,665, 5 blocks 1,830; forced, n = 512: 6, 5 and 4 blocks 477, 519 and 540.
template <class E, class T> constexpr int resident_blocks(int slots) {
    const bool has_source = E::template Rate<T>::has_source;
    if (sizeof(T) == 8) return slots == 32 ? 3 : slots == 16 ? 3 : has_source ? 4 : 6;
    return slots == 32 ? (has_source ? 4 : 5) : has_source ? 6 : 8;
}
// Whether segments are corrected by tables (parallel, but every entry comes from the constant bank) or by sweeping
// again (one after the other). Short segments are for the shortest time of a step.
struct ByTable {
    bool up, down;
};
template <int W, class T> constexpr ByTable by_table(int slots) {
    if (W == 1 || slots == few_resident_slots) return {true, true};
    return {sizeof(T) == 8, false};
}
// Whether short segments are swept both ways at once (64 members, n = 256: 39, one after the other 28). Round-off is
// then rougher, and Crank-Nicolson with a fourth derivative would keep it: hyperdiffusion in f32 lost a digit.
template <class E> constexpr bool sweeps_both_ways(int slots) {
    return slots == few_resident_slots && (E::half_bandwidth == 1 || E::implicitness == 1);
}
// Levels of a scan that kernels are prepared for: what the paper's grids and steps take, n = 256 on 2 pi. Others ask at
// every level (f64 923, prepared 939; forced 274, 277).
template <class T> constexpr int usual_levels(int slots) {
    int levels = 0;
    while ((slots << levels) < (sizeof(T) == 8 ? 256 : 128)) ++levels;
    return levels;
}
// Steps whose squares wait in shared memory to be added up over the lanes.
inline constexpr int traced_steps = 16; // f64: by shuffles at once 820, 8 steps 846, 16 steps 850
// Threads of one member at most, with as many registers.
template <class T> constexpr int most_resident_lanes(int slots) { return sizeof(T) == 8 && slots == 32 ? 384 : 512; }

} // namespace bandmill::cuda
