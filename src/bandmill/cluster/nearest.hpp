// The arithmetic of k-means that every backend has in common, and what the CPU asks of one instruction-set level. Plain
// data, as in cpu/solve_lanes.hpp.
#pragma once

#include "bandmill/base/macros.hpp"

#include <bit>
#include <cstdint>

namespace bandmill::detail {

// A squared distance is the sum over this many partial sums, dimension j going to partial sum j % 32, which are added
// as a tree (16, 8, 4, 2, 1). Products and sums are rounded one by one. On a GPU that is a warp per row.
inline constexpr int partial_sums = 32;

inline constexpr signed char not_finite = -1, no_label = -2;

// value * scale as the nearest integer, for magnitudes up to 2^51: beside 1.5 * 2^52 nothing but the integer stays, and
// the last bits count it. (Conversions to 64-bit integers are slow, or missing, on all but the newest CPUs.)
BANDMILL_HD std::int64_t quantised(double value, double scale) {
    constexpr double large = 0x1.8p52;
    return std::bit_cast<std::int64_t>(value * scale + large) - std::bit_cast<std::int64_t>(large);
}

} // namespace bandmill::detail

namespace bandmill::cpu {

template <class T> struct NearestJob {
    const T* const* rows; // [row]
    std::int64_t dimensions;
    const double* centroids; // [cluster][dimension]
    int clusters;
    double scale;
    signed char* labels;
    double* distances; // [row]
    double* row;       // [dimension], scratch
};
// Labels rows first .. last - 1 and adds what changed to `sums`: [cluster][dimension] of quantised values, then
// [cluster] of rows. Returns how many labels changed.
template <class T>
using LabelRange = std::int64_t (*)(const NearestJob<T>& job, std::int64_t first, std::int64_t last,
                                    std::int64_t* sums);
// distances = those to the one centroid, where these are less. Labels are left alone.
template <class T> using MeasureRange = void (*)(const NearestJob<T>& job, std::int64_t first, std::int64_t last);
// Marks rows by not_finite or no_label; returns the largest magnitude in the finite ones.
template <class T> using InspectRange = double (*)(const NearestJob<T>& job, std::int64_t first, std::int64_t last);

template <class T> struct NearestFunctions {
    LabelRange<T> label;
    MeasureRange<T> measure;
    InspectRange<T> inspect;
};

// One per level that was built.
#define BANDMILL_DECLARE_LEVEL(level)                                                                                  \
    namespace level {                                                                                                  \
    extern const NearestFunctions<double> nearest_f64;                                                                 \
    extern const NearestFunctions<float> nearest_f32;                                                                  \
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
