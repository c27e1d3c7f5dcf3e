// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): random numbers as a function of (counter, key). There is no state to
// carry along, so a number depends on what it is for and not on who draws it, or in which order.
#pragma once

#include "bandmill/base/macros.hpp"

#include <cstdint>

namespace bandmill::detail {

struct PhiloxCounter {
    std::uint32_t word[4];
};

// Four random words for this counter; the key is a seed.
BANDMILL_HD PhiloxCounter philox(PhiloxCounter counter, std::uint64_t key) {
    std::uint32_t key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
    BANDMILL_UNROLL
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * counter.word[0],
                            b = std::uint64_t{0xCD9E8D57} * counter.word[2];
        counter = {{static_cast<std::uint32_t>(b >> 32) ^ counter.word[1] ^ key0, static_cast<std::uint32_t>(b),
                    static_cast<std::uint32_t>(a >> 32) ^ counter.word[3] ^ key1, static_cast<std::uint32_t>(a)}};
        key0 += 0x9E3779B9; // the golden ratio
        key1 += 0xBB67AE85; // root 3 - 1
    }
    return counter;
}

// In [0, 1), in steps of 2^-53: every one of them is a double.
BANDMILL_HD double uniform(std::uint32_t high, std::uint32_t low) {
    const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32 | low) >> 11;
    return static_cast<double>(bits) * (1.0 / (std::uint64_t{1} << 53));
}

} // namespace bandmill::detail
