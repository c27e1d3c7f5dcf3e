// How long do many steps take? As many as fill a fifth of a second, again and again; the same for ours and for rivals.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace app {

struct StepTiming {
    double median, min, max; // microseconds of one repetition
    int repetitions;
    std::int64_t steps; // in each
};

struct StepPatience {
    std::int64_t steps; // 0: as many as take 0.2 s, found on the way
    int repetitions;
};

// advance(steps) returns when they are done.
template <class Advance> StepTiming measure_steps(const StepPatience& patience, Advance&& advance) {
    const auto time_us = [&](std::int64_t steps) {
        using Clock = std::chrono::steady_clock;
        const auto start = Clock::now();
        advance(steps);
        return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    };
    // The search for the number of steps is the warm-up too: pages, caches, clocks, lazily loaded kernels.
    std::int64_t steps = patience.steps;
    if (steps > 0) {
        advance(steps);
    } else {
        const double enough_us = 5e4, wanted_us = 2e5;
        const std::int64_t most = std::int64_t{1} << 24;
        advance(1);
        for (steps = 1;;) {
            const double once = std::max(1.0, time_us(steps));
            const double grown =
                static_cast<double>(steps) * (once < enough_us ? std::min(16.0, wanted_us / once) : wanted_us / once);
            steps = std::clamp<std::int64_t>(static_cast<std::int64_t>(grown), 1, most);
            if (once >= enough_us || steps == most) break;
        }
    }
    std::vector<double> times;
    for (int r = 0; r < patience.repetitions; ++r) times.push_back(time_us(steps));
    std::sort(times.begin(), times.end());
    const std::size_t half = times.size() / 2;
    const double median = times.size() % 2 ? times[half] : (times[half - 1] + times[half]) / 2;
    return {median, times.front(), times.back(), patience.repetitions, steps};
}

} // namespace app
