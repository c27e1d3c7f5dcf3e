// Kernels on planes in memory. All members lie side by side in every row, [y][member][x].
#pragma once

#include "bandmill/ensemble/plane_sums.hpp"
#include "bandmill/ensemble/stepper.hpp"

namespace bandmill::cuda {

template <class T> struct PlaneJob {
    std::int64_t n, rows, members;
    PlaneWeights<T> laplacian; // of C
    PlaneWeights<T> update;    // of the potential: the time step is in it
    const T* states;
    const T* increments; // or null; otherwise take states + increments / 2, and subtract the increments
};

// Where these kernels go. Those that overlap begin while the one before drains: see planes_may_overlap.
struct PlaneQueue {
    Stream stream;
    bool overlap;
};

// Whether the kernels were compiled for launches that overlap: compute capability 9.0 and later.
bool planes_may_overlap(int compute_major);

// Right-hand sides of rows first .. last - 1 of all members; results has the layout of the states.
template <class T>
void plane_rates(const Equation& equation, const PlaneJob<T>& job, std::int64_t first, std::int64_t last, T* results,
                 PlaneQueue queue);

// states += increments + more; `more` may be null.
template <class T>
void add_increments(T* states, const T* increments, const T* more, std::int64_t points, PlaneQueue queue);

// Between [member][y][x] and [y][member][x].
enum class Order { member_first, row_first };
template <class T>
void reorder_planes(Order to, std::int64_t n, std::int64_t rows, std::int64_t members, const T* from, T* result,
                    PlaneQueue queue);

// totals[member], by way of row_sums[member][row]. `rates`, of the layout of the states, may be null.
template <class T>
void measure_planes(const Equation& equation, const PlaneJob<T>& job, const T* rates, detail::PlaneSums* row_sums,
                    detail::PlaneSums* totals, PlaneQueue queue);

template <class T> std::unique_ptr<detail::Stepper<T>> make_plane_stepper(const detail::StepperSetup& setup, Device);

} // namespace bandmill::cuda
