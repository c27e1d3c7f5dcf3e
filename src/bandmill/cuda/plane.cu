#include "bandmill/cuda/plane.hpp"

#include "bandmill/base/device.hpp"
#include "bandmill/cuda/plane_tuning.hpp"

#include <cuda_runtime.h>

#include <algorithm>

namespace bandmill::cuda {
namespace {

constexpr unsigned every_lane = 0xffffffffu;
constexpr int threads = 256;
constexpr int march_lanes = 30; // of a warp that write

unsigned blocks_for(std::int64_t work, std::int64_t per_block) {
    return static_cast<unsigned>(std::min<std::int64_t>((work + per_block - 1) / per_block, 1 << 20));
}

// Launches may overlap with the kernel before them (programmatic dependent launch): nothing of its results is touched
// before this.
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), std::int64_t blocks, int block_size, PlaneQueue queue,
            Arguments... arguments) {
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(block_size));
    config.stream = queue.stream.handle();
    config.attrs = &early;
    config.numAttrs = queue.overlap ? 1 : 0;
    check_cuda(cudaLaunchKernelEx(&config, kernel, arguments...), "launching a kernel on planes");
}

__device__ __forceinline__ std::int64_t wrapped(std::int64_t i, std::int64_t n) {
    return i < 0 ? i + n : i >= n ? i - n : i;
}

// V neighbouring values of a row, moved in pieces of 16 bytes.
template <class T, int V> struct RowPart {
    static constexpr int piece = 16 / static_cast<int>(sizeof(T));
    struct alignas(16) Piece {
        T value[piece];
    };
    Piece pieces[V / piece];

    __device__ __forceinline__ T& operator[](int v) { return pieces[v / piece].value[v % piece]; }
    __device__ __forceinline__ const T& operator[](int v) const { return pieces[v / piece].value[v % piece]; }
    __device__ __forceinline__ void load(const T* from) {
#pragma unroll
        for (int k = 0; k < V / piece; ++k) pieces[k] = reinterpret_cast<const Piece*>(from)[k];
    }
    __device__ __forceinline__ void store(T* to) const {
#pragma unroll
        for (int k = 0; k < V / piece; ++k) reinterpret_cast<Piece*>(to)[k] = pieces[k];
    }
};

// A warp marches down a tile of 32 V columns with three rows of C and of the potential in registers; neighbours are
// asked for theirs. The outermost threads are there to be asked only: what they compute themselves is wrong.
template <class E, class T, int V, bool Corrected> struct March {
    using Rate = typename E::template PlaneRate<T>;
    using Part = RowPart<T, V>;

    const PlaneJob<T>& job;
    const Rate& rate;
    std::int64_t row_stride;
    const T *state, *increment; // of the thread's columns in the row that is fetched next
    std::int64_t rows_to_end;   // of the plane, from that row: the first comes after the last

    __device__ __forceinline__ Part fetch() {
        Part part;
        part.load(state);
        if constexpr (Corrected) {
            Part more;
            more.load(increment);
#pragma unroll
            for (int v = 0; v < V; ++v) part[v] = part[v] + T(0.5) * more[v];
            increment += row_stride;
        }
        state += row_stride;
        if (--rows_to_end == 0) {
            rows_to_end = job.rows;
            state -= job.rows * row_stride;
            if constexpr (Corrected) increment -= job.rows * row_stride;
        }
        return part;
    }

    // body(v, left, right) for all columns, with the values beside them.
    template <class Body> __device__ __forceinline__ static void for_columns(const Part& row, const Body& body) {
        const T left = __shfl_up_sync(every_lane, row[V - 1], 1), right = __shfl_down_sync(every_lane, row[0], 1);
#pragma unroll
        for (int v = 0; v < V; ++v)
            body(v, v > 0 ? row[v > 0 ? v - 1 : 0] : left, v + 1 < V ? row[v + 1 < V ? v + 1 : 0] : right);
    }
    __device__ __forceinline__ Part potential(const Part& below, const Part& row, const Part& above) const {
        Part mu;
        for_columns(row, [&](int v, T left, T right) {
            mu[v] = rate.potential(row[v], job.laplacian.laplacian(row[v], left, right, below[v], above[v]));
        });
        return mu;
    }
    __device__ __forceinline__ Part update(const Part& below, const Part& row, const Part& above) const {
        Part result;
        for_columns(row, [&](int v, T left, T right) {
            result[v] = job.update.laplacian(row[v], left, right, below[v], above[v]);
        });
        return result;
    }
};

