// Resident stepping: a member lives in the registers of a few threads for as many steps as one likes, and memory is
// touched at the beginning and at the end. For periodic grids and symmetric positive operators, whose matrix has the
// factors  A = c (1 + p S^-1 + q S^-2) (1 + p S + q S^2),  S the shift by one point: two sweeps with constant
// coefficients, the same from every point on.
#pragma once

#include "bandmill/ensemble/stepper.hpp"

#include <cstdint>
#include <optional>

namespace bandmill::cuda {

inline constexpr int carry_levels = 5; // of a scan over the lanes of a warp
inline constexpr int most_resident_slots = 32, most_both_ways = 8;

// How a member is spread over threads. It decides the rounding: chosen from equation, n, precision and the shape asked
// for, never from the number of members.
struct Spread {
    int slots = 0;       // points a thread has room for
    int lanes = 0;       // threads of a member: up to 32, or a multiple of 32
    bool exact = false;  // all slots used, and lanes a power of two within a warp
    int most_unused = 0; // slots of a thread
};

// A linear map of what a sweep carries along: its last value and the one before.
template <class T> struct CarryMap {
    T own, from_before, to_before, before; // a' = own a + from_before b, b' = to_before a + before b
};

// The factor of the matrix and powers of its sweeps' transition, in the precision of the run.
template <class T> struct CirculantTables {
    T minus_p, minus_q;
    int levels;   // of the scan; what is further away is not felt
    bool decayed; // nothing is felt from as far as once around (or from two warps away)
    bool usual;   // the number of levels that kernels are prepared for, and decayed
    bool alike;   // all segments have the same length
    T update;     // what a solution is multiplied by before it is added to the state
    // Past 2^level segments, for the shorter and the longer of the two lengths that so many can have.
    CarryMap<T> past[carry_levels][2];
    CarryMap<T> past_warp[2]; // past all the segments of a warp
    CarryMap<T> ring;         // (1 - once around)^-1
};

// The two sweeps one beside the other: 1 / (P(S^-1) P(S)) = N(S^-1) / P(S^-1) + M(S) / P(S), with P = 1 + p S + q S^2,
// N = n0 + n1 S^-1 and M = m1 S + m2 S^2. More operations than one sweep after the other, but half the waiting.
template <class T> struct BothWays {
    T up[2], down[2]; // n0, n1 and m1, m2, times the update
    // What a carry of (1, 0) and (0, 1) into a segment adds to the state at its points, in the order of the sweep.
    T carried_up[most_both_ways][2], carried_down[most_both_ways][2];
};

// What a launch needs, but for the equation's own rate.
template <class T> struct ResidentJob {
    T* states; // [member][point]
    std::int64_t members;
    int points, lanes, steps;
    CirculantTables<T> tables;
    const CarryMap<T>* positions; // [2][lane]: from the beginning of the warp's part to a segment, and from its end
    const T* profile;             // [point]
    const T* parameters;          // [parameter][member], from the first member held on
    std::int64_t parameter_stride;
    double* square_sums; // sums of C^2 over the points, [step][member], or null
    // What a carry of (1, 0) and (0, 1) leaves at the points of a segment after it; for exact spreads.
    T response[most_resident_slots][2];
    BothWays<T> both_ways; // for exact spreads over few slots
};

// Host side: the factors of 1 - weight L, put into the job, and the positions. False if the symbol is not positive, or
// the sweeps would lose too many digits in this precision.
template <class T>
bool circulant_tables(const LinearOperator& linear, const Grid& grid, int half_bandwidth, double weight, double update,
                      const Spread& spread, ResidentJob<T>& job, std::vector<CarryMap<T>>& positions);

// How to spread a member, or nothing if it does not fit on chip.
template <class T> std::optional<Spread> choose_spread(const Equation& equation, std::int64_t points, Shape shape);

template <class T>
void step_resident(const Equation& equation, const Grid& grid, const Spread& spread, const ResidentJob<T>& job,
                   Stream stream);

} // namespace bandmill::cuda
