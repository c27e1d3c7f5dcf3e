#include "bandmill/cuda/staged.hpp"

#include "bandmill/cuda/segments.cuh"
#include "bandmill/cuda/tuning.hpp"

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <climits>

namespace bandmill::cuda {

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

namespace {

using namespace detail;

template <class T, int K> using Held = Systems<T, row_bytes(K) / int(sizeof(T))>;

// The copy engine signals a barrier in shared memory when data has arrived.
using Barrier = unsigned long long;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ __forceinline__ void initialise(Barrier* barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)));
}
__device__ __forceinline__ void make_barriers_visible() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void expect_bytes(Barrier* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void wait_for(Barrier* barrier, unsigned parity) {
    unsigned done = 0;
    while (done == 0)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
}
// Rows and columns outside the tensor arrive as zeros.
__device__ __forceinline__ void fetch_box(void* to, const CUtensorMap* map, int x, int y, Barrier* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
            shared_address(to)),
        "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y)
        : "memory");
}
__device__ __forceinline__ void fetch_bytes(void* to, const void* from, unsigned bytes, Barrier* barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}
// Writes a value to the same place in another block of the cluster, and tells its barrier.
template <class Value>
__device__ __forceinline__ void send(Value* place, const Value& value, const Barrier* barrier, int rank) {
    if constexpr (sizeof(Value) == 8) // as long segments have it
        asm volatile("{\n.reg .u32 there, signal;\n"
                     "mapa.shared::cluster.u32 there, %0, %2;\n"
                     "mapa.shared::cluster.u32 signal, %3, %2;\n"
                     "st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [there], %1, [signal];\n}" ::"r"(
                         shared_address(place)),
                     "l"(*reinterpret_cast<const long long*>(&value)), "r"(rank), "r"(shared_address(barrier))
                     : "memory");
}
// Relaxed: it only tells that this block has read its shared memory. With release semantics every block would wait
// until its writes to global memory have arrived, a quarter of the time.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
// The kernel before this one in the stream has ended and its writes can be seen. Until then only our own tables may be
// read. (See the launch: it lets a solve begin while the one before drains.)
__device__ __forceinline__ void wait_for_previous_kernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ __forceinline__ void let_next_kernel_begin() { asm volatile("griddepcontrol.launch_dependents;"); }

#endif

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

// Byte offset of a 16-byte chunk in lines of `Bytes`, as the copy engine swizzles them: eight threads that read the
// same chunk of eight lines touch different banks.
template <int Bytes> BANDMILL_HD int swizzled(int line, int chunk) {
    static_assert(Bytes == 128 || Bytes == 64 || Bytes == 32);
    constexpr int shift = Bytes == 128 ? 0 : Bytes == 64 ? 1 : 2, mask = Bytes / 16 - 1;
    return line * Bytes + ((chunk ^ ((line >> shift) & mask)) * 16);
}

// Dynamic shared memory, in this order and in bytes; stages start on a boundary of 1024, the rest on one of 16.
template <class T, int W, int K, bool Contiguous> struct SharedLayout {
    using Value = Held<T, K>;
    // Two segments of one warp read their tables at the same time: this stride puts them in different banks.
    static constexpr int segment_stride = (SegmentLayout<W>::columns * K + Group<T>::size) * int(sizeof(T));
    static constexpr int warp_stage = K * 32 * int(sizeof(Value)); // what a warp holds
    // Contiguous systems: a box is this many bytes of each; solutions go through lines of shared memory.
    static constexpr int box_bytes = K * int(sizeof(T)) < 128 ? K * int(sizeof(T)) : 128;
    static constexpr int line_bytes = K * int(sizeof(T)) < 64 ? K * int(sizeof(T)) : 64;
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
// refilled, so that memory works while the block computes.
template <class T, int W, int K, bool Contiguous>
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

        part_of.eliminate();
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
        } else {
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
#pragma unroll
            for (int j = 0; j < K; ++j) {
                if (is_used(j)) write(to, segment.g[j]);
                to += row_stride;
            }
        }
    }
    if (groups > 1) cluster_wait(); // no block may leave while another could still write into it
#else
    __trap(); // plan_staged never chooses it there
#endif
}

template <class T> using Kernel = void (*)(PartitionView<T>, CUtensorMap, T*, FieldShape, int, int);

// What differs between the instantiations, for code that chooses one at run time.
template <class T> struct Variant {
    Kernel<T> kernel;
    int (*shared_bytes)(int group, int groups, int lanes, int stages, int warps);
    int box_bytes;
};

template <class T, int W, int K, bool Contiguous> Variant<T> variant() {
    using Layout = SharedLayout<T, W, K, Contiguous>;
    return {staged_kernel<T, W, K, Contiguous>,
            [](int group, int groups, int lanes, int stages, int warps) {
                return Layout{group, groups, lanes, stages, warps}.bytes();
            },
            Layout::box_bytes};
}