template <class E, class T, int V, bool Corrected>
__global__ void __launch_bounds__(plane_block_threads, plane_blocks)
    march_kernel(const __grid_constant__ PlaneJob<T> job,
                 const __grid_constant__ typename E::template PlaneRate<T> rate, std::int64_t first, std::int64_t last,
                 std::int64_t march_rows, std::int64_t tiles, T* results) {
    constexpr int ahead = plane_rows_ahead;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t warp = (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    const std::int64_t tile = warp % tiles, strip = warp / tiles, member = strip % job.members;
    const std::int64_t begin = first + strip / job.members * march_rows;
    if (begin >= last) return;
    const std::int64_t end = begin + march_rows < last ? begin + march_rows : last;
    const std::int64_t groups = job.n / V, group = tile * march_lanes + lane - 1;
    const bool writes = lane > 0 && lane <= march_lanes && group < groups;
    const std::int64_t row_stride = job.members * job.n;
    const std::int64_t column = member * job.n + (group + groups) % groups * V;
    const std::int64_t top = wrapped(begin - 2, job.rows);
    wait_for_previous();
    March<E, T, V, Corrected> march{job,
                                    rate,
                                    row_stride,
                                    job.states + top * row_stride + column,
                                    Corrected ? job.increments + top * row_stride + column : nullptr,
                                    job.rows - top};
    using Part = RowPart<T, V>;
    Part c[3];
    c[0] = march.fetch();
    c[1] = march.fetch();
    c[2] = march.fetch();
    Part next[ahead];
#pragma unroll
    for (int j = 0; j < ahead; ++j) next[j] = march.fetch(); // more than a short march needs; they are there
    Part mu[3];
    mu[1] = march.potential(c[0], c[1], c[2]); // of row begin - 1
    mu[0] = mu[1];
    std::int64_t at = begin * row_stride + column; // what is written next
    // Row y + 1 comes in, the potential of row y can be told, and the right-hand side of row y - 1.
    for (std::int64_t y = begin; y <= end; y += ahead) {
#pragma unroll
        for (int j = 0; j < ahead; ++j) {
            if (y + j > end) break;
            c[0] = c[1];
            c[1] = c[2];
            c[2] = next[j];
            if (y + j + ahead <= end) next[j] = march.fetch();
            mu[2] = march.potential(c[0], c[1], c[2]);
            if (y + j > begin) {
                Part result = march.update(mu[0], mu[1], mu[2]);
                if (writes) {
                    if constexpr (Corrected) {
                        Part increment;
                        increment.load(job.increments + at);
#pragma unroll
                        for (int v = 0; v < V; ++v) result[v] = result[v] - increment[v];
                    }
                    result.store(results + at);
                }
                at += row_stride;
            }
            mu[0] = mu[1];
            mu[1] = mu[2];
        }
    }
}

// Any shape: a thread per point, thirteen points of C each.
template <class E, class T>
__global__ void __launch_bounds__(threads)
    point_kernel(const PlaneJob<T> job, const typename E::template PlaneRate<T> rate, std::int64_t first,
                 std::int64_t last, T* results) {
    wait_for_previous();
    const std::int64_t row_stride = job.members * job.n, step = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t k = first * row_stride + std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
         k < last * row_stride; k += step) {
        const std::int64_t y = k / row_stride, member = k % row_stride / job.n, i = k % job.n;
        auto c = [&](int dx, int dy) {
            const std::int64_t at = wrapped(y + dy, job.rows) * row_stride + member * job.n + wrapped(i + dx, job.n);
            if (job.increments == nullptr) return job.states[at];
            return job.states[at] + T(0.5) * job.increments[at];
        };
        auto potential = [&](int dx, int dy) {
            const T here = c(dx, dy);
            return rate.potential(
                here, job.laplacian.laplacian(here, c(dx - 1, dy), c(dx + 1, dy), c(dx, dy - 1), c(dx, dy + 1)));
        };
        const T result =
            job.update.laplacian(potential(0, 0), potential(-1, 0), potential(1, 0), potential(0, -1), potential(0, 1));
        results[k] = job.increments == nullptr ? result : result - job.increments[k];
    }
}

