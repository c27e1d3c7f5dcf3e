// What tests of matrices of their own share that are for a GPU alone.
#pragma once

#include "bandmill/cuda/batch_plan.hpp"
#include "limits.hpp"
#include "own_matrices.hpp"

#include <cuda_runtime_api.h>

namespace bandmill::test {

using OwnOnCuda = BackendTest;

inline void require(cudaError_t code) {
    if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

inline OwnBatch make_batch(std::int64_t n, int w, Boundary boundary, std::int64_t batch) {
    OwnBatch own{{}, batch};
    for (int k = 0; k < 5; ++k) own.matrices.push_back(make_bands({Family::dominant}, n, w, boundary, 40 + k));
    return own;
}

inline std::vector<double> right_hand_sides(const OwnBatch& own, int turn) {
    std::vector<double> b(own.n() * own.batch);
    for (std::size_t k = 0; k < b.size(); ++k) b[k] = own_rhs<double>(static_cast<std::int64_t>(k), turn, 1 << 30);
    return b;
}

// Long systems are split, or solved in pieces.
inline bool splits_here() {
    int major = 0;
    require(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    return major == 9;
}

template <class T> cuda::BatchPlan plan_of(const BatchFactor<T, Cuda>& factor) {
    return *static_cast<const cuda::BatchPlan*>(factor.data().knowledge.get());
}

} // namespace bandmill::test
