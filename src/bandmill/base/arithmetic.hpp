// Arithmetic on what a lane holds. Formulas are written with + - * / and these functions, once, for numbers (a GPU
// thread, the host) and for SIMD packs (cpu/lanes.hpp has the same functions).
#pragma once

#include "bandmill/base/macros.hpp"

#include <cmath>

namespace bandmill::detail {

// Explicitly fused, so that every host and device rounds alike.
BANDMILL_HD double multiply(double a, double b) { return a * b; }
BANDMILL_HD float multiply(float a, float b) { return a * b; }
BANDMILL_HD double multiply_add(double a, double b, double c) { return ::fma(a, b, c); }
BANDMILL_HD float multiply_add(float a, float b, float c) { return ::fmaf(a, b, c); }

} // namespace bandmill::detail