template <class T>
__global__ void __launch_bounds__(threads)
    add_kernel(T* states, const T* increments, const T* more, std::int64_t points) {
    wait_for_previous();
    const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t k = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; k < points; k += step)
        states[k] = states[k] + (more == nullptr ? increments[k] : increments[k] + more[k]);
}

template <class T>
__global__ void __launch_bounds__(threads)
    reorder_kernel(Order to, std::int64_t n, std::int64_t rows, std::int64_t members, const T* from, T* result) {
    wait_for_previous();
    const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x, points = n * rows * members;
    for (std::int64_t k = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; k < points; k += step) {
        const std::int64_t i = k % n, member = k / n % members, y = k / n / members; // k in [y][member][x]
        const std::int64_t other = (member * rows + y) * n + i;
        if (to == Order::row_first)
            result[k] = from[other];
        else
            result[other] = from[k];
    }
}

// Adds up over a block, in an order that only its size decides; thread 0 has the result.
__device__ void add_over_block(detail::PlaneSums& sums) {
    __shared__ double room[threads * sizeof(detail::PlaneSums) / sizeof(double)]; // shared memory has no constructors
    auto* const all = reinterpret_cast<detail::PlaneSums*>(room);
    all[threadIdx.x] = sums;
    __syncthreads();
    for (int half = threads / 2; half >= 1; half /= 2) {
        if (static_cast<int>(threadIdx.x) < half) all[threadIdx.x].add(all[threadIdx.x + half]);
        __syncthreads();
    }
    sums = all[0];
    __syncthreads();
}

template <class E, class T>
__global__ void __launch_bounds__(threads)
    measure_rows_kernel(const PlaneJob<T> job, const typename E::template PlaneRate<T> rate, const T* rates,
                        detail::PlaneSums* row_sums) {
    wait_for_previous();
    const std::int64_t row_stride = job.members * job.n;
    for (std::int64_t row = blockIdx.x; row < job.members * job.rows; row += gridDim.x) {
        const std::int64_t member = row / job.rows, y = row % job.rows;
        const T* const here = job.states + y * row_stride + member * job.n;
        const T* const below = job.states + wrapped(y - 1, job.rows) * row_stride + member * job.n;
        const T* const above = job.states + wrapped(y + 1, job.rows) * row_stride + member * job.n;
        detail::PlaneSums sums;
        for (std::int64_t i = threadIdx.x; i < job.n; i += threads) {
            sums.add_point(rate, job.laplacian, here[i], here[wrapped(i - 1, job.n)], here[wrapped(i + 1, job.n)],
                           below[i], above[i]);
            if (rates == nullptr) continue;
            const double r = rates[y * row_stride + member * job.n + i];
            sums.rates += r * r;
        }
        add_over_block(sums);
        if (threadIdx.x == 0) row_sums[row] = sums;
    }
}

__global__ void __launch_bounds__(threads) add_rows_kernel(const detail::PlaneSums* row_sums, std::int64_t rows,
                                                           std::int64_t members, detail::PlaneSums* totals) {
    wait_for_previous();
    for (std::int64_t member = blockIdx.x; member < members; member += gridDim.x) {
        detail::PlaneSums sums;
        for (std::int64_t y = threadIdx.x; y < rows; y += threads) sums.add(row_sums[member * rows + y]);
        add_over_block(sums);
        if (threadIdx.x == 0) totals[member] = sums;
    }
}

