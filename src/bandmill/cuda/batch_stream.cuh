// Solves with a factor where the copy engine can fetch whole rows of a block (has_whole_rows in tensor_map.hpp). As in
// batch_kernels.cuh a thread works on a system, but a warp of its own fetches for the block, so that the others only
// read shared memory and compute. Chunks of rows go through one ring, numbered on through the turn from the sweep down
// to the sweep up, so that memory is kept busy there too.
#pragma once

#include "bandmill/cuda/batch_kernels.cuh"
#include "bandmill/cuda/copy_engine.cuh"

namespace bandmill::cuda {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

static_assert(batch_tile == 32, "a warp reads one tile");

// The ring. A slot holds a chunk of C rows: per tile [row][Tabled][lane] as in the factor, then [row][system] of b, or
// of y.
template <class T, int RowValues> class StreamRing : public SlotRing {
    static constexpr int C = batch_stream_chunk, width = batch_width<T>, slot_values = C * RowValues * width;
    T* slots_;

  public:
    __device__ __forceinline__ StreamRing(Barrier* full, Barrier* empty, T* slots, int chunks)
        : SlotRing(full, empty, chunks), slots_(slots) {}
    template <int Tabled> __device__ __forceinline__ T* table(int tile) const {
        return slots_ + slot() * slot_values + tile * (C * Tabled * batch_tile);
    }
    template <int Tabled> __device__ __forceinline__ T* single() const {
        return slots_ + slot() * slot_values + C * Tabled * width;
    }
    // This thread's values of some rows of the chunk from row `first` on; those of b or y stand at `single`.
    template <int Tabled, int Rows>
    __device__ __forceinline__ void read(int first, const T* single, T (&value)[Rows][Tabled + 1]) const {
        const T* const from = table<Tabled>(threadIdx.x / 32) + first * (Tabled * batch_tile) + threadIdx.x % 32;
#pragma unroll
        for (int j = 0; j < Rows; ++j) {
#pragma unroll
            for (int k = 0; k < Tabled; ++k) value[j][k] = from[(j * Tabled + k) * batch_tile];
            value[j][Tabled] = single[j * width];
        }
    }
    // One thread of a warp could tell for the others, but racecheck does not follow that. Every thread does where
    // memory is as busy either way (64 systems wait: 39 us instead of 35); with the two warps of f32 it would be 0.74
    // instead of 0.79 for n = 1,024.
    static constexpr bool every_thread_tells = sizeof(T) == 8;
    __device__ __forceinline__ void give_back() {
        if constexpr (!every_thread_tells) __syncwarp();
        if (every_thread_tells || threadIdx.x % 32 == 0) arrive(empty());
        next();
    }
};

// What the fetching warp knows of its block.
template <class T> struct StreamSource {
    int systems, tiles; // of the block; the last one may have fewer
    std::int64_t tile_values;
    std::uint64_t once, usual;

    // A chunk of `left` rows, or of C of them: the table, and rows of b or y unless they are null.
    template <int Tabled, int RowValues>
    __device__ __forceinline__ void fetch(StreamRing<T, RowValues>& ring, const T* table, const T* row,
                                          std::int64_t stride, int left, std::uint64_t policy) const {
        constexpr int C = batch_stream_chunk, width = batch_width<T>;
        const unsigned rows = left >= C ? C : left;
        const unsigned table_bytes = rows * (Tabled * batch_tile * sizeof(T)), row_bytes = systems * sizeof(T);
        ring.wait_for_room();
        if (is_elected()) {
            Barrier* const full = ring.full();
            expect_bytes(full, tiles * table_bytes + (row != nullptr ? rows * row_bytes : 0));
#pragma unroll
            for (int tile = 0; tile < width / batch_tile; ++tile)
                if (tile < tiles)
                    fetch_bytes(ring.template table<Tabled>(tile), table + tile * tile_values, table_bytes, full,
                                policy);
            if (row != nullptr) {
                T* const to = ring.template single<Tabled>();
                if (stride == width && systems == width) { // rows of a tile, one after the other
                    fetch_bytes(to, row, rows * row_bytes, full, policy);
                } else if (left >= C) {
#pragma unroll
                    for (int j = 0; j < C; ++j) fetch_bytes(to + j * width, row + j * stride, row_bytes, full, policy);
                } else {
#pragma unroll 1
                    for (unsigned j = 0; j < rows; ++j)
                        fetch_bytes(to + j * width, row + j * stride, row_bytes, full, policy);
                }
            }
        }
        __syncwarp();
        ring.next();
    }
};

// What the block reads of some rows, in the order in which it is read. The tables of the sweep up are fetched as soon
// as there is room.
template <int F, class T, int RowValues>
__device__ __forceinline__ void fetch_down(StreamRing<T, RowValues>& ring, const StreamSource<T>& source,
                                           const T* forward, const T* b, std::int64_t b_stride, int begin, int end,
                                           int first_once) {
    constexpr int C = batch_stream_chunk;
    for (int i = begin; i < end; i += C)
        source.template fetch<F>(ring, forward + std::int64_t(i) * (F * batch_tile), b + i * b_stride, b_stride,
                                 end - i, i >= first_once ? source.once : source.usual);
}
// Of y only what went to global memory is fetched, once `spilled` tells that all of it is there.
template <int B, class T, int RowValues>
__device__ __forceinline__ void fetch_up(StreamRing<T, RowValues>& ring, const StreamSource<T>& source,
                                         const T* backward, const T* y, std::int64_t y_stride, int begin, int end,
                                         int first_kept, int first_once, Barrier* spilled) {
    constexpr int C = batch_stream_chunk;
    bool is_spilled = false;
    for (int i = begin + (end - begin - 1) / C * C; i >= begin && i < end; i -= C) { // without rows: i = begin
        if (i < first_kept && !is_spilled) {
            wait_in_block(spilled, 0);
            __threadfence(); // copies do not go through the first-level cache
            order_before_copies();
            is_spilled = true;
        }
        source.template fetch<B>(ring, backward + std::int64_t(i) * (B * batch_tile),
                                 i < first_kept ? y + i * y_stride : nullptr, y_stride, end - i,
                                 i >= first_once ? source.once : source.usual);
    }
}

// What the sweeps of one thread over a piece have in common.
template <class T> struct StreamColumn {
    int begin, end; // the piece's rows
    int first_kept; // of y, in shared memory
    T* keep;        // the thread's own
    T* x;
    std::int64_t x_stride;
};

// Restarting: some of the warp's systems could be solved in pieces, but others of the block could not.
template <bool Restarting, class T, int W, bool Periodic>
__device__ __forceinline__ void stream_down(StreamRing<T, BatchLayout<W, Periodic>::forward + 1>& ring,
                                            const StreamColumn<T>& column, detail::ForwardSweep<W, Periodic, T>& sweep,
                                            Restarts<W, T> restarts) {
    constexpr int C = batch_stream_chunk, F = BatchLayout<W, Periodic>::forward, width = batch_width<T>;
    const int begin = column.begin, end = column.end, first_kept = column.first_kept,
              whole = begin + (end - begin) / C * C;
    const auto b = [&] { return ring.template single<F>() + threadIdx.x; };
    T* to = column.x + begin * column.x_stride;
    for (int i = begin; i < whole; i += C) {
        T y[C];
        const auto sweep_chunk = [&](auto each_row) {
            T value[C][F + 1];
            ring.wait();
            ring.template read<F>(0, b(), value);
            ring.give_back(); // all is in registers
#pragma unroll
            for (int j = 0; j < C; ++j) {
                y[j] = sweep.row(value[j], value[j][F]);
                each_row(value[j], value[j][F]);
            }
        };
        bool ahead = false;
        if constexpr (Restarting) ahead = restarts.begin_chunk(i, sweep);
        if (ahead)
            sweep_chunk([&](const auto& forward, const T& own) { restarts.ahead(forward, own); });
        else
            sweep_chunk([](const auto&, const T&) {});
        if (i >= first_kept) {
            T* const place = column.keep + (i - first_kept) * width;
#pragma unroll
            for (int j = 0; j < C; ++j) place[j * width] = y[j];
        } else {
#pragma unroll
            for (int j = 0; j < C; ++j) {
                *to = y[j];
                to += column.x_stride;
            }
        }
    }
    if (whole < end) { // always kept (choose_shared)
        if constexpr (Restarting) (void)restarts.begin_chunk(whole, sweep);
        ring.wait();
#pragma unroll 1
        for (int i = whole; i < end; ++i) {
            T value[1][F + 1];
            ring.template read<F>(i - whole, b() + (i - whole) * width, value);
            column.keep[(i - first_kept) * width] = sweep.row(value[0], value[0][F]);
        }
        ring.give_back();
    }
}

// What is felt in a piece of the rows above it: whole chunks, from `longest` rows above on. This thread's system feels
// only `reach` of them.
template <class T, int W>
__device__ __forceinline__ void stream_towards(StreamRing<T, BatchLayout<W, false>::forward + 1>& ring, int longest,
                                               int reach, detail::ForwardSweep<W, false, T>& sweep) {
    constexpr int C = batch_stream_chunk, F = BatchLayout<W, false>::forward;
    for (int above = longest; above > 0; above -= C) {
        if (above >= reach) sweep = {};
        T value[C][F + 1];
        ring.wait();
        ring.template read<F>(0, ring.template single<F>() + threadIdx.x, value);
        ring.give_back();
#pragma unroll
        for (int j = 0; j < C; ++j) sweep.row(value[j], value[j][F]);
    }
}

template <class T, int W, bool Periodic>
__device__ __forceinline__ void stream_up(StreamRing<T, BatchLayout<W, Periodic>::forward + 1>& ring,
                                          const StreamColumn<T>& column, detail::BackwardSweep<W, Periodic, T>& sweep) {
    constexpr int C = batch_stream_chunk, B = BatchLayout<W, Periodic>::backward, width = batch_width<T>;
    const int begin = column.begin, end = column.end, first_kept = column.first_kept,
              whole = begin + (end - begin) / C * C;
    T* to = column.x + (end - 1) * column.x_stride;
    if (whole < end) {
        ring.wait();
#pragma unroll 1
        for (int i = end - 1; i >= whole; --i) {
            T value[1][B + 1];
            ring.template read<B>(i - whole, column.keep + (i - first_kept) * width, value);
            __stcs(to, sweep.row(value[0], value[0][B]));
            to -= column.x_stride;
        }
        ring.give_back();
    }
    for (int i = whole - C; i >= begin; i -= C) {
        T value[C][B + 1];
        ring.wait();
        const T* const y =
            i >= first_kept ? column.keep + (i - first_kept) * width : ring.template single<B>() + threadIdx.x;
        ring.template read<B>(0, y, value);
        ring.give_back();
#pragma unroll
        for (int j = C - 1; j >= 0; --j) {
            __stcs(to, sweep.row(value[j], value[j][B]));
            to -= column.x_stride;
        }
    }
}

#endif

// Pieces: systems are solved in pieces where they allow it. A kernel of its own, for it makes the other one slower.
template <class T, int W, bool Periodic, bool Pieces>
__global__ void __launch_bounds__(batch_width<T> + 32, most_stream_blocks)
    solve_streamed(const __grid_constant__ BatchSolveArguments<T> a) {
#if __CUDA_ARCH__ >= 900
    using Layout = BatchLayout<W, Periodic>;
    constexpr int F = Layout::forward, B = Layout::backward, width = batch_width<T>, C = batch_stream_chunk;
    extern __shared__ __align__(128) unsigned char streamed[];
    Barrier* const full = reinterpret_cast<Barrier*>(streamed);
    Barrier* const empty = full + most_stream_chunks;
    Barrier* const spilled = empty + most_stream_chunks;
    static_assert((2 * most_stream_chunks + 1) * sizeof(Barrier) <= batch_stream_barrier_bytes);
    T* const slots = reinterpret_cast<T*>(streamed + batch_stream_barrier_bytes);
    const int thread = static_cast<int>(threadIdx.x), chunks = a.room.chunks, first_kept = a.room.first_kept;
    const std::int64_t first = std::int64_t(blockIdx.x) * width, left = a.x_shape.batch - first;
    const int systems = left >= width ? width : static_cast<int>(left), warps = (systems + 31) / 32;
    if (thread == 0) {
        for (int q = 0; q < chunks; ++q) {
            initialise(full + q);
            initialise(empty + q, StreamRing<T, F + 1>::every_thread_tells ? systems : warps);
        }
        initialise(spilled, systems);
        make_barriers_visible();
    }
    __syncthreads(); // the last for all: from here on threads go their own ways
    const int n = a.n, m = static_cast<int>(detail::interior_rows(n, W, Periodic));
    const std::int64_t tile_values = detail::tile_values<W, Periodic>(n);
    StreamRing<T, F + 1> ring(full, empty, slots, chunks);
    const T* const tables = a.values + first / batch_tile * tile_values;
    // In pieces, the last one first, if that is so for all systems of the block; else all rows are one.
    int longest = felt_throughout;
    if constexpr (Pieces) longest = longest_reach_of(a.pieces, first, systems);
    const bool in_pieces = Pieces && longest != felt_throughout;
    const int piece = in_pieces ? a.pieces.rows : n, last = in_pieces ? (m - 1) / piece * piece : 0;
    if (__shfl_sync(0xffffffff, thread, 0) >= width) { // the compiler sees that whole warps take this way
        const StreamSource<T> source{systems, warps, tile_values, read_once_policy(), usual_policy()};
        const T* const b = a.b + system_offset(a.b_shape, first);
        const T* const y = a.x + system_offset(a.x_shape, first);
        for (int begin = last; begin >= 0; begin -= piece) {
            const int end = min(begin + piece, m);
            const int kept = in_pieces ? begin : first_kept, first_once = in_pieces ? 0 : a.room.first_once;
            fetch_down<F>(ring, source, tables, b, a.b_shape.row_stride, begin > 0 ? begin - longest : 0, end,
                          first_once);
            fetch_up<B>(ring, source, tables + std::int64_t(m) * (F * batch_tile), y, a.x_shape.row_stride, begin, end,
                        kept, first_once, spilled);
        }
        return;
    }
    int reach = felt_throughout;
    if constexpr (Pieces)
        if (thread < systems) reach = a.pieces.reach_of(first + thread);
    const bool restarts = Pieces && !in_pieces && __any_sync(0xffffffff, reach != felt_throughout);
    if (thread >= systems) return; // the first lane of a warp that is counted in `warps` stays
    T* const x = a.x + system_offset(a.x_shape, first) + thread;
    T* const keep = slots + chunks * (C * (F + 1) * width) + thread;
    Values<W, T> own; // in place they are overwritten
    Values<W * W, T> corner;
    if constexpr (Periodic) {
        const T* const b = a.b + system_offset(a.b_shape, first) + thread;
#pragma unroll
        for (int s = 0; s < W; ++s)
            if (m + s < n) own[s] = b[(m + s) * a.b_shape.row_stride];
        const T* const corners =
            tables + thread / batch_tile * tile_values + thread % batch_tile + std::int64_t(m) * ((F + B) * batch_tile);
#pragma unroll
        for (int k = 0; k < W * W; ++k) corner[k] = corners[k * batch_tile];
    }
    detail::BackwardSweep<W, Periodic, T> up;
    for (int begin = last; begin >= 0; begin -= piece) {
        const int kept = in_pieces ? begin : first_kept;
        const StreamColumn<T> column{begin, min(begin + piece, m), kept, keep, x, a.x_shape.row_stride};
        detail::ForwardSweep<W, Periodic, T> down;
        if constexpr (Pieces)
            if (begin > 0) stream_towards<T, W>(ring, longest, reach, down);
        if (restarts)
            stream_down<Pieces>(ring, column, down, Restarts<W, T>(a.pieces.rows, reach));
        else
            stream_down<false>(ring, column, down, Restarts<W, T>(0, 0));
        if (kept > begin) {
            order_before_copies(); // what was written above is read by copies on the way up
            arrive(spilled);
        }
        if constexpr (Periodic) {
            up.separator = down.separator(corner, own);
#pragma unroll
            for (int s = 0; s < W; ++s)
                if (m + s < n) x[(m + s) * a.x_shape.row_stride] = up.separator[s];
        }
        stream_up(ring, column, up);
    }
#endif
}

} // namespace bandmill::cuda
