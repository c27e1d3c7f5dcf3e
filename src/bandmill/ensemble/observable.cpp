#include "bandmill/ensemble/observable.hpp"

#include "bandmill/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace bandmill {

const char* name(Observable observable) {
    switch (observable) {
    case Observable::mean: return "mean";
    case Observable::mean_square: return "mean_square";
    case Observable::domain_size: return "domain_size";
    case Observable::free_energy: return "free_energy";
    case Observable::largest: return "largest";
    case Observable::rate: return "rate";
    case Observable::interfaces: return "interfaces";
    }
    throw InvalidArgument("there is no observable number " + std::to_string(static_cast<int>(observable)) +
                          ": use one of enum class Observable");
}

double EnsembleStatistic::mean() const {
    if (members == 0) return std::numeric_limits<double>::quiet_NaN();
    return sum.value(detail::value_fraction_bits) / static_cast<double>(members);
}

// <x^2> - <x>^2 cancels when the values lie close together. In long double (64 bits or more) it costs 1e-19 <x>^2, less
// than the 4e-15 to which the squares are stored.
double EnsembleStatistic::variance() const {
    if (members < 2) return std::numeric_limits<double>::quiet_NaN();
    const long double count = members;
    const long double average = std::ldexp(static_cast<long double>(sum.raw()), -detail::value_fraction_bits) / count;
    const long double square =
        std::ldexp(static_cast<long double>(squares.raw()), -detail::square_fraction_bits) / count;
    return static_cast<double>(std::max(0.0L, square - average * average) * (count / (count - 1)));
}

double EnsembleStatistic::standard_error() const { return std::sqrt(variance() / static_cast<double>(members)); }

void EnsembleStatistic::add(double value, const std::optional<HistogramBins>& bins) {
    if (bins && histogram.empty()) histogram.resize(static_cast<std::size_t>(bins->bins));
    if (!detail::fits_sums(value)) {
        ++left_out;
        return;
    }
    ++members;
    sum.add(detail::to_pieces(value, detail::value_fraction_bits));
    squares.add(detail::to_pieces(value * value, detail::square_fraction_bits));
    if (!bins) return;
    const int bin = detail::bin_of(value, bins->low, bins->high, bins->bins);
    ++(bin < 0 ? below : bin == bins->bins ? above : histogram[static_cast<std::size_t>(bin)]);
}

void EnsembleStatistic::add(const EnsembleStatistic& other) {
    if (histogram.empty()) histogram.resize(other.histogram.size());
    if (!other.histogram.empty() && other.histogram.size() != histogram.size())
        throw InvalidArgument("a histogram of " + std::to_string(other.histogram.size()) +
                              " bins cannot be added to one of " + std::to_string(histogram.size()) +
                              ": ask for the same bins in both");
    members += other.members;
    left_out += other.left_out;
    sum.add(other.sum);
    squares.add(other.squares);
    below += other.below;
    above += other.above;
    for (std::size_t bin = 0; bin < other.histogram.size(); ++bin) histogram[bin] += other.histogram[bin];
}

} // namespace bandmill
