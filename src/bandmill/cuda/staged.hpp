// The staged kernel: the partitioned solve of interleaved or contiguous batches on GPUs with a bulk tensor copy engine
// and clusters of blocks (compute capability 9.0 and later). The same arithmetic as the plain kernels, bit for bit.
#pragma once

#include "bandmill/band/partition.hpp"
#include "bandmill/base/device.hpp"
#include "bandmill/base/field.hpp"

#include <cstdint>

namespace bandmill::cuda {

// What is asked of the device once, when the matrix is factored, so that a solve only launches.
struct StagedPlan {
    bool usable = false;
    int clusters = 0; // of blocks, one system's groups each, that fill the GPU
    DeviceLimits limits{};
};

template <class T>
StagedPlan plan_staged(Device device, int half_bandwidth, const detail::Partition& partition, bool contiguous);

// What happens to what stands where the solution goes.
enum class Store { replace, add };

// Adding is for interleaved systems only.
// False if it does not apply (another layout, rows that are not on 16 bytes): use a plain kernel then.
template <class T>
bool solve_staged(const StagedPlan& plan, int half_bandwidth, const detail::Partition& partition, bool contiguous,
                  const detail::PartitionView<T>& view, const T* b, const FieldShape& b_shape, T* x,
                  const FieldShape& x_shape, Stream stream, Store store = Store::replace);

} // namespace bandmill::cuda
