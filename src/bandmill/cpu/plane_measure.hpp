// What is observed of a plane, row by row: sums in double.
#pragma once

#include "bandmill/cpu/plane_rows.hpp"
#include "bandmill/ensemble/observable.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bandmill::cpu {

struct PlaneSums {
    double sum = 0, squares = 0, energy = 0, rates = 0;
    double zero = 0;           // not a number if the state is not finite
    std::uint64_t largest = 0; // the bits of max |C|: what is no number is above all
    std::int64_t points = 0, changes_x = 0, changes_y = 0;

    void add(const PlaneSums& other) {
        sum += other.sum;
        squares += other.squares;
        energy += other.energy;
        rates += other.rates;
        zero += other.zero;
        largest = std::max(largest, other.largest);
        points += other.points;
        changes_x += other.changes_x;
        changes_y += other.changes_y;
    }
    // values[observable]
    void observables(const Grid& x, const Grid& y, double* values) const {
        const auto count = static_cast<double>(points);
        const auto put = [&](Observable which, double value) { values[static_cast<int>(which)] = value; };
        put(Observable::mean, sum / count);
        put(Observable::mean_square, squares / count);
        put(Observable::domain_size, detail::domain_size(squares / count));
        put(Observable::free_energy, energy / count);
        put(Observable::largest, std::bit_cast<double>(largest));
        put(Observable::rate, std::sqrt(rates / count));
        put(Observable::interfaces,
            detail::interface_length(static_cast<double>(changes_x), static_cast<double>(changes_y), x, y) + zero);
    }
};

// Row y of the plane job.state; its rates, if they are wanted, stand in job.result.
template <class E, class T> PlaneSums measure_plane_row(const PlaneJob<T>& job, std::int64_t y) {
    const auto rate = *static_cast<const typename E::template PlaneRate<T>*>(job.rate);
    const auto row = [&](std::int64_t at) { return job.state + (at + job.rows) % job.rows * job.row_stride; };
    const T *const below = row(y - 1), *const here = row(y), *const above = row(y + 1);
    PlaneSums sums;
    sums.points = job.n;
    for (std::int64_t i = 0; i < job.n; ++i) {
        const T c = here[i], left = here[i > 0 ? i - 1 : job.n - 1], right = here[i + 1 < job.n ? i + 1 : 0];
        const double wide = c;
        sums.sum += wide;
        sums.squares += wide * wide;
        sums.zero += 0 * wide;
        sums.largest = std::max(sums.largest, std::bit_cast<std::uint64_t>(std::fabs(wide)));
        sums.energy += static_cast<double>(rate.energy(c, job.laplacian.laplacian(c, left, right, below[i], above[i]),
                                                       job.laplacian.gradient2(c, left, right, below[i], above[i])));
        sums.changes_x += (c < T(0)) != (right < T(0));
        sums.changes_y += (c < T(0)) != (above[i] < T(0));
    }
    if (job.result == nullptr) return sums;
    const T* const rates = job.result + y * job.row_stride;
    for (std::int64_t i = 0; i < job.n; ++i)
        sums.rates += static_cast<double>(rates[i]) * static_cast<double>(rates[i]);
    return sums;
}

} // namespace bandmill::cpu
