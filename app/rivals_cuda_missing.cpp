// Stands in for the GPU's rivals in a build without CUDA, where nothing is benchmarked on a GPU.
#include "place_cuda.hpp"
#include "rivals_cuda.hpp"
#include "stencil_naive.hpp"

namespace app {

std::vector<Rival<bandmill::Cuda>> make_rivals(const Place<bandmill::Cuda>&) { return {}; }

template <class T> void gather_cuda(bandmill::Device, const T*, const std::int64_t*, std::int64_t, T*) {
    throw bandmill::BackendUnavailable("this bandmill was built without CUDA: use --backend cpu");
}
template void gather_cuda(bandmill::Device, const double*, const std::int64_t*, std::int64_t, double*);
template void gather_cuda(bandmill::Device, const float*, const std::int64_t*, std::int64_t, float*);

template <class T> void run_naive(bandmill::Device, const NaiveJob<T>&) {
    throw bandmill::BackendUnavailable("this bandmill was built without CUDA: use --backend cpu");
}
template void run_naive(bandmill::Device, const NaiveJob<double>&);
template void run_naive(bandmill::Device, const NaiveJob<float>&);

} // namespace app
