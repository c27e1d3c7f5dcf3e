// Swift-Hohenberg:  C_t = r C - (1 + D2)^2 C - C^3, D2 the second derivative.
// (1 + D2)^2 = 1 + 2 D2 + D4 is taken implicitly, the rest explicitly.
//   C  amplitude of a pattern of stripes, 2 pi wide
//   r  how far the system is driven beyond the onset of the pattern, which is at r = 0; per member
#pragma once

#include "bandmill/pde/equation.hpp"

namespace bandmill {

struct SwiftHohenberg {
    static constexpr const char* name = "swift-hohenberg";
    static constexpr int half_bandwidth = 2;
    static constexpr double implicitness = 1;
    static constexpr std::array<const char*, 1> member_parameters{"r"};

    void check() const {}
    // -(1 - k^2)^2 of a mode k: never positive. r differs from member to member, so it cannot be in here.
    LinearOperator implicit() const { return {.zeroth = -1, .second = -2, .fourth = -1}; }

    // About a state C the explicit part has the rate -a, with a = 3 C^2 - r. The amplification of a mode,
    // (1 - dt a) / (1 + dt (1 - k^2)^2), must not pass -1; the worst mode is k = 1. For r >= 0 this is safe.
    double stable_step(const Grid&, double largest) const { return 2 / (3 * largest * largest); }
    double profile(const Grid&, std::int64_t) const { return 0; }

    template <class T> struct Rate {
        static constexpr bool has_potential = true, has_source = true;
        static constexpr int left = 0, right = 0;
        double scale;
        T dx2;         // dx^2
        T inverse_dx2; // 1 / dx^2

        // C_xx: the second difference of neighbours
        template <class V> BANDMILL_HD V curvature(const V& before, const V& here, const V& after) const {
            return inverse_dx2 * (before + after - T(2) * here);
        }
        // The second derivative of -2 C - C_xx is -2 C_xx - C_xxxx.
        template <class V> BANDMILL_HD V potential(const V& before, const V& here, const V& after) const {
            return T(-2) * here - curvature(before, here, after);
        }
        // dx^2 ((r - 1) C - C^3)
        template <class V> BANDMILL_HD V source(const V* c, T, const V* parameters) const {
            return dx2 * (c[3] * (parameters[0] - T(1) - c[3] * c[3]));
        }
        // ((1 + D2) C)^2 / 2 + C^4 / 4. What falls in time is this - r C^2 / 2, but parameters do not come here: take
        // r / 2 times the observable mean_square off.
        template <class V> BANDMILL_HD V energy(const V& before, const V& here, const V& after) const {
            const V misfit = here + curvature(before, here, after), square = here * here;
            return T(0.5) * (misfit * misfit) + T(0.25) * (square * square);
        }
    };
    template <class T> Rate<T> rate(const Grid& grid) const {
        const double dx2 = grid.spacing() * grid.spacing();
        return {1, static_cast<T>(dx2), static_cast<T>(1 / dx2)};
    }
};

} // namespace bandmill