template <class T, bool Contiguous> Variant<T> choose_variant(int half_bandwidth, int slots) {
    const bool narrow = half_bandwidth == 1;
    if (slots == most_slots)
        return narrow ? variant<T, 1, most_slots, Contiguous>() : variant<T, 2, most_slots, Contiguous>();
    return narrow ? variant<T, 1, few_slots, Contiguous>() : variant<T, 2, few_slots, Contiguous>();
}
template <class T> Variant<T> choose_variant(int half_bandwidth, int slots, bool contiguous) {
    return contiguous ? choose_variant<T, true>(half_bandwidth, slots)
                      : choose_variant<T, false>(half_bandwidth, slots);
}

// The driver function that describes an array to the copy engine, found at run time so that no driver library is
// linked.
using EncodeTiled = decltype(&cuTensorMapEncodeTiled);
EncodeTiled encode_tiled() {
    static const EncodeTiled function = [] {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult result{};
        const cudaError_t code =
            cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
        if (code != cudaSuccess || result != cudaDriverEntryPointSuccess) {
            (void)cudaGetLastError();
            found = nullptr;
        }
        return reinterpret_cast<EncodeTiled>(found);
    }();
    return function;
}

// The shape of a launch with tiles `lanes` threads wide.
struct Shape {
    int lanes, threads, stages, shared_bytes;
};
template <class T>
Shape shape_for(const Variant<T>& variant, const DeviceLimits& limits, int group, int groups, int lanes) {
    Shape shape{lanes, (group * lanes + 31) / 32 * 32, 0, 0};
    // As many blocks as registers allow, each with one tile on its way; then more stages in the room that is left.
    const int resident = std::max(1, block_threads / shape.threads);
    const int room = std::min(limits.shared_bytes_per_block, limits.shared_bytes_per_multiprocessor / resident -
                                                                 limits.reserved_shared_bytes_per_block);
    for (int stages = 1; stages <= most_stages; ++stages) {
        const int bytes = variant.shared_bytes(group, groups, lanes, stages, shape.threads / 32);
        if (bytes > (stages == 1 ? limits.shared_bytes_per_block : room)) break;
        shape.stages = stages;
        shape.shared_bytes = bytes;
    }
    return shape;
}

// A launch whose blocks form clusters of one system's groups each.
struct Launch {
    cudaLaunchConfig_t config{};
    cudaLaunchAttribute attributes[2]{};

    Launch(const Shape& shape, int groups, std::int64_t clusters, Stream stream) {
        config.gridDim = dim3(static_cast<unsigned>(clusters * groups));
        config.blockDim = dim3(static_cast<unsigned>(shape.threads));
        config.dynamicSmemBytes = static_cast<std::size_t>(shape.shared_bytes);
        config.stream = stream.handle();
        config.attrs = attributes;
        // The kernel waits for its predecessor itself, once its tables are on their way.
        attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[0].val.programmaticStreamSerializationAllowed = 1;
        attributes[1].id = cudaLaunchAttributeClusterDimension;
        attributes[1].val.clusterDim.x = static_cast<unsigned>(groups);
        attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
        config.numAttrs = groups > 1 ? 2 : 1;
    }
};

// Can the copy engine fetch this right-hand side, and does the solution lie the same way?
// (It starts on 16 bytes only, so contiguous systems must have an even number of rows in f64; segments then do too.)
bool reachable(const FieldShape& b, const void* b_data, const FieldShape& x, const void* x_data, bool contiguous,
               std::size_t element_bytes, int bytes_at_once) {
    const auto size = static_cast<std::int64_t>(element_bytes);
    auto plain = [&](const FieldShape& shape) {
        return shape.tile >= shape.batch && (contiguous ? shape.row_stride : shape.batch_stride) == 1;
    };
    const std::int64_t step = (contiguous ? b.batch_stride : b.row_stride) * size; // bytes
    // A thread writes its systems' values of a row at once.
    const bool can_store =
        contiguous || (b.batch * size % bytes_at_once == 0 && x.row_stride * size % bytes_at_once == 0 &&
                       reinterpret_cast<std::uintptr_t>(x_data) % bytes_at_once == 0);
    return plain(b) && plain(x) && can_store && b.batch <= INT_MAX / 2 && step > 0 && step < (1LL << 40) &&
           step % 16 == 0 && (!contiguous || b.rows * size % 16 == 0) &&
           reinterpret_cast<std::uintptr_t>(b_data) % 16 == 0;
}

} // namespace

