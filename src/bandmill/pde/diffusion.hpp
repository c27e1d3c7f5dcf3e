// Diffusion:  C_t = D C_xx, Crank-Nicolson.
//   D  diffusivity
#pragma once

#include "bandmill/pde/equation.hpp"

namespace bandmill {

struct Diffusion {
    double diffusivity = 1; // D

    static constexpr const char* name = "diffusion";
    static constexpr int half_bandwidth = 1;
    static constexpr double implicitness = 0.5;
    static constexpr std::array<const char*, 0> member_parameters{};

    void check() const { detail::require_positive(diffusivity, "the diffusivity"); }
    LinearOperator implicit() const { return {.second = diffusivity}; }
    double stable_step(const Grid&, double) const { return std::numeric_limits<double>::infinity(); }
    double profile(const Grid&, std::int64_t) const { return 0; }

    template <class T> struct Rate {
        static constexpr bool has_potential = true, has_source = false;
        static constexpr int left = 0, right = 0;
        double scale;
        T quarter_gradient; // D / (4 dx^2)

        template <class V> BANDMILL_HD V potential(const V&, const V& here, const V&) const { return here; }
        BANDMILL_HD T end_potential(T value) const { return value; }
        // The functional it descends: D/2 C_x^2. Half of either step, so that both ends of a grid count alike.
        template <class V> BANDMILL_HD V energy(const V& before, const V& here, const V& after) const {
            const V up = after - here, down = here - before;
            return quarter_gradient * (up * up + down * down);
        }
    };
    template <class T> Rate<T> rate(const Grid& grid) const {
        return {diffusivity, static_cast<T>(diffusivity / 4 / (grid.spacing() * grid.spacing()))};
    }

    static constexpr int plane_corrections = 0;
    double plane_stable_step(const Grid&, const Grid&, double) const { return std::numeric_limits<double>::infinity(); }
    template <class T> struct PlaneRate {
        double scale;
        T half; // D / 2

        BANDMILL_HD T potential(T here, T) const { return here; }
        BANDMILL_HD T energy(T, T, T gradient2) const { return half * gradient2; }
    };
    template <class T> PlaneRate<T> plane_rate() const { return {diffusivity, static_cast<T>(diffusivity / 2)}; }
};

} // namespace bandmill
