// Upwind advection on a GPU, tile by tile.
#include "bandmill/base/arithmetic.hpp"
#include "bandmill/pde/weno.hpp"
#include "bandmill/stencil/advect.hpp"
#include "bandmill/stencil/tile.cuh"

namespace bandmill {
namespace {

using namespace detail;

template <class T> using Derivative = RightWeno5<T, Slopes::any>;

// |u| times the derivative that looks upstream: see cpu/stencil_lanes.cpp.
template <class T> struct UpwindAlong {
    const T* velocity; // null: none
    std::int64_t row_stride, column_stride, batch_stride;
    Derivative<T> derivative;
    T to_derivative;

    // `centre` is the point in the tile, `step` leads to its neighbour along the axis.
    __device__ __forceinline__ T add(const T* centre, int step, std::int64_t x, std::int64_t y, std::int64_t plane,
                                     T sum) const {
        const T speed = velocity[y * row_stride + x * column_stride + plane * batch_stride];
        const int upstream = speed > T(0) ? -step : step;
        T window[6];
#pragma unroll
        for (int k = 0; k < 6; ++k) window[k] = centre[(k - 2) * upstream];
        return multiply_add(to_derivative * (speed > T(0) ? speed : -speed), derivative(window), sum);
    }
};

template <class T> struct UpwindTile {
    UpwindAlong<T> x, y;
    int left, up;

    __device__ __forceinline__ void operator()(const T* window, int pitch, const TilePoint& point, T* values) const {
#pragma unroll
        for (int k = 0; k < rows_per_thread; ++k) {
            if (k < point.first || k >= point.last) continue;
            const T* centre = window + (k + up) * pitch + left;
            if (x.velocity != nullptr) values[k] = x.add(centre, 1, point.x, point.y + k, point.plane, values[k]);
            if (y.velocity != nullptr) values[k] = y.add(centre, pitch, point.x, point.y + k, point.plane, values[k]);
        }
    }
};

template <class T>
UpwindAlong<T> along(const std::optional<PlaneView<const T, Cuda>>& velocity, double spacing, const DeviceOf& device) {
    if (!velocity) return {nullptr, 0, 0, 0, Derivative<T>(1), T(0)};
    device.require(velocity->data(), "velocity");
    const PlaneShape& shape = velocity->shape();
    const Derivative<T> derivative(spacing);
    return {velocity->data(),   shape.row_stride, shape.column_stride,
            shape.batch_stride, derivative,       derivative.to_derivative()};
}

} // namespace

template <class T>
void advect(const std::type_identity_t<Velocity<T, Cuda>>& velocity, const Spacing& spacing,
            std::type_identity_t<PlaneView<const T, Cuda>> in, PlaneView<T, Cuda> out, const PlaneEdges& edges,
            Into into, Stream stream) {
    check_advect<T>(velocity, spacing, in, out, edges);
    if (out.batch() == 0) return;
    const DeviceOf device(out.data(), "output");
    device.require(in.data(), "input");
    TileJob<T> job{};
    job.in = in.data();
    job.out = out.data();
    job.in_shape = in.shape();
    job.out_shape = out.shape();
    job.x_rule = EdgeRule<T>(edges.x);
    job.y_rule = EdgeRule<T>(edges.y);
    job.left = job.right = velocity.x ? upwind_reach : 0;
    job.up = job.down = velocity.y ? upwind_reach : 0;
    job.add = into == Into::add;
    job.by_columns = in.shape().column_stride != 1 && in.shape().row_stride == 1;
    (void)plan_tiles(job, device.index()); // three points fit any GPU
    const UpwindTile<T> formula{along<T>(velocity.x, spacing.x, device), along<T>(velocity.y, spacing.y, device),
                                job.left, job.up};
    launch_tiles(job, formula, stream, "launching advection");
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template void advect<T>(const Velocity<T, Cuda>&, const Spacing&, PlaneView<const T, Cuda>, PlaneView<T, Cuda>,    \
                            const PlaneEdges&, Into, Stream)
BANDMILL_INSTANTIATE(double);
BANDMILL_INSTANTIATE(float);
#undef BANDMILL_INSTANTIATE

} // namespace bandmill
