// Kernels on members in memory, [member][point]: the streaming step, and what is observed.
#pragma once

#include "bandmill/ensemble/stepper.hpp"

namespace bandmill::cuda {

template <class T> struct MemberJob {
    std::int64_t members;
    const T* states;
    const T* increments; // still to be added to the states, or null
    T update;
    const T* profile;    // [point]
    const T* parameters; // [parameter][member], from the first member held on
    std::int64_t parameter_stride;
};

// new_states = states + update * increments; right_hand_sides = second difference of the potential + source there.
// Either result may be null.
template <class T>
void update_and_rate(const Equation& equation, const Grid& grid, const MemberJob<T>& job, T* new_states,
                     T* right_hand_sides, Stream stream);

// values[request][member]
template <class T>
void observe_members(const Equation& equation, const Grid& grid, const MemberJob<T>& job,
                     std::span<const ObservableRequest> requests, double* values, Stream stream);

// How a stored number becomes a value.
enum class Stored { value, square_sum_as_mean, square_sum_as_domain_size };

struct StatisticJob {
    const double* values; // of the first sample: [member]
    std::int64_t members, samples, sample_stride;
    Stored stored;
    double points, inverse_points; // the inverse where it is exact, otherwise 0
    double low, high;              // of a histogram
    int bins;                      // 0: none
};
// Adds the pieces of sums to `totals`, [sample][statistic_pieces + 2 + bins]: members, left out, three pieces of the
// sum, three of the squares, below and above the histogram, its bins.
inline constexpr int statistic_pieces = 8;
void add_statistics(const StatisticJob& job, std::int64_t* totals, Stream stream);

} // namespace bandmill::cuda
