// The usual way of stepping a Cahn-Hilliard plane, as a rival: right-hand sides in a pass of their own, the paper's
// periodic solver along y, where it finds interleaved systems; then a transposition, the solver again, and back, which
// adds the increment.
#pragma once

#include "rival_stepper.hpp"

#include "bandmill/band/matrix.hpp"
#include "bandmill/ensemble/ensemble.hpp"

#include <memory>
#include <span>

namespace app {

// The increment's matrices, and the numbers of its right-hand side: Laplacian of C (1 / dx^2, 1 / dy^2), of the
// potential (dt times these).
struct PlaneRivalScheme {
    bandmill::BandMatrix along_x, along_y;
    double gamma, x, y, dt;
};
PlaneRivalScheme plane_rival_scheme(const bandmill::EnsembleSpec& spec);

// Member m starts from number m of the states, [member][y][x].
template <class T>
std::unique_ptr<RivalStepper<T>> make_plane_rival(const bandmill::EnsembleSpec& spec, std::span<const T> states,
                                                  bandmill::Threads threads);
template <class T>
std::unique_ptr<RivalStepper<T>> make_plane_rival(const bandmill::EnsembleSpec& spec, std::span<const T> states,
                                                  bandmill::Device device);

// Its kernels, on the default stream; planes of nx columns and ny rows.
template <class T> struct PlaneRivalNumbers {
    std::int64_t nx, ny;
    T gamma, x, y, update_x, update_y;

    PlaneRivalNumbers(const bandmill::EnsembleSpec& spec, const PlaneRivalScheme& scheme)
        : nx(spec.grid.points()), ny(spec.grid_y->points()), gamma(static_cast<T>(scheme.gamma)),
          x(static_cast<T>(scheme.x)), y(static_cast<T>(scheme.y)), update_x(static_cast<T>(scheme.dt * scheme.x)),
          update_y(static_cast<T>(scheme.dt * scheme.y)) {}
};
template <class T>
void plane_right_sides_cuda(bandmill::Device device, const PlaneRivalNumbers<T>& numbers, const T* c, T* f);
// to[i][j] = from[j][i]; or to += that.
template <class T>
void transpose_cuda(bandmill::Device device, const T* from, T* to, std::int64_t columns, std::int64_t rows, bool add);

} // namespace app
