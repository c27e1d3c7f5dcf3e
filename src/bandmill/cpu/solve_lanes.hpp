// What the CPU solve asks of one instruction-set level. Plain data: nothing of the standard library is instantiated at
// a level that another CPU may lack.
#pragma once

#include "bandmill/band/factor.hpp"
#include "bandmill/band/sweeps.hpp"
#include "bandmill/base/field.hpp"

#include <cstdint>

namespace bandmill::cpu {

template <class T> struct SolveJob {
    SolvePath path; // sequential or pivoted
    int half_bandwidth;
    bool periodic;
    int reach; // of the pivoted factor
    detail::DirectView<T> direct;
    detail::PivotedView<T> pivoted;
    const T* b;
    FieldShape b_shape;
    T* x;
    FieldShape x_shape;
};

// Solves systems first .. last - 1.
template <class T> using SolveRange = void (*)(const SolveJob<T>& job, std::int64_t first, std::int64_t last);

// One per level that was built.
#define BANDMILL_DECLARE_LEVEL(level)                                                                                  \
    namespace level {                                                                                                  \
    void solve_range(const SolveJob<double>& job, std::int64_t first, std::int64_t last);                              \
    void solve_range(const SolveJob<float>& job, std::int64_t first, std::int64_t last);                               \
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
