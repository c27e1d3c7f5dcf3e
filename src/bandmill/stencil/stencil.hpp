// Stencil: weights for a point and its neighbours. The result at (y, x) is the sum over the patch of
//     weight(dy, dx) * in(y + dy, x + dx),   dy = -up .. down,  dx = -left .. right.
// y counts rows and x columns, both from 0. A weight of zero stands for a neighbour that is not looked at: what it
// holds, NaN included, does not matter.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace bandmill {

class Stencil {
  public:
    // Weights from the lowest x to the highest, `left` of them before the point itself; without it their number is odd
    // and the point is in the middle.
    static Stencil along_x(std::span<const double> weights);
    static Stencil along_x(std::span<const double> weights, std::int64_t left);
    static Stencil along_y(std::span<const double> weights);
    static Stencil along_y(std::span<const double> weights, std::int64_t up);
    // Weights row by row.
    static Stencil patch(std::int64_t rows, std::int64_t columns, std::span<const double> weights);
    static Stencil patch(std::int64_t rows, std::int64_t columns, std::span<const double> weights, std::int64_t up,
                         std::int64_t left);

    using List = std::initializer_list<double>;
    static Stencil along_x(List weights) { return along_x(span(weights)); }
    static Stencil along_x(List weights, std::int64_t left) { return along_x(span(weights), left); }
    static Stencil along_y(List weights) { return along_y(span(weights)); }
    static Stencil along_y(List weights, std::int64_t up) { return along_y(span(weights), up); }
    static Stencil patch(std::int64_t rows, std::int64_t columns, List weights) {
        return patch(rows, columns, span(weights));
    }
    static Stencil patch(std::int64_t rows, std::int64_t columns, List weights, std::int64_t up, std::int64_t left) {
        return patch(rows, columns, span(weights), up, left);
    }

    std::int64_t rows() const { return rows_; }
    std::int64_t columns() const { return columns_; }
    std::int64_t up() const { return up_; }
    std::int64_t down() const { return rows_ - 1 - up_; }
    std::int64_t left() const { return left_; }
    std::int64_t right() const { return columns_ - 1 - left_; }
    double weight(std::int64_t dy, std::int64_t dx) const {
        return weights_[static_cast<std::size_t>((dy + up_) * columns_ + dx + left_)];
    }

    // All weights times a number: 1 / dx^2, say.
    Stencil times(double factor) const;

  private:
    Stencil(std::int64_t rows, std::int64_t columns, std::vector<double> weights, std::int64_t up, std::int64_t left);
    static std::span<const double> span(List weights) { return {weights.begin(), weights.size()}; }

    std::int64_t rows_, columns_, up_, left_;
    std::vector<double> weights_;
};

} // namespace bandmill
