// Chooses and launches an instance of the resident kernel. One source per precision includes it, so that they compile
// side by side.
#pragma once

#include "bandmill/base/device.hpp"
#include "bandmill/cuda/resident_kernel.cuh"
#include "bandmill/cuda/tuning.hpp"

#include <cuda_runtime.h>

namespace bandmill::cuda {
namespace {

template <class E, class T, int K, bool Traced>
__global__ void __launch_bounds__(resident_threads, resident_blocks<E, T>(K))
    resident_exact(const __grid_constant__ ResidentJob<T> job,
                   const __grid_constant__ typename E::template Rate<T> rate) {
    extern __shared__ __align__(16) unsigned char shared[];
    step_members<E, T, K, 0, Ring::exact, Traced>(job, rate, reinterpret_cast<T*>(shared));
}

template <class E, class T, int K, int U, bool Traced>
__global__ void __launch_bounds__(resident_threads, resident_blocks<E, T>(K))
    resident_warp(const __grid_constant__ ResidentJob<T> job,
                  const __grid_constant__ typename E::template Rate<T> rate) {
    extern __shared__ __align__(16) unsigned char shared[];
    step_members<E, T, K, U, Ring::warp, Traced>(job, rate, reinterpret_cast<T*>(shared));
}

template <class E, class T, int K, int U, bool Traced>
__global__ void __launch_bounds__(most_resident_lanes<T>(K), 1)
    resident_block(const __grid_constant__ ResidentJob<T> job,
                   const __grid_constant__ typename E::template Rate<T> rate) {
    extern __shared__ __align__(16) unsigned char shared[];
    step_members<E, T, K, U, Ring::several_warps, Traced>(job, rate, reinterpret_cast<T*>(shared));
}

template <class E, class T> using Kernel = void (*)(ResidentJob<T>, typename E::template Rate<T>);
template <class E, class T, int K, bool Traced> Kernel<E, T> choose_kernel(const Spread& spread) {
    if (spread.exact) return resident_exact<E, T, K, Traced>;
    // Fewer slots that may be unused, fewer questions asked.
    if constexpr (K > few_resident_slots) {
        if (spread.lanes > 32)
            return spread.most_unused == 0 ? resident_block<E, T, K, 0, Traced>
                                           : resident_block<E, T, K, K / 2, Traced>;
        if (spread.most_unused <= few_unused_slots) return resident_warp<E, T, K, few_unused_slots, Traced>;
        if (spread.most_unused <= K / 4) return resident_warp<E, T, K, K / 4, Traced>;
    }
    return resident_warp<E, T, K, K / 2, Traced>;
}

int multiprocessors() {
    int device = 0, count = 0;
    check_cuda(cudaGetDevice(&device), "asking for the GPU");
    check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "asking for multiprocessors");
    return count;
}

template <class E, class T, int K>
void launch(const E& equation, const Grid& grid, const Spread& spread, const ResidentJob<T>& job, Stream stream) {
    const bool several_warps = spread.lanes > 32;
    const int warps = several_warps ? spread.lanes / 32 : 0;
    int threads = several_warps ? spread.lanes : resident_threads;
    auto blocks_of = [&](int size) {
        const std::int64_t in_block = several_warps ? 1 : std::int64_t{32 / spread.lanes} * (size / 32);
        return (job.members + in_block - 1) / in_block;
    };
    // Few members: small blocks, so that they spread over the multiprocessors.
    while (!several_warps && threads > 32 && blocks_of(threads) < multiprocessors()) threads /= 2;
    const std::int64_t blocks = blocks_of(threads);
    using Rate = typename E::template Rate<T>;
    // As step_members lays it out.
    std::size_t elements = (spread.exact ? 0 : 8 * spread.lanes) + 12 * warps;
    if (Rate::has_source) elements += static_cast<std::size_t>(K) * spread.lanes;
    if (job.square_sums != nullptr && !several_warps) elements += traced_steps * (resident_threads + 1);
    const std::size_t bytes = elements * sizeof(T);
    const Kernel<E, T> kernel =
        job.square_sums != nullptr ? choose_kernel<E, T, K, true>(spread) : choose_kernel<E, T, K, false>(spread);
    if (bytes > 48 * 1024)
        check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
                   "raising a kernel's shared memory");
    kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), bytes, stream.handle()>>>(
        job, equation.template rate<T>(grid));
    check_cuda(cudaGetLastError(), "launching steps");
}

} // namespace

template <class T>
void step_resident(const Equation& equation, const Grid& grid, const Spread& spread, const ResidentJob<T>& job,
                   Stream stream) {
    std::visit(
        [&]<class E>(const E& chosen) {
            constexpr int many = resident_slots<E, T>();
            if (spread.slots == many)
                launch<E, T, many>(chosen, grid, spread, job, stream);
            else
                launch<E, T, few_resident_slots>(chosen, grid, spread, job, stream);
        },
        equation);
}

template <class T> std::optional<Spread> choose_spread(const Equation& equation, std::int64_t points, Shape shape) {
    const int many = std::visit([]<class E>(const E&) { return resident_slots<E, T>(); }, equation);
    const bool few = points <= 2 * few_resident_slots || (shape == Shape::latency && points <= 32 * few_resident_slots);
    const int slots = few ? few_resident_slots : many;
    const std::int64_t segments = (points + slots - 1) / slots;
    const std::int64_t lanes = segments <= 32 ? segments : (segments + 31) / 32 * 32;
    if (lanes > most_resident_lanes<T>(slots) || points / lanes < slots / 2) return std::nullopt;
    Spread spread{slots, static_cast<int>(lanes), false, slots - static_cast<int>(points / lanes)};
    spread.exact = points == lanes * slots && lanes <= 32 && (lanes & (lanes - 1)) == 0;
    return spread;
}

} // namespace bandmill::cuda