template <class T>
StagedPlan plan_staged(Device device, int half_bandwidth, const Partition& partition, bool contiguous) {
    const DeviceLimits limits = device_limits(device);
    StagedPlan plan;
    const int lanes = widest_lanes(partition.group);
    if (limits.compute_major < 9 || encode_tiled() == nullptr || partition.groups() > largest_cluster) return plan;
    if (contiguous && lanes < 32) return plan;
    DeviceScope scope(device);
    const Variant<T> variant = choose_variant<T>(half_bandwidth, static_cast<int>(partition.slots), contiguous);
    const void* kernel = reinterpret_cast<const void*>(variant.kernel);
    // Machine code compiled by the driver from older PTX runs on this device too, but has no copy engine in it. Asking
    // also loads the kernel, so that a solve never has to.
    cudaFuncAttributes attributes;
    check_cuda(cudaFuncGetAttributes(&attributes, kernel), "asking about a kernel");
    if (attributes.ptxVersion < 90) return plan;
    const Shape shape = shape_for(variant, limits, partition.group, partition.groups(), lanes);
    if (shape.stages == 0) return plan;
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, limits.shared_bytes_per_block),
               "raising a kernel's shared memory");
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
               "allowing a kernel large clusters");
    int clusters = 0;
    if (partition.groups() == 1) {
        check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&clusters, kernel, shape.threads, shape.shared_bytes),
                   "asking how many blocks fit");
        clusters *= limits.multiprocessors;
    } else {
        const Launch launch(shape, partition.groups(), 1, Stream{});
        if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config) != cudaSuccess) {
            (void)cudaGetLastError(); // no such clusters on this device
            clusters = 0;
        }
    }
    plan.clusters = clusters;
    plan.limits = limits;
    plan.usable = clusters > 0;
    return plan;
}

template <class T>
bool solve_staged(const StagedPlan& plan, int half_bandwidth, const Partition& partition, bool contiguous,
                  const PartitionView<T>& view, const T* b, const FieldShape& b_shape, T* x, const FieldShape& x_shape,
                  Stream stream) {
    const int slots = static_cast<int>(partition.slots), groups = partition.groups();
    if (!plan.usable || !reachable(b_shape, b, x_shape, x, contiguous, sizeof(T), row_bytes(slots))) return false;
    const int systems = row_bytes(slots) / static_cast<int>(sizeof(T));
    const Variant<T> variant = choose_variant<T>(half_bandwidth, slots, contiguous);
    const int narrowest = contiguous ? 32 : 16 / row_bytes(slots); // what the copy engine moves at least
    const int lanes =
        choose_lanes(partition.group, groups, systems, b_shape.batch, plan.limits.multiprocessors, narrowest);
    const Shape shape = shape_for(variant, plan.limits, partition.group, groups, lanes);

    CUtensorMap map;
    const auto width = static_cast<cuuint32_t>(lanes * systems);
    const auto batch = static_cast<cuuint64_t>(b_shape.batch), rows = static_cast<cuuint64_t>(b_shape.rows);
    const auto box_rows = static_cast<cuuint32_t>(variant.box_bytes / static_cast<int>(sizeof(T)));
    const cuuint64_t interleaved_sizes[2] = {batch, rows}, contiguous_sizes[2] = {rows, batch};
    const cuuint32_t interleaved_box[2] = {width, static_cast<cuuint32_t>(slots)},
                     contiguous_box[2] = {box_rows, width};
    const cuuint64_t strides[1] = {static_cast<cuuint64_t>(contiguous ? b_shape.batch_stride : b_shape.row_stride) *
                                   sizeof(T)};
    const cuuint32_t steps[2] = {1, 1};
    const CUtensorMapSwizzle swizzle = !contiguous                ? CU_TENSOR_MAP_SWIZZLE_NONE
                                       : variant.box_bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B
                                       : variant.box_bytes == 64  ? CU_TENSOR_MAP_SWIZZLE_64B
                                                                  : CU_TENSOR_MAP_SWIZZLE_32B;
    const CUresult code =
        encode_tiled()(&map, sizeof(T) == 8 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
                       const_cast<T*>(b), contiguous ? contiguous_sizes : interleaved_sizes, strides,
                       contiguous ? contiguous_box : interleaved_box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                       CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (code != CUDA_SUCCESS) return false; // the plain kernel can do it
    const std::int64_t tiles = (b_shape.batch + width - 1) / width;
    // Narrow tiles are for batches that do not fill the device: a block for each.
    const bool narrow = lanes < widest_lanes(partition.group);
    const std::int64_t clusters = narrow ? tiles : std::min<std::int64_t>(plan.clusters, tiles);
    const Launch launch(shape, groups, clusters, stream);
    check_cuda(cudaLaunchKernelEx(&launch.config, variant.kernel, view, map, x, x_shape, lanes, shape.stages),
               "launching a staged solve");
    return true;
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template StagedPlan plan_staged<T>(Device, int, const Partition&, bool);                                           \
    template bool solve_staged<T>(const StagedPlan&, int, const Partition&, bool, const PartitionView<T>&, const T*,   \
                                  const FieldShape&, T*, const FieldShape&, Stream);
BANDMILL_INSTANTIATE(double)
BANDMILL_INSTANTIATE(float)

} // namespace bandmill::cuda
