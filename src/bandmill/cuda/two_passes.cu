#include "bandmill/cuda/two_passes.hpp"

#include "bandmill/cuda/segments.cuh"
#include "bandmill/cuda/tuning.hpp"

#include <cuda_runtime.h>

#include <algorithm>

namespace bandmill::cuda {
namespace {

using namespace detail;

constexpr int K = most_slots; // systems of this length are cut no other way

// The ends of all groups in memory: [group][end, spill][w][system].
template <class T> struct EndsInMemory {
    T* values;
    std::int64_t batch;

    template <int W> __device__ __forceinline__ T* at(std::int64_t c, int which, std::int64_t m) const {
        return values + (2 * c + which) * W * batch + m;
    }
    template <int W>
    __device__ __forceinline__ void put(std::int64_t c, int which, std::int64_t m, const T (&value)[W]) const {
        T* to = at<W>(c, which, m);
#pragma unroll
        for (int w = 0; w < W; ++w) to[w * batch] = value[w];
    }
    template <int W>
    __device__ __forceinline__ void get(std::int64_t c, int which, std::int64_t m, T (&value)[W]) const {
        const T* from = at<W>(c, which, m);
#pragma unroll
        for (int w = 0; w < W; ++w) value[w] = from[w * batch];
    }
};

// A block works on one group of some tiles of systems: blockIdx.x counts slices of the batch, group after group.
template <class T, int W, bool Finish>
__global__ void __launch_bounds__(block_threads, 1)
    pass(PartitionView<T> view, const T* b, FieldShape b_shape, T* x, FieldShape x_shape, EndsInMemory<T> ends,
         int lanes, int slices) {
    constexpr int columns = SegmentLayout<W>::columns, entries = SeparatorLayout<W>::entries;
    constexpr int segment_stride = columns * K + Group<T>::size; // different banks for segments of one warp
    extern __shared__ __align__(16) unsigned char shared[];
    const int group = view.group, threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
    T* const rows = reinterpret_cast<T*>(shared);
    T* const separators = rows + group * segment_stride;
    T* const spills = separators + group * entries;
    T* const edges = spills + group * W * lanes;
    const std::int64_t c = blockIdx.x / slices, root = view.groups() - 1;
    for (int i = thread; i < group * columns * K; i += threads)
        rows[i / (columns * K) * segment_stride + i % (columns * K)] = view.rows[c * group * columns * K + i];
    for (int i = thread; i < group * entries; i += threads) separators[i] = view.separators[c * group * entries + i];
    __syncthreads();

    const int lane = thread % lanes, q = thread / lanes;
    const bool has_segment = q < group;
    GroupThread<T, W, K, T> part{view, separators, {spills, lanes, lane}, {edges, lanes, lane}, q, {}, {}};
    Segment<T, W, K>& segment = part.segment;
    const std::int64_t p = c * group + (has_segment ? q : 0);
    const std::int64_t end = segment_start<std::int64_t>(p + 1, view.segments, view.n);
    const int unused = K - static_cast<int>(end - segment_start<std::int64_t>(p, view.segments, view.n));
    segment.table = rows + (has_segment ? q : 0) * segment_stride;

    const std::int64_t tiles = (x_shape.batch + lanes - 1) / lanes, slice = blockIdx.x % slices;
    for (std::int64_t tile = slice * tiles / slices; tile < (slice + 1) * tiles / slices; ++tile) {
        const std::int64_t system = tile * lanes + lane;
        const bool here = has_segment && system < x_shape.batch;
        const T* from = b + (here ? system_offset(b_shape, system) : 0) + (end - K) * b_shape.row_stride;
#pragma unroll
        for (int j = 0; j < K; ++j) {
            segment.g[j] = here && j >= unused ? *from : T(0);
            from += b_shape.row_stride;
        }
        part.eliminate();
        if constexpr (Finish) {
            T value[W] = {};
            if (here && part.is_end()) {
                ends.get(c, 0, system, value);
                part.edges.put(group, value);
            }
            if (here && q == 0) {
#pragma unroll
                for (int w = 0; w < W; ++w) value[w] = T(0);
                if (c > 0 || view.periodic) ends.get(c > 0 ? c - 1 : root, 0, system, value);
                part.edges.put(0, value);
            }
            __syncthreads();
            part.substitute();
            if (!here) continue;
            T* to = x + system_offset(x_shape, system) + (end - K) * x_shape.row_stride;
#pragma unroll
            for (int j = 0; j < K; ++j) {
                if (j >= unused) __stcs(to, segment.g[j]);
                to += x_shape.row_stride;
            }
        } else {
            if (here && part.is_end()) ends.put(c, 0, system, part.edge);
            if (here && q == 0) {
                T spill[W];
                part.spills.get(0, spill);
                ends.put(c, 1, system, spill);
            }
            __syncthreads(); // the next tile's spills must not overtake this one's
        }
    }
}

// The ends of 32 systems, which a block shares out.
template <class T, int W> struct MemoryEnds {
    const PartitionView<T>& view;
    EndsInMemory<T> ends;
    std::int64_t m;
    int worker, workers;

    __device__ __forceinline__ void load(int c, T (&value)[W]) const { ends.get(c, 0, m, value); }
    __device__ __forceinline__ void load_spill(int c, T (&value)[W]) const { ends.get(c, 1, m, value); }
    __device__ __forceinline__ void keep(int c, const T (&value)[W]) { ends.put(c, 0, m, value); }
    __device__ __forceinline__ void store(int c, const T (&value)[W]) { ends.put(c, 0, m, value); }
    __device__ __forceinline__ const T* table(int c) const {
        return view.separators + static_cast<std::int64_t>(view.end_of(c)) * SeparatorLayout<W>::entries;
    }
    __device__ __forceinline__ void wait() const { __syncthreads(); }
};

template <class T, int W>
__global__ void __launch_bounds__(block_threads, 1) solve_ends_in_memory(PartitionView<T> view, EndsInMemory<T> ends) {
    const std::int64_t m = std::int64_t(blockIdx.x) * 32 + threadIdx.x % 32;
    // Threads beyond the batch only keep the barriers: their first end is one too far.
    const int worker = m < ends.batch ? static_cast<int>(threadIdx.x) / 32 : view.groups();
    MemoryEnds<T, W> mine{view, ends, m, worker, static_cast<int>(blockDim.x) / 32};
    solve_ends<W, T>(view, mine);
}

template <class T, int W>
void solve_with(const Workspace& workspace, const Partition& partition, const PartitionView<T>& view, const T* b,
                const FieldShape& b_shape, T* x, const FieldShape& x_shape, int multiprocessors, Stream stream) {
    const int group = partition.group, groups = partition.groups(), lanes = widest_lanes(group);
    const int threads = (group * lanes + 31) / 32 * 32;
    const std::size_t shared_values = group * (SegmentLayout<W>::columns * K + Group<T>::size) +
                                      group * SeparatorLayout<W>::entries + (2 * group + 1) * W * lanes;
    // A wave of blocks is about 2 per multiprocessor; several of them balance the load.
    const std::int64_t tiles = (x_shape.batch + lanes - 1) / lanes;
    const std::int64_t wanted = std::max<std::int64_t>(tiles / tiles_per_block, 8LL * multiprocessors / groups);
    const int slices =
        static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::min<std::int64_t>(tiles, INT32_MAX / groups)));

