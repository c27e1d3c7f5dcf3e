// How long does it take? Warm-up, then repetitions; short work in groups. The same for ours, rivals and ceilings.
#pragma once

#include <algorithm>
#include <vector>

namespace app {

struct Timing {
    double median, min, max; // microseconds of one solve
    int repetitions;
    int solves_per_timing; // each repetition is the mean of so many, back to back
};

struct Patience {
    int repetitions; // 0: as many as take the place's `repetitions_us`, from `least` to 200
    int warm_up;     // pages, caches, clocks, lazily loaded kernels
    int least;
};

// reserve(count) says how many solves, up to `count`, can run back to back; before(first, count) readies those from
// number `first` on, off the clock; solve(number) runs one.
template <class Place, class Reserve, class Before, class Solve>
Timing measure(const Place& place, const Patience& patience, Reserve&& reserve, Before&& before, Solve&& solve) {
    place.wait_until_cleared();
    const std::vector<double> warm_up = place.times_us(patience.warm_up, 1, before, solve);
    const double once = std::max(1.0, *std::min_element(warm_up.begin(), warm_up.end()));
    const double group_us = 200;
    const int wanted = std::clamp(static_cast<int>(group_us / once), 1, Place::most_solves_per_timing);
    const int group = wanted > 1 ? reserve(wanted) : 1;
    const double affordable = Place::repetitions_us / (once * group);
    const int repetitions = patience.repetitions > 0
                                ? patience.repetitions
                                : std::clamp(static_cast<int>(std::min(affordable, 1e6)), patience.least, 200);

    std::vector<double> times = place.times_us(repetitions, group, before, solve);
    for (double& time : times) time /= group;
    std::sort(times.begin(), times.end());
    const std::size_t half = times.size() / 2;
    const double median = times.size() % 2 ? times[half] : (times[half - 1] + times[half]) / 2;
    return {median, times.front(), times.back(), repetitions, group};
}

} // namespace app
