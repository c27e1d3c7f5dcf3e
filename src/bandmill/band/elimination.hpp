// Elimination without row exchanges, in extended precision and in the order of the partitioned solve (partition.hpp):
// interiors of all segments, separators by odd-even levels, ends of groups likewise. With one segment it is plain LU,
// periodic or not.
#pragma once

#include "bandmill/band/extended.hpp"
#include "bandmill/band/partition.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace bandmill::detail {

class Elimination {
  public:
    // Empty if a pivot vanishes, or where there is no such order: n < W, or periodic with n <= 2W.
    static std::optional<Elimination> run(const BandMatrix& matrix, const Partition& partition);

    // Largest row sum of |L||U| over that of |A|: what bounds the backward error of a solve.
    Extended growth() const { return growth_; }

    // Column `c` of SegmentLayout for row `k` of the matrix.
    Extended row(int column, std::int64_t k) const;
    // [segment][column][slot], as SegmentLayout says; and [segment][entry], as SeparatorLayout says.
    const std::vector<Extended>& rows() const { return rows_; }
    std::vector<Extended> separators() const;
    // The levels after which no separator feels another beyond `negligible`, in its solution or its right-hand side;
    // levels within groups first, then those of the groups' ends.
    int useful_levels(Extended negligible) const;
    // Do all pivot inverses and scales lie within the range of T?
    template <class T> bool pivots_in_range() const;

  private:
    // A separator: its own W x W block and its couplings A[p, left], A[p, right] in the ring of those not yet
    // eliminated; once eliminated, its factors.
    struct Block {
        std::vector<Term> diagonal;
        std::vector<Extended> left, right;
        std::vector<Extended> pivot_inverse, lower, upper, to_left, to_right, from_left, from_right;
    };

    Elimination(const BandMatrix& matrix, const Partition& partition);
    bool eliminate_all();
    bool eliminate_interior(int p);
    void reduce_to_separators(int p);
    void fold_signs(int p);
    template <class Visit> void for_each_separator(Visit&& visit) const;
    bool eliminate_separator(int p, int left, int right);
    bool factor_block(Block& block) const;
    std::vector<Extended> rows_of_l(const Block& block, std::vector<Extended> coupling) const;
    std::vector<Extended> columns_of_u(const Block& block, std::vector<Extended> coupling) const;
    void couple(int p, int q, std::vector<Extended> Block::*side, int a, int c, Extended value);

    int columns() const { return 1 + 4 * width_; }
    std::int64_t start(int p) const { return segment_start<std::int64_t>(p, partition_.segments, n_); }
    std::int64_t separator_row(int p, int c) const { return start(p + 1) - width_ + c; }
    int left_segment(int p) const { return p > 0 ? p - 1 : periodic_ ? partition_.segments - 1 : -1; }

    // While segment p is eliminated, its table holds L and U themselves; j counts its rows from its first.
    Extended& at(int p, int column, std::int64_t j) {
        const std::int64_t unused = partition_.slots - (start(p + 1) - start(p));
        return rows_[(std::int64_t(p) * columns() + column) * partition_.slots + unused + j];
    }
    Extended& lower(int p, std::int64_t j, int w) { return at(p, w, j); }                    // w = 1 .. W
    Extended& lower_spike(int p, std::int64_t j, int w) { return at(p, 1 + width_ + w, j); } // w = 0 .. W - 1
    Extended& upper(int p, std::int64_t j, int w) { return at(p, 2 * width_ + w, j); }
    Extended& upper_spike(int p, std::int64_t j, int w) { return at(p, 1 + 3 * width_ + w, j); }

    // A[row, row + offset] of the equilibrated matrix: a separator, which is not divided by its pivot at once, must not
    // carry the size of its row about.
    Extended entry(int offset, std::int64_t row) const { return scale_[row] * matrix_->entry(offset, row); }

    const BandMatrix* matrix_;
    int width_;
    Partition partition_;
    std::int64_t n_;
    bool periodic_;
    std::vector<Extended> rows_;
    std::vector<Block> blocks_;
    std::vector<Extended> scale_;          // of each row, a power of two
    std::vector<Extended> u_sum_, lu_sum_; // row sums of |U| and |L||U|
    Extended growth_ = 0;
};

} // namespace bandmill::detail
