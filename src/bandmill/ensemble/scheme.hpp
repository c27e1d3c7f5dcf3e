// The linear system of a time step, as the increment form has it: (1 - theta dt L) d = dt * rate.
#pragma once

#include "bandmill/band/matrix.hpp"
#include "bandmill/pde/equations.hpp"

namespace bandmill::detail {

// 1 - weight * L on the grid, its ends included. Half-bandwidth 1 if L has no fourth derivative and 1 is asked for.
BandMatrix implicit_matrix(const LinearOperator& linear, const Grid& grid, int half_bandwidth, double weight);

template <class E> BandMatrix step_matrix(const E& equation, const Grid& grid, double time_step) {
    return implicit_matrix(equation.implicit(), grid, E::half_bandwidth, E::implicitness * time_step);
}

// d = update * A^-1 (second difference of the potential + source): everything that is constant.
template <class E> double update_factor(const E& equation, const Grid& grid, double time_step) {
    return equation.template rate<double>(grid).scale * time_step / (grid.spacing() * grid.spacing());
}

// The fixed function of x that the rate uses, at every point.
std::vector<double> profile(const Equation& equation, const Grid& grid);

} // namespace bandmill::detail
