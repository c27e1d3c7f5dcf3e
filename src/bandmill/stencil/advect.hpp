// advect: the rate of change by advection with a given velocity (u, v),
//     out = -(u C_x + v C_y),
// so that C_t = out carries C along with the velocity. Derivatives are fifth-order HJ-WENO (pde/weno.hpp), taken at
// each point from where the velocity comes: they look at three intervals upstream and two downstream. The scheme is not
// conservative, and does not overshoot at steps by more than a little.
//
// Velocities are views like the field; a stride of 0 repeats one value. Everything else is as for apply().
#pragma once

#include "bandmill/stencil/apply.hpp"

#include <optional>
#include <type_traits>

namespace bandmill {

// The distance between points; only that of the axes that have a velocity counts.
struct Spacing {
    double x = 0, y = 0;
};

// One of the two may be missing: then there is no advection along that axis, and no neighbour along it is looked at.
template <class T, class Space = Host> struct Velocity {
    std::optional<PlaneView<const T, Space>> x = std::nullopt, y = std::nullopt;
};

template <class T>
void advect(const std::type_identity_t<Velocity<T, Host>>& velocity, const Spacing& spacing,
            std::type_identity_t<PlaneView<const T, Host>> in, PlaneView<T, Host> out, const PlaneEdges& edges = {},
            Into into = Into::replace, Threads threads = {});

template <class T>
void advect(const std::type_identity_t<Velocity<T, Cuda>>& velocity, const Spacing& spacing,
            std::type_identity_t<PlaneView<const T, Cuda>> in, PlaneView<T, Cuda> out, const PlaneEdges& edges = {},
            Into into = Into::replace, Stream stream = {});

namespace detail {

inline constexpr std::int64_t upwind_reach = 3; // points on either side, since the velocity may have either sign

void check_spacing(double spacing, const char* axis); // throws InvalidArgument unless positive

template <class T, class Space>
void check_advect(const Velocity<T, Space>& velocity, const Spacing& spacing, const PlaneView<const T, Space>& in,
                  const PlaneView<T, Space>& out, const PlaneEdges& edges) {
    check_apply<T>(in, out, edges);
    if (!velocity.x && !velocity.y)
        throw InvalidArgument("no velocity was given, along x or along y: give one of them at least");
    if (velocity.x) {
        check_planes({{velocity.x->shape(), velocity.x->data(), "velocity along x"}}, out.shape(), out.data(),
                     sizeof(T));
        check_spacing(spacing.x, "x");
    }
    if (velocity.y) {
        check_planes({{velocity.y->shape(), velocity.y->data(), "velocity along y"}}, out.shape(), out.data(),
                     sizeof(T));
        check_spacing(spacing.y, "y");
    }
}

template <class T, class Space, class Place>
void advect_field(const FieldView<const T, Space>& velocity, double spacing, const FieldView<const T, Space>& in,
                  const FieldView<T, Space>& out, const Edges& edges, Into into, Place place) {
    const FieldPieces pieces = field_pieces({{velocity, "velocity"}, {in, "input"}, {out, "output"}});
    for (int piece = 0; piece < pieces.count; ++piece)
        advect<T>(Velocity<T, Space>{piece_of(velocity, pieces, piece, 0), {}}, Spacing{spacing, 0},
                  piece_of(in, pieces, piece, 1), piece_of(out, pieces, piece, 2), {edges, Edges::leave()}, into,
                  place);
}

} // namespace detail

// Along the systems of a field.
template <class T>
void advect(std::type_identity_t<FieldView<const T, Host>> velocity, double spacing,
            std::type_identity_t<FieldView<const T, Host>> in, FieldView<T, Host> out,
            const Edges& edges = Edges::leave(), Into into = Into::replace, Threads threads = {}) {
    detail::advect_field(velocity, spacing, in, out, edges, into, threads);
}

template <class T>
void advect(std::type_identity_t<FieldView<const T, Cuda>> velocity, double spacing,
            std::type_identity_t<FieldView<const T, Cuda>> in, FieldView<T, Cuda> out,
            const Edges& edges = Edges::leave(), Into into = Into::replace, Stream stream = {}) {
    detail::advect_field(velocity, spacing, in, out, edges, into, stream);
}

} // namespace bandmill
