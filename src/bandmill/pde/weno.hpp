// The fifth-order WENO derivative of a Hamilton-Jacobi equation, biased to the right: it looks at three intervals on
// the right of a point and two on the left, for information that comes from the right (C_t = +v C_x). Three third-order
// derivatives are weighted by how smooth their stencils are, so that none reaches across a step.
#pragma once

#include "bandmill/base/arithmetic.hpp"

namespace bandmill {

template <class T> struct RightWeno5 {
    T inverse_spacing;

    // c[0] .. c[5]: the points from two left of the one in question, c[2], to three right of it.
    template <class V> BANDMILL_HD V operator()(const V* c) const {
        using detail::multiply_add;
        const V v1 = inverse_spacing * (c[5] - c[4]), v2 = inverse_spacing * (c[4] - c[3]),
                v3 = inverse_spacing * (c[3] - c[2]), v4 = inverse_spacing * (c[2] - c[1]),
                v5 = inverse_spacing * (c[1] - c[0]);
        const V p = v1 - v2, q = v2 - v3, r = v3 - v4, s = v4 - v5;
        // Four times the smoothness 13/12 (second difference)^2 + 1/4 (slope)^2, and epsilon = 1e-6.
        const V s1 = smoothness(p - q, multiply_add(T(-3), q, p)), s2 = smoothness(q - r, q + r),
                s3 = smoothness(r - s, multiply_add(T(3), r, V{} - s));
        // Weights 1 : 6 : 3 over the squares, without dividing: times all three squares.
        const V a1 = s1 * s1, a2 = s2 * s2, a3 = s3 * s3;
        const V w1 = a2 * a3, w2 = T(6) * (a1 * a3), w3 = T(3) * (a1 * a2);
        // Candidates less v3, times 6.
        const V d1 = multiply_add(T(2), p, T(-5) * q), d2 = multiply_add(T(-2), r, V{} - q),
                d3 = multiply_add(T(-4), r, s);
        const V sum = multiply_add(w1, d1, multiply_add(w2, d2, w3 * d3));
        return v3 + sum / (T(6) * (w1 + w2 + w3));
    }

  private:
    template <class V> BANDMILL_HD static V smoothness(const V& second, const V& slope) {
        using detail::multiply_add;
        return multiply_add(T(13) / T(3), second * second, multiply_add(slope, slope, V{} + T(4e-6)));
    }
};

} // namespace bandmill
