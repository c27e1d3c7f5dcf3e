#include "bandmill/band/elimination.hpp"

namespace bandmill::detail {

std::optional<Elimination> Elimination::run(const BandMatrix& matrix, const Partition& partition) {
    const int width = matrix.half_bandwidth();
    if (matrix.size() < width) return std::nullopt;
    if (matrix.boundary() == Boundary::periodic && matrix.size() <= 2 * width) return std::nullopt;
    Elimination elimination(matrix, partition);
    if (!elimination.eliminate_all()) return std::nullopt;
    return elimination;
}

Elimination::Elimination(const BandMatrix& matrix, const Partition& partition)
    : matrix_(&matrix), width_(matrix.half_bandwidth()), partition_(partition), n_(matrix.size()),
      periodic_(matrix.boundary() == Boundary::periodic), rows_(partition.slots * partition.segments * columns(), 0),
      blocks_(partition.segments), scale_(n_, 1), u_sum_(n_, 1), lu_sum_(n_, 0) {
    for (std::int64_t k = 0; k < n_; ++k) {
        Extended largest = 0;
        for_each_entry(matrix, k, [&](std::int64_t, Extended value) { largest = std::max(largest, std::abs(value)); });
        scale_[k] = row_scale(largest);
    }
    const std::size_t size = width_ * width_;
    for (Block& block : blocks_) {
        block.diagonal.resize(size);
        block.pivot_inverse.resize(width_);
        for (auto* values : {&block.left, &block.right, &block.lower, &block.upper, &block.to_left, &block.to_right,
                             &block.from_left, &block.from_right})
            values->assign(size, 0);
    }
}

// Calls visit(level, p, left, right) for every separator but the root, in the order of elimination; -1: no neighbour.
template <class Visit> void Elimination::for_each_separator(Visit&& visit) const {
    const int group = partition_.group, groups = partition_.groups(), root = partition_.segments - 1;
    const int levels = levels_of(group), beyond = periodic_ ? root : -1;
    for (int level = 0; level < levels; ++level)
        for (int c = 0; c < groups; ++c)
            for (int q = (1 << level) - 1; q < group - 1; q += 2 << level) {
                const int first = c * group, left = left_neighbour(q, level);
                visit(level, first + q, left >= 0 || c > 0 ? first + left : beyond,
                      first + right_neighbour(q, level, group));
            }
    auto end = [&](int c) { return (c + 1) * group - 1; };
    for (int level = 0; level < levels_of(groups); ++level)
        for (int c = (1 << level) - 1; c < groups - 1; c += 2 << level) {
            const int left = left_neighbour(c, level);
            visit(levels + level, end(c), left >= 0 ? end(left) : beyond, end(right_neighbour(c, level, groups)));
        }
}

bool Elimination::eliminate_all() {
    const int segments = partition_.segments, root = segments - 1;
    for (int p = 0; p < segments; ++p) {
        if (!eliminate_interior(p)) return false;
        reduce_to_separators(p);
        fold_signs(p);
    }
    bool possible = true;
    for_each_separator(
        [&](int, int p, int left, int right) { possible = possible && eliminate_separator(p, left, right); });
    if (!possible) return false;
    if (!eliminate_separator(root, -1, -1)) return false;
    for (std::int64_t k = 0; k < n_; ++k) {
        const Extended growth = lu_sum_[k] / (scale_[k] * row_sum(*matrix_, k));
        if (!(growth <= growth_)) growth_ = growth; // NaN stays
    }
    return true;
}

// Rows before separator p; for the separator's own rows, their L towards the interior.
bool Elimination::eliminate_interior(int p) {
    const int left = left_segment(p);
    const std::int64_t first = start(p), length = start(p + 1) - first, interior = length - width_;
    for (std::int64_t j = 0; j < length; ++j) {
        const int reach = static_cast<int>(std::min<std::int64_t>(width_, j));
        const std::int64_t k = first + j;
        for (int w = reach; w >= 1; --w) {
            if (j - w >= interior) continue;
            Extended value = entry(-w, k);
            for (int q = w + 1; q <= reach; ++q) value -= lower(p, j, q) * upper(p, j - q, q - w);
            lower(p, j, w) = value;
            lu_sum_[k] += std::abs(value) * u_sum_[k - w];
        }
        at(p, 0, j) = 1;
        if (j >= interior) continue;
        Term pivot = term(entry(0, k));
        for (int q = 1; q <= reach; ++q) pivot.subtract(lower(p, j, q), upper(p, j - q, q));
        if (pivot.vanishes(n_)) return false;
        const Extended inverse = at(p, 0, j) = 1 / pivot.value;
        for (int w = 1; w <= width_; ++w) {
            Extended value = entry(w, k);
            for (int q = 1; q + w <= width_ && q <= reach; ++q) value -= lower(p, j, q) * upper(p, j - q, q + w);
            upper(p, j, w) = value * inverse;
            u_sum_[k] += std::abs(upper(p, j, w));
        }
        for (int w = 0; left >= 0 && w < width_; ++w) {
            const std::int64_t offset = j + width_ - w; // from row w of the left separator to row j
            Extended above = 0, below = 0;
            if (offset <= width_) {
                above = entry(static_cast<int>(offset), separator_row(left, w));
                below = entry(static_cast<int>(-offset), k);
            }
            for (int q = 1; q <= reach; ++q) {
                above -= lower_spike(p, j - q, w) * upper(p, j - q, q);
                below -= lower(p, j, q) * upper_spike(p, j - q, w);
            }
            lower_spike(p, j, w) = above;
            upper_spike(p, j, w) = below * inverse;
            u_sum_[k] += std::abs(upper_spike(p, j, w));
        }
        lu_sum_[k] += std::abs(pivot.value) * u_sum_[k];
    }
    return true;
}

// The Schur complement that interior p leaves on its own separator and the one to the left.
void Elimination::reduce_to_separators(int p) {
    const int left = left_segment(p);
    const std::int64_t first = start(p), interior = start(p + 1) - first - width_;
    for (int a = 0; a < width_; ++a)
        for (int c = 0; c < width_; ++c) {
            Term own = term(entry(c - a, first + interior + a));
            for (int back = 1; back <= width_ && back <= interior; ++back) // interior rows counted from their last
                if (a + back <= width_ && c + back <= width_)
                    own.subtract(lower(p, interior + a, a + back), upper(p, interior - back, c + back));
            blocks_[p].diagonal[a * width_ + c].add(own);
            if (left < 0) continue;
            // Separators of neighbouring segments meet directly where the interior between them is shorter than W.
            const std::int64_t down = interior + c + width_ - a, up = interior + a + width_ - c;
            Extended left_own = down <= width_ ? entry(static_cast<int>(down), separator_row(left, a)) : 0;
            Extended own_left = up <= width_ ? entry(static_cast<int>(-up), first + interior + a) : 0;
            for (int back = 1; back <= width_ && back <= interior; ++back) {
                const std::int64_t j = interior - back;
                if (c + back <= width_) left_own -= lower_spike(p, j, a) * upper(p, j, c + back);
                if (a + back <= width_) own_left -= lower(p, interior + a, a + back) * upper_spike(p, j, c);
            }
            Term left_left;
            for (std::int64_t j = 0; j < interior; ++j) left_left.subtract(lower_spike(p, j, a), upper_spike(p, j, c));
            blocks_[left].diagonal[a * width_ + c].add(left_left);
            couple(left, p, &Block::right, a, c, left_own);
            couple(p, left, &Block::left, a, c, own_left);
        }
    for (int w = 0; left >= 0 && w < width_; ++w)
        for (std::int64_t j = 0; j < interior; ++j)
            lu_sum_[separator_row(left, w)] += std::abs(lower_spike(p, j, w)) * u_sum_[first + j];
}

// From L and U to what the sweeps multiply by.
void Elimination::fold_signs(int p) {
    for (std::int64_t j = 0; j < start(p + 1) - start(p); ++j) {
        for (int w = 1; w <= width_; ++w) {
            lower(p, j, w) *= -at(p, 0, j);
            upper(p, j, w) *= -1;
            lower_spike(p, j, w - 1) *= -1;
            upper_spike(p, j, w - 1) *= -1;
        }
        at(p, 0, j) *= scale_[start(p) + j];
    }
}

// A[p, q] += value, q being p's neighbour on that side; a single separator is its own neighbour in a ring.
void Elimination::couple(int p, int q, std::vector<Extended> Block::*side, int a, int c, Extended value) {
    if (p == q)
        blocks_[p].diagonal[a * width_ + c].add(term(value));
    else
        (blocks_[p].*side)[a * width_ + c] += value;
}

// L and U of a separator's own block.
bool Elimination::factor_block(Block& block) const {
    auto diagonal = [&](int r, int c) -> Term& { return block.diagonal[r * width_ + c]; };
    for (int r = 0; r < width_; ++r) {
        for (int c = 0; c < width_; ++c)
            for (int q = 0; q < std::min(r, c); ++q)
                diagonal(r, c).subtract(diagonal(r, q).value, block.upper[q * width_ + c]);
        if (diagonal(r, r).vanishes(n_)) return false;
        block.pivot_inverse[r] = 1 / diagonal(r, r).value;
        for (int q = 0; q < r; ++q) block.lower[r * width_ + q] = diagonal(r, q).value * block.pivot_inverse[r];
        for (int c = r + 1; c < width_; ++c)
            block.upper[r * width_ + c] = diagonal(r, c).value * block.pivot_inverse[r];
    }
    return true;
}

// A neighbour's rows of L towards this block: coupling * U^-1.
std::vector<Extended> Elimination::rows_of_l(const Block& block, std::vector<Extended> x) const {
    for (int a = 0; a < width_; ++a)
        for (int c = 0; c < width_; ++c)
            for (int q = 0; q < c; ++q) x[a * width_ + c] -= x[a * width_ + q] * block.upper[q * width_ + c];
    return x;
}

// This block's columns of U towards a neighbour: L^-1 * coupling.
std::vector<Extended> Elimination::columns_of_u(const Block& block, std::vector<Extended> x) const {
    for (int c = 0; c < width_; ++c)
        for (int a = 0; a < width_; ++a) {
            x[a * width_ + c] *= block.pivot_inverse[a];
            for (int q = 0; q < a; ++q) x[a * width_ + c] -= block.lower[a * width_ + q] * x[q * width_ + c];
        }
    return x;
}

// Eliminates separator p; its neighbours (-1: none) become each other's neighbours.
bool Elimination::eliminate_separator(int p, int left, int right) {
    Block& block = blocks_[p];
    if (!factor_block(block)) return false;
    if (left >= 0) {
        block.to_left = rows_of_l(block, blocks_[left].right);
        block.from_left = columns_of_u(block, block.left);
        blocks_[left].right.assign(width_ * width_, 0);
    }
    if (right >= 0) {
        block.to_right = rows_of_l(block, blocks_[right].left);
        block.from_right = columns_of_u(block, block.right);
        blocks_[right].left.assign(width_ * width_, 0);
    }
    for (int r = 0; r < width_; ++r)
        for (const auto* part : {&block.upper, &block.from_left, &block.from_right})
            for (int c = 0; c < width_; ++c) u_sum_[separator_row(p, r)] += std::abs((*part)[r * width_ + c]);
    for (int a = 0; a < width_; ++a)
        for (int q = 0; q < width_; ++q) {
            const int row = a * width_ + q;
            const Extended u = u_sum_[separator_row(p, q)];
            if (q <= a) lu_sum_[separator_row(p, a)] += std::abs(block.diagonal[row].value) * u;
            if (left >= 0) lu_sum_[separator_row(left, a)] += std::abs(block.to_left[row]) * u;
            if (right >= 0) lu_sum_[separator_row(right, a)] += std::abs(block.to_right[row]) * u;
            for (int c = 0; c < width_; ++c) {
                const int column = q * width_ + c, place = a * width_ + c;
                if (left >= 0) blocks_[left].diagonal[place].subtract(block.to_left[row], block.from_left[column]);
                if (right >= 0) blocks_[right].diagonal[place].subtract(block.to_right[row], block.from_right[column]);
                if (left < 0 || right < 0) continue;
                couple(left, right, &Block::right, a, c, -block.to_left[row] * block.from_right[column]);
                couple(right, left, &Block::left, a, c, -block.to_right[row] * block.from_left[column]);
            }
        }
    return true;
}

Extended Elimination::row(int column, std::int64_t k) const {
    int p = static_cast<int>(k * partition_.segments / n_); // at most one off, for rounding
    while (start(p + 1) <= k) ++p;
    while (start(p) > k) --p;
    const std::int64_t slot = partition_.slots - (start(p + 1) - k);
    return rows_[(std::int64_t(p) * columns() + column) * partition_.slots + slot];
}

std::vector<Extended> Elimination::separators() const {
    std::vector<Extended> table;
    auto put = [&](const std::vector<Extended>& values, Extended sign) {
        for (Extended value : values) table.push_back(sign * value);
    };
    for (const Block& block : blocks_) {
        put(block.pivot_inverse, 1);
        for (const auto* part :
             {&block.lower, &block.upper, &block.to_left, &block.to_right, &block.from_left, &block.from_right})
            put(*part, -1);
    }
    return table;
}

int Elimination::useful_levels(Extended negligible) const {
    int useful = 0;
    for_each_separator([&](int level, int p, int left, int right) {
        const Block& block = blocks_[p];
        Extended felt = 0;
        for (int a = 0; a < width_; ++a)
            for (int i = a * width_; i < (a + 1) * width_; ++i) {
                felt = std::max({felt, std::abs(block.from_left[i]), std::abs(block.from_right[i]),
                                 std::abs(block.to_right[i] * blocks_[right].pivot_inverse[a])});
                if (left >= 0) felt = std::max(felt, std::abs(block.to_left[i] * blocks_[left].pivot_inverse[a]));
            }
        if (felt > negligible) useful = std::max(useful, level + 1);
    });
    return useful;
}

template <class T> bool Elimination::pivots_in_range() const {
    for (std::int64_t k = 0; k < n_; ++k)
        if (!in_range<T>(row(0, k))) return false;
    for (const Block& block : blocks_)
        for (Extended v : block.pivot_inverse)
            if (!in_range<T>(v)) return false;
    return true;
}

template bool Elimination::pivots_in_range<double>() const;
template bool Elimination::pivots_in_range<float>() const;

} // namespace bandmill::detail
