#include "bandmill/cuda/staged.hpp"

#include "bandmill/cuda/segments.cuh"
#include "bandmill/cuda/tuning.hpp"

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <climits>

namespace bandmill::cuda {
namespace {

using namespace detail;

// The copy engine signals a barrier in shared memory when a box has arrived.
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
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
}
// Rows and columns outside the tensor arrive as zeros.
__device__ __forceinline__ void fetch_box(void* to, const CUtensorMap* map, int system, int row, Barrier* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
            shared_address(to)),
        "l"(map), "r"(shared_address(barrier)), "r"(system), "r"(row)
        : "memory");
}

#endif

// Dynamic shared memory, in this order; everything starts on a boundary of 16 bytes, the stages on one of 128.
template <class T, int W, int K> struct SharedLayout {
    // Two segments of one warp read their tables at the same time: this stride puts them in different banks.
    static constexpr int segment_stride = SegmentLayout<W>::columns * K + Group<T>::size;
    static constexpr int warp_stage = K * 32; // values a warp holds

    int segments, lanes, stages, warps;

    BANDMILL_HD static int padded(int values) {
        return (values + Group<T>::size - 1) / Group<T>::size * Group<T>::size;
    }
    BANDMILL_HD int rows() const { return stages * warps * warp_stage; }
    BANDMILL_HD int separators() const { return rows() + segments * segment_stride; }
    BANDMILL_HD int spills() const { return separators() + padded(segments * SeparatorLayout<W>::entries); }
    BANDMILL_HD int edges() const { return spills() + padded(segments * W * lanes); }
    BANDMILL_HD int barriers() const { return edges() + padded(segments * W * lanes); }
    BANDMILL_HD int bytes() const {
        return barriers() * static_cast<int>(sizeof(T)) + stages * warps * static_cast<int>(sizeof(Barrier));
    }
};

// Every warp fetches the rows of its own segments, a few tiles ahead, and needs no other warp for it. Once a tile is in
// registers its place in shared memory is refilled, so that memory works while the block computes.
template <class T, int W, int K>
__global__ void __launch_bounds__(block_threads, 1)
    staged_kernel(PartitionView<T> view, const __grid_constant__ CUtensorMap map, T* x, FieldShape x_shape, int lanes,
                  int stages) {
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) unsigned char shared[];
    T* const values = reinterpret_cast<T*>(shared);
    const int thread = static_cast<int>(threadIdx.x), warps = static_cast<int>(blockDim.x) / 32, warp = thread / 32;
    const SharedLayout<T, W, K> layout{view.segments, lanes, stages, warps};
    Barrier* const barriers = reinterpret_cast<Barrier*>(values + layout.barriers());
    if (thread < stages * warps) initialise(barriers + thread);
    make_barriers_visible();
    __syncthreads();

    const int segments_in_warp = 32 / lanes; // lanes are at most a warp
    const std::int64_t tiles = (x_shape.batch + lanes - 1) / lanes;
    auto fetch = [&](std::int64_t tile, int stage) {
        if (thread % 32 != 0 || tile >= tiles) return;
        const int first = thread / lanes, count = min(segments_in_warp, view.segments - first);
        Barrier* const barrier = barriers + stage * warps + warp;
        expect_bytes(barrier, static_cast<unsigned>(count * K * lanes * sizeof(T)));
        T* const room = values + (stage * warps + warp) * layout.warp_stage;
        for (int q = 0; q < count; ++q)
            fetch_box(room + q * K * lanes, &map, static_cast<int>(tile * lanes),
                      static_cast<int>(segment_start(first + q + 1, view.segments, view.n)) - K, barrier);
    };
    for (int stage = 0; stage < stages; ++stage) fetch(blockIdx.x + std::int64_t(stage) * gridDim.x, stage);

    // While the first tiles are on their way: the tables.
    constexpr int segment_values = SegmentLayout<W>::columns * K;
    for (int i = thread; i < view.segments * segment_values; i += static_cast<int>(blockDim.x))
        values[layout.rows() + i / segment_values * layout.segment_stride + i % segment_values] = view.rows[i];
    for (int i = thread; i < view.segments * SeparatorLayout<W>::entries; i += static_cast<int>(blockDim.x))
        values[layout.separators() + i] = view.separators[i];
    __syncthreads();

    const int lane = thread % lanes, p = thread / lanes;
    const bool has_segment = p < view.segments; // the last warp may have room for more
    const int q = has_segment ? p : 0;
    const std::int64_t begin = segment_start(q, view.segments, view.n);
    const std::int64_t end = segment_start(q + 1, view.segments, view.n);
    const int unused = K - static_cast<int>(end - begin);
    const Exchange<T, W> spills{values + layout.spills(), lanes, lane}, edges{values + layout.edges(), lanes, lane};
    Segment<T, W, K> segment;
    segment.table = values + layout.rows() + q * layout.segment_stride;

    int stage = 0;
    unsigned parity = 0;
    for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        wait_for(barriers + stage * warps + warp, parity);
        const T* from = values + (stage * warps + warp) * layout.warp_stage + thread % 32 / lanes * K * lanes + lane;
