// The fifth-order WENO derivative of a Hamilton-Jacobi equation, biased to the right: it looks at three intervals on
// the right of a point and two on the left, for information that comes from the right (C_t = +v C_x). Three third-order
// derivatives are weighted by how smooth their stencils are, so that none reaches across a step.
#pragma once

#include "bandmill/base/arithmetic.hpp"

namespace bandmill {

// How steep it may be. The weights are quotients of eighth powers of slopes; in f32 these overflow at slopes of some
// 2e4, unless they are scaled first, which takes a division more.
enum class Slopes { moderate, any };

template <class T, Slopes Range = Slopes::moderate> class RightWeno5 {
  public:
    explicit RightWeno5(double spacing)
        : to_slope_(static_cast<T>(1 / spacing)), epsilon_(static_cast<T>(divides ? 4e-6 : 4e-6 * spacing * spacing)),
          to_derivative_(static_cast<T>(divides ? 1 : 1 / spacing)) {}

    // What the result is to be multiplied by to make it the derivative.
    T to_derivative() const { return to_derivative_; }

    // c[0] .. c[5]: the points from two left of the one in question, c[2], to three right of it.
    template <class V> BANDMILL_HD V operator()(const V* c) const {
        using detail::divide;
        using detail::multiply_add;
        const V v1 = slope(c[5], c[4]), v2 = slope(c[4], c[3]), v3 = slope(c[3], c[2]), v4 = slope(c[2], c[1]),
                v5 = slope(c[1], c[0]);
        const V p = v1 - v2, q = v2 - v3, r = v3 - v4, s = v4 - v5;
        V s1 = smoothness(p - q, multiply_add(T(-3), q, p)), s2 = smoothness(q - r, q + r),
          s3 = smoothness(r - s, multiply_add(T(3), r, -s));
        if constexpr (scales) {
            // Parts of their sum, since only ratios matter. One of the three is 1/3 or more and is in two of the three
            // products below, so that with 1e-18 in place of nothing one product at least is a normal number.
            constexpr T least = T(1e-18);
            const V scale = divide(V{} + T(1), s1 + s2 + s3);
            s1 = multiply_add(scale, s1, V{} + least);
            s2 = multiply_add(scale, s2, V{} + least);
            s3 = multiply_add(scale, s3, V{} + least);
        }
        // Weights 1 : 6 : 3 over the squares; times all three squares, so that one division is enough.
        const V a1 = s1 * s1, a2 = s2 * s2, a3 = s3 * s3;
        const V w1 = a2 * a3, w2 = a1 * a3, w3 = a1 * a2; // without the 6 and the 3
        // The three derivatives, less v3, times 1, 6 and 3.
        const V d1 = multiply_add(T(1) / 3, p, T(-5) / 6 * q), d2 = multiply_add(T(-2), r, -q),
                d3 = multiply_add(T(-2), r, T(0.5) * s);
        return v3 + divide(multiply_add(w1, d1, multiply_add(w2, d2, w3 * d3)),
                           multiply_add(T(6), w2, multiply_add(T(3), w3, w1)));
    }

  private:
    // Eighth powers of differences must not underflow: in f32 slopes are divided by the spacing, which costs a
    // multiplication; in f64 epsilon takes the spacing instead.
    static constexpr bool divides = sizeof(T) == 4, scales = divides && Range == Slopes::any;
    T to_slope_, epsilon_, to_derivative_;

    template <class V> BANDMILL_HD V slope(const V& after, const V& before) const {
        if constexpr (divides) return to_slope_ * (after - before);
        return after - before;
    }
    // Four times 13/12 (second difference)^2 + 1/4 (slope of the slope)^2 + 1e-6. What depends on the second difference
    // alone comes again at the next two points, and need not be computed again where these are at hand.
    template <class V> BANDMILL_HD V smoothness(const V& second, const V& slope) const {
        using detail::multiply_add;
        return multiply_add(slope, slope, multiply_add(T(13) / 3, second * second, V{} + epsilon_));
    }
};

} // namespace bandmill
