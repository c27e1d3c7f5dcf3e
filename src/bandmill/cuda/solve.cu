// The CUDA solve: partitioned kernels for what fits on chip (the staged one for large interleaved batches, the plain
// one for any layout), sequential kernels for the rest.
#include "bandmill/band/solve.hpp"

#include "bandmill/cuda/factor_data.hpp"
#include "bandmill/cuda/segments.cuh"
#include "bandmill/cuda/tuning.hpp"

#include <cuda_runtime.h>

namespace bandmill {
namespace {

using namespace detail;
using cuda::Exchange;
using cuda::system_offset;

// One thread per segment; a block holds `lanes` systems, lanes being neighbours in the batch.
template <class T, int W, int K>
__global__ void __launch_bounds__(cuda::block_threads, 1)
    solve_partitioned(PartitionView<T> view, const T* b, FieldShape b_shape, T* x, FieldShape x_shape, int lanes) {
    __shared__ T spill_room[cuda::block_threads * W], edge_room[cuda::block_threads * W];
    const int lane = static_cast<int>(threadIdx.x) % lanes, p = static_cast<int>(threadIdx.x) / lanes;
    const Exchange<T, W> spills{spill_room, lanes, lane}, edges{edge_room, lanes, lane};
    const std::int64_t begin = segment_start(p, view.segments, view.n);
    const std::int64_t end = segment_start(p + 1, view.segments, view.n);
    const int unused = K - static_cast<int>(end - begin);
    Segment<T, W, K> segment;
    segment.table = view.rows + static_cast<std::int64_t>(p) * SegmentLayout<W>::columns * K;

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

        cuda::solve_segment(view, view.separators, spills, edges, p, segment);
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
    static constexpr bool fetch_ahead = true;
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

template <class T> class Launch {
  public:
    Launch(const FactorData<T, Cuda>& data, const FieldView<const T, Cuda>& b, const FieldView<T, Cuda>& x,
           Stream stream)
        : data_(data), b_(b), x_(x), stream_(stream) {}

    template <int W> void partitioned() const {
        if (cuda::staged_applies(data_.staged, b_.shape(), b_.data(), sizeof(T)))
            return cuda::solve_staged(data_.staged, W, data_.slots, data_.partitioned, b_.data(), b_.shape(), x_.data(),
                                      x_.shape(), stream_);
        switch (data_.slots) {
        case 8: return partitioned_kernel(solve_partitioned<T, W, 8>);
        case 16: return partitioned_kernel(solve_partitioned<T, W, 16>);
        default: return partitioned_kernel(solve_partitioned<T, W, 32>);
        }
    }

    template <int W> void sequential(bool periodic) const {
        per_system(periodic ? solve_sequential<T, W, true> : solve_sequential<T, W, false>, data_.direct);
    }

    template <int R> void pivoted() const { per_system(solve_pivoted<T, R>, data_.pivoted); }

  private:
    template <class Kernel> void partitioned_kernel(Kernel* kernel) const {
        const int segments = data_.partitioned.segments;
        const int lanes = cuda::choose_lanes(segments, x_.batch(), data_.limits.multiprocessors);
        launch(kernel, (x_.batch() + lanes - 1) / lanes, segments * lanes, data_.partitioned, b_.data(), b_.shape(),
               x_.data(), x_.shape(), lanes);
    }

    template <class Kernel, class View> void per_system(Kernel* kernel, const View& view) const {
        // Few systems: small blocks, so that they spread over the multiprocessors.
        const int threads = x_.batch() >= std::int64_t(data_.limits.multiprocessors) * 512 ? 128 : 32;
        launch(kernel, (x_.batch() + threads - 1) / threads, threads, view, b_.data(), b_.shape(), x_.data(),
               x_.shape());
    }

    template <class Kernel, class... Arguments>
    void launch(Kernel* kernel, std::int64_t blocks, int threads, Arguments... arguments) const {
        constexpr std::int64_t most_blocks = 1 << 30; // kernels walk on from there
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks));
        config.blockDim = dim3(static_cast<unsigned>(threads));
        config.stream = stream_.handle();
        check_cuda(cudaLaunchKernelEx(&config, kernel, arguments...), "launching a solve");
    }

    const FactorData<T, Cuda>& data_;
    const FieldView<const T, Cuda>& b_;
    const FieldView<T, Cuda>& x_;
    Stream stream_;
};

} // namespace

template <class T>
void solve(const Factor<T, Cuda>& factor, std::type_identity_t<FieldView<const T, Cuda>> b,
           std::type_identity_t<FieldView<T, Cuda>> x, Stream stream) {
    detail::check_solve(factor.size(), b.shape(), b.data(), x.shape(), x.data(), sizeof(T));
    if (x.batch() == 0) return;
    const FactorData<T, Cuda>& data = factor.data();
    require_device_pointer(data.device, b.data(), "right-hand side");
    require_device_pointer(data.device, x.data(), "solution");
    DeviceScope scope(data.device);
    const Launch<T> launch(data, b, x, stream);
    const bool narrow = factor.half_bandwidth() == 1, periodic = factor.boundary() == Boundary::periodic;
    switch (factor.report().path) {
    case SolvePath::partitioned: return narrow ? launch.template partitioned<1>() : launch.template partitioned<2>();
    case SolvePath::sequential:
        return narrow ? launch.template sequential<1>(periodic) : launch.template sequential<2>(periodic);
    case SolvePath::pivoted:
        switch (data.reach) {
        case 1: return launch.template pivoted<1>();
        case 2: return launch.template pivoted<2>();
        default: return launch.template pivoted<4>();
        }
    }
}

template void solve<double>(const Factor<double, Cuda>&, FieldView<const double, Cuda>, FieldView<double, Cuda>,
                            Stream);
template void solve<float>(const Factor<float, Cuda>&, FieldView<const float, Cuda>, FieldView<float, Cuda>, Stream);

} // namespace bandmill
