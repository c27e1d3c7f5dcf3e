// Threads over equal, contiguous shares of a range. OpenMP: its fork and join costs 1 us, against 20 to 50 for
// std::thread, which stands in where ThreadSanitizer has to understand the program (it does not understand libgomp).
#pragma once

#include "bandmill/base/error.hpp"
#include "bandmill/base/space.hpp"

#include <cstdint>
#include <string>

#if defined(BANDMILL_USE_OPENMP)
#include <omp.h>
#else
#include <thread>
#include <vector>
#endif

namespace bandmill::detail {

inline int thread_count(Threads threads) {
    if (threads.count < 0)
        throw InvalidArgument("cannot use " + std::to_string(threads.count) +
                              " threads: give a positive number, or 0 for all that there are");
    if (threads.count > 0) return threads.count;
#if defined(BANDMILL_USE_OPENMP)
    return omp_get_max_threads();
#else
    const unsigned all = std::thread::hardware_concurrency();
    return all > 0 ? static_cast<int>(all) : 1;
#endif
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
    for (int which = 1; which < threads; ++which) team.emplace_back(share, which);
    share(0);
    for (std::thread& member : team) member.join();
#endif
}

} // namespace bandmill::detail
