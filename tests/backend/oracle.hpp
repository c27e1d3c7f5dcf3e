// The oracle: dense LU with row equilibration and partial pivoting in long double. It shares no code with src/.
#pragma once

#include "bands.hpp"

#include <cstdint>
#include <vector>

namespace bandmill::test {

// Dense work beyond this many rows takes longer than it is worth.
constexpr std::int64_t oracle_max_rows = 257;

class Oracle {
  public:
    explicit Oracle(const Bands& bands);

    // |E^-1|_inf, where E is A with rows scaled to |E_i|_1 = 1; infinite if A is singular in long double.
    long double condition() const;
    std::vector<long double> solve(const std::vector<long double>& b) const;
    // |A^-1| w, the error that residuals of size w can cause.
    std::vector<long double> inverse_magnitude_times(const std::vector<long double>& w) const;

  private:
    struct Entry {
        std::int64_t column;
        long double value;
    };

    void factor();
    void collect();
    void invert();
    std::vector<long double> solve_scaled(std::vector<long double> b) const;

    std::int64_t n_;
    bool singular_ = false;
    std::vector<long double> scale_;                // 1 / |A_i|_1
    std::vector<long double> lu_;                   // row by row, L with unit diagonal below U
    std::vector<std::vector<Entry>> lower_, upper_; // what is not zero of L and U beside their diagonals, row by row
    std::vector<std::int64_t> order_;               // row exchanged with row k at step k
    std::vector<long double> inverse_;              // |E^-1|, row by row
};

} // namespace bandmill::test
