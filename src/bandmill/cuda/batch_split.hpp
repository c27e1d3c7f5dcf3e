// Solves with a factor that split long systems over teams of blocks (batch_split.cuh): whether, how, and the launch.
// Not installed.
#pragma once

#include "bandmill/band/batch.hpp"
#include "bandmill/cuda/batch_plan.hpp"

namespace bandmill::cuda {

// Fills in split and teams of a plan, where systems of this shape are to be split.
template <class T> void plan_split(BatchPlan& plan, Device device, const BatchShape& shape);

template <class T>
void solve_split_systems(const BatchPlan& plan, const BatchShape& shape, const T* values, const T* b,
                         const FieldShape& b_shape, T* x, const FieldShape& x_shape, Stream stream);

} // namespace bandmill::cuda
