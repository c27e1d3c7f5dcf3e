// Hyperdiffusion:  C_t = -K D4 C, D4 the fourth derivative; Crank-Nicolson.
//   K  diffusivity
#pragma once

#include "bandmill/pde/equation.hpp"

namespace bandmill {

struct Hyperdiffusion {
    double diffusivity = 1; // K

    static constexpr const char* name = "hyperdiffusion";
    static constexpr int half_bandwidth = 2;
    static constexpr double implicitness = 0.5;
    static constexpr std::array<const char*, 0> member_parameters{};

    void check() const { detail::require_positive(diffusivity, "the diffusivity"); }
    LinearOperator implicit() const { return {.fourth = -diffusivity}; }
    double stable_step(const Grid&, double) const { return std::numeric_limits<double>::infinity(); }
    double profile(const Grid&, std::int64_t) const { return 0; }

    template <class T> struct Rate {
        static constexpr bool has_potential = true, has_source = false;
        static constexpr int left = 0, right = 0;
        double scale;
        T half_curvature; // K / (2 dx^4)

        template <class V> BANDMILL_HD V potential(const V& before, const V& here, const V& after) const {
            using detail::multiply_add;
            return multiply_add(T(-2), here, before + after);
        }
        // The functional it descends: K/2 C_xx^2.
        template <class V> BANDMILL_HD V energy(const V& before, const V& here, const V& after) const {
            const V curvature = potential(before, here, after);
            return half_curvature * (curvature * curvature);
        }
    };
    template <class T> Rate<T> rate(const Grid& grid) const {
        const double dx2 = grid.spacing() * grid.spacing();
        return {-diffusivity / dx2, static_cast<T>(diffusivity / 2 / (dx2 * dx2))};
    }

    static constexpr int plane_corrections = 1; // for the mixed derivative
    double plane_stable_step(const Grid&, const Grid&, double) const { return std::numeric_limits<double>::infinity(); }
    template <class T> struct PlaneRate {
        double scale;
        T half; // K / 2

        BANDMILL_HD T potential(T, T laplacian) const { return -laplacian; }
        // The functional it descends: K/2 (lap C)^2.
        BANDMILL_HD T energy(T, T laplacian, T) const { return half * (laplacian * laplacian); }
    };
    template <class T> PlaneRate<T> plane_rate() const { return {diffusivity, static_cast<T>(diffusivity / 2)}; }
};

} // namespace bandmill