#pragma unroll
        for (int j = 0; j < K; ++j) segment.g[j] = j >= unused ? from[j * lanes] : T(0);
        __syncwarp();
        fetch(tile + std::int64_t(stages) * gridDim.x, stage);
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
        solve_segment(view, values + layout.separators(), spills, edges, p, segment);
        const std::int64_t system = tile * lanes + lane;
        if (!has_segment || system >= x_shape.batch) continue;
        T* to = x + system_offset(x_shape, system) + (end - K) * x_shape.row_stride;
#pragma unroll
        for (int j = 0; j < K; ++j) { // walking the pointer: K addresses at once would spill registers
            if (j >= unused) __stcs(to, segment.g[j]);
            to += x_shape.row_stride;
        }
    }
#else
    __trap(); // plan_staged never chooses it there
#endif
}

template <class T> using Kernel = void (*)(PartitionView<T>, CUtensorMap, T*, FieldShape, int, int);

// What differs between the instantiations, for code that chooses one at run time.
template <class T> struct Variant {
    Kernel<T> kernel;
    int (*shared_bytes)(int segments, int lanes, int stages, int warps);
};

template <class T, int W, int K> Variant<T> variant() {
    return {staged_kernel<T, W, K>, [](int segments, int lanes, int stages, int warps) {
                return SharedLayout<T, W, K>{segments, lanes, stages, warps}.bytes();
            }};
}

template <class T> Variant<T> choose_variant(int half_bandwidth, int slots) {
    switch (slots) {
    case 8: return half_bandwidth == 1 ? variant<T, 1, 8>() : variant<T, 2, 8>();
    case 16: return half_bandwidth == 1 ? variant<T, 1, 16>() : variant<T, 2, 16>();
    default: return half_bandwidth == 1 ? variant<T, 1, 32>() : variant<T, 2, 32>();
    }
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

// Can this right-hand side be fetched by the copy engine, and is the batch large enough to gain from it?
bool applies(const StagedPlan& plan, const FieldShape& b, const void* b_data, std::size_t element_bytes) {
    const std::int64_t row_bytes = b.row_stride * static_cast<std::int64_t>(element_bytes);
    return plan.usable && b.tile >= b.batch && b.batch_stride == 1 &&        // interleaved
           b.batch >= std::int64_t(plan.multiprocessors) * plan.lanes &&     // a tile for each
           b.batch <= INT_MAX && row_bytes > 0 && row_bytes < (1LL << 40) && // what the engine can address
           row_bytes % 16 == 0 && reinterpret_cast<std::uintptr_t>(b_data) % 16 == 0;
}

} // namespace

