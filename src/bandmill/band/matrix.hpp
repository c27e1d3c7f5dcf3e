// BandMatrix: one tridiagonal (half-bandwidth W = 1) or pentadiagonal (W = 2) matrix, open or periodic.
//
// Diagonals are indexed by row: entry(k, i) is A[i, i + k] for k = -W..W. A periodic matrix wraps the column index,
// (i + k) mod n; where n is so small that several entries land on one A[i, j], they add up. In an open matrix the
// entries that would stand outside (the first of the lower diagonals, the last of the upper ones) are never looked at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bandmill {

enum class Boundary { open, periodic };

class BandMatrix {
  public:
    // Diagonals from the lowest to the highest, each with one entry per row.
    static BandMatrix tridiagonal(std::span<const double> lower, std::span<const double> main,
                                  std::span<const double> upper, Boundary boundary = Boundary::open);
    static BandMatrix pentadiagonal(std::span<const double> lower2, std::span<const double> lower1,
                                    std::span<const double> main, std::span<const double> upper1,
                                    std::span<const double> upper2, Boundary boundary = Boundary::open);
    // Constant diagonals: weights {a, b, c} or {a, b, c, d, e}, lowest first. Stored once, whatever n is.
    static BandMatrix toeplitz(std::int64_t n, std::span<const double> weights, Boundary boundary = Boundary::open);

    std::int64_t size() const { return size_; }
    int half_bandwidth() const { return half_bandwidth_; }
    Boundary boundary() const { return boundary_; }
    bool is_toeplitz() const { return toeplitz_; }

    // A[row, row + offset], offset from -W to W; 0 where an open matrix has no such column.
    double entry(int offset, std::int64_t row) const {
        if (offset < -half_bandwidth_ || offset > half_bandwidth_ || row < 0 || row >= size_) refuse_entry(offset, row);
        if (boundary_ == Boundary::open && (row + offset < 0 || row + offset >= size_)) return 0.0;
        return values_[static_cast<std::size_t>(toeplitz_ ? offset + half_bandwidth_
                                                          : (offset + half_bandwidth_) * size_ + row)];
    }

    // The transpose, as a matrix of its own.
    BandMatrix transposed() const;

  private:
    [[noreturn]] void refuse_entry(int offset, std::int64_t row) const;
    BandMatrix(int half_bandwidth, Boundary boundary, std::int64_t size, bool toeplitz, std::vector<double> values);

    int half_bandwidth_;
    Boundary boundary_;
    std::int64_t size_;
    bool toeplitz_;
    std::vector<double> values_; // 2W + 1 diagonals of `size` entries, or 2W + 1 weights
};

} // namespace bandmill
