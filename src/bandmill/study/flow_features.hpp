// What a run of the forced Cahn-Hilliard equation ended in, as a few numbers that do not depend on the phase of the
// pattern: how fast it still moves in the frame of the forcing, how sinusoidal it is, whether it has both phases.
#pragma once

#include "bandmill/pde/grid.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace bandmill {

struct FlowFeatures {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    double rate = unknown;                            // root of the mean of C_t^2 over points and the closing window
    double early_rate = unknown, late_rate = unknown; // of its first and its second half
    double pace = unknown;                            // rate / gradient, without round-off: a speed
    double motion = unknown;                    // pace / v: 1 for a pattern that the forcing leaves behind; 0 if v is
    double gradient = unknown;                  // root of <C_x^2> at the end, as all that follows
    double forced_share = unknown;              // of <(C - <C>)^2>, in the forced wavenumber
    double lowest = unknown, highest = unknown; // C
    double interfaces = unknown, free_energy = unknown;
    double mean_drift = unknown; // of <C>, since the start

    double range() const { return highest - lowest; }
    // How far the rarer sign of C goes: above 0 there are two phases.
    double depth() const { return highest < -lowest ? highest : -lowest; }
};

// cos k x and sin k x on a grid, for many states.
class ForcedWave {
  public:
    ForcedWave(const Grid& grid, double wavenumber);
    // Fills in gradient, forced_share, lowest and highest.
    template <class T> void measure(std::span<const T> state, FlowFeatures& features) const;

  private:
    double spacing_;
    std::vector<double> cosine_, sine_;
};

} // namespace bandmill
