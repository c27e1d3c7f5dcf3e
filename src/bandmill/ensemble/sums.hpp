// FixedSum: a sum that does not depend on the order of its terms, because it is a sum of integers. A value becomes
// value * 2^bits, rounded down, in 128 bits; threads, GPUs and ranks may add in any order and agree to the last bit.
#pragma once

#include "bandmill/base/macros.hpp"

#include <cmath>
#include <cstdint>

namespace bandmill {

namespace detail {

// A fixed-point number of up to 96 bits in three pieces, each of which can be summed 2^31 times in 64 bits: what a GPU
// adds up by atomics.
struct Pieces {
    std::int64_t high, middle, low; // high * 2^64 + middle * 2^32 + low
};
BANDMILL_HD Pieces to_pieces(double value, int bits) {
    // Products with powers of two are exact, and much quicker than ldexp.
    const double scaled = value * (bits == 64 ? 0x1p64 : bits == 48 ? 0x1p48 : ::ldexp(1.0, bits));
    const double high = ::floor(scaled * 0x1p-64), rest = scaled - high * 0x1p64;
    const double middle = ::floor(rest * 0x1p-32), low = ::floor(rest - middle * 0x1p32);
    return {static_cast<std::int64_t>(high), static_cast<std::int64_t>(middle), static_cast<std::int64_t>(low)};
}

} // namespace detail

__extension__ typedef __int128 Int128; // not of the language, which -Wpedantic would remark

class FixedSum {
  public:
    void add(const detail::Pieces& pieces) {
        value_ += (static_cast<Int128>(pieces.high) << 64) + (static_cast<Int128>(pieces.middle) << 32) + pieces.low;
    }
    void add(const FixedSum& other) { value_ += other.value_; }
    // The sum, rounded once.
    double value(int bits) const { return std::ldexp(static_cast<double>(value_), -bits); }
    Int128 raw() const { return value_; } // for files and messages between ranks
    static FixedSum from_raw(Int128 raw) {
        FixedSum sum;
        sum.value_ = raw;
        return sum;
    }
    bool operator==(const FixedSum&) const = default;

  private:
    Int128 value_ = 0;
};

} // namespace bandmill
