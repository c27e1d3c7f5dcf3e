// The staged kernel itself; staged.cu plans and launches it.
#pragma once

#include "bandmill/cuda/copy_engine.cuh"
#include "bandmill/cuda/segments.cuh"
#include "bandmill/cuda/tuning.hpp"

namespace bandmill::cuda {

using namespace detail;

// What a thread holds of one row: a few neighbouring systems, so that a row of a warp is wide in memory, and a table
// entry, whose way from shared memory is what sweeps wait for, serves several.
template <class T, int Count> struct alignas(Count * sizeof(T)) Systems {
    static constexpr int count = Count;
    T value[Count];
};
template <class T, int Count> __device__ __forceinline__ Systems<T, Count> multiply(T a, Systems<T, Count> b) {
#pragma unroll
    for (int v = 0; v < Count; ++v) b.value[v] = detail::multiply(a, b.value[v]);
    return b;
}
template <class T, int Count>
__device__ __forceinline__ Systems<T, Count> multiply_add(T a, Systems<T, Count> b, const Systems<T, Count>& c) {
#pragma unroll
    for (int v = 0; v < Count; ++v) b.value[v] = detail::multiply_add(a, b.value[v], c.value[v]);
    return b;
}
template <class T, int Count>
__device__ __forceinline__ Systems<T, Count> operator+(Systems<T, Count> a, const Systems<T, Count>& b) {
#pragma unroll
    for (int v = 0; v < Count; ++v) a.value[v] = a.value[v] + b.value[v];
    return a;
}

template <class T, int K> using Held = Systems<T, row_bytes(K) / int(sizeof(T))>;

// The same value, but the compiler believes it new: otherwise it keeps everything computed from it (strides times row
// numbers, swizzled addresses) in registers from tile to tile, which are then missing for the rows.
template <class Integer> __device__ __forceinline__ Integer recomputed(Integer value) {
    if constexpr (sizeof(Integer) == 8)
        asm volatile("" : "+l"(value));
    else
        asm volatile("" : "+r"(value));
    return value;
}

// To memory that nobody reads soon.
template <class T, int Count> __device__ __forceinline__ void write(T* to, const Systems<T, Count>& values) {
    if constexpr (sizeof(values) == 16)
        __stcs(reinterpret_cast<float4*>(to), *reinterpret_cast<const float4*>(&values));
    else
        __stcs(reinterpret_cast<float2*>(to), *reinterpret_cast<const float2*>(&values));
}

template <class T, int Count> __device__ __forceinline__ Systems<T, Count> read(const T* from) {
    return *reinterpret_cast<const Systems<T, Count>*>(from);
}

// Asks for memory that will be read soon: rows of a tile, `bytes` wide, shared out over the threads of a segment.
template <class T>
__device__ __forceinline__ void expect_rows(const T* row_0, std::int64_t row_stride, int rows, int bytes, int lane,
                                            int lanes) {
    for (int j = lane; j < rows; j += lanes)
        for (int at = 0; at < bytes; at += 128)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(
                __cvta_generic_to_global(reinterpret_cast<const char*>(row_0 + j * row_stride) + at)));
}

// Dynamic shared memory, in this order and in bytes; stages start on a boundary of 1024, the rest on one of 16.
template <class T, int W, int K, bool Contiguous> struct SharedLayout {
    using Value = Held<T, K>;
    // Two segments of one warp read their tables at the same time: this stride puts them in different banks.
    static constexpr int segment_stride = (SegmentLayout<W>::columns * K + Group<T>::size) * int(sizeof(T));
    static constexpr int warp_stage = K * 32 * int(sizeof(Value)); // what a warp holds
    // Contiguous systems: a box is this many bytes of each; solutions go through lines of shared memory.
    static constexpr int box_bytes = K * int(sizeof(T)) < 128 ? K * int(sizeof(T)) : 128;
    static constexpr int line_bytes = 64;
    static constexpr int warp_lines = Contiguous ? 32 * line_bytes : 0;

    int group, groups, lanes, stages, warps;

    BANDMILL_HD static int padded(int bytes) { return (bytes + 15) / 16 * 16; }
    BANDMILL_HD int slots(int count) const { return padded(count * W * lanes * int(sizeof(Value))); }
    BANDMILL_HD int lines() const { return stages * warps * warp_stage; }
    BANDMILL_HD int rows() const { return lines() + warps * warp_lines; }
    BANDMILL_HD int separators() const { return rows() + group * segment_stride; }
    BANDMILL_HD int spills() const {
        return separators() + padded((group - 1 + groups) * SeparatorLayout<W>::entries * int(sizeof(T)));
    }
    BANDMILL_HD int edges() const { return spills() + slots(group); }
    BANDMILL_HD int ends() const { return edges() + slots(group + 1); }
    BANDMILL_HD int barriers() const { return ends() + slots(2 * groups); }
    BANDMILL_HD int row_ends() const { return barriers() + (stages * warps + 2) * int(sizeof(Barrier)); }
    BANDMILL_HD int bytes() const { return row_ends() + group * int(sizeof(int)); }
};

