// Grid: equally spaced points of one space dimension, and what happens at its ends.
//   periodic    x_i = i dx
//   neumann     x_i = (i + 1/2) dx; C and mu are reflected evenly, so that no gradient and no flux crosses an end
//   dirichlet   x_i = (i + 1/2) dx; C - g and mu are reflected oddly, so that C = g and mu = 0 at the ends (for
//               diffusion, whose mu is C itself, mu = g)
#pragma once

#include "bandmill/base/error.hpp"

#include <cmath>
#include <cstdint>
#include <string>

namespace bandmill {

enum class Ends { periodic, neumann, dirichlet };
inline const char* name(Ends ends) {
    return ends == Ends::periodic ? "periodic" : ends == Ends::neumann ? "neumann" : "dirichlet";
}

class Grid {
  public:
    static constexpr std::int64_t fewest_points = 5; // a fourth difference and its wrap need as many

    // `value` is g, for Dirichlet ends.
    Grid(std::int64_t points, double length, Ends ends = Ends::periodic, double value = 0)
        : points_(points), length_(length), ends_(ends), value_(value) {
        if (points < fewest_points)
            throw InvalidArgument("a grid of " + std::to_string(points) +
                                  " points is too small (a fourth difference takes 5): give 5 or more");
        if (!(length > 0) || !std::isfinite(length))
            throw InvalidArgument("a grid cannot have the length " + std::to_string(length) +
                                  ": give a positive, finite number");
        if (!std::isfinite(value))
            throw InvalidArgument("the value at a Dirichlet end is not finite: give a finite number");
        if (value != 0 && ends != Ends::dirichlet)
            throw InvalidArgument("a value at the ends was given, but the ends are " + std::string(name(ends)) +
                                  ": only Dirichlet ends have one");
    }

    std::int64_t points() const { return points_; }
    double length() const { return length_; }
    Ends ends() const { return ends_; }
    double value() const { return value_; }
    double spacing() const { return length_ / static_cast<double>(points_); }
    double position(std::int64_t i) const {
        return (static_cast<double>(i) + (ends_ == Ends::periodic ? 0.0 : 0.5)) * spacing();
    }

  private:
    std::int64_t points_;
    double length_;
    Ends ends_;
    double value_;
};

} // namespace bandmill
