// The rivals by name, as `--rivals` takes them and results give them.
#pragma once

#include "choices.hpp"

#include <span>

namespace app {

struct RivalName {
    const char* name;
    const char* what;
};

namespace rival {
inline constexpr RivalName host[] = {
    {"paper", "the paper's algorithm as a plain loop: interleaved, rows outside, systems inside"},
    {"gttrs", "LAPACK, tridiagonal, pivoted: contiguous, factored beforehand, one BLAS thread in each of ours"},
    {"gbtrs", "LAPACK, banded, pivoted: likewise"},
};
inline constexpr RivalName cuda[] = {
    {"paper", "the paper's kernels cuThomasConstantBatch and cuPentConstantBatch: interleaved"},
    {"gtsvInterleavedBatch", "cuSPARSE, tridiagonal, Thomas: it overwrites the matrices, put back off the clock"},
    {"gtsvInterleavedBatch+reset", "the same with the matrices written again before each solve, on the clock"},
    {"gtsv2StridedBatch", "cuSPARSE, tridiagonal, cyclic reduction: contiguous"},
    {"gpsvInterleavedBatch", "cuSPARSE, pentadiagonal, QR: it overwrites the matrices, put back off the clock"},
    {"gpsvInterleavedBatch+reset", "the same with the matrices written again before each solve, on the clock"},
};
} // namespace rival

inline std::span<const RivalName> rival_names(Backend backend) {
    if (backend == Backend::cuda) return rival::cuda;
    return rival::host;
}

} // namespace app
