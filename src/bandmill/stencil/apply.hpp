// apply: a stencil at every point of a batch of planes, or along every system of a field (its rows count as x).
//
// `out` takes the results: in place of what it holds, or added to it. It must not overlap `in`. The sum is taken row by
// row of the patch, from the top, each from the left, by fused multiply-adds that start from zero (or from what `out`
// holds): the same order, and on CUDA and on CPUs with FMA the same bits, for every layout, batch and edge.
// Nothing is allocated on the GPU, and on CUDA nothing is synchronised: the work is put on the stream. Bad input throws
// InvalidArgument before anything is written.
#pragma once

#include "bandmill/stencil/edges.hpp"
#include "bandmill/stencil/plane.hpp"
#include "bandmill/stencil/stencil.hpp"

#include <type_traits>

namespace bandmill {

enum class Into { replace, add };

template <class T>
void apply(const Stencil& stencil, std::type_identity_t<PlaneView<const T, Host>> in, PlaneView<T, Host> out,
           const PlaneEdges& edges = {}, Into into = Into::replace, Threads threads = {});

template <class T>
void apply(const Stencil& stencil, std::type_identity_t<PlaneView<const T, Cuda>> in, PlaneView<T, Cuda> out,
           const PlaneEdges& edges = {}, Into into = Into::replace, Stream stream = {});

namespace detail {
void require_along_x(const Stencil& stencil); // throws InvalidArgument

// A point of the stencil, its weight rounded to T.
template <class T> struct Weighted {
    std::int64_t dy, dx;
    T weight;
};
// In the order of the sum, without weights of zero. Throws InvalidArgument for weights that T cannot hold.
template <class T> std::vector<Weighted<T>> weighted_points(const Stencil& stencil);

// Everything that both backends ask of their input.
template <class T, class Space>
void check_apply(const PlaneView<const T, Space>& in, const PlaneView<T, Space>& out, const PlaneEdges& edges) {
    check_planes({{in.shape(), in.data(), "input"}}, out.shape(), out.data(), sizeof(T));
    check_edges<T>(edges.x, out.columns(), "x");
    check_edges<T>(edges.y, out.rows(), "y");
}

template <class T, class Space, class Place>
void apply_to_field(const Stencil& stencil, const FieldView<const T, Space>& in, const FieldView<T, Space>& out,
                    const Edges& edges, Into into, Place place) {
    require_along_x(stencil);
    const FieldPieces pieces = field_pieces({{in, "input"}, {out, "output"}});
    for (int piece = 0; piece < pieces.count; ++piece)
        apply<T>(stencil, piece_of(in, pieces, piece, 0), piece_of(out, pieces, piece, 1), {edges, Edges::leave()},
                 into, place);
}
} // namespace detail

// Along the systems of a field: the stencil is one along x.
template <class T>
void apply(const Stencil& stencil, std::type_identity_t<FieldView<const T, Host>> in, FieldView<T, Host> out,
           const Edges& edges = Edges::leave(), Into into = Into::replace, Threads threads = {}) {
    detail::apply_to_field(stencil, in, out, edges, into, threads);
}

template <class T>
void apply(const Stencil& stencil, std::type_identity_t<FieldView<const T, Cuda>> in, FieldView<T, Cuda> out,
           const Edges& edges = Edges::leave(), Into into = Into::replace, Stream stream = {}) {
    detail::apply_to_field(stencil, in, out, edges, into, stream);
}

} // namespace bandmill
