// What the CPU stepper asks of one instruction-set level. Plain data, as for the solve (solve_lanes.hpp).
//
// A block is as many members as a pack has lanes. Row i of its state holds point i of all of them; `ghost_rows` rows
// stand before and after the n of the grid, which the level fills itself.
#pragma once

#include "bandmill/band/sweeps.hpp"
#include "bandmill/pde/grid.hpp"

#include <cstddef>
#include <cstdint>

namespace bandmill::cpu {

inline constexpr int ghost_rows = 3; // as far as a source may reach

template <class T> struct StepJob {
    const void* rate; // the equation's Rate<T>
    detail::DirectView<T> tables;
    const T* profile;    // per point
    const T* parameters; // of this block, [parameter][lane]
    T* state;            // of this block: row 0, behind its ghosts
    T* scratch;          // n rows
    Ends ends;
    T twice_value;  // 2 g, for Dirichlet ends
    T update;       // of the solved increment
    double to_rate; // from the right-hand side to C_t
};

template <class T> struct StepFunctions {
    int lanes; // members of a block
    void (*advance)(const StepJob<T>& job, std::int64_t steps);
    // Observables of the state as it is, [observable][lane]; only those whose bit (1 << observable) is wanted.
    void (*measure)(const StepJob<T>& job, unsigned wanted, double* values);
};

// One per level that was built; `equation` is the index of the alternative in Equation.
#define BANDMILL_DECLARE_LEVEL(level)                                                                                  \
    namespace level {                                                                                                  \
    void step_functions(std::size_t equation, StepFunctions<double>& functions);                                       \
    void step_functions(std::size_t equation, StepFunctions<float>& functions);                                        \
    }
#if defined(__x86_64__)
BANDMILL_DECLARE_LEVEL(v2)
BANDMILL_DECLARE_LEVEL(v3)
BANDMILL_DECLARE_LEVEL(v4)
#else
BANDMILL_DECLARE_LEVEL(generic)
#endif
#undef BANDMILL_DECLARE_LEVEL

} // namespace bandmill::cpu
