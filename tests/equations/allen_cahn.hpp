// Allen-Cahn:  C_t = gamma C_xx + C - C^3.
// Diffusion is taken implicitly, the reaction explicitly.
//   C      order parameter: it settles at -1 and +1, and its mean is not conserved
//   gamma  interfaces are about sqrt(gamma) wide
#pragma once

#include "bandmill/pde/equation.hpp"

namespace bandmill {

struct AllenCahn {
    double gamma = 0.01;

    static constexpr const char* name = "allen-cahn";
    static constexpr int half_bandwidth = 1;
    static constexpr double implicitness = 1;
    static constexpr std::array<const char*, 0> member_parameters{};

    void check() const { detail::require_positive(gamma, "gamma"); }
    LinearOperator implicit() const { return {.second = gamma}; }

    // About a state C the reaction has the rate -a, with a = 3 C^2 - 1. The amplification of a mode,
    // (1 - dt a) / (1 + dt gamma k^2), must not pass -1; the worst mode is k = 0.
    double stable_step(const Grid&, double largest) const {
        const double a = 3 * largest * largest - 1;
        return a > 0 ? 2 / a : std::numeric_limits<double>::infinity();
    }
    double profile(const Grid&, std::int64_t) const { return 0; }

    template <class T> struct Rate {
        static constexpr bool has_potential = true, has_source = true;
        static constexpr int left = 0, right = 0;
        double scale;
        T diffusion;     // gamma
        T reaction;      // dx^2
        T half_gradient; // gamma / (2 dx^2)

        template <class V> BANDMILL_HD V potential(const V&, const V& here, const V&) const { return diffusion * here; }
        // dx^2 (C - C^3)
        template <class V> BANDMILL_HD V source(const V* c, T, const V*) const {
            return reaction * (c[3] * (T(1) - c[3] * c[3]));
        }
        // (C^2 - 1)^2 / 4 + gamma / 2 C_x^2
        template <class V> BANDMILL_HD V energy(const V&, const V& here, const V& after) const {
            const V well = here * here - T(1), step = after - here;
            return T(0.25) * (well * well) + half_gradient * (step * step);
        }
    };
    template <class T> Rate<T> rate(const Grid& grid) const {
        const double dx2 = grid.spacing() * grid.spacing();
        return {1, static_cast<T>(gamma), static_cast<T>(dx2), static_cast<T>(gamma / 2 / dx2)};
    }
};

} // namespace bandmill
