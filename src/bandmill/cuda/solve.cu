// The CUDA solve: the partitioned kernel for what fits on chip, sequential kernels for the rest.
#include "bandmill/band/solve.hpp"

#include "bandmill/cuda/factor_data.hpp"
#include "bandmill/cuda/tuning.hpp"

#include <cuda_runtime.h>

namespace bandmill {
namespace {

using namespace detail;

// Where a system starts in a view. 64-bit division takes a hundred instructions, so views without tiles skip it.
__device__ __forceinline__ std::int64_t system_offset(const FieldShape& shape, std::int64_t m) {
    if (shape.tile >= shape.batch) return m * shape.batch_stride;
    return m % shape.tile * shape.batch_stride + m / shape.tile * shape.tile_stride;
}

// What segments of one block tell each other: [segment][w][lane], so that lanes are neighbours in memory.
template <class T, int W> struct Exchange {
    T* values;
    int lanes, lane;

    __device__ void put(int p, const T (&value)[W]) const {
#pragma unroll
        for (int w = 0; w < W; ++w) values[(p * W + w) * lanes + lane] = value[w];
    }
    __device__ void get(int p, T (&value)[W]) const {
#pragma unroll
        for (int w = 0; w < W; ++w) value[w] = values[(p * W + w) * lanes + lane];
    }
};

// Turns every separator's right-hand side into its solution; run_segments in band/probe.cpp does the same on the host.
template <class T, int W>
__device__ void solve_separators(const PartitionView<T>& view, const Exchange<T, W>& edges, int p, T (&edge)[W]) {
    using Layout = SeparatorLayout<W>;
    const int root = view.segments - 1;
    auto table = [&](int q) { return view.separators + q * Layout::entries; };
    const int own_level = p == root ? view.levels : min(separator_level(p), view.levels);
    T other[W];
    for (int level = 0; level < view.levels; ++level) {
        if (own_level == level) {
            solve_lower<W>(table(p), edge);
            edges.put(p, edge);
        }
        __syncthreads();
        if (own_level > level) {
            const int left = sender_from_left(p, level, view.segments);
            const int right = sender_from_right(p, level, view.segments, view.periodic);
            if (left >= 0) {
                edges.get(left, other);
                add_product<W>(edge, table(left) + Layout::to_right, other);
            }
            if (right >= 0) {
                edges.get(right, other);
                add_product<W>(edge, table(right) + Layout::to_left, other);
            }
        }
    }
    if (own_level == view.levels) {
        solve_lower<W>(table(p), edge);
        solve_upper<W>(table(p), edge);
        edges.put(p, edge);
    }
    for (int level = view.levels - 1; level >= 0; --level) {
        __syncthreads();
        if (own_level == level) {
            const int left = left_neighbour(p, level, view.segments, view.periodic);
            const int right = right_neighbour(p, level, view.segments);
            if (left >= 0) {
                edges.get(left, other);
                add_product<W>(edge, table(p) + Layout::from_left, other);
            }
            edges.get(right, other);
            add_product<W>(edge, table(p) + Layout::from_right, other);
            solve_upper<W>(table(p), edge);
            edges.put(p, edge);
        }
    }
    __syncthreads();
}

// One thread per segment; a block holds `lanes` systems, lanes being neighbours in the batch.
template <class T, int W, int K>
__global__ void __launch_bounds__(cuda::block_threads, 1)
    solve_partitioned(PartitionView<T> view, const T* b, FieldShape b_shape, T* x, FieldShape x_shape, int lanes) {
    __shared__ T spill_room[cuda::block_threads * W], edge_room[cuda::block_threads * W];
    const int lane = static_cast<int>(threadIdx.x) % lanes, p = static_cast<int>(threadIdx.x) / lanes;
    const int root = view.segments - 1;
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
        for (int j = 0; j < K; ++j) segment.g[j] = here && j >= unused ? from[j * b_shape.row_stride] : T(0);

        T spill[W], edge[W], left[W];
        segment.sweep_down(spill);
        spills.put(p, spill);
        __syncthreads();
#pragma unroll
        for (int w = 0; w < W; ++w) edge[w] = segment.g[K - W + w];
        if (p < root || view.periodic) {
            spills.get(p < root ? p + 1 : 0, spill);
#pragma unroll
            for (int w = 0; w < W; ++w) edge[w] += spill[w];
        }
        solve_separators<T, W>(view, edges, p, edge);
#pragma unroll
        for (int w = 0; w < W; ++w) {
            segment.g[K - W + w] = edge[w];
            left[w] = T(0);
        }
        if (p > 0 || view.periodic) edges.get(p > 0 ? p - 1 : root, left);
        segment.sweep_up(left);

        if (!here) continue;
        T* to = x + system_offset(x_shape, system) + (end - K) * x_shape.row_stride;
#pragma unroll
        for (int j = 0; j < K; ++j)
            if (j >= unused) to[j * x_shape.row_stride] = segment.g[j];
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
    Launch(const FactorData<T, Cuda>& data, const FieldView<const T, Cuda>& b, const FieldView<T, Cuda>& x, Stream stream)
        : data_(data), b_(b), x_(x), stream_(stream) {}

    template <int W> void partitioned() const {
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
        launch(kernel, (x_.batch() + threads - 1) / threads, threads, view, b_.data(), b_.shape(), x_.data(), x_.shape());
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

template void solve<double>(const Factor<double, Cuda>&, FieldView<const double, Cuda>, FieldView<double, Cuda>, Stream);
template void solve<float>(const Factor<float, Cuda>&, FieldView<const float, Cuda>, FieldView<float, Cuda>, Stream);

} // namespace bandmill
