// Place<Space>: what a benchmark needs of the machine it runs on: memory filled with data, timed work, the ceiling.
// Both places offer the same members, so the benchmark is written once.
#pragma once

#include "timing.hpp"

#include "bandmill/band/factor.hpp"
#include "bandmill/band/solve.hpp"
#include "bandmill/base/array.hpp"
#include "bandmill/base/field.hpp"
#include "bandmill/base/space.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace app {

// The fastest this machine can read and write an array, measured in the same run.
struct Ceiling {
    std::string operation;
    std::size_t array_bytes;
    bool cache_resident;
    Timing time_us;
    double gbytes_per_s; // bytes read plus bytes written
};

// Fields hold this block over and over: element k is block[k % size]. The size is a prime, so that systems differ
// whatever the strides, and small enough to stay in a level-2 cache while it is copied.
template <class T> std::vector<T> random_block() {
    std::mt19937_64 bits(1);
    std::vector<T> block(32749);
    for (T& value : block) value = static_cast<T>(static_cast<double>(bits() >> 11) * 0x1p-52 - 1);
    return block;
}

inline bool fits_cache(std::size_t footprint, std::size_t cache) { return footprint <= cache / 4; }

// In how many copies of the arrays the repetitions take turns: 1 where everything stays in the cache (and the record
// says so), else enough that nothing is left in the cache from the turn before, as far as there is room.
inline int turns(std::size_t footprint, std::size_t cache, std::size_t room) {
    if (fits_cache(footprint, cache)) return 1;
    const std::size_t wanted = std::min(8 * cache, std::size_t{2} << 30);
    return static_cast<int>(std::max<std::size_t>(1, std::min((wanted + footprint - 1) / footprint, room / footprint)));
}

template <class Space> class Place;

} // namespace app
