// Convergence: the same problem on grids of N, 2N, 4N, ... points, and how fast their differences shrink.
//   E_N = mean over the N/2 points that both grids have of |C_N - C_{N/2}| at the end;   order = log2(E_{N/2} / E_N)
// A grid twice as fine takes twice as many steps, so that all end at the very same time.
#pragma once

#include "bandmill/study/campaign.hpp"

namespace bandmill {

struct ConvergenceSpec {
    Equation equation = CahnHilliard{};
    std::vector<double> parameters = {}; // of the equation's members
    Cosine initial{1e-6, 5};
    double length = 6.283185307179586;
    double until = 20;
    double steps_per_spacing = 10; // dt = dx / steps_per_spacing
    std::int64_t fewest_points = 128, most_points = 8192;
};

struct ConvergenceRow {
    std::int64_t points, steps;
    double time;       // of the end, the first at or after `until` that the coarsest grid has
    double difference; // E_N
    double order;      // log2(E_{N/2} / E_N); NaN in the first row
    double seconds;
};

inline constexpr std::int64_t most_convergence_points = std::int64_t{1} << 26;

// How many grids there are, without the coarsest, with which only the first is compared.
int convergence_grids(const ConvergenceSpec& spec);

// One row per grid; `row_done` is told of each. False from `go_on` ends it. Throws InvalidArgument, and Unstable.
template <class T>
std::vector<ConvergenceRow> study_convergence(const ConvergenceSpec& spec, const Where& where,
                                              const std::function<void(const ConvergenceRow&)>& row_done,
                                              const std::function<bool(std::int64_t points, double share)>& go_on);

} // namespace bandmill
