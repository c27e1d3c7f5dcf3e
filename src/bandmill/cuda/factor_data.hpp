// The CUDA factor: the chosen path's tables in device memory, and views of them for kernels.
#pragma once

#include "bandmill/band/tables.hpp"
#include "bandmill/base/array.hpp"
#include "bandmill/base/device.hpp"
#include "bandmill/cuda/staged.hpp"

namespace bandmill::detail {

template <class T> struct FactorData<T, Cuda> {
    Device device;
    DeviceLimits limits;
    int slots = 0; // of the partition
    cuda::StagedPlan staged;
    int reach = 0; // of the pivoted factor
    PartitionView<T> partitioned{};
    DirectView<T> direct{};
    PivotedView<T> pivoted{};
    Array<T, Cuda> values; // what the view in use points to
    Array<std::int8_t, Cuda> exchanges;
};

} // namespace bandmill::detail
