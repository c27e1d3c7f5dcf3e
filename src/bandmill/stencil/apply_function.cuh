// apply_function on a GPU, for programs that are compiled by nvcc. The function is an object with
//     BANDMILL_HD T operator()(const bandmill::Neighbourhood<T>& at) const
// (bandmill/base/macros.hpp) whose members, coefficients for instance, are copied to the GPU with it. The work is put
// on the stream, and nothing waits for it.
#pragma once

#include "bandmill/stencil/apply_function.hpp"
#include "bandmill/stencil/tile.cuh"

namespace bandmill {
namespace detail {

template <class T, class Function> struct FunctionTile {
    Function function;
    int left, up;
    bool add;

    __device__ __forceinline__ T at(const T* window, int pitch, const TilePoint& point, int k) const {
        return function(
            Neighbourhood<T>(window + (k + up) * pitch + left, 1, pitch, point.x, point.y + k, point.plane));
    }
    __device__ __forceinline__ void operator()(const T* window, int pitch, const TilePoint& point, T* values) const {
        T results[rows_per_thread];
        if (point.first == 0 && point.last == rows_per_thread) {
            // All together: what one reads, the others need not read again.
#pragma unroll
            for (int k = 0; k < rows_per_thread; ++k) results[k] = at(window, pitch, point, k);
        } else {
#pragma unroll
            for (int k = 0; k < rows_per_thread; ++k)
                results[k] = k >= point.first && k < point.last ? at(window, pitch, point, k) : T(0);
        }
#pragma unroll
        for (int k = 0; k < rows_per_thread; ++k) values[k] = add ? values[k] + results[k] : results[k];
    }
};

// For a piece of a field.
template <class T, class Function> struct OfSystem {
    Function function;
    std::int64_t first, tile;
    BANDMILL_HD T operator()(const Neighbourhood<T>& at) const {
        return function(at.of_system(first + at.plane() * tile + at.y()));
    }
};

} // namespace detail

template <class T, class Function>
void apply_function(const Reach& reach, const Function& function, std::type_identity_t<PlaneView<const T, Cuda>> in,
                    PlaneView<T, Cuda> out, const PlaneEdges& edges = {}, Into into = Into::replace,
                    Stream stream = {}) {
    detail::check_reach(reach);
    detail::check_apply<T>(in, out, edges);
    if (out.batch() == 0) return;
    const detail::DeviceOf device(out.data(), "output");
    device.require(in.data(), "input");
    detail::TileJob<T> job{};
    job.in = in.data();
    job.out = out.data();
    job.in_shape = in.shape();
    job.out_shape = out.shape();
    job.x_rule = detail::EdgeRule<T>(edges.x);
    job.y_rule = detail::EdgeRule<T>(edges.y);
    job.left = static_cast<int>(reach.left), job.right = static_cast<int>(reach.right);
    job.up = static_cast<int>(reach.up), job.down = static_cast<int>(reach.down);
    job.add = into == Into::add;
    job.by_columns = in.shape().column_stride != 1 && in.shape().row_stride == 1;
    if (!detail::plan_tiles(job, device.index()))
        throw InvalidArgument("a function that reaches over " + std::to_string(reach.up + reach.down + 1) +
                              " rows and " + std::to_string(reach.left + reach.right + 1) +
                              " columns does not fit the shared memory of the GPU: split it into smaller ones");
    launch_tiles(job, detail::FunctionTile<T, Function>{function, job.left, job.up, job.add}, stream,
                 "launching a function of neighbours");
}

// Along the systems of a field: at(dx), with left and right only; at.x() is the row, at.y() the system.
template <class T, class Function>
void apply_function(const Reach& reach, const Function& function, std::type_identity_t<FieldView<const T, Cuda>> in,
                    FieldView<T, Cuda> out, const Edges& edges = Edges::leave(), Into into = Into::replace,
                    Stream stream = {}) {
    detail::require_reach_along_x(reach);
    const detail::FieldPieces pieces = detail::field_pieces({{in, "input"}, {out, "output"}});
    for (int piece = 0; piece < pieces.count; ++piece)
        apply_function<T>(reach, detail::OfSystem<T, Function>{function, pieces.piece[piece].first, pieces.tile},
                          detail::piece_of(in, pieces, piece, 0), detail::piece_of(out, pieces, piece, 1),
                          {edges, Edges::leave()}, into, stream);
}

} // namespace bandmill
