// Cahn-Hilliard:  C_t = mu_xx,   mu = C^3 - C - gamma C_xx.
// The fourth derivative is taken implicitly, the rest explicitly.
//   C      concentration: the mixture separates into C = -1 and C = +1
//   gamma  interfaces are about sqrt(gamma) wide
#pragma once

#include "bandmill/pde/equation.hpp"

namespace bandmill {

struct CahnHilliard {
    double gamma = 0.01;

    static constexpr const char* name = "cahn-hilliard";
    static constexpr int half_bandwidth = 2;
    static constexpr double implicitness = 1;
    static constexpr std::array<const char*, 0> member_parameters{};

    void check() const { detail::require_positive(gamma, "gamma"); }
    LinearOperator implicit() const { return {.fourth = -gamma}; }

    // About a state C the rate of a mode is -a k^2 - gamma k^4, with a = 3 C^2 - 1 taken explicitly. Its amplification
    // (1 - dt a k^2) / (1 + dt gamma k^4) must not pass -1: dt k^2 (a - gamma k^2) <= 2, worst at k^2 = a / (2 gamma),
    // or at the largest k^2 = 4 / dx^2 that the grid has.
    double stable_step(const Grid& grid, double largest) const {
        const double a = 3 * largest * largest - 1;
        if (a <= 0) return std::numeric_limits<double>::infinity();
        const double finest = 4 / (grid.spacing() * grid.spacing()), worst = a / (2 * gamma);
        if (worst <= finest) return 8 * gamma / (a * a);
        return 2 / (finest * (a - gamma * finest));
    }
    double profile(const Grid&, std::int64_t) const { return 0; }

    template <class T> struct Rate {
        static constexpr bool has_potential = true, has_source = false;
        static constexpr int left = 0, right = 0;
        double scale;
        T own;       // 1 - 2 gamma / dx^2
        T neighbour; // gamma / dx^2

        template <class V> BANDMILL_HD V potential(const V& before, const V& here, const V& after) const {
            using detail::multiply_add;
            const V cubic = here * multiply_add(here, here, V{} - own);
            return multiply_add(-neighbour, before + after, cubic);
        }
        // (C^2 - 1)^2 / 4 + gamma / 2 C_x^2. Half of either step, so that both ends of a grid count alike.
        template <class V> BANDMILL_HD V energy(const V& before, const V& here, const V& after) const {
            const V well = here * here - T(1), up = after - here, down = here - before;
            return T(0.25) * (well * well + neighbour * (up * up + down * down));
        }
    };
    template <class T> Rate<T> rate(const Grid& grid) const {
        const double neighbour = gamma / (grid.spacing() * grid.spacing());
        return {1, static_cast<T>(1 - 2 * neighbour), static_cast<T>(neighbour)};
    }

    static constexpr int plane_corrections = 0;
    // A mode's squares of wavenumbers p, q along x, y: its amplification 1 - dt ((p + q) a + gamma (p + q)^2) / D with
    // D = (1 + dt gamma p^2)(1 + dt gamma q^2) must not pass -1. Worst where p = q = s: dt a s <= 1 + (dt gamma s^2)^2,
    // at s^3 = a / (4 dt gamma^2), which gives dt <= 16 / sqrt(27) gamma / a^2; or at the largest s of the grids, for
    // which this stays on the safe side. (docs/planes.md derives it.)
    double plane_stable_step(const Grid&, const Grid&, double largest) const {
        const double a = 3 * largest * largest - 1;
        if (a <= 0) return std::numeric_limits<double>::infinity();
        return 16 / std::sqrt(27.0) * gamma / (a * a);
    }
    template <class T> struct PlaneRate {
        double scale;
        T gamma, half; // gamma / 2

        BANDMILL_HD T potential(T here, T laplacian) const { return here * (here * here - T(1)) - gamma * laplacian; }
        // (C^2 - 1)^2 / 4 + gamma / 2 |grad C|^2
        BANDMILL_HD T energy(T here, T, T gradient2) const {
            const T well = here * here - T(1);
            return T(0.25) * (well * well) + half * gradient2;
        }
    };
    template <class T> PlaneRate<T> plane_rate() const { return {1, static_cast<T>(gamma), static_cast<T>(gamma / 2)}; }
};

} // namespace bandmill
