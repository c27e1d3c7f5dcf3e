#include "bandmill/study/flow_features.hpp"

#include <algorithm>
#include <cmath>

namespace bandmill {

ForcedWave::ForcedWave(const Grid& grid, double wavenumber) : spacing_(grid.spacing()) {
    for (std::int64_t i = 0; i < grid.points(); ++i) {
        cosine_.push_back(std::cos(wavenumber * grid.position(i)));
        sine_.push_back(std::sin(wavenumber * grid.position(i)));
    }
}

template <class T> void ForcedWave::measure(std::span<const T> state, FlowFeatures& features) const {
    const std::size_t points = state.size();
    const auto count = static_cast<double>(points);
    double sum = 0;
    for (const T value : state) sum += static_cast<double>(value);
    const double mean = sum / count;
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    double squares = 0, slopes = 0, in_phase = 0, out_of_phase = 0;
    for (std::size_t i = 0; i < points; ++i) {
        const auto here = static_cast<double>(state[i]);
        const double rest = here - mean;
        const double rise = static_cast<double>(state[i + 1 < points ? i + 1 : 0]) -
                            static_cast<double>(state[i > 0 ? i - 1 : points - 1]);
        lowest = std::min(lowest, here);
        highest = std::max(highest, here);
        squares += rest * rest;
        slopes += rise * rise;
        in_phase += rest * cosine_[i];
        out_of_phase += rest * sine_[i];
    }
    features.lowest = std::isfinite(sum) ? lowest : FlowFeatures::unknown; // comparing has passed over NaN
    features.highest = std::isfinite(sum) ? highest : FlowFeatures::unknown;
    features.gradient = std::sqrt(slopes / count) / (2 * spacing_);
    // a cos + b sin has the mean square (a^2 + b^2) / 2, with a = 2 / N sum C cos.
    const double forced = 2 * (in_phase * in_phase + out_of_phase * out_of_phase) / count;
    features.forced_share = squares > 0 ? std::min(1.0, forced / squares) : 0;
}
template void ForcedWave::measure(std::span<const double>, FlowFeatures&) const;
template void ForcedWave::measure(std::span<const float>, FlowFeatures&) const;

} // namespace bandmill
