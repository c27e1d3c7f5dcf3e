// How a FlowMap keeps what it finds: integers, which ranks and checkpoints add up without rounding. Not installed.
#pragma once

#include "bandmill/pde/forced_cahn_hilliard.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace bandmill::detail::flow_map {

inline constexpr int most_halvings = 6; // by rounds 1 to 6; then come refine_round and all_done
inline constexpr int refine_round = most_halvings + 1, all_done = refine_round + 1;
inline constexpr std::int64_t window_samples = 32, watch_samples = 62; // of the latter, each has a bit

// Squares of rates are added up as integers, so that a window may be cut by a checkpoint: in units of the forcing's
// speed, if that is above 1. 32 samples of the largest rate fit; a pattern that changes faster is in motion anyway.
inline constexpr double rate_steps = static_cast<double>(std::int64_t{1} << 46), largest_rate = 32;
inline double rate_unit(const ForcedCahnHilliard& equation) { return std::max(1.0, equation.speed); }
inline std::int64_t fixed_square(double rate) {
    const double size = rate < largest_rate ? rate : largest_rate; // NaN too
    return static_cast<std::int64_t>(size * size * rate_steps);
}
inline double root_mean(double squares, std::int64_t samples) {
    return samples > 0 ? std::sqrt(squares / rate_steps / static_cast<double>(samples)) : 0;
}

// Numbers of a cell. Those from `gradient` on come from the end of its run. Sums of ranks: each number is written by
// one of them.
enum Field : int {
    rounds,    // bit r: it is a member of round r
    sorted_as, // class by k-means, + 2
    too_long,  // bit i: |C| was too large for the time step at the i-th look
    early,
    late,
    gradient,
    forced_share,
    lowest,
    highest,
    interfaces,
    free_energy,
    mean_drift,
    outcomes, // of the last round, 16 bits for each class
    fields
};

inline std::int64_t as_number(double value) { return std::bit_cast<std::int64_t>(value); }
inline double as_real(std::int64_t number) { return std::bit_cast<double>(number); }

} // namespace bandmill::detail::flow_map
