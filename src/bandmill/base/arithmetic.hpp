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

// a / b to about an ulp, for b well inside the range. A correctly rounded division takes twice as many instructions on
// a GPU.
BANDMILL_HD double divide(double a, double b) {
#if defined(__CUDA_ARCH__)
    double inverse; // good to 20 bits; each correction doubles them
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(b));
    for (int i = 0; i < 2; ++i) inverse = ::fma(inverse, ::fma(-b, inverse, 1.0), inverse);
    return a * inverse;
#else
    return a / b;
#endif
}
BANDMILL_HD float divide(float a, float b) {
#if defined(__CUDA_ARCH__)
    return __fdividef(a, b);
#else
    return a / b;
#endif
}

} // namespace bandmill::detail