// The ends of all groups, as their blocks have sent them to this one, which holds group `rank`.
template <class T, class Value, int W> struct ClusterEnds {
    const PartitionView<T>& view;
    const T* tables;          // of the ends
    Exchange<Value, W> ends;  // slot 2c: the end of group c, slot 2c + 1: what that group spills
    Exchange<Value, W> edges; // of this group
    int rank, worker, workers;

    __device__ __forceinline__ void load(int c, Value (&value)[W]) const { ends.get(2 * c, value); }
    __device__ __forceinline__ void load_spill(int c, Value (&value)[W]) const { ends.get(2 * c + 1, value); }
    __device__ __forceinline__ void keep(int c, const Value (&value)[W]) { ends.put(2 * c, value); }
    __device__ __forceinline__ void store(int c, const Value (&value)[W]) {
        keep(c, value);
        if (c == rank) edges.put(view.group, value);
        if (c == rank - 1 || (rank == 0 && view.periodic && c == view.groups() - 1)) edges.put(0, value);
    }
    __device__ __forceinline__ const T* table(int c) const { return tables + c * SeparatorLayout<W>::entries; }
    __device__ __forceinline__ void wait() const { __syncthreads(); }
};

// A cluster of blocks holds a tile of systems, each block one group of segments. Every warp fetches the rows of its own
// segments, a tile ahead, and needs no other warp for it: once a tile is in registers its place in shared memory is
// refilled, so that memory works while the block computes. With Add (interleaved systems only) the solution is added to
// what stands in x.
template <class T, int W, int K, bool Contiguous, bool Add>
__global__ void __launch_bounds__(block_threads, 1)
    staged_kernel(PartitionView<T> view, const __grid_constant__ CUtensorMap map, T* x, FieldShape x_shape,
                  int tile_lanes, int stages) {
#if __CUDA_ARCH__ >= 900
    using Value = Held<T, K>;
    using Layout = SharedLayout<T, W, K, Contiguous>;
    constexpr int systems = Value::count;
    extern __shared__ __align__(1024) unsigned char shared[];
    const int thread = static_cast<int>(threadIdx.x), warps = static_cast<int>(blockDim.x) / 32, warp = thread / 32;
    const int groups = K == most_slots ? view.groups() : 1; // only long systems are spread over several blocks
    const int group = view.group, n = static_cast<int>(view.n);
    const int rank = static_cast<int>(blockIdx.x) % groups;
    const int lanes = Contiguous ? 32 : tile_lanes;
    const Layout layout{group, groups, lanes, stages, warps};
    Barrier* const barriers = reinterpret_cast<Barrier*>(shared + layout.barriers());
    Barrier* const tables_here = barriers + stages * warps;
    Barrier* const ends_here = tables_here + 1;
    T* const separators = reinterpret_cast<T*>(shared + layout.separators());
    T* const end_tables = separators + (group - 1) * SeparatorLayout<W>::entries; // the end's own is among them

    int* const row_ends = reinterpret_cast<int*>(shared + layout.row_ends());

    if (thread == 0) asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
    if (thread < stages * warps + 2) initialise(barriers + thread);
    if (thread < group) row_ends[thread] = segment_start<int>(rank * group + thread + 1, view.segments, n);
    make_barriers_visible();
    __syncthreads();
    if (groups > 1) cluster_arrive(); // waited for before anything is sent
    if (thread == 0) {
        constexpr unsigned bytes = SegmentLayout<W>::columns * K * sizeof(T);
        expect_bytes(tables_here, group * bytes);
        for (int q = 0; q < group; ++q)
            fetch_bytes(shared + layout.rows() + q * Layout::segment_stride,
                        view.rows + (rank * group + q) * (SegmentLayout<W>::columns * K), bytes, tables_here);
    }
    wait_for_previous_kernel();
    let_next_kernel_begin();

    const int segments_in_warp = 32 / lanes;                                    // lanes are at most a warp
    const int width = lanes * systems, batch = static_cast<int>(x_shape.batch); // solve_staged has seen to that
    const int tiles = (batch - 1) / width + 1;
    const int first_tile = static_cast<int>(blockIdx.x) / groups, step = static_cast<int>(gridDim.x) / groups;
    auto fetch = [&](int tile, int stage) {
        if (thread % 32 != 0 || tile >= tiles) return;
        const int system = tile * width;
        const int first = thread / lanes, count = min(segments_in_warp, group - first);
        Barrier* const barrier = barriers + stage * warps + warp;
        expect_bytes(barrier, static_cast<unsigned>(count * K * lanes * sizeof(Value)));
        unsigned char* room = shared + (stage * warps + warp) * Layout::warp_stage;
        for (int q = first; q < first + count; ++q) {
            const int row = row_ends[q] - K;
            if constexpr (Contiguous) {
                constexpr int rows = Layout::box_bytes / int(sizeof(T));
                for (int j = 0; j < K; j += rows) {
                    fetch_box(room, &map, row + j, system, barrier);
                    room += Layout::box_bytes * lanes * systems;
                }
            } else {
                fetch_box(room, &map, system, row, barrier);
                room += K * lanes * int(sizeof(Value));
            }
        }
    };
    for (int stage = 0; stage < stages; ++stage) fetch(first_tile + stage * step, stage);

    // While the first tiles are on their way: the other tables.
    constexpr int entries = SeparatorLayout<W>::entries;
    for (int i = thread; i < (group - 1 + groups) * entries; i += static_cast<int>(blockDim.x)) {
        const int c = i / entries - (group - 1);
        const int at = c < 0 ? rank * group * entries + i : view.end_of(c) * entries + i % entries;
        separators[i] = view.separators[at];
    }
    const int lane = thread % lanes, q = thread / lanes; // the last warp may have room for more segments than there are
    const int known = min(q, group - 1), end = row_ends[known];
    const int unused = K - (end - segment_start<int>(rank * group + known, view.segments, n));
    auto is_used = [&](int j) { return j >= most_unused(K) || j >= unused; };
    GroupThread<T, W, K, Value> part_of{view,
                                        separators,
                                        {reinterpret_cast<Value*>(shared + layout.spills()), lanes, lane},
                                        {reinterpret_cast<Value*>(shared + layout.edges()), lanes, lane},
                                        q,
                                        {},
                                        {}};
    Segment<T, W, K, Value>& segment = part_of.segment;
    segment.table = reinterpret_cast<const T*>(shared + layout.rows() + known * Layout::segment_stride);
    if (q == 0) part_of.edges.put(0, part_of.edge); // zero, unless there is an end to the left
    const Exchange<Value, W> ends{reinterpret_cast<Value*>(shared + layout.ends()), lanes, lane};
    __syncthreads();
    wait_for(tables_here, 0);

    int stage = 0;
    unsigned parity = 0, ends_parity = 0;
    for (int tile = first_tile; tile < tiles; tile += step) {
        wait_for(barriers + stage * warps + warp, parity);
        const unsigned char* from = shared + (stage * warps + warp) * Layout::warp_stage +
                                    thread % 32 / lanes * (K * lanes * int(sizeof(Value)));
        if constexpr (Contiguous) {
            constexpr int rows = Layout::box_bytes / int(sizeof(T));
            const int line = recomputed(lane), box = recomputed(Layout::box_bytes * lanes * systems);
#pragma unroll
            for (int v = 0; v < systems; ++v)
#pragma unroll
                for (int j = 0; j < K; j += Group<T>::size) {
                    const auto values = *reinterpret_cast<const Group<T>*>(
                        from + j / rows * box +
                        swizzled<Layout::box_bytes>(line + v * lanes, j % rows / Group<T>::size));
#pragma unroll
                    for (int i = 0; i < Group<T>::size; ++i)
                        segment.g[j + i].value[v] = is_used(j + i) ? values.value[i] : T(0);
                }
        } else {
            const int row_width = recomputed(lanes);
            const Value* row = reinterpret_cast<const Value*>(from) + lane;
#pragma unroll
            for (int j = 0; j < K; ++j) {
                segment.g[j] = is_used(j) ? *row : Value{};
                row += row_width;
            }
        }
        __syncwarp();
        fetch(tile + stages * step, stage);
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
        if constexpr (Add)
            if (q < group)
                expect_rows(x + tile * width + std::int64_t(end - K + unused) * x_shape.row_stride, x_shape.row_stride,
                            K - unused, min(width, batch - tile * width) * int(sizeof(T)), lane, lanes);

        part_of.eliminate();
        bool sent = false;
        if constexpr (K == most_slots)
            if (groups > 1) {
                cluster_wait(); // all blocks have read what was sent for the tile before
#pragma unroll
                for (int w = 0; w < W; ++w) {
                    if (part_of.is_end())
                        for (int c = 0; c < groups; ++c) send(ends.at(2 * rank, w), part_of.edge[w], ends_here, c);
                    if (q == 0) {
                        const Value spill = *part_of.spills.at(0, w);
                        for (int c = 0; c < groups; ++c) send(ends.at(2 * rank + 1, w), spill, ends_here, c);
                    }
                }
                if (thread == 0) expect_bytes(ends_here, static_cast<unsigned>(2 * groups * W * lanes * sizeof(Value)));
                if (q == 0) wait_for(ends_here, ends_parity);
                ends_parity ^= 1;
                sent = true;
            }
        if (!sent) {
            if (part_of.is_end()) ends.put(0, part_of.edge);
            if (q == 0)
                for (int w = 0; w < W; ++w) *ends.at(1, w) = *part_of.spills.at(0, w);
        }
        __syncthreads();
        // Where the last warp has threads without a segment, those stay out of it.
        ClusterEnds<T, Value, W> all{view, end_tables, ends, part_of.edges, rank, q < group ? q : groups, group};
        solve_ends<W, Value>(view, all);
        if (groups > 1) cluster_arrive();
        part_of.substitute();

        const int start = tile * width;
        if constexpr (Contiguous) {
            // A thread's rows lie side by side in memory, its neighbour's are far away: change places first. The whole
            // warp has the same rows.
            constexpr int rows = Layout::line_bytes / int(sizeof(T)), lines_at_once = 32 / rows;
            unsigned char* const lines = shared + layout.lines() + warp * Layout::warp_lines;
            const int own = recomputed(thread % 32), j = own % rows;
            const std::int64_t step = lines_at_once * x_shape.batch_stride;
            const bool idle = q >= group;
            T* to = x + (start + own / rows) * x_shape.batch_stride + (end - K + j);
#pragma unroll
            for (int v = 0; v < systems; ++v) {
#pragma unroll
                for (int first = 0; first < K; first += rows) {
                    __syncwarp();
#pragma unroll
                    for (int i = 0; i < rows; i += Group<T>::size) {
                        Group<T> values;
#pragma unroll
                        for (int k = 0; k < Group<T>::size; ++k) values.value[k] = segment.g[first + i + k].value[v];
                        *reinterpret_cast<Group<T>*>(lines + swizzled<Layout::line_bytes>(own, i / Group<T>::size)) =
                            values;
                    }
                    __syncwarp();
                    if (idle || (first < most_unused(K) && first + j < unused)) continue;
                    T* at = to + first;
#pragma unroll
                    for (int line = 0; line < 32; line += lines_at_once) {
                        const T value = *reinterpret_cast<const T*>(
                            lines + swizzled<Layout::line_bytes>(line + own / rows, j / Group<T>::size) +
                            j % Group<T>::size * int(sizeof(T)));
                        if (start + 32 * v + line + own / rows < batch) __stcs(at, value);
                        at += step;
                    }
                }
                to += 32 * x_shape.batch_stride;
            }
        } else {
            const int system = start + lane * systems;
            if (q >= group || system >= batch) continue;
            const std::int64_t row_stride = recomputed(x_shape.row_stride);
            T* to = x + system + (end - K) * row_stride;
            if constexpr (Add) {
                constexpr int at_once = rows_added_at_once<T>(K);
#pragma unroll
                for (int first = 0; first < K; first += at_once) {
                    Value sums[at_once]; // on their way together
#pragma unroll
                    for (int j = 0; j < at_once; ++j)
                        if (is_used(first + j)) sums[j] = read<T, systems>(to + j * row_stride);
#pragma unroll
                    for (int j = 0; j < at_once; ++j) {
                        if (is_used(first + j)) write(to, sums[j] + segment.g[first + j]);
                        to += row_stride;
                    }
                }
            } else {
#pragma unroll
                for (int j = 0; j < K; ++j) {
                    if (is_used(j)) write(to, segment.g[j]);
                    to += row_stride;
                }
            }
        }
    }
    if (groups > 1) cluster_wait(); // the last arrival needs its wait
#else
    __trap(); // plan_staged never chooses it there
#endif
}

} // namespace bandmill::cuda
