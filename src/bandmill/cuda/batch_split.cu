#include "bandmill/cuda/batch_split.hpp"

#include "bandmill/base/error.hpp"
#include "bandmill/cuda/batch_split.cuh"
#include "bandmill/cuda/tensor_map.hpp"

#include <cuda_runtime.h>

#include <algorithm>

namespace bandmill::cuda {
namespace {

template <class T> using Kernel = void (*)(BatchSplitArguments<T>, CUtensorMap, CUtensorMap, CUtensorMap);

template <class T> Kernel<T> kernel_for(const BatchSplit& split) {
    if constexpr (sizeof(T) == 8)
        if (split.width == 16) return solve_split<T, 16>;
    return solve_split<T, 32>;
}

struct Launch {
    cudaLaunchConfig_t config{};
    cudaLaunchAttribute attribute{};

    Launch(const BatchSplit& split, std::int64_t teams, Stream stream) {
        config.gridDim = dim3(static_cast<unsigned>(teams * split.team));
        config.blockDim = dim3(static_cast<unsigned>((split.warps + 2) * 32));
        config.dynamicSmemBytes = static_cast<std::size_t>(split.bytes);
        config.stream = stream.handle();
        config.attrs = &attribute;
        config.numAttrs = 1;
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {static_cast<unsigned>(split.team), 1, 1};
    }
    Launch(const Launch&) = delete; // config points into it
    Launch& operator=(const Launch&) = delete;
};

} // namespace

template <class T> void plan_split(BatchPlan& plan, Device device, const BatchShape& shape) {
    // Measured on an H200 only; where shared memory is smaller, so are pieces.
    if (!plan.streams || plan.limits.compute_major != 9 || !plan.tuning.splits || shape.half_bandwidth != 1 ||
        shape.boundary != Boundary::open || shape.rows < split_from || encode_tiled() == nullptr)
        return;
    const BatchSplit split = choose_split<T>(static_cast<int>(shape.rows), plan.limits.shared_bytes_per_block);
    if (split.width == 0) return;
    DeviceScope scope(device);
    const void* function = reinterpret_cast<const void*>(kernel_for<T>(split));
    check_cuda(
        cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, plan.limits.shared_bytes_per_block),
        "raising a kernel's shared memory");
    check_cuda(cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
               "allowing a kernel large clusters");
    int teams = 0;
    const Launch launch(split, 1, {});
    if (cudaOccupancyMaxActiveClusters(&teams, function, &launch.config) != cudaSuccess) {
        (void)cudaGetLastError(); // no clusters of this size here
        return;
    }
    if (teams == 0) return;
    plan.split = split;
    plan.teams = plan.tuning.teams > 0 ? std::min(teams, plan.tuning.teams) : teams;
}

template <class T>
void solve_split_systems(const BatchPlan& plan, const BatchShape& shape, const T* values, const T* b,
                         const FieldShape& b_shape, T* x, const FieldShape& x_shape, Stream stream) {
    const BatchSplit& split = plan.split;
    const std::int64_t table_rows = (shape.batch + detail::batch_tile - 1) / detail::batch_tile * 3 * shape.rows;
    if (shape.batch > INT32_MAX || table_rows > INT32_MAX) // more than any GPU holds
        throw InvalidArgument(std::to_string(shape.batch) +
                              " systems are more than one launch can hold: solve them in several batches");
    const int rows = 32 / split.width * split.rows; // of a warp
    const auto table = [&](int box_rows) {
        const auto map = describe_array(values, sizeof(T), {detail::batch_tile, table_rows}, {detail::batch_tile},
                                        split.width, box_rows);
        if (!map) throw Error("the driver cannot describe a factor to the GPU's copy engine");
        return *map;
    };
    const CUtensorMap down = table(2 * rows), up = table(rows);
    const auto boxes = describe_field(b_shape, b, sizeof(T), split.width, rows);
    const std::int64_t tiles = (shape.batch + split.width - 1) / split.width;
    Launch launch(split, std::min<std::int64_t>(plan.teams, tiles), stream);
    check_cuda(cudaLaunchKernelEx(&launch.config, kernel_for<T>(split),
                                  BatchSplitArguments<T>{static_cast<int>(shape.rows), split, b, b_shape,
                                                         boxes.has_value(), x, x_shape},
                                  boxes.value_or(down), down, up),
               "launching a kernel for matrices of their own");
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template void plan_split<T>(BatchPlan&, Device, const BatchShape&);                                                \
    template void solve_split_systems<T>(const BatchPlan&, const BatchShape&, const T*, const T*, const FieldShape&,   \
                                         T*, const FieldShape&, Stream);
BANDMILL_INSTANTIATE(double)
BANDMILL_INSTANTIATE(float)

} // namespace bandmill::cuda
