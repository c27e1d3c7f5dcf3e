// What the CPU asks of one instruction-set level for a plane: its right-hand sides. Plain data, as for the solve
// (solve_lanes.hpp).
#pragma once

#include "bandmill/pde/plane.hpp"

#include <cstddef>
#include <cstdint>

namespace bandmill::cpu {

template <class T> struct PlaneJob {
    const void* rate;                 // the equation's PlaneRate<T>
    PlaneWeights<T> laplacian;        // of C
    PlaneWeights<T> update;           // of the potential: the time step is in it
    std::int64_t n, rows, row_stride; // points of a row, rows of a plane, from row to row
    const T* state;                   // the first row of a plane
    const T* increment;               // or null; otherwise take state + increment / 2, and subtract the increment
    T* result;
    T* scratch; // plane_scratch_rows rows with a ghost at either end
};
inline constexpr int plane_scratch_rows = 6;

template <class T> struct PlaneFunctions {
    // Right-hand sides of rows first .. last - 1.
    void (*rate)(const PlaneJob<T>& job, std::int64_t first, std::int64_t last) = nullptr;
};

// One per level that was built; `equation` is the index of the alternative in Equation.
#define BANDMILL_DECLARE_LEVEL(level)                                                                                  \
    namespace level {                                                                                                  \
    void plane_functions(std::size_t equation, PlaneFunctions<double>& functions);                                     \
    void plane_functions(std::size_t equation, PlaneFunctions<float>& functions);                                      \
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
