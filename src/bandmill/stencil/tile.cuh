// Stencils on a GPU, tile by tile: a block copies a tile of the input and what surrounds it to shared memory, edges
// filled in, and computes the results of the tile from there. What is computed is a Formula: weighted sums, advection,
// or a user's function. Each thread computes `rows_per_thread` results below each other at a time, so that a Formula
// can keep what it reads in registers.
#pragma once

#include "bandmill/base/error.hpp"
#include "bandmill/base/space.hpp"
#include "bandmill/stencil/edges.hpp"
#include "bandmill/stencil/plane.hpp"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <string>

namespace bandmill::detail {

// Threads of a block, and the results that a thread computes at a time.
inline constexpr int tile_threads = 256, rows_per_thread = 8;
// Threads side by side in a row, on planes that are wide enough.
inline constexpr int tile_lanes = 128;
// Shared memory of a block: as much as lets five of them work on a multiprocessor of 227 KiB, one loading while others
// compute. Higher tiles read less twice, more blocks keep more on its way.
inline constexpr int tile_bytes = 44 * 1024;
// Small planes are cut into lower tiles, so that there are so many for each multiprocessor.
inline constexpr int tiles_per_multiprocessor = 4;

template <class T> struct TileJob {
    const T* in;
    T* out;
    PlaneShape in_shape, out_shape; // sizes are those of the output
    EdgeRule<T> x_rule, y_rule;
    int left, right, up, down;
    bool add;        // to what the output holds
    bool by_columns; // neighbours in memory lie along y
    // A line that is too long for a row is folded into rows of `fold` points, each of which goes on in the next: rows
    // and columns are then those of the folded line, `line` is its length, and there is no reach along y.
    int fold;
    std::int64_t line;
    // The launch.
    int lane_bits;     // log2 of the threads side by side
    int height, pitch; // rows of results of a tile; elements from row to row in shared memory
    std::int64_t tiles_x, tiles_y, tiles;

    BANDMILL_HD int lanes() const { return 1 << lane_bits; }
    BANDMILL_HD int groups() const { return tile_threads >> lane_bits; }
};

// The results that a thread is asked for: x, and rows y .. y + rows_per_thread - 1, of which `first` .. `last` - 1
// (counted from y) are to be computed.
struct TilePoint {
    std::int64_t x, y, plane;
    int first, last;
};

template <class T> __device__ __forceinline__ void copy_later(T* to, const T* from) {
    __pipeline_memcpy_async(to, from, sizeof(T));
}

template <class T> struct TileLoader {
    const TileJob<T>& job;
    T* tile;
    const T* plane;    // in the input
    std::int64_t x, y; // of the tile's first element, which may lie beyond an edge
    int width, height; // that are needed

    __device__ bool is_inside() const {
        const PlaneShape& shape = job.in_shape;
        if (job.fold > 0) return y * job.fold + x >= 0 && (y + height - 1) * job.fold + x + width <= job.line;
        return x >= 0 && y >= 0 && x + width <= shape.columns && y + height <= shape.rows;
    }

    __device__ void load() const {
        if (job.by_columns) {
            const int lane = static_cast<int>(threadIdx.x) % 32, group = static_cast<int>(threadIdx.x) / 32;
            for (int column = group; column < width; column += tile_threads / 32)
                for (int row = lane; row < height; row += 32) load_one(column, row);
            return;
        }
        const int lane = static_cast<int>(threadIdx.x) & (job.lanes() - 1),
                  group = static_cast<int>(threadIdx.x) >> job.lane_bits;
        const bool inside = is_inside();
        for (int column = lane; column < width; column += job.lanes()) {
            if (!inside) {
                for (int row = group; row < height; row += job.groups()) load_one(column, row);
                continue;
            }
            const PlaneShape& shape = job.in_shape;
            const T* from = plane + (y + group) * shape.row_stride + (x + column) * shape.column_stride;
            T* to = tile + group * job.pitch + column;
            const std::int64_t step = job.groups() * shape.row_stride;
            const int pitch = job.groups() * job.pitch;
#pragma unroll 4
            for (int row = group; row < height; row += job.groups()) {
                copy_later(to, from);
                from += step;
                to += pitch;
            }
        }
    }

  private:
    __device__ void load_one(int column, int row) const {
        const PlaneShape& shape = job.in_shape;
        T* to = tile + row * job.pitch + column;
        if (job.fold > 0) {
            const Ghost<T> ghost = job.x_rule.locate((y + row) * job.fold + x + column, job.line);
            return put(to, plane + ghost.index * shape.column_stride, ghost, {0, false, T(0)});
        }
        const Ghost<T> along_x = job.x_rule.locate(x + column, shape.columns),
                       along_y = job.y_rule.locate(y + row, shape.rows);
        put(to, plane + along_y.index * shape.row_stride + along_x.index * shape.column_stride, along_x, along_y);
    }

    __device__ static void put(T* to, const T* from, const Ghost<T>& along_x, const Ghost<T>& along_y) {
        if (along_x.plain() && along_y.plain())
            copy_later(to, from);
        else
            *to = along_y.value(along_x.value(along_x.index < 0 || along_y.index < 0 ? T(0) : *from));
    }
};

// Which results of a column of a thread are written.
template <class T>
__device__ __forceinline__ TilePoint point_of(const TileJob<T>& job, std::int64_t x, std::int64_t y) {
    TilePoint point{x, y, 0, 0, rows_per_thread};
    const PlaneShape& shape = job.out_shape;
    if (job.fold > 0) { // each row is judged by its place in the line
        const bool leave = job.x_rule.kind == Edges::Kind::leave;
        const std::int64_t begin = leave ? job.left : 0, end = leave ? job.line - job.right : job.line;
        const std::int64_t first = y * job.fold + x;
        while (point.first < point.last && first + point.first * std::int64_t{job.fold} < begin) ++point.first;
        while (point.first < point.last && first + (point.last - 1) * std::int64_t{job.fold} >= end) --point.last;
        return point;
    }
    const bool leave_x = job.x_rule.kind == Edges::Kind::leave, leave_y = job.y_rule.kind == Edges::Kind::leave;
    const std::int64_t begin = leave_y ? job.up : 0, end = leave_y ? shape.rows - job.down : shape.rows;
    if (x < (leave_x ? job.left : 0) || x >= (leave_x ? shape.columns - job.right : shape.columns)) point.last = 0;
    if (begin > y) point.first = begin - y < point.last ? static_cast<int>(begin - y) : point.last;
    if (end < y + point.last) point.last = end - y > point.first ? static_cast<int>(end - y) : point.first;
    return point;
}

// formula(window, pitch, point, values): window is the element up and left of the first result that the formula still
// reaches; `values` holds what to add to, or zeros.
template <class T, class Formula>
__global__ void __launch_bounds__(tile_threads)
    tile_kernel(const __grid_constant__ TileJob<T> job, const __grid_constant__ Formula formula) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    T* const tile = reinterpret_cast<T*>(shared_memory);
    const int lane = static_cast<int>(threadIdx.x) & (job.lanes() - 1),
              group = static_cast<int>(threadIdx.x) >> job.lane_bits;
    const PlaneShape &from = job.in_shape, &to = job.out_shape;
    for (std::int64_t work = blockIdx.x; work < job.tiles; work += gridDim.x) {
        const std::int64_t strip = work / job.tiles_x, plane = strip / job.tiles_y;
        const std::int64_t x0 = (work - strip * job.tiles_x) << job.lane_bits,
                           y0 = (strip - plane * job.tiles_y) * job.height;
        const int width = static_cast<int>(to.columns - x0 < job.lanes() ? to.columns - x0 : job.lanes()),
                  height = static_cast<int>(to.rows - y0 < job.height ? to.rows - y0 : job.height);
        TileLoader<T>{job,
                      tile,
                      job.in + plane * from.batch_stride,
                      x0 - job.left,
                      y0 - job.up,
                      width + job.left + job.right,
                      height + job.up + job.down}
            .load();
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();

        for (int row = group * rows_per_thread; row < height; row += job.groups() * rows_per_thread) {
            TilePoint point = point_of(job, x0 + lane, y0 + row);
            point.plane = plane;
            if (point.first >= point.last) continue;
            T* out = job.out + plane * to.batch_stride + point.y * to.row_stride + point.x * to.column_stride;
            T values[rows_per_thread];
#pragma unroll
            for (int k = 0; k < rows_per_thread; ++k)
                values[k] = job.add && k >= point.first && k < point.last ? out[k * to.row_stride] : T(0);
            formula(tile + row * job.pitch + lane, job.pitch, point, values);
#pragma unroll
            for (int k = 0; k < rows_per_thread; ++k) {
                if (k >= point.first && k < point.last) *out = values[k];
                out += to.row_stride;
            }
        }
        if (work + gridDim.x < job.tiles) __syncthreads();
    }
}

