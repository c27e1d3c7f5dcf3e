// What is measured of a member, and over the ensemble. docs/ensembles.md has the formulas.
#pragma once

#include "bandmill/ensemble/sums.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace bandmill {

enum class Observable {
    mean,        // <C>, the average over the points
    mean_square, // <C^2>
    domain_size, // l = 1 / (1 - <C^2>)
    free_energy, // per length, as the equation defines it
    largest,     // max |C|
    rate,        // root of <C_t^2>, with the right-hand side of the equation for C_t
    interfaces,  // sign changes from point to point (0 counts as positive); a periodic grid wraps
};
inline constexpr int observable_count = 7;
const char* name(Observable observable);

// Values from `low` to `high` in `bins` equal bins; what lies outside is counted at either end.
struct HistogramBins {
    double low, high;
    int bins;
};

struct ObservableRequest {
    Observable observable;
    std::optional<HistogramBins> histogram = {};
};

// One observable over the ensemble at one time.
struct EnsembleStatistic {
    std::int64_t members = 0;  // whose values are in the sums
    std::int64_t left_out = 0; // not finite, or outside the range that the sums can hold
    FixedSum sum, squares;
    std::int64_t below = 0, above = 0; // of the histogram
    std::vector<std::int64_t> histogram;

    double mean() const;
    double variance() const;       // of one member, with members - 1 in the denominator; NaN below two members
    double standard_error() const; // of the mean

    void add(double value, const std::optional<HistogramBins>& bins);
    void add(const EnsembleStatistic& other); // other members, the same time
};

namespace detail {

// The sums hold values of up to 2^31 in steps of 2^-64, and squares of up to 2^47 in steps of 2^-48.
inline constexpr int value_fraction_bits = 64, square_fraction_bits = 48;
inline constexpr double largest_value = 1 << 23; // whose square still fits
// Is it counted? NaN is not.
BANDMILL_HD bool fits_sums(double value) { return value <= largest_value && value >= -largest_value; }

// Which bin: -1 below, `bins` above.
BANDMILL_HD int bin_of(double value, double low, double high, int bins) {
    if (value < low) return -1;
    if (value >= high) return value == high ? bins - 1 : bins;
    const int bin = static_cast<int>((value - low) / (high - low) * bins);
    return bin < bins ? bin : bins - 1;
}

// domain_size from mean_square; infinite or negative values are left out or counted as they are. The last term is 0, or
// NaN where an infinite mean_square would give a domain size of 0.
BANDMILL_HD double domain_size(double mean_square) { return 1 / (1 - mean_square) + 0 * mean_square; }

} // namespace detail

} // namespace bandmill
