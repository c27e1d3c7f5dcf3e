// What a function of neighbours sees at a point: at(dx) and at(dx, dy) are the values dx columns to the right and dy
// rows further down, within the reach that was declared; at.x(), at.y() and at.plane() say where the point is. In a
// field at.x() is the row, at.y() the system.
#pragma once

#include "bandmill/base/error.hpp"
#include "bandmill/base/macros.hpp"

#include <cstdint>
#include <string>

namespace bandmill {

// How far a function looks.
struct Reach {
    std::int64_t left = 0, right = 0, up = 0, down = 0;
};

template <class T> class Neighbourhood {
  public:
    BANDMILL_HD Neighbourhood(const T* centre, std::int64_t column_stride, std::int64_t row_stride, std::int64_t x,
                              std::int64_t y, std::int64_t plane)
        : centre_(centre), column_stride_(column_stride), row_stride_(row_stride), x_(x), y_(y), plane_(plane) {}

    BANDMILL_HD T operator()(int dx) const { return centre_[dx * column_stride_]; }
    BANDMILL_HD T operator()(int dx, int dy) const { return centre_[dx * column_stride_ + dy * row_stride_]; }
    BANDMILL_HD std::int64_t x() const { return x_; }
    BANDMILL_HD std::int64_t y() const { return y_; }
    BANDMILL_HD std::int64_t plane() const { return plane_; }
    // The same values, as those of a system of a field, whatever plane they were taken for.
    BANDMILL_HD Neighbourhood of_system(std::int64_t system) const {
        return {centre_, column_stride_, row_stride_, x_, system, 0};
    }

  private:
    const T* centre_;
    std::int64_t column_stride_, row_stride_, x_, y_, plane_;
};

namespace detail {

inline void check_reach(const Reach& reach) {
    constexpr std::int64_t most = std::int64_t{1} << 24;
    for (const std::int64_t points : {reach.left, reach.right, reach.up, reach.down})
        if (points < 0 || points > most)
            throw InvalidArgument("a function cannot reach " + std::to_string(points) + " points (from 0 to " +
                                  std::to_string(most) + " are possible): check the reach");
}

inline void require_reach_along_x(const Reach& reach) {
    if (reach.up != 0 || reach.down != 0)
        throw InvalidArgument(
            "a function that reaches " + std::to_string(reach.up) + " points up and " + std::to_string(reach.down) +
            " down cannot be applied to a field (its systems have one direction): give left and right");
}

} // namespace detail
} // namespace bandmill