inline void check_launch(cudaError_t code, const char* doing) {
    if (code == cudaSuccess) return;
    (void)cudaGetLastError(); // not the next caller's error
    if (code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver)
        throw BackendUnavailable("no GPU is available (no NVIDIA driver or no device on this machine): use views of "
                                 "Host memory");
    throw DeviceError(std::string("CUDA failed while ") + doing + ": " + cudaGetErrorName(code) + " (" +
                      cudaGetErrorString(code) + ")");
}

inline int device_attribute(cudaDeviceAttr which, int device) {
    int value = 0;
    check_launch(cudaDeviceGetAttribute(&value, which, device), "reading a device attribute");
    return value;
}

// Makes the GPU that holds a plane current, and puts the caller's back afterwards.
class DeviceOf {
  public:
    explicit DeviceOf(const void* pointer, const char* what) {
        cudaPointerAttributes attributes{};
        check_launch(cudaPointerGetAttributes(&attributes, pointer), "inspecting a pointer");
        check_launch(cudaGetDevice(&previous_), "asking for the current device");
        device_ = attributes.type == cudaMemoryTypeUnregistered ? previous_ : attributes.device;
        require(pointer, what);
        if (device_ != previous_) check_launch(cudaSetDevice(device_), "choosing the device");
    }
    ~DeviceOf() {
        if (device_ != previous_) (void)cudaSetDevice(previous_);
    }
    DeviceOf(const DeviceOf&) = delete;
    DeviceOf& operator=(const DeviceOf&) = delete;

