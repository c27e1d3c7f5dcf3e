// The Laplacian on a periodic plane of equally spaced points, and what both backends know of a step in two dimensions.
#pragma once

#include "bandmill/pde/equation.hpp"

namespace bandmill {

// Factors of the second differences along x and y. No fused multiply-add: this is bound by memory, and every CPU and
// GPU then rounds alike.
template <class T> struct PlaneWeights {
    T x, y;

    BANDMILL_HD T laplacian(T here, T left, T right, T below, T above) const {
        const T twice = here + here;
        return x * ((left + right) - twice) + y * ((below + above) - twice);
    }
    // |grad C|^2: half of either step.
    BANDMILL_HD T gradient2(T here, T left, T right, T below, T above) const {
        const T up_x = right - here, down_x = here - left, up_y = above - here, down_y = here - below;
        return T(0.5) * (x * (up_x * up_x + down_x * down_x) + y * (up_y * up_y + down_y * down_y));
    }
};

// factor / dx^2, factor / dy^2
template <class T> PlaneWeights<T> plane_weights(double factor, const Grid& x, const Grid& y) {
    return {static_cast<T>(factor / (x.spacing() * x.spacing())), static_cast<T>(factor / (y.spacing() * y.spacing()))};
}

namespace detail {
// The length of the lines C = 0 from the sign changes from point to point along x and along y (Crofton's formula with
// two directions: right for lines that have none of their own).
inline double interface_length(double changes_x, double changes_y, const Grid& x, const Grid& y) {
    constexpr double quarter_pi = 0.78539816339744830962;
    return quarter_pi * (changes_x * y.spacing() + changes_y * x.spacing());
}
} // namespace detail

} // namespace bandmill
