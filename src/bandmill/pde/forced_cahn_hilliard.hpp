// Forced Cahn-Hilliard in the frame that travels with the forcing:
//     C_t = mu_xx + v C_x + f0 k cos(k x),   mu = C^3 - C - gamma C_xx.
// The fourth derivative is implicit, the rest explicit. Advection is upwind: v >= 0 carries information to the left, so
// the derivative is the right-biased WENO5. (For v < 0 reflect x: C(-x) obeys the same equation with -v.)
//   f0  amplitude, per member
//   k   wavenumber; the mean is kept by the forcing only if k L / 2 pi is a whole number (WENO adds a drift of about
//   1e-4) v   speed of the forcing
#pragma once

#include "bandmill/pde/cahn_hilliard.hpp"
#include "bandmill/pde/weno.hpp"

#include <algorithm>

namespace bandmill {

struct ForcedCahnHilliard {
    double gamma = 0.01, wavenumber = 1, speed = 0.5; // gamma, k, v

    static constexpr const char* name = "forced-cahn-hilliard";
    static constexpr int half_bandwidth = 2;
    static constexpr double implicitness = 1;
    static constexpr std::array<const char*, 1> member_parameters{"amplitude"}; // f0

    void check() const {
        unforced().check();
        detail::require_finite(wavenumber, "the wavenumber");
        detail::require_finite(speed, "the speed");
        if (speed < 0)
            throw InvalidArgument(
                "the speed of the forcing is negative (advection is taken upwind for v >= 0): reflect "
                "x and give -v");
    }
    LinearOperator implicit() const { return unforced().implicit(); }
    // Advection by explicit steps: the diffusion that the cubic term and gamma bring damps it as long as dt v <= dx.
    double stable_step(const Grid& grid, double largest) const {
        const double advection = speed > 0 ? grid.spacing() / speed : std::numeric_limits<double>::infinity();
        return std::min(unforced().stable_step(grid, largest), advection);
    }
    // The forcing by an amplitude of 1, in the units of a source.
    double profile(const Grid& grid, std::int64_t i) const {
        return grid.spacing() * grid.spacing() * wavenumber * std::cos(wavenumber * grid.position(i));
    }

    template <class T> struct Rate : CahnHilliard::Rate<T> {
        static constexpr bool has_source = true;
        static constexpr int left = 2, right = 3;
        T advection; // v dx^2, and the derivative's own factor
        RightWeno5<T> derivative;

        template <class V> BANDMILL_HD V source(const V* c, T profile, const V* parameters) const {
            using detail::multiply_add;
            return multiply_add(advection, derivative(c + 1), profile * parameters[0]);
        }
    };
    template <class T> Rate<T> rate(const Grid& grid) const {
        const double dx = grid.spacing();
        const RightWeno5<T> derivative(dx);
        return {unforced().rate<T>(grid), static_cast<T>(speed * dx * dx * derivative.to_derivative()), derivative};
    }

  private:
    CahnHilliard unforced() const { return {gamma}; }
};

} // namespace bandmill
