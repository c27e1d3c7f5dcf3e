// A thread per system with a matrix of its own, neighbours in the batch being neighbours in a warp. With so few threads
// memory is kept busy by fetching far ahead: each thread has a ring in shared memory that asynchronous copies fill. A
// thread reads only what it fetched itself, so nothing is ever synchronised. What the sweep up needs of the sweep down
// is kept in shared memory for the last rows, as many as there is room for, since those are needed first; the others go
// to global memory, where the second-level cache catches what it can.
#pragma once

#include "bandmill/band/batch_sweeps.hpp"
#include "bandmill/base/field.hpp"
#include "bandmill/cuda/segments.cuh"
#include "bandmill/cuda/tuning.hpp"

#include <cstdint>

namespace bandmill::cuda {

using detail::batch_tile;
using detail::BatchLayout;
using detail::Values;

// The second-level cache lets go first of what is read once.
__device__ __forceinline__ std::uint64_t read_once_policy() {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
__device__ __forceinline__ std::uint64_t usual_policy() {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
template <class T> __device__ __forceinline__ void copy_async(T* to, const T* from, std::uint64_t policy) {
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %2, %3;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "n"(sizeof(T)), "l"(policy)
                 : "memory");
}
template <int Pending> __device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

// A thread's ring of chunks of C rows. A row has `Tabled` values that stand batch_tile apart, rows one after the other,
// and `Single` values from places of their own. Chunks are fetched downwards (Step = 1) or upwards (-1).
template <class T, int Tabled, int Single, int C, int Step> class Ring {
    static constexpr int row = Tabled + Single, width = batch_width<T>, table_row = Tabled * batch_tile;
    T* column_;
    int chunks_, at_ = 0;      // the chunk to be read next; it is refilled once it has been read
    const T* table_ = nullptr; // the first row of the chunk to be fetched next
    const T* single_[Single];
    std::int64_t stride_[Single];

  public:
    __device__ __forceinline__ Ring(T* shared, int chunks) : column_(shared + threadIdx.x), chunks_(chunks) {}
    // Where the first row of the first chunk stands.
    __device__ __forceinline__ void set_table(const T* from) { table_ = from; }
    __device__ __forceinline__ void set_single(int k, const T* from, std::int64_t stride) {
        single_[k] = from;
        stride_[k] = stride;
    }
    // Fetches the next chunk into a slot: `rows` of it, C but for the last ones; none counts as a chunk all the same.
    __device__ __forceinline__ void fetch(int slot, int rows, std::uint64_t table_policy, std::uint64_t single_policy,
                                          bool with_single = true) {
        T* const to = column_ + slot * (C * row * width);
        if (rows == C) {
#pragma unroll
            for (int j = 0; j < C; ++j)
#pragma unroll
                for (int k = 0; k < Tabled; ++k)
                    copy_async(to + (j * row + k) * width, table_ + j * table_row + k * batch_tile, table_policy);
            if (with_single) {
#pragma unroll
                for (int k = 0; k < Single; ++k) {
                    const T* from = single_[k];
#pragma unroll
                    for (int j = 0; j < C; ++j) {
                        copy_async(to + (j * row + Tabled + k) * width, from, single_policy);
                        from += stride_[k];
                    }
                }
            }
        } else {
#pragma unroll 1
            for (int j = 0; j < rows; ++j) {
#pragma unroll
                for (int k = 0; k < Tabled; ++k)
                    copy_async(to + (j * row + k) * width, table_ + j * table_row + k * batch_tile, table_policy);
#pragma unroll
                for (int k = 0; k < Single; ++k)
                    if (with_single)
                        copy_async(to + (j * row + Tabled + k) * width, single_[k] + j * stride_[k], single_policy);
            }
        }
        table_ += Step * C * table_row;
#pragma unroll
        for (int k = 0; k < Single; ++k) single_[k] += Step * C * stride_[k];
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    __device__ __forceinline__ int slot() const { return at_; }
    // The chunk to be read has arrived.
    __device__ __forceinline__ void wait() const {
        switch (chunks_) {
        case 2: wait_for_copies<1>(); break;
        case 4: wait_for_copies<3>(); break;
        case 8: wait_for_copies<7>(); break;
        default: wait_for_copies<15>(); break;
        }
    }
    // All values of row j of the chunk.
    __device__ __forceinline__ void read(int j, T (&values)[row]) const {
        const T* const from = column_ + (at_ * C + j) * (row * width);
#pragma unroll
        for (int k = 0; k < row; ++k) values[k] = from[k * width];
    }
    __device__ __forceinline__ void next() { at_ = at_ + 1 == chunks_ ? 0 : at_ + 1; }
};

// How a launch uses shared memory: a ring, then what is needed again of the rows from `first_kept` on, a multiple of
// the chunk.
struct BatchRoom {
    int chunks;
    int first_kept;
};

template <class T> struct BatchSolveArguments {
    int n;
    const T* values; // the factor
    const T* b;
    FieldShape b_shape;
    T* x;
    FieldShape x_shape;
    BatchRoom room;
};

template <class T, int W, bool Periodic>
__global__ void __launch_bounds__(batch_width<T>) solve_factored(const __grid_constant__ BatchSolveArguments<T> a) {
    using Layout = BatchLayout<W, Periodic>;
    constexpr int C = batch_solve_chunk, F = Layout::forward, B = Layout::backward, width = batch_width<T>;
    extern __shared__ __align__(16) unsigned char shared[];
    const std::int64_t system = std::int64_t(blockIdx.x) * width + threadIdx.x;
    if (system >= a.x_shape.batch) return;
    const int n = a.n, m = static_cast<int>(detail::interior_rows(n, W, Periodic)), first_kept = a.room.first_kept;
    const T* const forward = a.values + system / batch_tile * detail::tile_values<W, Periodic>(n) + system % batch_tile;
    const T* const backward = forward + std::int64_t(m) * F * batch_tile;
    const T* const b = a.b + system_offset(a.b_shape, system);
    T* const x = a.x + system_offset(a.x_shape, system);
    const std::int64_t x_stride = a.x_shape.row_stride;
    const std::uint64_t once = read_once_policy(), usual = usual_policy();
    const int chunks = a.room.chunks;
    T* const ring = reinterpret_cast<T*>(shared);
    T* const keep = ring + chunks * (C * (F + 1) * width) + threadIdx.x;

    Ring<T, F, 1, C, 1> down(ring, chunks);
    down.set_table(forward);
    down.set_single(0, b, a.b_shape.row_stride);
    int left = m; // rows to fetch
    const auto fetch_down = [&](int slot) {
        down.fetch(slot, max(0, min(C, left)), once, once);
        left -= C;
    };
    for (int slot = 0; slot < chunks; ++slot) fetch_down(slot);
    Values<W, T> own;
    Values<W * W, T> corner;
    if constexpr (Periodic) {
#pragma unroll
        for (int s = 0; s < W; ++s)
            if (m + s < n) own[s] = b[(m + s) * a.b_shape.row_stride];
#pragma unroll
        for (int k = 0; k < W * W; ++k) corner[k] = backward[(std::int64_t(m) * B + k) * batch_tile];
    }

    detail::ForwardSweep<W, Periodic, T> sweep;
    T* to = x;
    for (int i = 0; i < m; i += C) {
        down.wait();
        T* const place = keep + (i - first_kept) * width;
        if (i + C <= m) {
            T value[C][F + 1], y[C];
#pragma unroll
            for (int j = 0; j < C; ++j) down.read(j, value[j]);
#pragma unroll
            for (int j = 0; j < C; ++j) y[j] = sweep.row(value[j], value[j][F]);
            if (i >= first_kept) {
#pragma unroll
                for (int j = 0; j < C; ++j) place[j * width] = y[j];
            } else {
#pragma unroll
                for (int j = 0; j < C; ++j) {
                    *to = y[j];
                    to += x_stride;
                }
            }
        } else {
#pragma unroll 1
            for (int j = 0; i + j < m; ++j) {
                T value[F + 1];
                down.read(j, value);
                const T y = sweep.row(value, value[F]);
                if (i >= first_kept)
                    place[j * width] = y;
                else
                    to[j * x_stride] = y;
            }
        }
        fetch_down(down.slot());
        down.next();
    }
    wait_for_copies<0>();
    __threadfence_block(); // what was written above is read by copies below

    const int last = (m - 1) / C * C; // of the chunks
    Ring<T, B, 1, C, -1> up(ring, chunks);
    up.set_table(backward + std::int64_t(last) * B * batch_tile);
    up.set_single(0, x + last * x_stride, x_stride);
    int next = m > 0 ? last : -1; // the chunk to fetch
    const auto fetch_up = [&](int slot) {
        up.fetch(slot, next < 0 ? 0 : min(C, m - next), once, usual, next < first_kept);
        next -= C;
    };
    for (int slot = 0; slot < chunks; ++slot) fetch_up(slot);
    detail::BackwardSweep<W, Periodic, T> back;
    if constexpr (Periodic) {
        back.separator = sweep.separator(corner, own);
#pragma unroll
        for (int s = 0; s < W; ++s)
            if (m + s < n) x[(m + s) * x_stride] = back.separator[s];
    }
    to = x + (m - 1) * x_stride;
    for (int i = last; i >= 0 && m > 0; i -= C) {
        up.wait();
        const T* const place = keep + (i - first_kept) * width;
        if (i + C <= m) {
            T value[C][B + 1];
#pragma unroll
            for (int j = 0; j < C; ++j) up.read(j, value[j]);
            if (i >= first_kept) {
#pragma unroll
                for (int j = 0; j < C; ++j) value[j][B] = place[j * width];
            }
#pragma unroll
            for (int j = C - 1; j >= 0; --j) {
                __stcs(to, back.row(value[j], value[j][B]));
                to -= x_stride;
            }
        } else {
#pragma unroll 1
            for (int j = m - 1 - i; j >= 0; --j) {
                T value[B + 1];
                up.read(j, value);
                if (i >= first_kept) value[B] = place[j * width];
                __stcs(to, back.row(value, value[B]));
                to -= x_stride;
            }
        }
        fetch_up(up.slot());
        up.next();
    }
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
        down.fetch(slot, max(0, min(C, left)), once, once);
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
        __threadfence_block(); // what was written above is read by copies below
        const std::int64_t x_stride = a.x_shape.row_stride;
        const int last = first_kept - C; // of the chunks that were not kept
        Ring<T, B, 1, C, -1> up(ring, chunks);
        up.set_table(spilled + std::int64_t(last) * B * batch_tile);
        up.set_single(0, x + last * x_stride, x_stride);
        int next = last;
        const auto fetch_up = [&](int slot) {
            up.fetch(slot, next < 0 ? 0 : C, usual, usual);
            next -= C;
        };
        for (int slot = 0; slot < chunks; ++slot) fetch_up(slot);
        detail::BackwardSweep<W, Periodic, T> back;
        if constexpr (Periodic) {
            back.separator = sweep.separator(corner, own);
#pragma unroll
            for (int s = 0; s < W; ++s)
                if (m + s < n) x[(m + s) * x_stride] = back.separator[s];
        }
        to = x + (m - 1) * x_stride;
        const T* from = keep + (m - 1 - first_kept) * (Layout::kept * width);
#pragma unroll 4
        for (int i = m - 1; i >= first_kept; --i) {
            T coefficients[B];
#pragma unroll
            for (int k = 0; k < B; ++k) coefficients[k] = from[(1 + k) * width];
            __stcs(to, back.row(coefficients, from[0]));
            to -= x_stride;
            from -= Layout::kept * width;
        }
        for (int i = last; i >= 0; i -= C) {
            up.wait();
            T value[C][B + 1];
#pragma unroll
            for (int j = 0; j < C; ++j) up.read(j, value[j]);
#pragma unroll
            for (int j = C - 1; j >= 0; --j) {
                __stcs(to, back.row(value[j], value[j][B]));
                to -= x_stride;
            }
            fetch_up(up.slot());
            up.next();
        }
    }
}

} // namespace bandmill::cuda
