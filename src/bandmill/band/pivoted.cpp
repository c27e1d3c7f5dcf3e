#include "bandmill/band/pivoted.hpp"

#include "bandmill/band/order.hpp"
#include "bandmill/base/error.hpp"

#include <string>

namespace bandmill::detail {

PivotedFactor factor_pivoted(const BandMatrix& matrix) {
    constexpr Extended threshold = 0.5;
    const std::int64_t n = matrix.size();
    const bool folded = matrix.boundary() == Boundary::periodic;
    const int reach = matrix.half_bandwidth() * (folded ? 2 : 1);
    const int span = 2 * reach + 1; // a row's columns k .. k + 2 reach once it may be the pivot row of column k
    auto row_at = [&](std::int64_t position) { return folded ? folded_row(position, n) : position; };
    auto position_of = [&](std::int64_t row) { return folded ? folded_position(row, n) : row; };

    PivotedFactor f{};
    f.reach = reach;
    f.folded = folded;
    f.scale.resize(n);
    f.pivot.resize(n);
    f.origin.resize(n);
    f.pivot_inverse.resize(n);
    f.lower.assign(n * reach, 0);
    f.upper.assign(n * 2 * reach, 0);

    // A row not yet eliminated: entries of columns k .. k + 2 reach, where k is the next column to eliminate.
    struct Row {
        std::vector<Term> entry;
        Extended lu_sum, a_sum;
        std::int64_t position, origin; // in the order of elimination, and in the matrix
    };
    auto load = [&](std::int64_t position, std::int64_t first_column) {
        const std::int64_t row = row_at(position);
        Row loaded{std::vector<Term>(span), 0, 0, position, row};
        std::vector<Extended> values(span, 0);
        Extended largest = 0;
        for_each_entry(matrix, row, [&](std::int64_t column, Extended value) {
            values[position_of(column) - first_column] = value;
        });
        for (Extended value : values) largest = std::max(largest, std::abs(value));
        if (largest == 0)
            throw SingularMatrix("the matrix is singular: row " + std::to_string(row) +
                                     " holds only zeros; no unknown can satisfy it",
                                 row);
        const Extended scale = row_scale(largest);
        f.scale[position] = scale;
        for (int j = 0; j < span; ++j) {
            loaded.entry[j] = term(scale * values[j]);
            loaded.a_sum += std::abs(loaded.entry[j].value);
        }
        return loaded;
    };

    std::vector<Row> active; // rows at positions k .. k + reach
    for (std::int64_t position = 0; position < std::min<std::int64_t>(reach, n); ++position)
        active.push_back(load(position, 0));
    for (std::int64_t k = 0; k < n; ++k) {
        if (k + reach < n) active.push_back(load(k + reach, k));
        // The row that has waited longest, of those within `threshold` of the largest. Taking the largest itself can
        // carry one row down the whole matrix (weights 1, 0.01, 1 do), and its rounding grows with every row it meets.
        Extended largest = 0;
        for (const Row& row : active) largest = std::max(largest, std::abs(row.entry[0].value));
        int best = -1;
        for (int j = 0; j < static_cast<int>(active.size()); ++j) {
            const Term& candidate = active[j].entry[0];
            if (candidate.vanishes(n) || std::abs(candidate.value) < threshold * largest) continue;
            if (best < 0 || active[j].position < active[best].position) best = j;
        }
        if (best < 0)
            throw SingularMatrix("the matrix is singular: at row " + std::to_string(active.front().origin) +
                                     " elimination leaves nothing but rounding to determine unknown " +
                                     std::to_string(row_at(k)) +
                                     "; if the matrix is periodic, check for a null vector such as a constant",
                                 active.front().origin);
        f.pivot[k] = static_cast<std::int8_t>(best);
        std::swap(active[0], active[best]);
        const Row& top = active[0];
        const Extended inverse = 1 / top.entry[0].value;
        f.pivot_inverse[k] = inverse;
        f.origin[k] = top.origin;
        Extended u_sum = 0;
        for (int j = 0; j < span; ++j) u_sum += std::abs(top.entry[j].value);
        for (int j = 1; j < span; ++j) f.upper[k * 2 * reach + j - 1] = top.entry[j].value * inverse;
        f.growth = std::max(f.growth, (top.lu_sum + u_sum) / top.a_sum);
        for (int i = 1; i < static_cast<int>(active.size()); ++i) {
            Row& row = active[i];
            const Extended multiplier = row.entry[0].value * inverse;
            f.lower[k * reach + i - 1] = multiplier;
            row.lu_sum += std::abs(multiplier) * u_sum;
            for (int j = 1; j < span; ++j) {
                row.entry[j].subtract(multiplier, top.entry[j].value);
                row.entry[j - 1] = row.entry[j];
            }
            row.entry[span - 1] = Term{};
        }
        active.erase(active.begin());
    }
    return f;
}

} // namespace bandmill::detail
