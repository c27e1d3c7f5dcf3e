// Steps and observables of one member, straight from the definitions: dense matrices and loops in long double. Shares
// no code with src/ but the equations' and the grid's numbers.
#pragma once

#include "bandmill/pde/equations.hpp"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace oracle {

using Real = long double;
using Points = std::vector<Real>;
using bandmill::Ends, bandmill::Grid;

// Value i of points that go on beyond the ends: wrapped, or reflected about `about` (0 for what vanishes at an end).
inline Real at(const Points& f, const Grid& grid, int i, Real about) {
    const int n = static_cast<int>(f.size());
    if (i >= 0 && i < n) return f[i];
    if (grid.ends() == Ends::periodic) return f[(i + n) % n];
    const Real inside = f[i < 0 ? -1 - i : 2 * n - 1 - i];
    return grid.ends() == Ends::neumann ? inside : 2 * about - inside;
}

inline Points second_difference(const Points& f, const Grid& grid, Real about) {
    const Real dx = grid.spacing();
    Points result(f.size());
    for (int i = 0; i < static_cast<int>(f.size()); ++i)
        result[i] = (at(f, grid, i - 1, about) - 2 * f[i] + at(f, grid, i + 1, about)) / (dx * dx);
    return result;
}

// Jiang and Peng's derivative for information that comes from the right, as they write it.
inline Real weno(const Points& c, const Grid& grid, int i) {
    const Real dx = grid.spacing();
    const auto v = [&](int k) { return (at(c, grid, i + 4 - k, 0) - at(c, grid, i + 3 - k, 0)) / dx; };
    const auto square = [](Real x) { return x * x; };
    const Real v1 = v(1), v2 = v(2), v3 = v(3), v4 = v(4), v5 = v(5);
    const Real s1 = 13 * square(v1 - 2 * v2 + v3) / 12 + square(v1 - 4 * v2 + 3 * v3) / 4;
    const Real s2 = 13 * square(v2 - 2 * v3 + v4) / 12 + square(v2 - v4) / 4;
    const Real s3 = 13 * square(v3 - 2 * v4 + v5) / 12 + square(3 * v3 - 4 * v4 + v5) / 4;
    const Real a1 = 0.1L / square(s1 + 1e-6L), a2 = 0.6L / square(s2 + 1e-6L), a3 = 0.3L / square(s3 + 1e-6L);
    return (a1 * (2 * v1 - 7 * v2 + 11 * v3) + a2 * (-v2 + 5 * v3 + 2 * v4) + a3 * (2 * v3 + 5 * v4 - v5)) /
           (6 * (a1 + a2 + a3));
}

// C_t; `parameter` is the member's own.
inline Points rate(const bandmill::Diffusion& e, const Points& c, const Grid& grid, Real) {
    Points mu = c;
    for (Real& x : mu) x *= e.diffusivity;
    return second_difference(mu, grid, e.diffusivity * grid.value());
}
inline Points rate(const bandmill::Hyperdiffusion& e, const Points& c, const Grid& grid, Real) {
    Points mu = second_difference(c, grid, grid.value());
    for (Real& x : mu) x *= -e.diffusivity;
    return second_difference(mu, grid, 0);
}
inline Points rate(const bandmill::CahnHilliard& e, const Points& c, const Grid& grid, Real) {
    Points mu = second_difference(c, grid, grid.value());
    for (std::size_t i = 0; i < c.size(); ++i) mu[i] = c[i] * c[i] * c[i] - c[i] - e.gamma * mu[i];
    return second_difference(mu, grid, 0);
}
inline Points rate(const bandmill::ForcedCahnHilliard& e, const Points& c, const Grid& grid, Real amplitude) {
    Points result = rate(bandmill::CahnHilliard{e.gamma}, c, grid, 0);
    const Real k = e.wavenumber;
    for (int i = 0; i < static_cast<int>(c.size()); ++i)
        result[i] += e.speed * weno(c, grid, i) + amplitude * k * std::cos(k * i * static_cast<Real>(grid.spacing()));
    return result;
}

// theta times the operator that is taken implicitly, on an increment (which vanishes at Dirichlet ends).
inline Points implicit(const bandmill::Diffusion& e, const Points& d, const Grid& grid) {
    Points result = second_difference(d, grid, 0);
    for (Real& x : result) x *= e.diffusivity / 2;
    return result;
}
inline Points fourth(Real weight, const Points& d, const Grid& grid) {
    Points result = second_difference(second_difference(d, grid, 0), grid, 0);
    for (Real& x : result) x *= weight;
    return result;
}
inline Points implicit(const bandmill::Hyperdiffusion& e, const Points& d, const Grid& grid) {
    return fourth(-e.diffusivity / 2, d, grid);
}
inline Points implicit(const bandmill::CahnHilliard& e, const Points& d, const Grid& grid) {
    return fourth(-e.gamma, d, grid);
}
inline Points implicit(const bandmill::ForcedCahnHilliard& e, const Points& d, const Grid& grid) {
    return fourth(-e.gamma, d, grid);
}

// Gaussian elimination with row exchanges; columns[j][i] = A[i, j].
inline Points solve(std::vector<Points> columns, Points b) {
    const std::size_t n = b.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k; i < n; ++i)
            if (std::fabs(columns[k][i]) > std::fabs(columns[k][pivot])) pivot = i;
        for (Points& column : columns) std::swap(column[k], column[pivot]);
        std::swap(b[k], b[pivot]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const Real factor = columns[k][i] / columns[k][k];
            for (std::size_t j = k; j < n; ++j) columns[j][i] -= factor * columns[j][k];
            b[i] -= factor * b[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= columns[j][k] * b[j];
        b[k] /= columns[k][k];
    }
    return b;
}

template <class E> Points step(const E& equation, Points c, const Grid& grid, Real time_step, Real parameter) {
    const std::size_t n = c.size();
    std::vector<Points> columns;
    for (std::size_t j = 0; j < n; ++j) {
        Points unit(n, 0);
        unit[j] = 1;
        Points column = implicit(equation, unit, grid);
        for (std::size_t i = 0; i < n; ++i) column[i] = unit[i] - time_step * column[i];
        columns.push_back(column);
    }
    Points b = rate(equation, c, grid, parameter);
    for (Real& x : b) x *= time_step;
    const Points d = solve(columns, b);
    for (std::size_t i = 0; i < n; ++i) c[i] += d[i];
    return c;
}

} // namespace oracle
