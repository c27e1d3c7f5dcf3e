#include "bandmill/ensemble/scheme.hpp"

#include "bandmill/base/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace bandmill::detail {
namespace {

// Row `row` of a reflected difference, an end's worth: entries[row][offset + 2] = d C_row / d C_{row + offset}.
using EndRows = std::array<std::array<double, 5>, 2>;

// With C_{-1-k} = +- C_k the ghosts fold back onto the first points; the fourth difference is the square of the second.
constexpr EndRows second_neumann = {{{0, 0, -1, 1, 0}, {0, 1, -2, 1, 0}}};
constexpr EndRows second_dirichlet = {{{0, 0, -3, 1, 0}, {0, 1, -2, 1, 0}}};
constexpr EndRows fourth_neumann = {{{0, 0, 2, -3, 1}, {0, -3, 6, -4, 1}}};
constexpr EndRows fourth_dirichlet = {{{0, 0, 10, -5, 1}, {0, -5, 6, -4, 1}}};
constexpr std::array<double, 5> second_inside = {0, 1, -2, 1, 0}, fourth_inside = {1, -4, 6, -4, 1};

} // namespace

BandMatrix implicit_matrix(const LinearOperator& linear, const Grid& grid, int half_bandwidth, double weight) {
    if (half_bandwidth < 1 || half_bandwidth > 2 || (half_bandwidth == 1 && linear.fourth != 0))
        throw InvalidArgument("an implicit operator " +
                              std::string(linear.fourth != 0 ? "with a fourth derivative" : "of second order") +
                              " does not fit the half-bandwidth " + std::to_string(half_bandwidth) +
                              ": an equation gives 1 without fourth derivatives, 2 with them");
    const double dx2 = grid.spacing() * grid.spacing();
    const double second = weight * linear.second / dx2, fourth = weight * linear.fourth / (dx2 * dx2);
    // With Dirichlet ends L alone can be solved, too; with others 1 - weight L needs what is not a difference.
    const double plain = std::abs(1 - weight * linear.zeroth);
    double largest = 2 * std::abs(second) + 6 * std::abs(fourth);
    if (std::isnan(largest)) largest = std::numeric_limits<double>::infinity(); // 0 / 0, of no such derivative
    const bool lost =
        grid.ends() != Ends::dirichlet && largest > 0x1p53 * std::max(1.0, plain) && std::isfinite(largest);
    if (lost || std::isinf(largest))
        throw InvalidArgument("the time step is too long for points " + text(grid.spacing()) +
                              " apart (differences of neighbours are multiplied by " + text(largest) + ", " +
                              (lost ? "beside which the state itself is lost" : "beyond the range of numbers") +
                              "): choose a smaller time step, or fewer points");
    const std::int64_t n = grid.points();
    const bool neumann = grid.ends() == Ends::neumann;

    // A[row, row + offset]
    const auto entry = [&](std::int64_t row, int offset) {
        std::array<double, 5> two = second_inside, four = fourth_inside;
        int at = offset + 2;
        if (grid.ends() != Ends::periodic) {
            const std::int64_t from_end = row < n - 1 - row ? row : n - 1 - row;
            if (from_end < 2) {
                two = (neumann ? second_neumann : second_dirichlet)[from_end];
                four = (neumann ? fourth_neumann : fourth_dirichlet)[from_end];
            }
            if (row > n - 1 - row) at = 2 - offset; // the other end mirrors it
        }
        return (offset == 0 ? 1 - weight * linear.zeroth : 0.0) - second * two[at] - fourth * four[at];
    };

    std::vector<std::vector<double>> diagonals;
    if (grid.ends() == Ends::periodic) {
        std::vector<double> weights;
        for (int offset = -half_bandwidth; offset <= half_bandwidth; ++offset) weights.push_back(entry(0, offset));
        return BandMatrix::toeplitz(n, weights, Boundary::periodic);
    }
    for (int offset = -half_bandwidth; offset <= half_bandwidth; ++offset) {
        std::vector<double>& diagonal = diagonals.emplace_back(n);
        for (std::int64_t row = 0; row < n; ++row) diagonal[row] = entry(row, offset);
    }
    if (half_bandwidth == 1) return BandMatrix::tridiagonal(diagonals[0], diagonals[1], diagonals[2]);
    return BandMatrix::pentadiagonal(diagonals[0], diagonals[1], diagonals[2], diagonals[3], diagonals[4]);
}

std::vector<double> profile(const Equation& equation, const Grid& grid) {
    std::vector<double> values(grid.points());
    std::visit(
        [&](const auto& of) {
            for (std::int64_t i = 0; i < grid.points(); ++i) values[i] = of.profile(grid, i);
        },
        equation);
    return values;
}

} // namespace bandmill::detail