    const std::size_t bytes = two_passes_bytes_per_system<T>(W, partition) * x_shape.batch;
    EndsInMemory<T> ends{static_cast<T*>(workspace.take(bytes, stream)), x_shape.batch};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(groups * slices));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = shared_values * sizeof(T);
    config.stream = stream.handle();
    cudaLaunchConfig_t small = config;
    small.gridDim = dim3(static_cast<unsigned>((x_shape.batch + 31) / 32));
    small.blockDim = dim3(block_threads);
    small.dynamicSmemBytes = 0;
    cudaError_t code =
        cudaLaunchKernelEx(&config, pass<T, W, false>, view, b, b_shape, x, x_shape, ends, lanes, slices);
    if (code == cudaSuccess) code = cudaLaunchKernelEx(&small, solve_ends_in_memory<T, W>, view, ends);
    if (code == cudaSuccess)
        code = cudaLaunchKernelEx(&config, pass<T, W, true>, view, b, b_shape, x, x_shape, ends, lanes, slices);
    workspace.give_back(ends.values, stream);
    check_cuda(code, "launching a solve in two passes");
}

template <class T, int W> void load(Device device) {
    DeviceScope scope(device);
    const int most = device_limits(device).shared_bytes_per_block;
    for (auto* kernel : {pass<T, W, false>, pass<T, W, true>})
        check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                        cudaFuncAttributeMaxDynamicSharedMemorySize, most),
                   "raising a kernel's shared memory");
    load_kernel(device, reinterpret_cast<const void*>(solve_ends_in_memory<T, W>));
}

} // namespace

template <class T> void load_two_passes(Device device, int half_bandwidth) {
    half_bandwidth == 1 ? load<T, 1>(device) : load<T, 2>(device);
}

template <class T>
void solve_two_passes(const Workspace& workspace, int half_bandwidth, const Partition& partition,
                      const PartitionView<T>& view, const T* b, const FieldShape& b_shape, T* x,
                      const FieldShape& x_shape, int multiprocessors, Stream stream) {
    auto* solve = half_bandwidth == 1 ? solve_with<T, 1> : solve_with<T, 2>;
    solve(workspace, partition, view, b, b_shape, x, x_shape, multiprocessors, stream);
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template void load_two_passes<T>(Device, int);                                                                     \
    template void solve_two_passes<T>(const Workspace&, int, const Partition&, const PartitionView<T>&, const T*,      \
                                      const FieldShape&, T*, const FieldShape&, int, Stream);
BANDMILL_INSTANTIATE(double)
BANDMILL_INSTANTIATE(float)

} // namespace bandmill::cuda
