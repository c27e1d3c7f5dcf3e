// What is observed of a plane on the CPU: row by row, sums in double.
#pragma once

#include "bandmill/cpu/plane_rows.hpp"
#include "bandmill/ensemble/plane_sums.hpp"

namespace bandmill::cpu {

// Row y of the plane job.state; its rates, if they are wanted, stand in job.result.
template <class E, class T> detail::PlaneSums measure_plane_row(const PlaneJob<T>& job, std::int64_t y) {
    const auto rate = *static_cast<const typename E::template PlaneRate<T>*>(job.rate);
    const auto row = [&](std::int64_t at) { return job.state + (at + job.rows) % job.rows * job.row_stride; };
    const T *const below = row(y - 1), *const here = row(y), *const above = row(y + 1);
    detail::PlaneSums sums;
    for (std::int64_t i = 0; i < job.n; ++i)
        sums.add_point(rate, job.laplacian, here[i], here[i > 0 ? i - 1 : job.n - 1], here[i + 1 < job.n ? i + 1 : 0],
                       below[i], above[i]);
    if (job.result == nullptr) return sums;
    const T* const rates = job.result + y * job.row_stride;
    for (std::int64_t i = 0; i < job.n; ++i)
        sums.rates += static_cast<double>(rates[i]) * static_cast<double>(rates[i]);
    return sums;
}

} // namespace bandmill::cpu
