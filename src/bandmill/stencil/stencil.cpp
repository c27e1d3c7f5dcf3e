#include "bandmill/stencil/stencil.hpp"

#include "bandmill/base/error.hpp"
#include "bandmill/base/text.hpp"

#include <cmath>
#include <string>

namespace bandmill {
namespace {

constexpr std::int64_t most_points = std::int64_t{1} << 24; // along an axis: offsets stay far from any limit

std::int64_t middle(std::int64_t count, const char* what) {
    if (count == 0) throw InvalidArgument(std::string("a stencil cannot have 0 ") + what + ": give one weight or more");
    if (count % 2 == 0)
        throw InvalidArgument("a stencil of " + std::to_string(count) + " " + what +
                              " has no point in the middle: say how many stand before the point itself");
    return count / 2;
}

void check_axis(std::int64_t count, std::int64_t before, const char* what, const char* side) {
    if (count < 1 || count > most_points)
        throw InvalidArgument("a stencil cannot have " + std::to_string(count) + " " + what + " (from 1 to " +
                              std::to_string(most_points) + " are possible): check the weights");
    if (before < 0 || before >= count)
        throw InvalidArgument("a stencil of " + std::to_string(count) + " " + what + " cannot reach " +
                              std::to_string(before) + " points " + side +
                              " (the point itself is one of them): give a number from 0 to " +
                              std::to_string(count - 1) + ", and weights of zero where there are none");
}

std::vector<double> copied(std::span<const double> weights) { return {weights.begin(), weights.end()}; }
std::int64_t size(std::span<const double> weights) { return static_cast<std::int64_t>(weights.size()); }

} // namespace

Stencil::Stencil(std::int64_t rows, std::int64_t columns, std::vector<double> weights, std::int64_t up,
                 std::int64_t left)
    : rows_(rows), columns_(columns), up_(up), left_(left), weights_(std::move(weights)) {
    check_axis(rows, up, "rows", "up");
    check_axis(columns, left, "columns", "to the left");
    if (static_cast<std::int64_t>(weights_.size()) != rows * columns)
        throw InvalidArgument("a stencil of " + std::to_string(rows) + " by " + std::to_string(columns) +
                              " points was given " + std::to_string(weights_.size()) +
                              " weights: give one for each, and zero for those that do not count");
    for (std::size_t i = 0; i < weights_.size(); ++i)
        if (!std::isfinite(weights_[i]))
            throw InvalidArgument("weight " + std::to_string(i) + " of a stencil is " + detail::text(weights_[i]) +
                                  ": give finite numbers");
}

Stencil Stencil::along_x(std::span<const double> weights) { return along_x(weights, middle(size(weights), "points")); }
Stencil Stencil::along_x(std::span<const double> weights, std::int64_t left) {
    return Stencil(1, size(weights), copied(weights), 0, left);
}
Stencil Stencil::along_y(std::span<const double> weights) { return along_y(weights, middle(size(weights), "points")); }
Stencil Stencil::along_y(std::span<const double> weights, std::int64_t up) {
    return Stencil(size(weights), 1, copied(weights), up, 0);
}
Stencil Stencil::patch(std::int64_t rows, std::int64_t columns, std::span<const double> weights) {
    return patch(rows, columns, weights, middle(rows, "rows"), middle(columns, "columns"));
}
Stencil Stencil::patch(std::int64_t rows, std::int64_t columns, std::span<const double> weights, std::int64_t up,
                       std::int64_t left) {
    return Stencil(rows, columns, copied(weights), up, left);
}

Stencil Stencil::times(double factor) const {
    std::vector<double> scaled = weights_;
    for (double& weight : scaled) weight *= factor;
    return Stencil(rows_, columns_, std::move(scaled), up_, left_);
}

} // namespace bandmill
