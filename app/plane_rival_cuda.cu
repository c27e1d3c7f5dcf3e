#include "plane_rival.hpp"

#include "bandmill/base/device.hpp"

#include <cuda_runtime_api.h>

namespace app {
namespace {

constexpr int tile_columns = 32, tile_rows = 8, halo = 2;

// A tile of C with its surroundings in shared memory, as stencil libraries do it; each thread takes one point.
template <class T> __global__ void right_sides(PlaneRivalNumbers<T> numbers, const T* c, T* f) {
    __shared__ T values[tile_rows + 2 * halo][tile_columns + 2 * halo];
    __shared__ T potentials[tile_rows + 2][tile_columns + 2];
    const std::int64_t x0 = std::int64_t(blockIdx.x) * tile_columns, y0 = std::int64_t(blockIdx.y) * tile_rows;
    const int threads = tile_columns * tile_rows, thread = static_cast<int>(threadIdx.y * tile_columns + threadIdx.x);
    for (int k = thread; k < (tile_rows + 2 * halo) * (tile_columns + 2 * halo); k += threads) {
        const int row = k / (tile_columns + 2 * halo), column = k % (tile_columns + 2 * halo);
        const std::int64_t x = (x0 + column - halo + numbers.nx) % numbers.nx;
        const std::int64_t y = (y0 + row - halo + numbers.ny) % numbers.ny;
        values[row][column] = c[y * numbers.nx + x];
    }
    __syncthreads();
    for (int k = thread; k < (tile_rows + 2) * (tile_columns + 2); k += threads) {
        const int row = k / (tile_columns + 2) + 1, column = k % (tile_columns + 2) + 1;
        const T here = values[row][column];
        const T second = numbers.x * (values[row][column - 1] - 2 * here + values[row][column + 1]) +
                         numbers.y * (values[row - 1][column] - 2 * here + values[row + 1][column]);
        potentials[row - 1][column - 1] = here * here * here - here - numbers.gamma * second;
    }
    __syncthreads();
    const std::int64_t x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= numbers.nx || y >= numbers.ny) return;
    const int row = static_cast<int>(threadIdx.y) + 1, column = static_cast<int>(threadIdx.x) + 1;
    const T here = potentials[row][column];
    f[y * numbers.nx + x] = numbers.update_x * (potentials[row][column - 1] - 2 * here + potentials[row][column + 1]) +
                            numbers.update_y * (potentials[row - 1][column] - 2 * here + potentials[row + 1][column]);
}

template <class T> __global__ void transpose(const T* from, T* to, std::int64_t columns, std::int64_t rows, bool add) {
    __shared__ T tile[32][33];
    const std::int64_t x0 = std::int64_t(blockIdx.x) * 32, y0 = std::int64_t(blockIdx.y) * 32;
    for (int k = static_cast<int>(threadIdx.y); k < 32; k += tile_rows)
        if (x0 + threadIdx.x < columns && y0 + k < rows)
            tile[k][threadIdx.x] = from[(y0 + k) * columns + x0 + threadIdx.x];
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.y); k < 32; k += tile_rows) {
        if (y0 + threadIdx.x >= rows || x0 + k >= columns) continue;
        T& place = to[(x0 + k) * rows + y0 + threadIdx.x];
        place = add ? place + tile[threadIdx.x][k] : tile[threadIdx.x][k];
    }
}

dim3 grid_of(std::int64_t columns, std::int64_t rows, int width, int height) {
    return dim3(static_cast<unsigned>((columns + width - 1) / width),
                static_cast<unsigned>((rows + height - 1) / height));
}

} // namespace

template <class T>
void plane_right_sides_cuda(bandmill::Device device, const PlaneRivalNumbers<T>& numbers, const T* c, T* f) {
    const bandmill::DeviceScope scope(device);
    right_sides<<<grid_of(numbers.nx, numbers.ny, tile_columns, tile_rows), dim3(tile_columns, tile_rows)>>>(numbers, c,
                                                                                                             f);
    bandmill::check_cuda(cudaGetLastError(), "launching the right-hand sides of a plane");
}
template <class T>
void transpose_cuda(bandmill::Device device, const T* from, T* to, std::int64_t columns, std::int64_t rows, bool add) {
    const bandmill::DeviceScope scope(device);
    transpose<<<grid_of(columns, rows, 32, 32), dim3(32, tile_rows)>>>(from, to, columns, rows, add);
    bandmill::check_cuda(cudaGetLastError(), "launching a transposition");
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template void plane_right_sides_cuda(bandmill::Device, const PlaneRivalNumbers<T>&, const T*, T*);                 \
    template void transpose_cuda(bandmill::Device, const T*, T*, std::int64_t, std::int64_t, bool);
BANDMILL_INSTANTIATE(double)
BANDMILL_INSTANTIATE(float)

} // namespace app
