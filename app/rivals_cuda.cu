#include "rivals_cuda.hpp"

#include "bandmill/base/device.hpp"

#include <algorithm>
#include <cuda_runtime_api.h>

namespace app {
namespace {

constexpr int block_threads = 128;

unsigned blocks_for(std::int64_t count) { return static_cast<unsigned>((count + block_threads - 1) / block_threads); }

// A second grid dimension over rows; kernels step over those beyond it. Starting a block takes longer than one row: as
// many rows per block as leave enough blocks for any GPU.
dim3 grid_for(std::int64_t batch, std::int64_t rows) {
    const std::int64_t enough = 16384, blocks = blocks_for(batch);
    return dim3(blocks_for(batch), static_cast<unsigned>(std::clamp<std::int64_t>(enough / blocks, 1, rows)));
}

__device__ std::int64_t thread_index() { return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

// The build does not contract, so fused multiply-adds are asked for: the paper's code had them from the compiler.
__device__ double subtract_product(double c, double a, double b) { return fma(-a, b, c); }
__device__ float subtract_product(float c, float a, float b) { return fmaf(-a, b, c); }

// Grid 1: one thread per system sweeps down and up its column.
template <class T> __global__ void thomas_sweeps(PaperTables<T> tables, T* x, std::int64_t batch, T* scratch) {
    const std::int64_t system = thread_index();
    if (system >= batch) return;
    const T *a = tables.diagonal(0), *b = tables.diagonal(1), *c = tables.diagonal(2);
    T* at = x + system;
    T value = *at / __ldg(b);
    *at = value;
    for (std::int64_t i = 1; i < tables.rows; ++i) {
        at += batch;
        value = subtract_product(*at, __ldg(a + i), value) / __ldg(b + i);
        *at = value;
    }
    const T last = value;
    for (std::int64_t i = tables.rows - 2; i >= 0; --i) {
        at -= batch;
        value = subtract_product(*at, __ldg(c + i), value);
        *at = value;
    }
    if (tables.periodic) scratch[system] = sherman_morrison(tables.border, value, last);
}

template <class T> __global__ void penta_sweeps(PaperTables<T> tables, T* x, std::int64_t batch) {
    const std::int64_t system = thread_index();
    if (system >= batch) return;
    const T *a = tables.diagonal(0), *b = tables.diagonal(1), *c = tables.diagonal(2), *d = tables.diagonal(3),
            *e = tables.diagonal(4);
    T* at = x + system;
    T before = *at / __ldg(c);
    *at = before;
    at += batch;
    T value = subtract_product(*at, __ldg(b + 1), before) / __ldg(c + 1);
    *at = value;
    for (std::int64_t i = 2; i < tables.rows; ++i) {
        at += batch;
        const T lower = subtract_product(*at, __ldg(a + i), before);
        before = value;
        value = subtract_product(lower, __ldg(b + i), before) / __ldg(c + i);
        *at = value;
    }
    const T last = value;
    T after = value;
    at -= batch;
    value = subtract_product(*at, __ldg(d + tables.rows - 2), after);
    *at = value;
    const T next_to_last = value;
    for (std::int64_t i = tables.rows - 3; i >= 0; --i) {
        at -= batch;
        const T upper = subtract_product(*at, __ldg(e + i), after);
        after = value;
        value = subtract_product(upper, __ldg(d + i), after);
        *at = value;
    }
    if (tables.periodic) { // the border's two rows lie behind the swept ones
        T* border = x + tables.rows * batch + system;
        navon_border(tables.border, value, after, next_to_last, last, border[0], border[batch]);
    }
}

// The same border as at the end of the sweeps.
template <class T> __global__ void border_rows(PaperTables<T> tables, T* x, std::int64_t batch, T* scratch) {
    const std::int64_t system = thread_index();
    if (system >= batch) return;
    const T *first = x + system, *last = first + (tables.rows - 1) * batch;
    if (tables.half_bandwidth == 1) {
        scratch[system] = sherman_morrison(tables.border, *first, *last);
    } else {
        T* border = x + tables.rows * batch + system;
        navon_border(tables.border, first[0], first[batch], last[-batch], last[0], border[0], border[batch]);
    }
}

// Grid 2: all rows at once take their share of the responses.
template <class T> __global__ void correct_thomas(PaperTables<T> tables, T* x, std::int64_t batch, const T* scratch) {
    const std::int64_t system = thread_index();
    if (system >= batch) return;
    const T amount = scratch[system];
    for (std::int64_t i = blockIdx.y; i < tables.rows; i += gridDim.y) {
        T* at = x + i * batch + system;
        *at = subtract_product(*at, __ldg(tables.response(0) + i), amount);
    }
}

template <class T> __global__ void correct_penta(PaperTables<T> tables, T* x, std::int64_t batch) {
    const std::int64_t system = thread_index();
    if (system >= batch) return;
    const T* border = x + tables.rows * batch + system;
    const T upper = border[0], lower = border[batch];
    for (std::int64_t i = blockIdx.y; i < tables.rows; i += gridDim.y) {
        T* at = x + i * batch + system;
        const T first = subtract_product(*at, __ldg(tables.response(0) + i), upper);
        *at = subtract_product(first, __ldg(tables.response(1) + i), lower);
    }
}

template <class T> __global__ void spread_rows(const T* from, std::int64_t n, std::int64_t batch, Copies<T> copies) {
    const std::int64_t system = thread_index();
    if (system >= batch) return;
    T* to = copies.to[blockIdx.z];
    for (std::int64_t i = blockIdx.y; i < n; i += gridDim.y) to[i * batch + system] = __ldg(from + blockIdx.z * n + i);
}

template <class T> __global__ void spread_columns(const T* from, std::int64_t n, std::int64_t batch, Copies<T> copies) {
    const std::int64_t i = thread_index();
    if (i >= n) return;
    T* to = copies.to[blockIdx.z];
    const T value = __ldg(from + blockIdx.z * n + i);
    for (std::int64_t m = blockIdx.y; m < batch; m += gridDim.y) to[m * n + i] = value;
}

template <class T>
__global__ void gather_elements(const T* from, const std::int64_t* where, std::int64_t count, T* to) {
    const std::int64_t i = thread_index();
    if (i < count) to[i] = from[where[i]];
}

template <class T> void correct(const PaperTables<T>& tables, T* x, std::int64_t batch, const T* scratch) {
    const dim3 grid = grid_for(batch, tables.rows);
    if (tables.half_bandwidth == 1)
        correct_thomas<<<grid, block_threads>>>(tables, x, batch, scratch);
    else
        correct_penta<<<grid, block_threads>>>(tables, x, batch);
}

void check_launch(const char* doing) { bandmill::check_cuda(cudaGetLastError(), doing); }

} // namespace

template <class T>
void paper_solve_cuda(bandmill::Device device, const PaperTables<T>& tables, T* x, std::int64_t batch, T* scratch) {
    const bandmill::DeviceScope scope(device);
    if (tables.half_bandwidth == 1)
        thomas_sweeps<<<blocks_for(batch), block_threads>>>(tables, x, batch, scratch);
    else
        penta_sweeps<<<blocks_for(batch), block_threads>>>(tables, x, batch);
    if (tables.periodic) correct(tables, x, batch, scratch);
    check_launch("launching the paper's kernel");
}

template <class T>
void paper_border_cuda(bandmill::Device device, const PaperTables<T>& tables, T* x, std::int64_t batch, T* scratch) {
    const bandmill::DeviceScope scope(device);
    border_rows<<<blocks_for(batch), block_threads>>>(tables, x, batch, scratch);
    correct(tables, x, batch, scratch);
    check_launch("launching the border's kernels");
}

template <class T>
void spread_interleaved(bandmill::Device device, const T* from, std::int64_t n, std::int64_t batch, Copies<T> copies) {
    const bandmill::DeviceScope scope(device);
    dim3 grid = grid_for(batch, n);
    grid.z = static_cast<unsigned>(copies.diagonals);
    spread_rows<<<grid, block_threads>>>(from, n, batch, copies);
    check_launch("copying a matrix for every system");
}

template <class T>
void spread_contiguous(bandmill::Device device, const T* from, std::int64_t n, std::int64_t batch, Copies<T> copies) {
    const bandmill::DeviceScope scope(device);
    dim3 grid = grid_for(n, batch);
    grid.z = static_cast<unsigned>(copies.diagonals);
    spread_columns<<<grid, block_threads>>>(from, n, batch, copies);
    check_launch("copying a matrix for every system");
}

template <class T>
void gather_cuda(bandmill::Device device, const T* from, const std::int64_t* where, std::int64_t count, T* to) {
    if (count == 0) return;
    const bandmill::DeviceScope scope(device);
    gather_elements<<<blocks_for(count), block_threads>>>(from, where, count, to);
    check_launch("gathering elements");
}

#define APP_INSTANTIATE(T)                                                                                             \
    template void paper_solve_cuda(bandmill::Device, const PaperTables<T>&, T*, std::int64_t, T*);                     \
    template void paper_border_cuda(bandmill::Device, const PaperTables<T>&, T*, std::int64_t, T*);                    \
    template void spread_interleaved(bandmill::Device, const T*, std::int64_t, std::int64_t, Copies<T>);               \
    template void spread_contiguous(bandmill::Device, const T*, std::int64_t, std::int64_t, Copies<T>);                \
    template void gather_cuda(bandmill::Device, const T*, const std::int64_t*, std::int64_t, T*)
APP_INSTANTIATE(double);
APP_INSTANTIATE(float);

} // namespace app
