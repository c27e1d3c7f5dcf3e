// A thread per system with a matrix of its own, neighbours in the batch being neighbours in a warp. With so few threads
// memory is kept busy by fetching far ahead (batch_ring.cuh). What the sweep up needs of the sweep down is kept in
// shared memory for the last rows, as many as there is room for, since those are needed first; the others go to global
// memory, where the second-level cache catches what it can.
#pragma once

#include "bandmill/base/field.hpp"
#include "bandmill/cuda/batch_reach.cuh"
#include "bandmill/cuda/batch_ring.cuh"
#include "bandmill/cuda/segments.cuh"

namespace bandmill::cuda {

using detail::BatchLayout;
using detail::Values;

// How a launch uses shared memory: a ring, then what is needed again of the rows from `first_kept` on, a multiple of
// the chunk. And the cache: rows from `first_once` on are fetched as what is read once.
struct BatchRoom {
    int chunks = 0;
    int first_kept = 0;
    int first_once = 0;
};

template <class T> struct BatchSolveArguments {
    int n;
    const T* values; // the factor
    const T* b;
    FieldShape b_shape;
    T* x;
    FieldShape x_shape;
    BatchPieces pieces;
    BatchRoom room;
};

// What the sweeps of one thread have in common.
template <class T> struct BatchColumn {
    int m, first_kept, first_once, chunks; // interior rows; of BatchRoom
    T *ring, *keep;                        // shared memory; keep is the thread's own
    T* x;
    std::int64_t x_stride;
};

template <class T, int W, bool Periodic>
__device__ __forceinline__ void sweep_down(const BatchColumn<T>& column, const T* forward, const T* b,
                                           std::int64_t b_stride, detail::ForwardSweep<W, Periodic, T>& sweep,
                                           int reach, int piece) {
    constexpr int C = batch_solve_chunk, F = BatchLayout<W, Periodic>::forward, width = batch_width<T>;
    const int m = column.m, first_kept = column.first_kept;
    const std::uint64_t once = read_once_policy(), usual = usual_policy();
    Ring<T, F, 1, C, 1> rows(column.ring, column.chunks);
    rows.set_table(forward);
    rows.set_single(0, b, b_stride);
    const bool restarting = !Periodic && reach != felt_throughout;
    Restarts<W, T> restarts(piece, reach);
    int left = m; // to fetch
    const auto fetch = [&](int slot) {
        const std::uint64_t policy = m - left >= column.first_once ? once : usual;
        rows.fetch(slot, left, policy, policy);
        left -= C;
    };
    for (int slot = 0; slot < column.chunks; ++slot) fetch(slot);
    T* to = column.x;
    for (int i = 0; i < m; i += C) {
        rows.wait();
        T* const place = column.keep + (i - first_kept) * width;
        bool ahead = false;
        if constexpr (!Periodic) ahead = restarting && restarts.begin_chunk(i, sweep);
        if (i + C <= m) {
            T value[C][F + 1], y[C];
#pragma unroll
            for (int j = 0; j < C; ++j) rows.read(j, value[j]);
            if (ahead) {
#pragma unroll
                for (int j = 0; j < C; ++j) restarts.ahead(value[j], value[j][F]);
            }
#pragma unroll
            for (int j = 0; j < C; ++j) y[j] = sweep.row(value[j], value[j][F]);
            if (i >= first_kept) {
#pragma unroll
                for (int j = 0; j < C; ++j) place[j * width] = y[j];
            } else {
#pragma unroll
                for (int j = 0; j < C; ++j) {
                    *to = y[j];
                    to += column.x_stride;
                }
            }
        } else {
#pragma unroll 1
            for (int j = 0; i + j < m; ++j) {
                T value[F + 1];
                rows.read(j, value);
                const T y = sweep.row(value, value[F]);
                if (i >= first_kept)
                    place[j * width] = y;
                else
                    to[j * column.x_stride] = y;
            }
        }
        fetch(rows.slot());
        rows.next();
    }
    wait_for_copies<0>();
    __threadfence_block(); // what was written here is read by copies on the way up
}

template <class T, int W, bool Periodic>
__device__ __forceinline__ void sweep_up(const BatchColumn<T>& column, const T* backward,
                                         detail::BackwardSweep<W, Periodic, T>& sweep) {
    constexpr int C = batch_solve_chunk, B = BatchLayout<W, Periodic>::backward, width = batch_width<T>;
    const int m = column.m, first_kept = column.first_kept, last = (m - 1) / C * C; // of the chunks
    const std::uint64_t once = read_once_policy(), usual = usual_policy();
    if (m == 0) return;
    Ring<T, B, 1, C, -1> rows(column.ring, column.chunks);
    rows.set_table(backward + std::int64_t(last) * B * batch_tile);
    rows.set_single(0, column.x + last * column.x_stride, column.x_stride);
    int next = last; // the chunk to fetch
    const auto fetch = [&](int slot) {
        rows.fetch(slot, next < 0 ? 0 : m - next, next >= column.first_once ? once : usual, usual, next < first_kept);
        next -= C;
    };
    for (int slot = 0; slot < column.chunks; ++slot) fetch(slot);
    T* to = column.x + (m - 1) * column.x_stride;
    for (int i = last; i >= 0; i -= C) {
        rows.wait();
        const T* const place = column.keep + (i - first_kept) * width;
        if (i + C <= m) {
            T value[C][B + 1];
#pragma unroll
            for (int j = 0; j < C; ++j) rows.read(j, value[j]);
            if (i >= first_kept) {
#pragma unroll
                for (int j = 0; j < C; ++j) value[j][B] = place[j * width];
            }
#pragma unroll
            for (int j = C - 1; j >= 0; --j) {
                __stcs(to, sweep.row(value[j], value[j][B]));
                to -= column.x_stride;
            }
        } else {
#pragma unroll 1
            for (int j = m - 1 - i; j >= 0; --j) {
                T value[B + 1];
                rows.read(j, value);
                if (i >= first_kept) value[B] = place[j * width];
                __stcs(to, sweep.row(value, value[B]));
                to -= column.x_stride;
            }
        }
        fetch(rows.slot());
        rows.next();
    }
}

template <class T, int W, bool Periodic>
__global__ void __launch_bounds__(batch_width<T>) solve_factored(const __grid_constant__ BatchSolveArguments<T> a) {
    using Layout = BatchLayout<W, Periodic>;
    constexpr int F = Layout::forward, B = Layout::backward, width = batch_width<T>;
    extern __shared__ __align__(16) unsigned char shared[];
    const std::int64_t system = std::int64_t(blockIdx.x) * width + threadIdx.x;
    if (system >= a.x_shape.batch) return;
    const int n = a.n, m = static_cast<int>(detail::interior_rows(n, W, Periodic));
    const T* const forward = a.values + system / batch_tile * detail::tile_values<W, Periodic>(n) + system % batch_tile;
    const T* const backward = forward + std::int64_t(m) * F * batch_tile;
    const T* const b = a.b + system_offset(a.b_shape, system);
    T* const x = a.x + system_offset(a.x_shape, system);
    T* const ring = reinterpret_cast<T*>(shared);
    const int ring_values = a.room.chunks * batch_solve_chunk * (F + 1) * width;
    const BatchColumn<T> column{
        m, a.room.first_kept,   a.room.first_once, a.room.chunks, ring, ring + ring_values + threadIdx.x,
        x, a.x_shape.row_stride};
    Values<W, T> own; // in place they are overwritten
    Values<W * W, T> corner;
    if constexpr (Periodic) {
#pragma unroll
        for (int s = 0; s < W; ++s)
            if (m + s < n) own[s] = b[(m + s) * a.b_shape.row_stride];
#pragma unroll
        for (int k = 0; k < W * W; ++k) corner[k] = backward[(std::int64_t(m) * B + k) * batch_tile];
    }
    detail::ForwardSweep<W, Periodic, T> down;
    sweep_down(column, forward, b, a.b_shape.row_stride, down, a.pieces.reach_of(system), a.pieces.rows);
    detail::BackwardSweep<W, Periodic, T> up;
    if constexpr (Periodic) {
        up.separator = down.separator(corner, own);
#pragma unroll
        for (int s = 0; s < W; ++s)
            if (m + s < n) x[(m + s) * column.x_stride] = up.separator[s];
    }
    sweep_up(column, backward, up);
}

template <class T> struct BatchFactorArguments {
    int n;
    std::int64_t batch;
    const T* diagonals[5];
    FieldShape diagonal_shapes[5];
    T* values; // the factor, or the workspace of a combined solve: per tile [row that is not kept][backward][lane]
    std::int64_t* status;
    FieldShape status_shape;
    const T* b; // combined
    FieldShape b_shape;
    T* x;
    FieldShape x_shape;
    BatchRoom room;
};

// The sweep up where U comes from what was kept, and from the workspace.
template <class T, int W, bool Periodic>
__device__ __forceinline__ void sweep_up_combined(const BatchColumn<T>& column, const T* spilled,
                                                  detail::BackwardSweep<W, Periodic, T>& sweep) {
    using Layout = BatchLayout<W, Periodic>;
    constexpr int C = batch_factor_chunk, B = Layout::backward, width = batch_width<T>;
    const std::uint64_t usual = usual_policy();
    const int first_kept = column.first_kept, last = first_kept - C; // of the chunks that were not kept
    Ring<T, B, 1, C, -1> rows(column.ring, column.chunks);
    rows.set_table(spilled + std::int64_t(last) * B * batch_tile);
    rows.set_single(0, column.x + last * column.x_stride, column.x_stride);
    int next = last;
    const auto fetch = [&](int slot) {
        rows.fetch(slot, next < 0 ? 0 : C, usual, usual);
        next -= C;
    };
    for (int slot = 0; slot < column.chunks; ++slot) fetch(slot);
    T* to = column.x + (column.m - 1) * column.x_stride;
    const T* from = column.keep + (column.m - 1 - first_kept) * (Layout::kept * width);
#pragma unroll 4
    for (int i = column.m - 1; i >= first_kept; --i) {
        T coefficients[B];
#pragma unroll
        for (int k = 0; k < B; ++k) coefficients[k] = from[(1 + k) * width];
        __stcs(to, sweep.row(coefficients, from[0]));
        to -= column.x_stride;
        from -= Layout::kept * width;
    }
    for (int i = last; i >= 0; i -= C) {
        rows.wait();
        T value[C][B + 1];
#pragma unroll
        for (int j = 0; j < C; ++j) rows.read(j, value[j]);
#pragma unroll
        for (int j = C - 1; j >= 0; --j) {
            __stcs(to, sweep.row(value[j], value[j][B]));
            to -= column.x_stride;
        }
        fetch(rows.slot());
        rows.next();
    }
}

// Combined: solves too. Otherwise: writes the factor.
template <class T, int W, bool Periodic, bool Combined>
__global__ void __launch_bounds__(batch_width<T>) eliminate(const __grid_constant__ BatchFactorArguments<T> a) {
    using Layout = BatchLayout<W, Periodic>;
    constexpr int C = batch_factor_chunk, D = Layout::diagonals, F = Layout::forward, B = Layout::backward,
                  width = batch_width<T>;
    constexpr int streams = D + (Combined ? 1 : 0);
    extern __shared__ __align__(16) unsigned char shared[];
    const std::int64_t system = std::int64_t(blockIdx.x) * width + threadIdx.x;
    if (system >= a.batch) return;
    const int n = a.n, m = static_cast<int>(detail::interior_rows(n, W, Periodic)), first_kept = a.room.first_kept;
    const std::int64_t tile = system / batch_tile, lane = system % batch_tile;
    const std::uint64_t once = read_once_policy(), usual = usual_policy();
    const int chunks = a.room.chunks;
    T* const ring = reinterpret_cast<T*>(shared);
    T* const keep = ring + chunks * (C * max(streams, B + 1) * width) + threadIdx.x;
    const T* const b = Combined ? a.b + system_offset(a.b_shape, system) : nullptr;
    T* const x = Combined ? a.x + system_offset(a.x_shape, system) : nullptr;

    Ring<T, 0, streams, C, 1> down(ring, chunks);
    Values<W, T> own;
    Values<Periodic ? W * D : 0, T> below; // the separator's rows
#pragma unroll
    for (int d = 0; d < D; ++d) {
        const T* const diagonal = a.diagonals[d] + system_offset(a.diagonal_shapes[d], system);
        down.set_single(d, diagonal, a.diagonal_shapes[d].row_stride);
        if constexpr (Periodic) {
#pragma unroll
            for (int s = 0; s < W; ++s)
                if (m + s < n) below[s * D + d] = diagonal[(m + s) * a.diagonal_shapes[d].row_stride];
        }
    }
    if constexpr (Combined) down.set_single(D, b, a.b_shape.row_stride);
    if constexpr (Combined && Periodic) {
#pragma unroll
        for (int s = 0; s < W; ++s)
            if (m + s < n) own[s] = b[(m + s) * a.b_shape.row_stride];
    }
    int left = m; // rows to fetch
    const auto fetch_down = [&](int slot) {
        const std::uint64_t policy = m - left >= a.room.first_once ? once : usual;
        down.fetch(slot, left, policy, policy);
        left -= C;
    };
    for (int slot = 0; slot < chunks; ++slot) fetch_down(slot);

    detail::Eliminator<W, Periodic, T> eliminator;
    detail::ForwardSweep<W, Periodic, T> sweep;
    const auto entry = [&](int s, int k) { return below[s * D + k + W]; };
    int usable = 0;
    // The factor's rows, or those of the workspace.
    T* forward = a.values + tile * detail::tile_values<W, Periodic>(n) + lane;
    T* backward =
        Combined ? a.values + tile * first_kept * B * batch_tile + lane : forward + std::int64_t(m) * F * batch_tile;
    T* const spilled = backward;
    T* to = x;
    for (int i = 0; i < m; i += C) {
        down.wait();
        T value[C][streams];
#pragma unroll
        for (int j = 0; j < C; ++j) down.read(j, value[j]); // rows beyond m: anything
        const bool ends = i < W || i + C + 2 * W > m, kept = i >= first_kept;
#pragma unroll
        for (int j = 0; j < C; ++j) {
            if (ends && i + j >= m) break;
            detail::BatchRow<W, Periodic, T> row;
#pragma unroll
            for (int d = 0; d < D; ++d) row.band[d] = value[j][d];
            if (ends) {
                detail::place_ends(row, i + j, m);
                if constexpr (Periodic) detail::look_below(eliminator, i + j, n, m, entry);
            }
            const auto out = eliminator.eliminate(row);
            detail::count_usable(usable, out.forward[0]);
            if constexpr (Combined) {
                const T y = sweep.row(out.forward, value[j][D]);
                if (kept) {
                    T* const place = keep + (i + j - first_kept) * (Layout::kept * width);
                    place[0] = y;
#pragma unroll
                    for (int k = 0; k < B; ++k) place[(1 + k) * width] = out.backward[k];
                } else {
                    *to = y;
                    to += a.x_shape.row_stride;
#pragma unroll
                    for (int k = 0; k < B; ++k) backward[k * batch_tile] = out.backward[k];
                    backward += B * batch_tile;
                }
            } else {
#pragma unroll
                for (int k = 0; k < F; ++k) __stcs(forward + k * batch_tile, out.forward[k]);
#pragma unroll
                for (int k = 0; k < B; ++k) __stcs(backward + k * batch_tile, out.backward[k]);
                forward += F * batch_tile;
                backward += B * batch_tile;
            }
        }
        fetch_down(down.slot());
        down.next();
    }
    wait_for_copies<0>();
    Values<W * W, T> corner;
    if constexpr (Periodic) corner = detail::close_corner(eliminator, n, m, usable, entry);
    a.status[system_offset(a.status_shape, system)] = usable == n ? 0 : usable + 1;
    if constexpr (!Combined && Periodic) {
#pragma unroll
        for (int k = 0; k < W * W; ++k) backward[k * batch_tile] = corner[k]; // the factor's rows end here
    }
    if constexpr (Combined) {
        __threadfence_block(); // what was written above is read by copies on the way up
        detail::BackwardSweep<W, Periodic, T> up;
        if constexpr (Periodic) {
            up.separator = sweep.separator(corner, own);
#pragma unroll
            for (int s = 0; s < W; ++s)
                if (m + s < n) x[(m + s) * a.x_shape.row_stride] = up.separator[s];
        }
        sweep_up_combined({m, first_kept, 0, chunks, ring, keep, x, a.x_shape.row_stride}, spilled, up);
    }
}

} // namespace bandmill::cuda
