// The CUDA solve: partitioned kernels (the staged one for the usual layouts, the plain one for any, two passes for
// systems that do not fit on chip), sequential kernels for matrices that cannot be partitioned.
#include "bandmill/band/solve.hpp"

#include "bandmill/cuda/factor_data.hpp"
#include "bandmill/cuda/segments.cuh"
#include "bandmill/cuda/solve_add.hpp"
#include "bandmill/cuda/tuning.hpp"
#include "bandmill/cuda/two_passes.hpp"

#include <cuda_runtime.h>

namespace bandmill {
namespace {

using namespace detail;
using cuda::Exchange;
using cuda::system_offset;

// One thread per segment; a block holds `lanes` systems, lanes being neighbours in the batch. Any layout.
template <class T, int W, int K>
__global__ void __launch_bounds__(cuda::block_threads, 1)
    solve_partitioned(PartitionView<T> view, const T* b, FieldShape b_shape, T* x, FieldShape x_shape, int lanes) {
    __shared__ T spill_room[cuda::block_threads * W], edge_room[2 * cuda::block_threads * W];
    const int lane = static_cast<int>(threadIdx.x) % lanes, p = static_cast<int>(threadIdx.x) / lanes;
    const int c = p / view.group;
    const Exchange<T, W> spills{spill_room, lanes, lane}, edges{edge_room, lanes, lane};
    cuda::GroupThread<T, W, K, T> part{view,
                                       view.separators + c * view.group * SeparatorLayout<W>::entries,
                                       {spill_room + c * view.group * W * lanes, lanes, lane},
                                       {edge_room + c * (view.group + 1) * W * lanes, lanes, lane},
                                       p % view.group,
                                       {},
                                       {}};
    Segment<T, W, K>& segment = part.segment;
    const std::int64_t begin = segment_start<std::int64_t>(p, view.segments, view.n);
    const std::int64_t end = segment_start<std::int64_t>(p + 1, view.segments, view.n);
    const int unused = K - static_cast<int>(end - begin);
    segment.table = view.rows + static_cast<std::int64_t>(p) * SegmentLayout<W>::columns * K;
    if (p == 0) part.edges.put(0, part.edge); // zero, unless there is an end to the left

    const std::int64_t stride = std::int64_t(gridDim.x) * lanes;
    for (std::int64_t first = std::int64_t(blockIdx.x) * lanes; first < x_shape.batch; first += stride) {
        const std::int64_t system = first + lane;
        const bool here = system < x_shape.batch;
        const T* from = b + (here ? system_offset(b_shape, system) : 0) + (end - K) * b_shape.row_stride;
#pragma unroll
        for (int j = 0; j < K; ++j) { // walking the pointer: K addresses at once would spill registers
            segment.g[j] = here && j >= unused ? *from : T(0);
            from += b_shape.row_stride;
        }

        part.eliminate();
        if (part.is_end()) part.edges.put(view.group, part.edge);
        __syncthreads();
        cuda::BlockEnds<T, T, W> ends{view, spills, edges, p, view.segments};
        solve_ends<W, T>(view, ends);
        part.substitute();
        if (!here) continue;
        T* to = x + system_offset(x_shape, system) + (end - K) * x_shape.row_stride;
#pragma unroll
        for (int j = 0; j < K; ++j) {
            if (j >= unused) *to = segment.g[j];
            to += x_shape.row_stride;
        }
    }
}

// One thread per system, its rows in memory.
template <class T> struct ThreadRows {
    using Value = T;
    static constexpr int ahead = cuda::rows_ahead;
    const T* b;
    T* x;
    std::int64_t b_stride, x_stride;

    __device__ T load(std::int64_t i) const { return b[i * b_stride]; }
    __device__ void keep(std::int64_t i, T g) { x[i * x_stride] = g; }
    __device__ T kept(std::int64_t i) const { return x[i * x_stride]; }
    __device__ void store(std::int64_t i, T value) { x[i * x_stride] = value; }
};

template <class T, class Sweep>
__device__ void for_each_system(const T* b, const FieldShape& b_shape, T* x, const FieldShape& x_shape, Sweep sweep) {
    const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t m = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; m < x_shape.batch; m += stride) {
        ThreadRows<T> rows{b + system_offset(b_shape, m), x + system_offset(x_shape, m), b_shape.row_stride,
                           x_shape.row_stride};
        sweep(rows);
    }
}

template <class T, int W, bool Periodic>
__global__ void solve_sequential(DirectView<T> view, const T* b, FieldShape b_shape, T* x, FieldShape x_shape) {
    for_each_system(b, b_shape, x, x_shape, [&](ThreadRows<T>& rows) { sweep_direct<W, Periodic>(view, rows); });
}

template <class T, int R>
__global__ void solve_pivoted(PivotedView<T> view, const T* b, FieldShape b_shape, T* x, FieldShape x_shape) {
    for_each_system(b, b_shape, x, x_shape, [&](ThreadRows<T>& rows) { sweep_pivoted<R>(view, rows); });
}

// The kernel that solves with a factor, and how it is launched; kernels of one path take the same arguments.
template <class T> const void* partitioned_kernel(int half_bandwidth, int slots) {
    const bool narrow = half_bandwidth == 1;
    auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
    if (slots == cuda::most_slots)
        return narrow ? address(solve_partitioned<T, 1, cuda::most_slots>)
                      : address(solve_partitioned<T, 2, cuda::most_slots>);
    return narrow ? address(solve_partitioned<T, 1, cuda::few_slots>)
                  : address(solve_partitioned<T, 2, cuda::few_slots>);
}

template <class T> const void* sequential_kernel(int half_bandwidth, bool periodic) {
    auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
    if (half_bandwidth == 1)
        return periodic ? address(solve_sequential<T, 1, true>) : address(solve_sequential<T, 1, false>);
    return periodic ? address(solve_sequential<T, 2, true>) : address(solve_sequential<T, 2, false>);
}

template <class T> const void* pivoted_kernel(int reach) {
    auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
    return reach == 1   ? address(solve_pivoted<T, 1>)
           : reach == 2 ? address(solve_pivoted<T, 2>)
                        : address(solve_pivoted<T, 4>);
}

template <class... Arguments>
void launch(const void* kernel, std::int64_t blocks, int threads, Stream stream, Arguments... arguments) {
    constexpr std::int64_t most_blocks = 1 << 30; // kernels walk on from there
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.stream = stream.handle();
    void* pointers[] = {&arguments...};
    check_cuda(cudaLaunchKernelExC(&config, kernel, pointers), "launching a solve");
}

} // namespace

