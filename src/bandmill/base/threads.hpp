// Threads over equal, contiguous shares of a range. OpenMP: its fork and join costs 1 us, against 20 to 50 for
// std::thread, which stands in where ThreadSanitizer has to understand the program (it does not understand libgomp).
#pragma once

#include "bandmill/base/error.hpp"
#include "bandmill/base/space.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#if defined(BANDMILL_USE_OPENMP)
#include <omp.h>
#else
#include <system_error>
#include <thread>
#include <vector>
#endif

namespace bandmill::detail {

inline int thread_count(Threads threads) {
    if (threads.count < 0)
        throw InvalidArgument("cannot use " + std::to_string(threads.count) +
                              " threads: give a positive number, or 0 for all that there are");
#if defined(BANDMILL_USE_OPENMP)
    const int all = omp_get_max_threads();
#else
    const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#endif
    if (threads.count == 0) return all;
    return std::min(threads.count, std::max(all, 64)); // thousands would only make the system refuse
}

// Calls body(begin, end) on up to `threads` threads, with shares of 0 .. count that depend on both numbers alone.
// `body` must not throw.
template <class Body> void for_each_share(std::int64_t count, int threads, const Body& body) {
    if (threads > count) threads = static_cast<int>(count);
    if (threads <= 1) {
        if (count > 0) body(std::int64_t(0), count);
        return;
    }
    auto share = [&](int which) {
        const std::int64_t size = count / threads, rest = count % threads; // count * threads could overflow
        const std::int64_t begin = which * size + (which < rest ? which : rest);
        body(begin, begin + size + (which < rest ? 1 : 0));
    };
#if defined(BANDMILL_USE_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int which = 0; which < threads; ++which) share(which);
#else
    std::vector<std::thread> team;
    team.reserve(threads);
    int started = 1;
    try {
        for (; started < threads; ++started) team.emplace_back(share, started);
    } catch (const std::system_error&) {
        // The system gives no more threads: the rest is done here.
    }
    share(0);
    for (int which = started; which < threads; ++which) share(which);
    for (std::thread& member : team) member.join();
#endif
}

} // namespace bandmill::detail
