#include "stencil_naive.hpp"

#include "bandmill/base/device.hpp"

#include <cuda_runtime.h>

#include <algorithm>

namespace app {
namespace {

constexpr int block_columns = 64, block_rows = 4;

template <class T> __global__ void naive_kernel(const __grid_constant__ NaiveJob<T> job) {
    const std::int64_t x = std::int64_t(blockIdx.x) * block_columns + threadIdx.x;
    if (x >= job.columns) return;
    for (std::int64_t row = std::int64_t(blockIdx.y) * block_rows + threadIdx.y; row < job.rows * job.batch;
         row += std::int64_t(gridDim.y) * block_rows)
        naive_point(job, row % job.rows, x, row / job.rows);
}

} // namespace

template <class T> void run_naive(bandmill::Device device, const NaiveJob<T>& job) {
    const bandmill::DeviceScope scope(device);
    const std::int64_t rows = (job.rows * job.batch + block_rows - 1) / block_rows;
    const dim3 grid(static_cast<unsigned>((job.columns + block_columns - 1) / block_columns),
                    static_cast<unsigned>(std::min<std::int64_t>(rows, 65535)));
    naive_kernel<<<grid, dim3(block_columns, block_rows)>>>(job);
    bandmill::check_cuda(cudaGetLastError(), "launching the naive stencil");
}
template void run_naive<double>(bandmill::Device, const NaiveJob<double>&);
template void run_naive<float>(bandmill::Device, const NaiveJob<float>&);

} // namespace app
