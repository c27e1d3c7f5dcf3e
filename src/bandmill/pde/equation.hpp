// What an equation is made of. It is a struct, one file each (cahn_hilliard.hpp is a good one to read), with
//
//   name                        as the command line spells it
//   half_bandwidth              1 if the implicit operator has second derivatives only, 2 with fourth ones
//   implicitness                theta: 1 takes the implicit operator at the new time, 1/2 is Crank-Nicolson
//   member_parameters           names of what differs from member to member; shared numbers are ordinary fields
//   check()                     throws InvalidArgument for parameters that make no sense
//   implicit()                  the operator that is taken implicitly: constant coefficients
//   stable_step(grid, largest)  the longest time step that the explicit rest allows while |C| <= largest
//   profile(grid, i)            a fixed function of x that the rate may use (forcing); 0 if it does not
//   rate<T>(grid)               the functor below, in precision T
//
// The functor gives the *whole* right-hand side, implicit part included: a step solves for the increment,
//     (1 - theta dt L) d = dt (rate of C),   C += d,
// so that round-off in C never passes through the inverse (a steady state stays one, and means stay put).
// With lengths in units of dx, rate = scale / dx^2 * (second difference of potential + source):
//
//   scale, in double                    kept out of the point-wise work
//   has_potential, has_source           which of the two there are
//   left, right                         how far the source reaches: at most 2 points to the left, 3 to the right
//   potential(before, here, after)      at one point, from it and its neighbours
//   source(c, profile, parameters)      c[3] is the point, c[0] .. c[6] its neighbours
//   energy(before, here, after)         free energy density; see docs/ensembles.md
//   end_potential(g)                    the potential at a Dirichlet end, where C = g; 0 if this is left out
//
// They take numbers on a GPU and SIMD packs of members on a CPU.
//
// An equation that has planes too (two dimensions, periodic; docs/planes.md) has besides
//
//   plane_corrections                       how often a step's increment is corrected: 1 where the operator has a mixed
//                                           derivative that must be second order in time, else 0
//   plane_stable_step(x, y, largest)        as stable_step
//   plane_rate<T>()                         a functor for the rate = scale * Laplacian of potential:
//       potential(here, laplacian)          at one point
//       energy(here, laplacian, gradient2)  free energy density; gradient2 is |grad C|^2
#pragma once

#include "bandmill/base/arithmetic.hpp"
#include "bandmill/pde/grid.hpp"

#include <array>
#include <limits>
#include <string>

namespace bandmill {

// zeroth C + second D2 C + fourth D4 C
struct LinearOperator {
    double zeroth = 0, second = 0, fourth = 0;
};

namespace detail {
inline void require_positive(double value, const char* what) {
    if (!(value > 0) || !std::isfinite(value))
        throw InvalidArgument(std::string(what) + " is " + std::to_string(value) +
                              ", which makes no sense here: give a positive, finite number");
}
template <class Rate, class T> BANDMILL_HD T end_potential(const Rate& rate, T value) {
    if constexpr (requires { rate.end_potential(value); }) return rate.end_potential(value);
    return T(0);
}
inline void require_finite(double value, const char* what) {
    if (!std::isfinite(value)) throw InvalidArgument(std::string(what) + " is not finite: give a finite number");
}
} // namespace detail

// Has it planes?
template <class E>
concept PlaneEquation = requires(const E& equation) {
    equation.template plane_rate<double>();
};

} // namespace bandmill