template <class E, class T, int V, bool Corrected>
void launch_march(const E& equation, const PlaneJob<T>& job, std::int64_t first, std::int64_t last, T* results,
                  PlaneQueue queue) {
    const std::int64_t groups = job.n / V, tiles = (groups + march_lanes - 1) / march_lanes;
    constexpr int warps_per_block = plane_block_threads / 32;
    // A march looks at four rows more than it writes: few long ones, but so many that all multiprocessors are busy
    // alike, and none that is short.
    const std::int64_t strips = std::max<std::int64_t>(plane_waves * plane_warps_at_once / (tiles * job.members), 1);
    const std::int64_t rows = std::max<std::int64_t>((last - first + strips - 1) / strips, plane_shortest_march);
    const std::int64_t warps = (last - first + rows - 1) / rows * job.members * tiles;
    launch(march_kernel<E, T, V, Corrected>, (warps + warps_per_block - 1) / warps_per_block, plane_block_threads,
           queue, job, equation.template plane_rate<T>(), first, last, rows, tiles, results);
}

// Only equations that have planes come here.
template <class Body> void for_equation(const Equation& equation, const Body& body) {
    std::visit(
        [&]<class E>(const E& chosen) {
            if constexpr (PlaneEquation<E>) body(chosen);
        },
        equation);
}

} // namespace

bool planes_may_overlap(int compute_major) {
    cudaFuncAttributes attributes; // machine code that the driver made from older PTX would not wait
    check_cuda(cudaFuncGetAttributes(&attributes, add_rows_kernel), "asking about a kernel");
    return compute_major >= 9 && attributes.ptxVersion >= 90;
}

template <class T>
void plane_rates(const Equation& equation, const PlaneJob<T>& job, std::int64_t first, std::int64_t last, T* results,
                 PlaneQueue queue) {
    constexpr int V = 16 / sizeof(T);
    for_equation(equation, [&]<class E>(const E& chosen) {
        if (job.increments == nullptr && job.n % (2 * V) == 0)
            launch_march<E, T, 2 * V, false>(chosen, job, first, last, results, queue);
        else if (job.increments == nullptr && job.n % V == 0)
            launch_march<E, T, V, false>(chosen, job, first, last, results, queue);
        else if (job.n % V == 0) // two arrays are read: there are registers for one piece of each
            launch_march<E, T, V, true>(chosen, job, first, last, results, queue);
        else
            launch(point_kernel<E, T>, blocks_for((last - first) * job.members * job.n, threads), threads, queue, job,
                   chosen.template plane_rate<T>(), first, last, results);
    });
}

template <class T>
void add_increments(T* states, const T* increments, const T* more, std::int64_t points, PlaneQueue queue) {
    launch(add_kernel<T>, blocks_for(points, threads), threads, queue, states, increments, more, points);
}

template <class T>
void reorder_planes(Order to, std::int64_t n, std::int64_t rows, std::int64_t members, const T* from, T* result,
                    PlaneQueue queue) {
    launch(reorder_kernel<T>, blocks_for(n * rows * members, threads), threads, queue, to, n, rows, members, from,
           result);
}

template <class T>
void measure_planes(const Equation& equation, const PlaneJob<T>& job, const T* rates, detail::PlaneSums* row_sums,
                    detail::PlaneSums* totals, PlaneQueue queue) {
    for_equation(equation, [&]<class E>(const E& chosen) {
        launch(measure_rows_kernel<E, T>, blocks_for(job.members * job.rows, 1), threads, queue, job,
               chosen.template plane_rate<T>(), rates, row_sums);
    });
    launch(add_rows_kernel, blocks_for(job.members, 1), threads, queue, row_sums, job.rows, job.members, totals);
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template void plane_rates<T>(const Equation&, const PlaneJob<T>&, std::int64_t, std::int64_t, T*, PlaneQueue);     \
    template void add_increments<T>(T*, const T*, const T*, std::int64_t, PlaneQueue);                                 \
    template void reorder_planes<T>(Order, std::int64_t, std::int64_t, std::int64_t, const T*, T*, PlaneQueue);        \
    template void measure_planes<T>(const Equation&, const PlaneJob<T>&, const T*, detail::PlaneSums*,                 \
                                    detail::PlaneSums*, PlaneQueue);
BANDMILL_INSTANTIATE(double)
BANDMILL_INSTANTIATE(float)

} // namespace bandmill::cuda
