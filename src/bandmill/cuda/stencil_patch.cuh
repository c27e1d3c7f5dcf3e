// Weighted stencils of a few points on planes whose rows are packed, where they cannot be marched down
// (stencil_march.cuh). A block copies a tile and what surrounds it to shared memory, in pieces of 16 bytes where rows
// are aligned; a thread then computes 16 bytes of some rows. Larger patches and other layouts: stencil/tile.cuh.
#pragma once

#include "bandmill/base/arithmetic.hpp"
#include "bandmill/stencil/edges.hpp"
#include "bandmill/stencil/plane.hpp"

#include <cuda_pipeline.h>

namespace bandmill::cuda {

inline constexpr int patch_threads = 256, patch_columns = 128; // of a tile
// On a multiprocessor, by shared memory: 2, 3, 4 and 5 took 97, 81, 78 and 78 us (3 x 3 points, 4096 x 4096, f64).
inline constexpr int patch_tiles = 5;
inline constexpr int patch_rows = 4; // results of a thread below each other
template <class T> inline constexpr int patch_piece = 16 / static_cast<int>(sizeof(T));
// The points beside a tile fill whole sectors of 32 bytes. With pieces of 16, 3 points along x took 76 us instead
// of 69.
template <class T, int K>
inline constexpr int patch_beside = (K + 2 * patch_piece<T> - 1) / (2 * patch_piece<T>)*2 * patch_piece<T>;
// Rows of a tile: what the threads of a block compute at a time.
template <class T> inline constexpr int patch_step = patch_threads / (patch_columns / patch_piece<T>)*patch_rows;

// Results to be written.
struct PlaneRange {
    std::int64_t x_begin, x_end, y_begin, y_end;
    bool is_empty() const { return x_begin >= x_end || y_begin >= y_end; }
};

// The weights of a patch of R rows by 2 K + 1 columns. Those of zero are not looked at: bits tell the others.
template <class T, int K, int R> struct PatchWeights {
    static constexpr int columns = 2 * K + 1;
    T weight[R * columns];
    std::uint64_t used;
    bool is_dense() const { return used == (std::uint64_t{1} << R * columns) - 1; }
    bool is_cross() const { // all of one row and one column through the middle, and no others
        std::uint64_t cross = 0;
        for (int k = 0; k < R * columns; ++k)
            if (k % columns == K || 2 * (k / columns) == R - 1) cross |= std::uint64_t{1} << k;
        return used == cross;
    }
};
template <class T> struct alignas(16) PatchPiece { T value[patch_piece<T>]; };
// What a thread needs of a row in shared memory; `from` points to its own columns less those beside.
template <class T, int K> __device__ __forceinline__ void read_row(const T* from, T (&values)[patch_piece<T> + 2 * K]) {
    constexpr int V = patch_piece<T>, skipped = patch_beside<T, K> - K, first = skipped / V,
                  last = (skipped + V + 2 * K - 1) / V;
    PatchPiece<T> pieces[last - first + 1];
#pragma unroll
    for (int k = first; k <= last; ++k) pieces[k - first] = reinterpret_cast<const PatchPiece<T>*>(from)[k];
#pragma unroll
    for (int j = 0; j < V + 2 * K; ++j) values[j] = pieces[(skipped + j) / V - first].value[(skipped + j) % V];
}

template <class T> struct PatchJob {
    const T* in;
    T* out;
    PlaneShape in_shape, out_shape;
    detail::EdgeRule<T> x_rule, y_rule;
    PlaneRange range;
    int up;                     // rows of the patch above its point
    bool add;                   // to what the output holds
    bool in_pieces, out_pieces; // whether pieces are aligned in memory
    int tiles_x, tiles_y;       // of a plane
};

// Tiles in shared memory.
template <class T, int K> struct PatchTile {
    static constexpr int V = patch_piece<T>, beside = patch_beside<T, K>, pitch = patch_columns + 2 * beside;
    static constexpr int pieces = pitch / V; // of a row
};

// One piece of a tile, wherever it lies.
template <class T, int K>
__device__ __forceinline__ void load_piece(const PatchJob<T>& job, const T* plane, std::int64_t x, std::int64_t y,
                                           T* to) {
    constexpr int V = patch_piece<T>;
    const std::int64_t rows = job.in_shape.rows, columns = job.in_shape.columns;
    if (job.x_rule.kind == Edges::Kind::periodic && columns % V == 0)
        x = x < 0 ? x + columns : x >= columns ? x - columns : x;
    if (job.y_rule.kind == Edges::Kind::periodic) y = y < 0 ? y + rows : y >= rows ? y - rows : y;
    if (x >= 0 && x + V <= columns && y >= 0 && y < rows) {
        const T* const from = plane + y * job.in_shape.row_stride + x;
        if (job.in_pieces) {
            __pipeline_memcpy_async(to, from, 16);
        } else {
#pragma unroll
            for (int v = 0; v < V; ++v) __pipeline_memcpy_async(to + v, from + v, sizeof(T));
        }
        return;
    }
    const detail::Ghost<T> along_y = job.y_rule.locate(y, rows);
    const T* const from = plane + (along_y.index < 0 ? 0 : along_y.index) * job.in_shape.row_stride;
#pragma unroll 1
    for (int v = 0; v < V; ++v) {
        if (x + v < -K || x + v >= columns + K) continue; // nobody asks for it
        const detail::Ghost<T> along_x = job.x_rule.locate(x + v, columns);
        to[v] = along_y.value(along_x.value(along_x.index < 0 ? T(0) : from[along_x.index]));
    }
}

// The tile whose results begin at x0, and rows from y0 on, with what lies beside it.
template <class T, int K>
__device__ __forceinline__ void load_tile(const PatchJob<T>& job, const T* plane, std::int64_t x0, std::int64_t y0,
                                          int height, T* tile) {
    using Tile = PatchTile<T, K>;
    constexpr int V = Tile::V, warps = patch_threads / 32, beside = Tile::beside / V; // pieces
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    const std::int64_t rows = job.in_shape.rows;
    const bool inside = y0 >= 0 && y0 + height <= rows && x0 + patch_columns <= job.in_shape.columns;
    if (!job.in_pieces || !inside) {
        for (int k = thread; k < height * Tile::pieces; k += patch_threads) {
            const int row = k / Tile::pieces, piece = k % Tile::pieces;
            load_piece<T, K>(job, plane, x0 + (piece - beside) * V, y0 + row, tile + row * Tile::pitch + piece * V);
        }
        return;
    }
    // A warp takes whole rows. Few instructions count here.
    const T* from = plane + (y0 + warp) * job.in_shape.row_stride + x0 + lane * V;
    T* to = tile + warp * Tile::pitch + Tile::beside + lane * V;
#pragma unroll 4
    for (int row = warp; row < height; row += warps) {
#pragma unroll
        for (int k = 0; k < patch_columns; k += 32 * V) __pipeline_memcpy_async(to + k, from + k, 16);
        from += warps * job.in_shape.row_stride;
        to += warps * Tile::pitch;
    }
    if constexpr (beside > 0) {
        for (int k = thread; k < height * 2 * beside; k += patch_threads) {
            const int row = k / (2 * beside), at = k % (2 * beside);
            const int piece = at < beside ? at : at + patch_columns / V;
            load_piece<T, K>(job, plane, x0 + (piece - beside) * V, y0 + row, tile + row * Tile::pitch + piece * V);
        }
    }
}

// Row `dy` of the patch, from the left.
template <bool Dense, class T, int K, int R>
__device__ __forceinline__ void add_row(const PatchWeights<T, K, R>& weights, int dy, const T* values,
                                        PatchPiece<T>& sums) {
#pragma unroll
    for (int dx = 0; dx <= 2 * K; ++dx) {
        const int k = dy * (2 * K + 1) + dx;
        if (!Dense && (weights.used >> k & 1) == 0) continue;
#pragma unroll
        for (int v = 0; v < patch_piece<T>; ++v)
            sums.value[v] = detail::multiply_add(weights.weight[k], values[v + dx], sums.value[v]);
    }
}

// Where a tile lies.
struct PatchPlace {
    std::int64_t x, y, plane;
    int height; // of its results
};
template <class T> __device__ __forceinline__ PatchPlace place_of(const PatchJob<T>& job, int tile) {
    const int strip = tile / job.tiles_x, plane = strip / job.tiles_y;
    PatchPlace place{std::int64_t(tile - strip * job.tiles_x) * patch_columns,
                     std::int64_t(strip - plane * job.tiles_y) * patch_step<T>, plane, patch_step<T>};
    if (job.out_shape.rows - place.y < patch_step<T>) place.height = static_cast<int>(job.out_shape.rows - place.y);
    return place;
}

template <bool Dense, class T, int K, int R>
__device__ __forceinline__ void compute_tile(const PatchJob<T>& job, const PatchWeights<T, K, R>& weights,
                                             const PatchPlace& place, const T* tile) {
    using Tile = PatchTile<T, K>;
    using Piece = PatchPiece<T>;
    constexpr int V = Tile::V, P = patch_rows, lanes = patch_columns / V;
    const int lane = static_cast<int>(threadIdx.x) % lanes, group = static_cast<int>(threadIdx.x) / lanes;
    const std::int64_t x = place.x + lane * V;
    const bool whole = job.out_pieces && x >= job.range.x_begin && x + V <= job.range.x_end;
    const auto is_written = [&](int v) { return x + v >= job.range.x_begin && x + v < job.range.x_end; };
    const std::int64_t stride = job.out_shape.row_stride;
    const int first = group * P;
    if (first >= place.height) return;
    const T* from = tile + first * Tile::pitch + lane * V;
    T* to = job.out + place.plane * job.out_shape.batch_stride + (place.y + first) * stride + x;
    // Rows of these P that are written.
    const std::int64_t y = place.y + first;
    const int begin = job.range.y_begin > y ? static_cast<int>(job.range.y_begin - y) : 0,
              end = job.range.y_end < y + P ? static_cast<int>(job.range.y_end - y) : P;
    Piece sums[P];
#pragma unroll
    for (int k = 0; k < P; ++k) {
        sums[k] = Piece{};
        if (!job.add || k < begin || k >= end) continue;
#pragma unroll
        for (int v = 0; v < V; ++v)
            if (is_written(v)) sums[k].value[v] = to[k * stride + v];
    }
#pragma unroll
    for (int row = 0; row < P + R - 1; ++row) {
        T values[V + 2 * K];
        read_row<T, K>(from, values);
        from += Tile::pitch;
#pragma unroll
        for (int dy = 0; dy < R; ++dy)
            if (row - dy >= 0 && row - dy < P) add_row<Dense>(weights, dy, values, sums[row - dy]);
        const int done = row - R + 1;
        if (done < 0) continue;
        if (done >= begin && done < end) {
            if (whole) {
                *reinterpret_cast<Piece*>(to) = sums[done];
            } else {
#pragma unroll
                for (int v = 0; v < V; ++v)
                    if (is_written(v)) to[v] = sums[done].value[v];
            }
        }
        to += stride;
    }
}

// A tile for each block. Dense: no weight is zero.
template <class T, int K, int R, bool Dense>
__global__ void __launch_bounds__(patch_threads, R == 1 || K == 0 ? 5 : 4)
    patch_kernel(const __grid_constant__ PatchJob<T> job, const __grid_constant__ PatchWeights<T, K, R> weights) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    T* const tile = reinterpret_cast<T*>(shared_memory);
    const PatchPlace place = place_of(job, static_cast<int>(blockIdx.x));
    load_tile<T, K>(job, job.in + place.plane * job.in_shape.batch_stride, place.x, place.y - job.up,
                    place.height + R - 1, tile);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    compute_tile<Dense>(job, weights, place, tile);
}

} // namespace bandmill::cuda
