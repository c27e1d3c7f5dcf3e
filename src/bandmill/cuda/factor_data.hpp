// The CUDA factor: the chosen path's tables in device memory, and views of them for kernels.
#pragma once

#include "bandmill/band/tables.hpp"
#include "bandmill/base/array.hpp"
#include "bandmill/base/device.hpp"
#include "bandmill/cuda/staged.hpp"

#include <memory>

namespace bandmill::cuda {

// The kernel for a factor: `slots` of its partition, or `reach` of its row exchanges, as the path has it.
template <class T> const void* kernel_for(SolvePath path, int half_bandwidth, bool periodic, int slots, int reach);

} // namespace bandmill::cuda

namespace bandmill::detail {

template <class T> struct FactorData<T, Cuda> {
    Device device;
    DeviceLimits limits;
    const void* kernel = nullptr; // that solves any layout with these tables, unless it takes two passes
    Partition partition;
    cuda::StagedPlan staged[2];           // interleaved, contiguous
    bool two_passes = false;              // where the staged kernel does not apply
    std::unique_ptr<Workspace> workspace; // for two passes
    int reach = 0;                        // of the pivoted factor
    PartitionView<T> partitioned{};
    DirectView<T> direct{};
    PivotedView<T> pivoted{};
    Array<T, Cuda> values; // what the view in use points to
    Array<std::int8_t, Cuda> exchanges;
};

} // namespace bandmill::detail