    int index() const { return device_; }
    // Throws InvalidArgument if kernels on this device cannot reach the pointer.
    void require(const void* pointer, const char* what) const {
        cudaPointerAttributes attributes{};
        check_launch(cudaPointerGetAttributes(&attributes, pointer), "inspecting a pointer");
        if (attributes.type == cudaMemoryTypeDevice && attributes.device != device_)
            throw InvalidArgument(std::string("the ") + what + " is memory of GPU " +
                                  std::to_string(attributes.device) + ", but the output is on GPU " +
                                  std::to_string(device_) + ": keep both on one GPU");
        if (attributes.type == cudaMemoryTypeUnregistered &&
            device_attribute(cudaDevAttrPageableMemoryAccess, device_) == 0)
            throw InvalidArgument(
                std::string("the ") + what +
                " is host memory that the GPU cannot reach: copy it to a bandmill::Array<T, Cuda> (or "
                "any cudaMalloc memory), or use views of Host memory");
    }

  private:
    int device_ = 0, previous_ = 0;
};

// Fills in the launch. False if the reach is too large for shared memory.
template <class T> bool plan_tiles(TileJob<T>& job, int device) {
    const PlaneShape& shape = job.out_shape;
    const int most_bytes = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    const int multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount, device);
    const std::int64_t around_x = job.left + std::int64_t{job.right}, around_y = job.up + std::int64_t{job.down};
    const auto bytes = [&](std::int64_t height) {
        return (height + around_y) * (job.lanes() + around_x + 1) * static_cast<std::int64_t>(sizeof(T));
    };
    job.lane_bits = 5;
    while (job.lanes() < tile_lanes && job.lanes() < shape.columns) ++job.lane_bits;
    while (job.lane_bits > 5 && bytes(job.groups() * rows_per_thread) > most_bytes) --job.lane_bits;
    const int step = job.groups() * rows_per_thread;
    if (bytes(step) > most_bytes) return false;
    job.pitch = static_cast<int>((job.lanes() + around_x) | (job.by_columns ? 1 : 0));
    job.tiles_x = (shape.columns + job.lanes() - 1) / job.lanes();
    job.height = step;
    while (job.height + step <= ((shape.rows + step - 1) / step) * step && bytes(job.height + step) <= tile_bytes)
        job.height += step;
    const auto tiles = [&] { return job.tiles_x * ((shape.rows + job.height - 1) / job.height) * shape.batch; };
    while (job.height > step && tiles() < std::int64_t{tiles_per_multiprocessor} * multiprocessors) job.height -= step;
    job.tiles_y = (shape.rows + job.height - 1) / job.height;
    job.tiles = tiles();
    return true;
}

template <class T, class Formula>
void launch_tiles(const TileJob<T>& job, const Formula& formula, Stream stream, const char* doing) {
    constexpr std::int64_t most_blocks = 1 << 30; // blocks walk on from there
    const std::size_t bytes =
        static_cast<std::size_t>(job.height + job.up + job.down) * static_cast<std::size_t>(job.pitch) * sizeof(T);
    auto* kernel = tile_kernel<T, Formula>;
    if (bytes > 48 * 1024)
        check_launch(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
                     doing);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(job.tiles < most_blocks ? job.tiles : most_blocks));
    config.blockDim = dim3(tile_threads);
    config.dynamicSmemBytes = bytes;
    config.stream = stream.handle();
    check_launch(cudaLaunchKernelEx(&config, kernel, job, formula), doing);
}

} // namespace bandmill::detail
