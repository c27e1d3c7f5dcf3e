// Splits a range over CPU threads the way the solver does: equal, contiguous shares.
#pragma once

#include <algorithm>
#include <cstdint>
#ifndef _OPENMP
#include <thread>
#include <vector>
#endif

namespace app {

// work(begin, end) on each of `threads` threads; shares begin at multiples of `grain` elements: with 64, no cache line
// is shared.
template <class Work> void parallel_ranges(int threads, std::int64_t size, Work&& work, std::int64_t grain = 64) {
    const std::int64_t grains = (size + grain - 1) / grain;
    const auto share = [&](int thread) {
        const std::int64_t begin = grains / threads * thread + std::min<std::int64_t>(grains % threads, thread);
        const std::int64_t count = grains / threads + (thread < grains % threads ? 1 : 0);
        work(std::min(size, begin * grain), std::min(size, (begin + count) * grain));
    };
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int thread = 0; thread < threads; ++thread) share(thread);
#else
    std::vector<std::thread> others;
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(share, thread);
    share(0);
    for (std::thread& other : others) other.join();
#endif
}

} // namespace app
