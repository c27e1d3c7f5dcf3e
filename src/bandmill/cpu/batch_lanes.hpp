// What the CPU's solve with a matrix for every system asks of one instruction-set level. Plain data, as
// solve_lanes.hpp.
#pragma once

#include "bandmill/base/field.hpp"

#include <cstdint>

namespace bandmill::cpu {

template <class T> struct BatchJob {
    int half_bandwidth;
    bool periodic;
    std::int64_t n, batch;
    const T* diagonals[5]; // to factor, or to factor and solve
    FieldShape diagonal_shapes[5];
    T* values; // the factor
    const T* b;
    FieldShape b_shape;
    T* x;
    FieldShape x_shape;
    std::int64_t* status;
    FieldShape status_shape;
    std::int64_t strip; // systems side by side in the scratch of a combined factor and solve
};

// Of tiles first .. last - 1. `scratch` is for combine alone: [row][kept][system of the strip].
template <class T> struct BatchWork {
    void (*factor)(const BatchJob<T>& job, std::int64_t first, std::int64_t last);
    void (*solve)(const BatchJob<T>& job, std::int64_t first, std::int64_t last);
    void (*combine)(const BatchJob<T>& job, std::int64_t first, std::int64_t last, T* scratch);
};

// One per level that was built.
#define BANDMILL_DECLARE_LEVEL(level)                                                                                  \
    namespace level {                                                                                                  \
    BatchWork<double> batch_work_f64();                                                                                \
    BatchWork<float> batch_work_f32();                                                                                 \
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