template <class T>
const void* cuda::kernel_for(SolvePath path, int half_bandwidth, bool periodic, int slots, int reach) {
    switch (path) {
    case SolvePath::partitioned: return partitioned_kernel<T>(half_bandwidth, slots);
    case SolvePath::sequential: return sequential_kernel<T>(half_bandwidth, periodic);
    case SolvePath::pivoted: return pivoted_kernel<T>(reach);
    }
    return nullptr;
}

template <class T>
void solve(const Factor<T, Cuda>& factor, std::type_identity_t<FieldView<const T, Cuda>> b,
           std::type_identity_t<FieldView<T, Cuda>> x, Stream stream) {
    detail::check_solve(factor.size(), b.shape(), b.data(), x.shape(), x.data(), sizeof(T));
    if (x.batch() == 0) return;
    const FactorData<T, Cuda>& data = factor.data();
    require_device_pointer(data.device, b.data(), "right-hand side");
    require_device_pointer(data.device, x.data(), "solution");
    DeviceScope scope(data.device);
    const std::int64_t batch = x.batch();
    const int multiprocessors = data.limits.multiprocessors;
    // Few systems with a thread each: small blocks, so that they spread over the multiprocessors.
    const int threads = batch >= std::int64_t(multiprocessors) * 512 ? 128 : 32;
    switch (factor.report().path) {
    case SolvePath::partitioned: {
        for (const bool contiguous : {false, true})
            if (cuda::solve_staged(data.staged[contiguous], factor.half_bandwidth(), data.partition, contiguous,
                                   data.partitioned, b.data(), b.shape(), x.data(), x.shape(), stream))
                return;
        if (data.two_passes)
            return cuda::solve_two_passes(*data.workspace, factor.half_bandwidth(), data.partition, data.partitioned,
                                          b.data(), b.shape(), x.data(), x.shape(), multiprocessors, stream);
        const int segments = data.partition.segments;
        const int lanes = cuda::choose_lanes(segments, 1, 1, batch, multiprocessors, 1);
        return launch(data.kernel, (batch + lanes - 1) / lanes, segments * lanes, stream, data.partitioned, b.data(),
                      b.shape(), x.data(), x.shape(), lanes);
    }
    case SolvePath::sequential:
        return launch(data.kernel, (batch + threads - 1) / threads, threads, stream, data.direct, b.data(), b.shape(),
                      x.data(), x.shape());
    case SolvePath::pivoted:
        return launch(data.kernel, (batch + threads - 1) / threads, threads, stream, data.pivoted, b.data(), b.shape(),
                      x.data(), x.shape());
    }
}

template <class T>
bool cuda::solve_and_add(const Factor<T, Cuda>& factor, const FieldView<const T, Cuda>& b, const FieldView<T, Cuda>& x,
                         Stream stream) {
    detail::check_solve(factor.size(), b.shape(), b.data(), x.shape(), x.data(), sizeof(T));
    const FactorData<T, Cuda>& data = factor.data();
    if (factor.report().path != SolvePath::partitioned || x.batch() == 0) return false;
    DeviceScope scope(data.device);
    return solve_staged(data.staged[false], factor.half_bandwidth(), data.partition, false, data.partitioned, b.data(),
                        b.shape(), x.data(), x.shape(), stream, Store::add);
}

template bool cuda::solve_and_add<double>(const Factor<double, Cuda>&, const FieldView<const double, Cuda>&,
                                          const FieldView<double, Cuda>&, Stream);
template bool cuda::solve_and_add<float>(const Factor<float, Cuda>&, const FieldView<const float, Cuda>&,
                                         const FieldView<float, Cuda>&, Stream);
template const void* cuda::kernel_for<double>(SolvePath, int, bool, int, int);
template const void* cuda::kernel_for<float>(SolvePath, int, bool, int, int);
template void solve<double>(const Factor<double, Cuda>&, FieldView<const double, Cuda>, FieldView<double, Cuda>,
                            Stream);
template void solve<float>(const Factor<float, Cuda>&, FieldView<const float, Cuda>, FieldView<float, Cuda>, Stream);

} // namespace bandmill
