// PlaneSums: what is added up over the points of a plane, and the observables that come of it. Plain data: a GPU adds
// them up too.
#pragma once

#include "bandmill/ensemble/observable.hpp"
#include "bandmill/pde/plane.hpp"

#include <bit>

namespace bandmill::detail {

struct PlaneSums {
    double sum = 0, squares = 0, energy = 0, rates = 0;
    double zero = 0;                // not a number if the state is not finite
    unsigned long long largest = 0; // the bits of max |C|: what is no number is above all
    long long points = 0, changes_x = 0, changes_y = 0;

    BANDMILL_HD void add(const PlaneSums& other) {
        sum += other.sum;
        squares += other.squares;
        energy += other.energy;
        rates += other.rates;
        zero += other.zero;
        largest = largest > other.largest ? largest : other.largest;
        points += other.points;
        changes_x += other.changes_x;
        changes_y += other.changes_y;
    }
    // A point, with its neighbours; Rate is the equation's.
    template <class Rate, class T>
    BANDMILL_HD void add_point(const Rate& rate, const PlaneWeights<T>& weights, T here, T left, T right, T below,
                               T above) {
        const double wide = here;
        sum += wide;
        squares += wide * wide;
        zero += 0 * wide;
        energy += static_cast<double>(rate.energy(here, weights.laplacian(here, left, right, below, above),
                                                  weights.gradient2(here, left, right, below, above)));
        points += 1;
        changes_x += (here < T(0)) != (right < T(0));
        changes_y += (here < T(0)) != (above < T(0));
#if defined(__CUDA_ARCH__)
        const auto size = static_cast<unsigned long long>(__double_as_longlong(::fabs(wide)));
#else
        const auto size = std::bit_cast<unsigned long long>(std::fabs(wide));
#endif
        largest = largest > size ? largest : size;
    }

    // values[observable]
    void observables(const Grid& x, const Grid& y, double* values) const {
        const auto count = static_cast<double>(points);
        const auto put = [&](Observable which, double value) { values[static_cast<int>(which)] = value; };
        const double length = interface_length(static_cast<double>(changes_x), static_cast<double>(changes_y), x, y);
        put(Observable::mean, sum / count);
        put(Observable::mean_square, squares / count);
        put(Observable::domain_size, domain_size(squares / count));
        put(Observable::free_energy, energy / count);
        put(Observable::largest, std::bit_cast<double>(largest));
        put(Observable::rate, std::sqrt(rates / count));
        put(Observable::interfaces, length + zero);
    }
};

} // namespace bandmill::detail
