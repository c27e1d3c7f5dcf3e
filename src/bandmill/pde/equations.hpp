// The list of equations. To add one: write its file, include it here and name it in the list (docs/equations.md).
// A build may add its own without touching this file, by CMake variables: more_equations.hpp is then not empty.
#pragma once

#include "bandmill/pde/cahn_hilliard.hpp"
#include "bandmill/pde/diffusion.hpp"
#include "bandmill/pde/forced_cahn_hilliard.hpp"
#include "bandmill/pde/hyperdiffusion.hpp"
#include "bandmill/pde/more_equations.hpp"

#include <variant>

namespace bandmill {

using Equation = std::variant<Diffusion, Hyperdiffusion, CahnHilliard, ForcedCahnHilliard
#if defined(BANDMILL_MORE_EQUATIONS)
                              ,
                              BANDMILL_MORE_EQUATIONS
#endif
                              >;

} // namespace bandmill