template <class T> StagedPlan plan_staged(Device device, int half_bandwidth, int slots, int segments) {
    const DeviceLimits limits = device_limits(device);
    StagedPlan plan;
    if (limits.compute_major < 9 || encode_tiled() == nullptr) return plan;
    DeviceScope scope(device);
    const Variant<T> variant = choose_variant<T>(half_bandwidth, slots);
    // Machine code compiled by the driver from older PTX runs on this device too, but has no copy engine in it. Asking
    // also loads the kernel, so that a solve never has to.
    cudaFuncAttributes attributes;
    check_cuda(cudaFuncGetAttributes(&attributes, variant.kernel), "asking about a kernel");
    if (attributes.ptxVersion < 90) return plan;
    plan.lanes = widest_lanes(segments);
    plan.threads = (segments * plan.lanes + 31) / 32 * 32;
    const int warps = plan.threads / 32;
    // As many blocks as registers allow, each with one tile on its way; then more stages in the room that is left.
    const int resident = std::max(1, block_threads / plan.threads);
    const int room = limits.shared_bytes_per_multiprocessor / resident - limits.reserved_shared_bytes_per_block;
    for (int stages = 1; stages <= most_stages; ++stages) {
        const int bytes = variant.shared_bytes(segments, plan.lanes, stages, warps);
        if (bytes > std::min(room, limits.shared_bytes_per_block)) break;
        plan.stages = stages;
        plan.shared_bytes = bytes;
    }
    if (plan.stages == 0) return plan;
    check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(variant.kernel),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, limits.shared_bytes_per_block),
               "raising a kernel's shared memory");
    int blocks = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, variant.kernel, plan.threads, plan.shared_bytes),
               "asking how many blocks fit");
    plan.blocks = blocks * limits.multiprocessors;
    plan.multiprocessors = limits.multiprocessors;
    plan.usable = blocks > 0;
    return plan;
}

template <class T>
bool solve_staged(const StagedPlan& plan, int half_bandwidth, int slots, const PartitionView<T>& view, const T* b,
                  const FieldShape& b_shape, T* x, const FieldShape& x_shape, Stream stream) {
    if (!applies(plan, b_shape, b, sizeof(T))) return false;
    CUtensorMap map;
    const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(b_shape.batch), static_cast<cuuint64_t>(b_shape.rows)};
    const cuuint64_t strides[1] = {static_cast<cuuint64_t>(b_shape.row_stride) * sizeof(T)};
    const cuuint32_t box[2] = {static_cast<cuuint32_t>(plan.lanes), static_cast<cuuint32_t>(slots)};
    const cuuint32_t steps[2] = {1, 1};
    const CUresult code = encode_tiled()(
        &map, sizeof(T) == 8 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<T*>(b),
        sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (code != CUDA_SUCCESS) return false; // the plain kernel can do it
    const std::int64_t tiles = (b_shape.batch + plan.lanes - 1) / plan.lanes;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(std::min<std::int64_t>(plan.blocks, tiles)));
    config.blockDim = dim3(static_cast<unsigned>(plan.threads));
    config.dynamicSmemBytes = static_cast<std::size_t>(plan.shared_bytes);
    config.stream = stream.handle();
    check_cuda(cudaLaunchKernelEx(&config, choose_variant<T>(half_bandwidth, slots).kernel, view, map, x, x_shape,
                                  plan.lanes, plan.stages),
               "launching a staged solve");
    return true;
}

template StagedPlan plan_staged<double>(Device, int, int, int);
template StagedPlan plan_staged<float>(Device, int, int, int);
template bool solve_staged<double>(const StagedPlan&, int, int, const PartitionView<double>&, const double*,
                                   const FieldShape&, double*, const FieldShape&, Stream);
template bool solve_staged<float>(const StagedPlan&, int, int, const PartitionView<float>&, const float*,
                                  const FieldShape&, float*, const FieldShape&, Stream);

} // namespace bandmill::cuda
