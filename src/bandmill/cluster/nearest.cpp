// k-means on the CPU at one instruction-set level (BANDMILL_LEVEL, given by the build). All levels give the same bits.
#include "bandmill/cluster/nearest.hpp"

#include "bandmill/cpu/lanes.hpp"

#include <limits>
#include <type_traits>

namespace bandmill::cpu::BANDMILL_LEVEL {
namespace {

constexpr int width = detail::partial_sums;
using Partial = Pack<double, width* static_cast<int>(sizeof(double)) / vector_bytes>;

double squared_distance(const double* a, const double* b, std::int64_t dimensions) {
    Partial sums;
    std::int64_t j = 0;
    for (; j + width <= dimensions; j += width) {
        Partial x, y;
        load(x, a + j);
        load(y, b + j);
        const Partial difference = x - y;
        sums = sums + difference * difference;
    }
    double partial[width];
    store(partial, sums);
    for (int lane = 0; j + lane < dimensions; ++lane) {
        const double difference = a[j + lane] - b[j + lane];
        partial[lane] += difference * difference;
    }
    for (int half = width / 2; half >= 1; half /= 2)
        for (int lane = 0; lane < half; ++lane) partial[lane] += partial[lane + half];
    return partial[0];
}

// The row in double.
template <class T> const double* wide_row(const NearestJob<T>& job, std::int64_t row) {
    if constexpr (std::is_same_v<T, double>) {
        return job.rows[row];
    } else {
        const T* const values = job.rows[row];
        for (std::int64_t j = 0; j < job.dimensions; ++j) job.row[j] = values[j];
        return job.row;
    }
}

template <class T>
std::int64_t label_range(const NearestJob<T>& job, std::int64_t first, std::int64_t last, std::int64_t* sums) {
    std::int64_t changed = 0;
    std::int64_t* const counts = sums + job.clusters * job.dimensions;
    for (std::int64_t row = first; row < last; ++row) {
        const signed char before = job.labels[row];
        if (before == detail::not_finite) continue;
        const double* const x = wide_row(job, row);
        double least = std::numeric_limits<double>::infinity();
        int nearest = detail::no_label;
        for (int cluster = 0; cluster < job.clusters; ++cluster) {
            const double distance = squared_distance(x, job.centroids + cluster * job.dimensions, job.dimensions);
            if (distance < least) least = distance, nearest = cluster;
        }
        job.distances[row] = least;
        if (nearest == before) continue;
        job.labels[row] = static_cast<signed char>(nearest);
        ++changed;
        // Sums of integers can be corrected without a trace, so only rows that change cluster cost anything.
        std::int64_t* __restrict to = sums + nearest * job.dimensions;
        for (std::int64_t j = 0; j < job.dimensions; ++j) to[j] += detail::quantised(x[j], job.scale);
        ++counts[nearest];
        if (before < 0) continue;
        std::int64_t* __restrict from = sums + before * job.dimensions;
        for (std::int64_t j = 0; j < job.dimensions; ++j) from[j] -= detail::quantised(x[j], job.scale);
        --counts[before];
    }
    return changed;
}

template <class T> void measure_range(const NearestJob<T>& job, std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
        if (job.labels[row] == detail::not_finite) continue;
        const double distance = squared_distance(wide_row(job, row), job.centroids, job.dimensions);
        if (distance < job.distances[row]) job.distances[row] = distance;
    }
}

template <class T> double inspect_range(const NearestJob<T>& job, std::int64_t first, std::int64_t last) {
    double largest = 0;
    for (std::int64_t row = first; row < last; ++row) {
        const double* const x = wide_row(job, row);
        double most[width] = {}, zeros[width] = {}; // a zero times what is not finite is not a number
        auto look_at = [&](double value, int lane) {
            const double magnitude = __builtin_fabs(value);
            most[lane] = magnitude > most[lane] ? magnitude : most[lane];
            zeros[lane] += 0 * value;
        };
        std::int64_t j = 0;
        for (; j + width <= job.dimensions; j += width)
            for (int lane = 0; lane < width; ++lane) look_at(x[j + lane], lane);
        for (int lane = 0; j + lane < job.dimensions; ++lane) look_at(x[j + lane], lane);
        double zero = 0, most_of_row = 0;
        for (int lane = 0; lane < width; ++lane) {
            zero += zeros[lane];
            most_of_row = most[lane] > most_of_row ? most[lane] : most_of_row;
        }
        job.labels[row] = zero == 0 ? detail::no_label : detail::not_finite;
        if (zero == 0 && most_of_row > largest) largest = most_of_row;
    }
    return largest;
}

} // namespace

const NearestFunctions<double> nearest_f64 = {label_range<double>, measure_range<double>, inspect_range<double>};
const NearestFunctions<float> nearest_f32 = {label_range<float>, measure_range<float>, inspect_range<float>};

} // namespace bandmill::cpu::BANDMILL_LEVEL
