#include "bandmill/stencil/apply.hpp"
#include "bandmill/stencil/advect.hpp"

#include "bandmill/base/text.hpp"

#include <cmath>
#include <string>

namespace bandmill::detail {

void require_along_x(const Stencil& stencil) {
    if (stencil.rows() != 1)
        throw InvalidArgument("a stencil of " + std::to_string(stencil.rows()) +
                              " rows cannot be applied to a field (its systems have one direction): give "
                              "one row of weights, along the systems, or apply it to planes");
}

template <class T> std::vector<Weighted<T>> weighted_points(const Stencil& stencil) {
    std::vector<Weighted<T>> points;
    for (std::int64_t dy = -stencil.up(); dy <= stencil.down(); ++dy)
        for (std::int64_t dx = -stencil.left(); dx <= stencil.right(); ++dx) {
            const T weight = static_cast<T>(stencil.weight(dy, dx));
            if (!std::isfinite(weight))
                throw InvalidArgument("the weight " + text(stencil.weight(dy, dx)) +
                                      " is too large for the field's precision: use f64, or smaller weights");
            if (weight != 0) points.push_back({dy, dx, weight});
        }
    return points;
}
template std::vector<Weighted<double>> weighted_points<double>(const Stencil&);
template std::vector<Weighted<float>> weighted_points<float>(const Stencil&);

void check_spacing(double spacing, const char* axis) {
    if (!(spacing > 0) || !std::isfinite(spacing))
        throw InvalidArgument("the spacing along " + std::string(axis) + " is " + text(spacing) +
                              ", but there is a velocity along it: give a positive, finite number");
    if (spacing < 1e-20 || spacing > 1e30) // powers of it are computed
        throw InvalidArgument("the spacing along " + std::string(axis) + " is " + text(spacing) +
                              " (what is computed from it would be zero or infinite): measure lengths in units that "
                              "make it lie between 1e-20 and 1e30");
}

} // namespace bandmill::detail
