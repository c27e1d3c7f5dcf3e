// Stands in for the GPU's rivals in a build without CUDA, where nothing is benchmarked on a GPU.
#include "own_rivals.hpp"
#include "place_cuda.hpp"
#include "rivals_cuda.hpp"
#include "stencil_naive.hpp"

namespace app {

std::vector<Rival<bandmill::Cuda>> make_rivals(const Place<bandmill::Cuda>&) { return {}; }

std::vector<Rival<bandmill::Cuda>> make_own_rivals(const Place<bandmill::Cuda>&) { return {}; }

[[noreturn]] static void throw_missing() {
    throw bandmill::BackendUnavailable("this bandmill was built without CUDA: use --backend cpu");
}

void set_batch_tuning(int, int) { throw_missing(); }
template <class T> OwnPath path_of(const bandmill::BatchFactor<T, bandmill::Cuda>&) { return OwnPath::sweeps; }
template OwnPath path_of(const bandmill::BatchFactor<double, bandmill::Cuda>&);
template OwnPath path_of(const bandmill::BatchFactor<float, bandmill::Cuda>&);
template <class T> void spread_interleaved(bandmill::Device, const T*, std::int64_t, std::int64_t, Copies<T>) {
    throw_missing();
}
template void spread_interleaved(bandmill::Device, const double*, std::int64_t, std::int64_t, Copies<double>);
template void spread_interleaved(bandmill::Device, const float*, std::int64_t, std::int64_t, Copies<float>);

template <class T> void gather_cuda(bandmill::Device, const T*, const std::int64_t*, std::int64_t, T*) {
    throw_missing();
}
template void gather_cuda(bandmill::Device, const double*, const std::int64_t*, std::int64_t, double*);
template void gather_cuda(bandmill::Device, const float*, const std::int64_t*, std::int64_t, float*);

template <class T> void run_naive(bandmill::Device, const NaiveJob<T>&) {
    throw bandmill::BackendUnavailable("this bandmill was built without CUDA: use --backend cpu");
}
template void run_naive(bandmill::Device, const NaiveJob<double>&);
template void run_naive(bandmill::Device, const NaiveJob<float>&);

} // namespace app
