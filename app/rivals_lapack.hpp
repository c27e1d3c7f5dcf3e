// LAPACK as a rival on the CPU. Without LAPACKE and OpenBLAS in the build, these say so as their obstacle.
#pragma once

#include "contestant.hpp"

namespace app {

Rival<bandmill::Host> lapack_gttrs(const Place<bandmill::Host>& place); // tridiagonal
Rival<bandmill::Host> lapack_gbtrs(const Place<bandmill::Host>& place); // any band
// With a matrix for every system, factored in the same call.
Rival<bandmill::Host> lapack_gtsv(const Place<bandmill::Host>& place);
Rival<bandmill::Host> lapack_gbsv(const Place<bandmill::Host>& place);

} // namespace app
