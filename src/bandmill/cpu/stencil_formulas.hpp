// The arithmetic of stencils and advection on SIMD packs, and how packs of neighbours are read. Only for files that are
// compiled once per instruction-set level.
#pragma once

#include "bandmill/cpu/lanes.hpp"
#include "bandmill/cpu/stencil_lanes.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {

template <class T, int Count> BANDMILL_INLINE Pack<T, Count> same(T value) {
    Pack<T, Count> pack;
    for (int k = 0; k < Count; ++k) pack.part[k] = spread(value);
    return pack;
}

template <class T, int Count>
BANDMILL_INLINE Pack<T, Count> beyond(const detail::Ghost<T>& ghost, const Pack<T, Count>& value) {
    if (ghost.index < 0) return same<T, Count>(ghost.shift);
    if (ghost.negative) return ghost.shift - value;
    return ghost.shift == T(0) ? value : value + ghost.shift;
}

template <class T, int Count>
BANDMILL_INLINE Pack<T, Count> beyond(const LineState<T>& line, const Pack<T, Count>& value) {
    return line.plain ? value : beyond(line.y, beyond(line.x, value));
}

// Full packs of neighbouring points. Plain: nothing is beyond an edge.
template <class T, int Count, bool Plain> struct Contiguous {
    using Value = Pack<T, Count>;
    std::int64_t i;

    BANDMILL_INLINE Value operator()(const Tap<T>& tap) const {
        Value value;
        if (Plain || tap.at != nullptr) load(value, tap.at + i);
        if constexpr (Plain) return value;
        return beyond(*tap.line, value);
    }
    BANDMILL_INLINE Value companion(const Tap<T>& tap, std::int64_t stride) const {
        if (stride == 0) return same<T, Count>(*tap.at);
        Value value;
        load(value, tap.at + i);
        return value;
    }
};

// Up to a vector of points, at any distance; lanes that are left over repeat the last.
template <class T> struct Gathered {
    using Value = Pack<T, 1>;
    std::int64_t i, stride;
    int count;

    BANDMILL_INLINE Value operator()(const Tap<T>& tap) const {
        return beyond(*tap.line, tap.at == nullptr ? Value{} : companion(tap, stride));
    }
    BANDMILL_INLINE Value companion(const Tap<T>& tap, std::int64_t step) const {
        T values[Value::lanes];
        for (int lane = 0; lane < Value::lanes; ++lane)
            values[lane] = tap.at[(i + (lane < count ? lane : count - 1)) * step];
        Value value;
        load(value, values);
        return value;
    }
};

template <class T> struct WeightedSum {
    static constexpr int vectors = 8; // of a pack: as many sums as hide the latency of the additions
    const T* weights;
    int count;

    template <class Read>
    BANDMILL_INLINE typename Read::Value operator()(const Read& read, const Tap<T>* taps,
                                                    typename Read::Value sum) const {
        for (int k = 0; k < count; ++k) sum = multiply_add(weights[k], read(taps[k]), sum);
        return sum;
    }
};

template <class T, int Count>
BANDMILL_INLINE Pack<T, Count> choose(const Pack<T, Count>& sign, const Pack<T, Count>& positive,
                                      const Pack<T, Count>& otherwise) {
    Pack<T, Count> result;
    for (int k = 0; k < Count; ++k) result.part[k] = sign.part[k] > Native<T>{} ? positive.part[k] : otherwise.part[k];
    return result;
}

// -(u C_x + v C_y): the derivative looks to where the velocity comes from. From the right, -u C_x = |u| times the
// right-biased derivative; from the left it is |u| times that of the mirrored points.
template <class T> struct Upwind {
    static constexpr int vectors = 1; // more do not fit the registers
    const StencilJob<T>& job;

    template <class Read>
    BANDMILL_INLINE typename Read::Value operator()(const Read& read, const Tap<T>* taps,
                                                    typename Read::Value sum) const {
        using Value = typename Read::Value;
        const Tap<T>* velocity = taps + job.neighbour_count;
        for (int along = 0; along < 2; ++along) {
            if (job.velocity[along].data == nullptr) continue;
            const Value speed = read.companion(velocity[along], job.velocity[along].stride[inner]);
            Value ahead[7], window[6];
            for (int k = 0; k < 7; ++k) ahead[k] = read(taps[k]);
            for (int k = 0; k < 6; ++k) window[k] = choose(speed, ahead[5 - k], ahead[k + 1]);
            const Value magnitude = choose(speed, speed, -speed);
            sum = multiply_add(job.to_derivative[along] * magnitude, job.derivative[along](window), sum);
            taps += 7;
        }
        return sum;
    }
};

} // namespace bandmill::cpu::BANDMILL_LEVEL
