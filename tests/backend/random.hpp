// Random numbers that are the same on every machine (the std distributions are not).
#pragma once

#include <cstdint>

namespace bandmill::test {

// splitmix64: one call turns a counter into 64 well-mixed bits.
inline std::uint64_t mix(std::uint64_t counter) {
    std::uint64_t z = counter * 0x9e3779b97f4a7c15u + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
    std::uint64_t bits() { return mix(state_++); }
    double uniform(double from, double to) { return from + (to - from) * static_cast<double>(bits() >> 11) * 0x1p-53; }
    // Of either sign, with a magnitude between the two.
    double signed_uniform(double from, double to) { return bits() & 1 ? uniform(from, to) : -uniform(from, to); }
    std::int64_t integer(std::int64_t from, std::int64_t to) {
        return from + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(to - from + 1));
    }
    bool chance(double probability) { return uniform(0, 1) < probability; }

  private:
    std::uint64_t state_;
};

} // namespace bandmill::test
