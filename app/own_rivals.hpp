// The rivals of `bandmill bench own`: libraries that factor and solve a matrix for every system.
#pragma once

#include "bandmill/band/batch.hpp"
#include "contestant.hpp"
#include "rival_names.hpp"

#include <span>

namespace app {

namespace rival {
inline constexpr RivalName own_host[] = {
    {"gtsv", "LAPACK, tridiagonal, pivoted: contiguous; it overwrites the matrices, put back off the clock"},
    {"gbsv", "LAPACK, banded, pivoted: likewise"},
};
inline constexpr RivalName own_cuda[] = {
    {"gtsvInterleavedBatch", "cuSPARSE, tridiagonal, Thomas: it overwrites the matrices, put back off the clock"},
    {"gtsvInterleavedBatch-LU", "the same with its LU with pivoting"},
    {"gtsvInterleavedBatch-QR", "the same with its QR"},
    {"gpsvInterleavedBatch", "cuSPARSE, pentadiagonal, QR: likewise"},
};
} // namespace rival

inline std::span<const RivalName> own_rival_names(Backend backend) {
    if (backend == Backend::cuda) return rival::own_cuda;
    return rival::own_host;
}

std::vector<Rival<bandmill::Host>> make_own_rivals(const Place<bandmill::Host>& place);
std::vector<Rival<bandmill::Cuda>> make_own_rivals(const Place<bandmill::Cuda>& place);

// How the library launches its kernels from now on: for trying other numbers than those in cuda/tuning.hpp.
void set_batch_tuning(int blocks, int chunks);
// How a GPU solves with a factor.
enum class OwnPath { sweeps, split, in_pieces };
template <class T> OwnPath path_of(const bandmill::BatchFactor<T, bandmill::Cuda>& factor);

} // namespace app
