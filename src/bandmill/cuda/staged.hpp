// The staged kernel: the partitioned solve for large interleaved batches on GPUs with a bulk tensor copy engine
// (compute capability 9.0 and later). The same arithmetic as the plain partitioned kernel, bit for bit.
#pragma once

#include "bandmill/band/partition.hpp"
#include "bandmill/base/device.hpp"
#include "bandmill/base/field.hpp"

#include <cstdint>

namespace bandmill::cuda {

// How the kernel is launched for one factor. Made when the matrix is factored, so that a solve only launches.
struct StagedPlan {
    bool usable = false;
    int lanes = 0;  // systems per block
    int stages = 0; // tiles on their way while one is solved
    int threads = 0;
    int shared_bytes = 0;
    int blocks = 0; // that fill the GPU
    int multiprocessors = 0;
};

template <class T> StagedPlan plan_staged(Device device, int half_bandwidth, int slots, int segments);

// False if it does not apply (another layout, a small batch, rows that are not on 16 bytes): use the plain kernel then.
template <class T>
bool solve_staged(const StagedPlan& plan, int half_bandwidth, int slots, const detail::PartitionView<T>& view,
                  const T* b, const FieldShape& b_shape, T* x, const FieldShape& x_shape, Stream stream);

} // namespace bandmill::cuda
