// The C interface to stencils.
#include "bandmill/stencil/apply.hpp"

#include "bandmill/c/guard.hpp"

namespace bandmill::c {
namespace {

Edges as_edges(const bandmill_edges& edges) {
    switch (edges.kind) {
    case BANDMILL_EDGES_LEAVE: return Edges::leave();
    case BANDMILL_EDGES_PERIODIC: return Edges::periodic();
    case BANDMILL_EDGES_CONSTANT: return Edges::constant(edges.first, edges.last);
    case BANDMILL_EDGES_EVEN: return Edges::even();
    case BANDMILL_EDGES_ODD: return Edges::odd(edges.first, edges.last);
    case BANDMILL_EDGES_EVEN_AT_POINT: return Edges::even_at_point();
    case BANDMILL_EDGES_ODD_AT_POINT: return Edges::odd_at_point(edges.first, edges.last);
    }
    throw InvalidArgument("edges of kind " + std::to_string(edges.kind) +
                          " are not known: use one of BANDMILL_EDGES_... (0 to 6)");
}

Into as_into(int into) {
    if (into != BANDMILL_REPLACE && into != BANDMILL_ADD)
        throw InvalidArgument("results cannot be put in way " + std::to_string(into) +
                              ": use BANDMILL_REPLACE (0) or BANDMILL_ADD (1)");
    return into == BANDMILL_REPLACE ? Into::replace : Into::add;
}

Stencil as_stencil(const bandmill_stencil* stencil) {
    const auto& [rows, columns, up, left, weights] = *require(stencil, "stencil");
    constexpr std::int64_t most = std::int64_t{1} << 24; // the library's own limit, which says so
    const bool countable = rows > 0 && columns > 0 && rows <= most && columns <= most;
    const auto count = static_cast<std::size_t>(countable ? rows * columns : 0);
    return Stencil::patch(rows, columns, {require(weights, "list of weights"), count}, up, left);
}

PlaneShape as_planes(const bandmill_planes& shape) {
    return {shape.rows, shape.columns, shape.batch, shape.row_stride, shape.column_stride, shape.batch_stride};
}

template <class Space, class T>
PlaneView<T, Space> as_plane_view(T* data, const bandmill_planes& shape, const char* what) {
    if (shape.rows > 0 && shape.columns > 0 && shape.batch > 0) require(data, what);
    return {data, as_planes(shape)};
}

// Calls with<Space>(how) for the place.
template <class With> void at_place(int place, int threads, void* stream, const With& with) {
    if (on_cpu(place)) {
        refuse_stream(stream);
        with(Host{}, Threads{threads});
    } else {
        require_gpu(place);
        with(Cuda{}, as_stream(stream));
    }
}

template <class T>
int apply_to_systems(const bandmill_stencil* stencil, const T* in, const bandmill_shape& in_shape, T* out,
                     const bandmill_shape& out_shape, const bandmill_edges& edges, int into, int place, int threads,
                     void* stream) noexcept {
    return guarded([&] {
        at_place(place, threads, stream, [&]<class Space>(Space, auto how) {
            apply(as_stencil(stencil), as_view<Space>(in, in_shape, "input"), as_view<Space>(out, out_shape, "output"),
                  as_edges(edges), as_into(into), how);
        });
    });
}

template <class T>
int apply_to_planes(const bandmill_stencil* stencil, const T* in, const bandmill_planes& in_shape, T* out,
                    const bandmill_planes& out_shape, const bandmill_edges& x_edges, const bandmill_edges& y_edges,
                    int into, int place, int threads, void* stream) noexcept {
    return guarded([&] {
        at_place(place, threads, stream, [&]<class Space>(Space, auto how) {
            apply(as_stencil(stencil), as_plane_view<Space>(in, in_shape, "input"),
                  as_plane_view<Space>(out, out_shape, "output"), {as_edges(x_edges), as_edges(y_edges)}, as_into(into),
                  how);
        });
    });
}

} // namespace
} // namespace bandmill::c

using namespace bandmill::c;

extern "C" {

// Sizes beyond 64 bits are refused by the function that is given the shape.
bandmill_planes bandmill_row_by_row(int64_t rows, int64_t columns, int64_t batch) {
    const bool fits = rows > 0 && columns > 0 && rows <= INT64_MAX / columns;
    return {rows, columns, batch, columns, 1, fits ? rows * columns : INT64_MAX};
}

int bandmill_apply_f64(const bandmill_stencil* stencil, const double* in, bandmill_shape in_shape, double* out,
                       bandmill_shape out_shape, bandmill_edges edges, int into, int place, int threads, void* stream) {
    return apply_to_systems(stencil, in, in_shape, out, out_shape, edges, into, place, threads, stream);
}

int bandmill_apply_f32(const bandmill_stencil* stencil, const float* in, bandmill_shape in_shape, float* out,
                       bandmill_shape out_shape, bandmill_edges edges, int into, int place, int threads, void* stream) {
    return apply_to_systems(stencil, in, in_shape, out, out_shape, edges, into, place, threads, stream);
}

int bandmill_apply_planes_f64(const bandmill_stencil* stencil, const double* in, bandmill_planes in_shape, double* out,
                              bandmill_planes out_shape, bandmill_edges x_edges, bandmill_edges y_edges, int into,
                              int place, int threads, void* stream) {
    return apply_to_planes(stencil, in, in_shape, out, out_shape, x_edges, y_edges, into, place, threads, stream);
}

int bandmill_apply_planes_f32(const bandmill_stencil* stencil, const float* in, bandmill_planes in_shape, float* out,
                              bandmill_planes out_shape, bandmill_edges x_edges, bandmill_edges y_edges, int into,
                              int place, int threads, void* stream) {
    return apply_to_planes(stencil, in, in_shape, out, out_shape, x_edges, y_edges, into, place, threads, stream);
}
}
