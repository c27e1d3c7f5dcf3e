// How the kernels for systems with matrices of their own are launched. Not installed.
#pragma once

#include "bandmill/base/device.hpp"
#include "bandmill/cuda/tuning.hpp"

namespace bandmill::cuda {

// What a factor or a workspace remembers of its device.
struct BatchPlan {
    DeviceLimits limits;
    BatchTuning tuning;
    bool streams;     // whether solve_streamed can run there
    BatchSplit split; // of long systems; its width is 0 where they are not split
    int teams;        // that run at the same time
    int piece;        // rows; 0: systems are not solved in pieces
};

// For benchmarks that look for better numbers: factors and workspaces made from now on are launched like this. Not to
// be changed while other threads make some.
extern BatchTuning batch_tuning;

} // namespace bandmill::cuda
