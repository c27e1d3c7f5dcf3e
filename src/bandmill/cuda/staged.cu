#include "bandmill/cuda/staged.hpp"

#include "bandmill/cuda/staged_kernel.cuh"
#include "bandmill/cuda/tensor_map.hpp"

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <climits>

namespace bandmill::cuda {
namespace {

template <class T> using Kernel = void (*)(PartitionView<T>, CUtensorMap, T*, FieldShape, int, int);

// What differs between the instantiations, for code that chooses one at run time.
template <class T> struct Variant {
    Kernel<T> kernel;
    int (*shared_bytes)(int group, int groups, int lanes, int stages, int warps);
    int box_bytes;
};

template <class T, int W, int K, bool Contiguous, bool Add> Variant<T> variant() {
    using Layout = SharedLayout<T, W, K, Contiguous>;
    return {staged_kernel<T, W, K, Contiguous, Add>,
            [](int group, int groups, int lanes, int stages, int warps) {
                return Layout{group, groups, lanes, stages, warps}.bytes();
            },
            Layout::box_bytes};
}

template <class T, bool Contiguous, bool Add> Variant<T> choose_variant(int half_bandwidth, int slots) {
    const bool narrow = half_bandwidth == 1;
    if (slots == most_slots)
        return narrow ? variant<T, 1, most_slots, Contiguous, Add>() : variant<T, 2, most_slots, Contiguous, Add>();
    return narrow ? variant<T, 1, few_slots, Contiguous, Add>() : variant<T, 2, few_slots, Contiguous, Add>();
}
template <class T> Variant<T> choose_variant(int half_bandwidth, int slots, bool contiguous, Store store) {
    if (contiguous) return choose_variant<T, true, false>(half_bandwidth, slots);
    return store == Store::add ? choose_variant<T, false, true>(half_bandwidth, slots)
                               : choose_variant<T, false, false>(half_bandwidth, slots);
}

// Machine code compiled by the driver from older PTX runs on newer devices too, but has no copy engine in it. Asking
// also loads the kernel, so that a solve never has to.
template <class T> bool prepare(const Variant<T>& variant, const DeviceLimits& limits) {
    const void* kernel = reinterpret_cast<const void*>(variant.kernel);
    cudaFuncAttributes attributes;
    check_cuda(cudaFuncGetAttributes(&attributes, kernel), "asking about a kernel");
    if (attributes.ptxVersion < 90) return false;
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, limits.shared_bytes_per_block),
               "raising a kernel's shared memory");
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
               "allowing a kernel large clusters");
    return true;
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
bool reachable(const FieldShape& b, const void* b_data, const FieldShape& x, const void* x_data, bool contiguous,
               std::size_t element_bytes, int bytes_at_once) {
    auto plain = [&](const FieldShape& shape) {
        return shape.tile >= shape.batch && (contiguous ? shape.row_stride : shape.batch_stride) == 1;
    };
    auto is_multiple = [&](std::int64_t elements, int bytes) {
        return elements % (bytes / static_cast<std::int64_t>(element_bytes)) == 0;
    };
    auto starts_on = [](const void* data, int bytes) { return reinterpret_cast<std::uintptr_t>(data) % bytes == 0; };
    const std::int64_t length = contiguous ? b.rows : b.batch, stride = contiguous ? b.batch_stride : b.row_stride;
    const bool can_fetch = starts_on(b_data, 16) && is_multiple(stride, 16) && stride >= length &&
                           stride < (1LL << 36) && b.batch <= INT_MAX / 2;
    // A thread writes its systems' values of a row at once. A segment of contiguous rows must start on 16 bytes too (a
    // box at an odd row in f64 ended in an illegal instruction); with such n it does.
    const bool can_store = contiguous
                               ? is_multiple(b.rows, 16)
                               : is_multiple(b.batch, bytes_at_once) && is_multiple(x.row_stride, bytes_at_once) &&
                                     starts_on(x_data, bytes_at_once);
    return plain(b) && plain(x) && can_fetch && can_store;
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
    const int slots = static_cast<int>(partition.slots);
    const Variant<T> variant = choose_variant<T>(half_bandwidth, slots, contiguous, Store::replace);
    const void* kernel = reinterpret_cast<const void*>(variant.kernel);
    const Shape shape = shape_for(variant, limits, partition.group, partition.groups(), lanes);
    if (shape.stages == 0 || !prepare(variant, limits)) return plan;
    if (!contiguous && !prepare(choose_variant<T>(half_bandwidth, slots, false, Store::add), limits)) return plan;
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
                  Stream stream, Store store) {
    const int slots = static_cast<int>(partition.slots), groups = partition.groups();
    if (!plan.usable || (contiguous && store == Store::add) ||
        !reachable(b_shape, b, x_shape, x, contiguous, sizeof(T), row_bytes(slots)))
        return false;
    const int systems = row_bytes(slots) / static_cast<int>(sizeof(T));
    const Variant<T> variant = choose_variant<T>(half_bandwidth, slots, contiguous, store);
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
                                                                  : CU_TENSOR_MAP_SWIZZLE_64B;
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
                                  const FieldShape&, T*, const FieldShape&, Stream, Store);
BANDMILL_INSTANTIATE(double)
BANDMILL_INSTANTIATE(float)

} // namespace bandmill::cuda
