// The partitioned solve of systems too long for the chip, or for one block in a layout that the staged kernel cannot
// fetch: 24 bytes per unknown in f64 instead of 16. The first pass
// reads the right-hand side and reduces each group to its end; a small kernel solves for the ends; the second pass
// reads it again and writes the solution. Any layout, any number of rows; the same arithmetic as the other kernels.
#pragma once

#include "bandmill/band/partition.hpp"
#include "bandmill/base/device.hpp"
#include "bandmill/base/field.hpp"

#include <cstddef>

namespace bandmill::cuda {

// Workspace: the ends of all groups, and what the groups spill on them.
template <class T> std::size_t two_passes_bytes_per_system(int half_bandwidth, const detail::Partition& partition) {
    return std::size_t(2) * partition.groups() * half_bandwidth * sizeof(T);
}

template <class T> void load_two_passes(Device device, int half_bandwidth);

template <class T>
void solve_two_passes(const Workspace& workspace, int half_bandwidth, const detail::Partition& partition,
                      const detail::PartitionView<T>& view, const T* b, const FieldShape& b_shape, T* x,
                      const FieldShape& x_shape, int multiprocessors, Stream stream);

} // namespace bandmill::cuda
