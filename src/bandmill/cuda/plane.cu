#include "bandmill/cuda/plane.hpp"

#include "bandmill/base/device.hpp"
#include "bandmill/cuda/plane_tuning.hpp"

#include <cuda_runtime.h>

#include <algorithm>

namespace bandmill::cuda {
namespace {

constexpr unsigned every_lane = 0xffffffffu;
constexpr int threads = 256;

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

// A few neighbouring values, moved at once.
template <class T, int Count> struct alignas(Count * sizeof(T)) Some { T value[Count]; };

// What a thread holds of a row: its own columns, and, if it stands at an end of its tile, two columns beyond that end.
template <class T, int V> struct RowPart {
    Some<T, V> own;
    T near, far;
};

// A warp marches down a tile of 32 V columns with three rows of C and of the potential in registers; neighbours are
// asked for theirs. Rows are fetched `ahead` of their use.
template <class E, class T, int V, bool Corrected> struct March {
    using Rate = typename E::template PlaneRate<T>;
    using Part = RowPart<T, V>;

    const PlaneJob<T>& job;
    const Rate& rate;
    std::int64_t row_stride, own_at, near_at; // of a row
    bool here, at_left, at_right;

    template <class Load> __device__ __forceinline__ Part fetch(std::int64_t y, const Load& load) const {
        const std::int64_t row = wrapped(y, job.rows) * row_stride;
        Part part{};
        if (!here) return part;
        part.own = load(static_cast<const Some<T, V>*>(nullptr), row + own_at);
        if (at_left || at_right) {
            const Some<T, 2> outer = load(static_cast<const Some<T, 2>*>(nullptr), row + near_at);
            part.near = at_left ? outer.value[1] : outer.value[0]; // an index would put them in memory
            part.far = at_left ? outer.value[0] : outer.value[1];
        }
        return part;
    }
    __device__ __forceinline__ Part fetch(std::int64_t y) const {
        return fetch(y, [&]<class Values>(const Values*, std::int64_t at) {
            Values values = *reinterpret_cast<const Values*>(job.states + at);
            if constexpr (Corrected) {
                const Values increment = *reinterpret_cast<const Values*>(job.increments + at);
                for (int v = 0; v < int(sizeof(Values) / sizeof(T)); ++v)
                    values.value[v] = values.value[v] + T(0.5) * increment.value[v];
            }
            return values;
        });
    }

    // The value before the first and after the last of a thread's own.
    __device__ __forceinline__ T before(const Some<T, V>& own, T near) const {
        const T other = __shfl_up_sync(every_lane, own.value[V - 1], 1);
        return at_left ? near : other;
    }
    __device__ __forceinline__ T after(const Some<T, V>& own, T near) const {
        const T other = __shfl_down_sync(every_lane, own.value[0], 1);
        return at_right ? near : other;
    }

    __device__ __forceinline__ Part potential(const Part& below, const Part& row, const Part& above) const {
        Part mu{};
        const T left = before(row.own, row.near), right = after(row.own, row.near);
#pragma unroll
        for (int v = 0; v < V; ++v)
            mu.own.value[v] = rate.potential(
                row.own.value[v],
                job.laplacian.laplacian(row.own.value[v], v > 0 ? row.own.value[v > 0 ? v - 1 : 0] : left,
                                        v + 1 < V ? row.own.value[v + 1 < V ? v + 1 : 0] : right, below.own.value[v],
                                        above.own.value[v]));
        const T inner = at_left ? row.own.value[0] : row.own.value[V - 1];
        mu.near = rate.potential(row.near, job.laplacian.laplacian(row.near, row.far, inner, below.near, above.near));
        return mu;
    }

    __device__ __forceinline__ void write(const Part& below, const Part& row, const Part& above, std::int64_t y,
                                          T* results) const {
        const T left = before(row.own, row.near), right = after(row.own, row.near);
        Some<T, V> result;
#pragma unroll
        for (int v = 0; v < V; ++v)
            result.value[v] = job.update.laplacian(row.own.value[v], v > 0 ? row.own.value[v > 0 ? v - 1 : 0] : left,
                                                   v + 1 < V ? row.own.value[v + 1 < V ? v + 1 : 0] : right,
                                                   below.own.value[v], above.own.value[v]);
        if (!here) return;
        const std::int64_t at = y * row_stride + own_at;
        if constexpr (Corrected) {
            const auto increment = *reinterpret_cast<const Some<T, V>*>(job.increments + at);
#pragma unroll
            for (int v = 0; v < V; ++v) result.value[v] = result.value[v] - increment.value[v];
        }
        *reinterpret_cast<Some<T, V>*>(results + at) = result;
    }
};

template <class E, class T, int V, bool Corrected>
__global__ void __launch_bounds__(plane_block_threads, plane_blocks)
    march_kernel(const PlaneJob<T> job, const typename E::template PlaneRate<T> rate, std::int64_t first,
                 std::int64_t last, int march_rows, std::int64_t tiles, T* results) {
    constexpr int ahead = plane_rows_ahead;
    wait_for_previous();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t warp = (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    const std::int64_t tile = warp % tiles, strip = warp / tiles, member = strip % job.members;
    const std::int64_t begin = first + strip / job.members * march_rows;
    if (begin >= last) return;
    const std::int64_t end = begin + march_rows < last ? begin + march_rows : last;
    // Groups of V columns, as equally over the tiles as they can be: two threads at least have work in each.
    const std::int64_t groups = job.n / V, from = tile * groups / tiles, to = (tile + 1) * groups / tiles;
    const std::int64_t group = from + lane;
    const bool here = group < to, at_left = lane == 0, at_right = group == to - 1;
    const std::int64_t outside = at_left ? group * V - 2 : group * V + V;
    const March<E, T, V, Corrected> march{job,
                                          rate,
                                          job.members * job.n,
                                          member * job.n + group * V,
                                          member * job.n + wrapped(outside, job.n),
                                          here,
                                          at_left,
                                          at_right};
    using Part = RowPart<T, V>;
    Part c[3] = {march.fetch(begin - 2), march.fetch(begin - 1), march.fetch(begin)};
    Part next[ahead];
#pragma unroll
    for (int j = 0; j < ahead; ++j) next[j] = march.fetch(begin + 1 + j < end + 2 ? begin + 1 + j : end + 1);
    Part mu[3];
    mu[1] = march.potential(c[0], c[1], c[2]); // of row begin - 1
    mu[0] = mu[1];
    // Row y + 1 comes in, the potential of row y can be told, and the right-hand side of row y - 1.
    for (std::int64_t y = begin; y <= end; y += ahead) {
#pragma unroll
        for (int j = 0; j < ahead; ++j) {
            if (y + j > end) break;
            c[0] = c[1];
            c[1] = c[2];
            c[2] = next[j];
            const std::int64_t wanted = y + j + 1 + ahead;
            if (wanted <= end + 1) next[j] = march.fetch(wanted);
            mu[2] = march.potential(c[0], c[1], c[2]);
            if (y + j > begin) march.write(mu[0], mu[1], mu[2], y + j - 1, results);
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

template <class E, class T, int V>
void launch_march(const E& equation, const PlaneJob<T>& job, std::int64_t first, std::int64_t last, T* results,
                  PlaneQueue queue) {
    const std::int64_t groups = job.n / V, tiles = (groups + 31) / 32;
    constexpr int warps_per_block = plane_block_threads / 32;
    // Longer marches look at fewer rows twice, but all multiprocessors shall be busy.
    int march_rows = plane_march_rows;
    const auto warps = [&] { return (last - first + march_rows - 1) / march_rows * job.members * tiles; };
    while (march_rows > plane_shortest_march && warps() < plane_warps_wanted) march_rows /= 2;
    auto* kernel = job.increments == nullptr ? march_kernel<E, T, V, false> : march_kernel<E, T, V, true>;
    launch(kernel, (warps() + warps_per_block - 1) / warps_per_block, plane_block_threads, queue, job,
           equation.template plane_rate<T>(), first, last, march_rows, tiles, results);
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

template <class T>
void plane_rates(const Equation& equation, const PlaneJob<T>& job, std::int64_t first, std::int64_t last, T* results,
                 PlaneQueue queue) {
    constexpr int V = 16 / sizeof(T);
    for_equation(equation, [&]<class E>(const E& chosen) {
        if (job.n % V == 0 && job.n / V >= 2)
            launch_march<E, T, V>(chosen, job, first, last, results, queue);
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
