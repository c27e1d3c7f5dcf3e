// The resident kernel: see resident.hpp. A step is
//   1. the right-hand side from registers and from the ends of the neighbouring threads' segments,
//   2. a sweep up the segment from a zero carry, the carries scanned around the ring of threads, and the segment
//      corrected: where all segments are alike by tables in the constant bank, otherwise by sweeping again with the
//      right carry (as many operations, but one after the other),
//   3. the same downwards, and the increment is added.
// Short segments are usually swept both ways at once instead: see BothWays in resident.hpp.
#pragma once

#include "bandmill/cuda/resident.hpp"
#include "bandmill/cuda/tuning.hpp"

#include <utility>

namespace bandmill::cuda {

// How the threads of a member stand to each other.
enum class Ring {
    exact,         // a power of two of lanes of one warp, all with the same number of points
    warp,          // any number of lanes of one warp
    several_warps, // a block is one member
};

// Where a thread stands in its member, and how it talks to the others of its warp.
template <class T, Ring R> struct Lanes {
    int lane;    // in the member
    int base;    // of the member's part in this warp: its first lane
    int here;    // lanes of that part
    int place;   // in that part
    int warps;   // of a member with several
    T* exchange; // shared memory between them

    __device__ __forceinline__ static T shuffle(T value, int from) { return __shfl_sync(0xffffffffu, value, from); }
    __device__ __forceinline__ T from_left(T value, int distance) const {
        if constexpr (R == Ring::exact) return __shfl_sync(0xffffffffu, value, (place - distance) & (here - 1), here);
        const int at = place - distance;
        return shuffle(value, base + (at < 0 ? at + here : at));
    }
    __device__ __forceinline__ T from_right(T value, int distance) const {
        if constexpr (R == Ring::exact) return __shfl_sync(0xffffffffu, value, (place + distance) & (here - 1), here);
        const int at = place + distance;
        return shuffle(value, base + (at >= here ? at - here : at));
    }
    __device__ __forceinline__ int warp() const { return lane / 32; }
};

template <int W, class T> struct Carry {
    T last, before; // before is idle if W == 1

    __device__ __forceinline__ void add(const CarryMap<T>& map, const Carry& other) {
        last = detail::multiply_add(map.own, other.last, last);
        if constexpr (W == 2) {
            last = detail::multiply_add(map.from_before, other.before, last);
            before = detail::multiply_add(map.to_before, other.last, before);
            before = detail::multiply_add(map.before, other.before, before);
        }
    }
    // The sweep's next value from the right-hand side there.
    __device__ __forceinline__ T next(const CirculantTables<T>& tables, T value) const {
        if constexpr (W == 2) value = detail::multiply_add(tables.minus_q, before, value);
        return detail::multiply_add(tables.minus_p, last, value);
    }
    __device__ __forceinline__ void push(T value) {
        if constexpr (W == 2) before = last;
        last = value;
    }
};

// From what each segment carries out, sweeping from zero, to what is carried into it around the ring. `Up` is towards
// larger points. `longer` has a bit per level: which of the two lengths.
template <int W, bool Up, int K, Ring R, class T>
__device__ __forceinline__ Carry<W, T> scan_carries(const CirculantTables<T>& tables, const Lanes<T, R>& lanes,
                                                    Carry<W, T> carry, unsigned longer, unsigned warp_longer,
                                                    const CarryMap<T>* position) {
    auto fetch = [&](const Carry<W, T>& from, int distance) {
        Carry<W, T> result{};
        result.last = Up ? lanes.from_left(from.last, distance) : lanes.from_right(from.last, distance);
        if constexpr (W == 2)
            result.before = Up ? lanes.from_left(from.before, distance) : lanes.from_right(from.before, distance);
        return result;
    };
    // Past 2^level segments, starting in each of the lanes. Where the last one is not felt, the ring is as good as
    // endless; otherwise a warp's part is taken as open, and closed afterwards (the exact ring closes by itself).
    const bool open = R == Ring::several_warps || (R == Ring::warp && !tables.decayed);
    const int place = Up ? lanes.place : lanes.here - 1 - lanes.place;
    if constexpr (R == Ring::exact)
        if (tables.usual) { // without questions in between
#pragma unroll
            for (int level = 0; level < usual_levels<T>(K); ++level)
                carry.add(tables.past[level][0], fetch(carry, 1 << level));
            return fetch(carry, 1);
        }
#pragma unroll
    for (int level = 0; level < carry_levels; ++level) {
        if (level >= tables.levels) break;
        Carry<W, T> other = fetch(carry, 1 << level);
        if (open && place < (1 << level)) other = Carry<W, T>{};
        CarryMap<T> map = tables.past[level][0];
        if (R != Ring::exact && !tables.alike && (longer >> level & 1)) map = tables.past[level][1];
        carry.add(map, other);
    }
    Carry<W, T> result = fetch(carry, 1);
    if (R != Ring::several_warps && tables.decayed) return result;
    if constexpr (R == Ring::exact) {
        carry = result;
        result = Carry<W, T>{};
        result.add(tables.ring, carry);
        return result;
    }
    if (place == 0) result = Carry<W, T>{};
    Carry<W, T> total{}, ring{};
    const int end = Up ? lanes.base + lanes.here - 1 : lanes.base;
    total.last = lanes.shuffle(carry.last, end);
    if constexpr (W == 2) total.before = lanes.shuffle(carry.before, end);
    if constexpr (R == Ring::several_warps) {
        const int warps = lanes.warps, warp = lanes.warp();
        T* const room = lanes.exchange + (Up ? 0 : 2 * warps);
        if (threadIdx.x % 32 == 0) {
            room[2 * warp] = total.last;
            if constexpr (W == 2) room[2 * warp + 1] = total.before;
        }
        __syncthreads();
        // Horner's rule, from the warp that is furthest: this one itself, once around, or the last one felt.
        const int furthest = tables.decayed ? 1 : warps;
        total = Carry<W, T>{};
        for (int m = furthest; m >= 1; --m) {
            const int from = Up ? (warp - m + warps) % warps : (warp + m) % warps;
            Carry<W, T> next{room[2 * from], W == 2 ? room[2 * from + 1] : T(0)};
            if (m < furthest) next.add(tables.past_warp[warp_longer >> from & 1], total);
            total = next;
        }
    }
    if (tables.decayed)
        ring = total;
    else
        ring.add(tables.ring, total);
    result.add(*position, ring);
    return result;
}

// The same for both directions side by side, around an exact ring: the time of one.
template <int W, class T>
__device__ __forceinline__ void scan_both_ways(const CirculantTables<T>& tables, const Lanes<T, Ring::exact>& lanes,
                                               Carry<W, T>& up, Carry<W, T>& down) {
    auto fetch = [&](int distance) {
        const Carry<W, T> from_left{lanes.from_left(up.last, distance),
                                    W == 2 ? lanes.from_left(up.before, distance) : T(0)};
        const Carry<W, T> from_right{lanes.from_right(down.last, distance),
                                     W == 2 ? lanes.from_right(down.before, distance) : T(0)};
        return std::pair(from_left, from_right);
    };
    auto add_level = [&](int level) {
        const auto [from_left, from_right] = fetch(1 << level);
        up.add(tables.past[level][0], from_left);
        down.add(tables.past[level][0], from_right);
    };
    if (tables.levels == carry_levels) { // without a question in between
#pragma unroll
        for (int level = 0; level < carry_levels; ++level) add_level(level);
    } else {
        for (int level = 0; level < tables.levels; ++level) add_level(level);
    }
    const auto [from_left, from_right] = fetch(1);
    up = from_left, down = from_right;
    if (tables.decayed) return;
    up = down = Carry<W, T>{};
    up.add(tables.ring, from_left);
    down.add(tables.ring, from_right);
}

// Up to `U` slots at the front of a segment are unused. `Traced`: the mean squares after every step are wanted.
template <class E, class T, int K, int U, Ring R, bool Traced>
__device__ __forceinline__ void step_members(const ResidentJob<T>& job, const typename E::template Rate<T>& rate,
                                             T* shared) {
    using Rate = typename E::template Rate<T>;
    constexpr int W = E::half_bandwidth;
    constexpr bool Exact = R == Ring::exact, Several = R == Ring::several_warps;
    static_assert(!Exact || U == 0);
    static_assert(!Rate::has_source || (Rate::left <= 2 && Rate::right <= 3), "segments know two points to the left");
    constexpr bool both_ways = Exact && sweeps_both_ways<E>(K);
    constexpr bool up_by_table = Exact && by_table<W, T>(K).up, down_by_table = Exact && by_table<W, T>(K).down;
    constexpr int right = Rate::has_source && Rate::right > 2 ? Rate::right : 2; // how far a segment looks to the right
    constexpr int parameter_count = static_cast<int>(E::member_parameters.size());
    const int n = job.points, thread = static_cast<int>(threadIdx.x);

    Lanes<T, R> lanes;
    lanes.here = Several ? 32 : job.lanes;
    lanes.warps = Several ? job.lanes / 32 : 0;
    std::int64_t member = blockIdx.x;
    bool idle = false;
    if constexpr (Several) {
        lanes.lane = thread;
        lanes.base = 0;
        lanes.place = thread % 32;
    } else {
        const int in_warp = 32 / lanes.here, which = thread % 32 / lanes.here;
        lanes.place = lanes.lane = thread % 32 % lanes.here;
        lanes.base = which < in_warp ? which * lanes.here : 0;
        member = (member * blockDim.x + thread) / 32 * in_warp + which;
        idle = which >= in_warp || member >= job.members; // works along, on a copy, and writes nothing
        if (idle) member = job.members - 1;
    }
    const int lane = lanes.lane, count = job.lanes;
    const int start = Exact ? lane * K : static_cast<int>(static_cast<std::int64_t>(lane) * n / count);
    const int end = Exact ? start + K : static_cast<int>(static_cast<std::int64_t>(lane + 1) * n / count);
    const int unused = K - (end - start);
    auto is_used = [&](int j) { return j >= U || j >= unused; };
    // Bit j: slot j is the first that is used. Opaque, or the compiler turns the choice of a register into an index,
    // and for that puts all of them in memory.
    unsigned first_used = 1u << unused;
    asm volatile("" : "+r"(first_used));

    // Shared memory: positions, exchange between warps, profile, parts of sums.
    CarryMap<T>* const positions = reinterpret_cast<CarryMap<T>*>(shared);
    T* const exchange = shared + (Exact ? 0 : 8 * count);
    const int warps = lanes.warps;
    T* const halo = exchange + 4 * warps; // per warp: the last two on its left edge's other side, ...
    T* const profile = halo + 8 * warps;  // after the halo, and room for a double per warp
    T* const parts = profile + (Rate::has_source ? K * count : 0);
    constexpr int parts_stride = resident_threads + 1; // lanes that read other steps' parts find them in other banks
    lanes.exchange = exchange;
    if constexpr (!Exact)
        for (int i = thread; i < 2 * count; i += static_cast<int>(blockDim.x)) positions[i] = job.positions[i];
    if constexpr (Rate::has_source)
        for (int i = thread; i < K * count; i += static_cast<int>(blockDim.x)) {
            const int l = i % count, j = i / count;
            const int first = static_cast<int>(static_cast<std::int64_t>(l + 1) * n / count) - K;
            profile[i] = first + j >= 0 ? job.profile[first + j] : T(0);
        }
    unsigned longer_up = 0, longer_down = 0, warp_longer = 0;
    if constexpr (!Exact) {
        auto begin_of = [&](int l) { return (static_cast<std::int64_t>(l + count) * n) / count - n; }; // l >= -count
        for (int level = 0; level < carry_levels; ++level) {
            const std::int64_t shorter = (static_cast<std::int64_t>(n) << level) / count;
            const int far_left = lane + 1 - (1 << level), far_right = lane + (1 << level);
            if (far_left >= -count && begin_of(lane + 1) - begin_of(far_left) > shorter) longer_up |= 1u << level;
            if (begin_of(far_right) - begin_of(lane) > shorter) longer_down |= 1u << level;
        }
        for (int w = 0; w < warps; ++w)
            if (begin_of(32 * w + 32) - begin_of(32 * w) > 32LL * n / count) warp_longer |= 1u << w;
    }
    __syncthreads();

    T parameters[parameter_count > 0 ? parameter_count : 1];
#pragma unroll
    for (int i = 0; i < parameter_count; ++i) parameters[i] = job.parameters[i * job.parameter_stride + member];
    T* const state = job.states + member * n + (end - K);
    T C[K], g[K];
#pragma unroll
    for (int j = 0; j < K; ++j) C[j] = is_used(j) ? state[j] : T(0);

    const CirculantTables<T>& tables = job.tables;
    for (int step = 0; step < job.steps; ++step) {
        // The two last points of the segment to the left, the first ones of that to the right.
        T first[3];
#pragma unroll
        for (int i = 0; i < right; ++i) {
            first[i] = C[i];
#pragma unroll
            for (int j = 1; j <= U; ++j) first[i] = first_used >> j & 1 ? C[j + i] : first[i];
        }
        T left[2], after[3];
#pragma unroll
        for (int i = 0; i < 2; ++i) left[i] = lanes.from_left(C[K - 1 - i], 1);
#pragma unroll
        for (int i = 0; i < right; ++i) after[i] = lanes.from_right(first[i], 1);
        if constexpr (Several) {
            const int warp = lanes.warp(), next = (warp + 1) % warps, previous = (warp + warps - 1) % warps;
            if (lanes.place == 31)
                for (int i = 0; i < 2; ++i) halo[5 * warp + i] = C[K - 1 - i];
            if (lanes.place == 0)
                for (int i = 0; i < right; ++i) halo[5 * warp + 2 + i] = first[i];
            __syncthreads();
            if (lanes.place == 0)
                for (int i = 0; i < 2; ++i) left[i] = halo[5 * previous + i];
            if (lanes.place == 31)
                for (int i = 0; i < right; ++i) after[i] = halo[5 * next + 2 + i];
        }
        // Unused slots before the first point hold what lies to the left of it.
        T before[2] = {left[0], left[1]};
        if constexpr (U > 0) {
            if (first_used >> 1 & 1) before[0] = left[1];
#pragma unroll
            for (int j = 0; j < U; ++j) {
                C[j] = first_used >> (j + 1) & 1 ? left[0] : first_used >> (j + 2) & 1 ? left[1] : C[j];
            }
        }
        auto point = [&](int j) { return j < 0 ? before[-1 - j] : j < K ? C[j] : after[j - K]; };
        auto potential = [&](int j) { return rate.potential(point(j - 1), point(j), point(j + 1)); };

        Carry<W, T> carry{};
        T raised[both_ways ? K : 1], squares[4] = {};
        T behind = Rate::has_potential ? potential(-1) : T(0), here = Rate::has_potential ? potential(0) : T(0);
#pragma unroll
        for (int j = 0; j < K; ++j) {
            T value = T(0);
            if constexpr (Rate::has_potential) {
                const T ahead = potential(j + 1);
                value = detail::multiply_add(T(-2), here, behind + ahead);
                behind = here;
                here = ahead;
            }
            if constexpr (Rate::has_source) {
                T window[7];
#pragma unroll
                for (int i = 3 - Rate::left; i <= 3 + Rate::right; ++i) window[i] = point(j + i - 3);
                value = value + rate.source(window, profile[j * count + lane], parameters);
            }
            if (!is_used(j)) value = T(0);
            const T swept = carry.next(tables, value);
            g[j] = up_by_table && !both_ways ? swept : value;
            if constexpr (both_ways) raised[j] = swept;
            carry.push(swept);
        }
        if constexpr (both_ways) {
            const BothWays<T>& both = job.both_ways;
            Carry<W, T> down{};
#pragma unroll
            for (int j = K - 1; j >= 0; --j) { // what comes from inside the segment
                T inside = both.up[0] * raised[j];
                inside = detail::multiply_add(both.down[0], down.last, inside);
                if constexpr (W == 2) {
                    if (j > 0) inside = detail::multiply_add(both.up[1], raised[j - 1], inside);
                    inside = detail::multiply_add(both.down[1], down.before, inside);
                }
                down.push(down.next(tables, g[j]));
                g[j] = inside;
            }
            scan_both_ways<W>(tables, lanes, carry, down);
#pragma unroll
            for (int j = K - 1; j >= 0; --j) { // and what comes from outside
                T left_part = detail::multiply_add(both.carried_up[j][0], carry.last, g[j]);
                T right_part = both.carried_down[K - 1 - j][0] * down.last;
                if constexpr (W == 2) {
                    left_part = detail::multiply_add(both.carried_up[j][1], carry.before, left_part);
                    right_part = detail::multiply_add(both.carried_down[K - 1 - j][1], down.before, right_part);
                }
                C[j] = C[j] + (left_part + right_part);
            }
        } else {
            carry = scan_carries<W, true, K>(tables, lanes, carry, longer_up, warp_longer, positions + lane);
#pragma unroll
            for (int j = 0; j < K; ++j) {
                if constexpr (up_by_table) {
                    g[j] = detail::multiply_add(job.response[j][0], carry.last, g[j]);
                    if constexpr (W == 2) g[j] = detail::multiply_add(job.response[j][1], carry.before, g[j]);
                } else {
                    g[j] = carry.next(tables, g[j]);
                    if (is_used(j)) carry.push(g[j]);
                }
            }
            carry = Carry<W, T>{};
#pragma unroll
            for (int j = K - 1; j >= 0; --j) {
                const T value = carry.next(tables, g[j]);
                if constexpr (down_by_table) g[j] = value;
                if (is_used(j)) carry.push(value);
            }
            carry = scan_carries<W, false, K>(tables, lanes, carry, longer_down, warp_longer, positions + count + lane);
            if constexpr (down_by_table) {
                carry.last *= tables.update;
                carry.before *= tables.update;
            }
#pragma unroll
            for (int j = K - 1; j >= 0; --j) {
                if constexpr (down_by_table) {
                    C[j] = detail::multiply_add(tables.update, g[j], C[j]);
                    C[j] = detail::multiply_add(job.response[K - 1 - j][0], carry.last, C[j]);
                    if constexpr (W == 2) C[j] = detail::multiply_add(job.response[K - 1 - j][1], carry.before, C[j]);
                } else {
                    const T value = carry.next(tables, g[j]);
                    carry.push(value);
                    C[j] = detail::multiply_add(tables.update, value, C[j]);
                }
                if (Traced && is_used(j)) squares[j % 4] = detail::multiply_add(C[j], C[j], squares[j % 4]);
            }
        }
        if constexpr (Traced && both_ways)
#pragma unroll
            for (int j = 0; j < K; ++j) squares[j % 4] = detail::multiply_add(C[j], C[j], squares[j % 4]);

        if constexpr (Traced && Several) {
            double all = (squares[0] + squares[1]) + (squares[2] + squares[3]);
#pragma unroll
            for (int distance = 16; distance >= 1; distance /= 2)
                all += __shfl_down_sync(0xffffffffu, all, distance); // only the first lane's sum counts
            double* const sums = reinterpret_cast<double*>(halo + 5 * warps + (5 * warps & 1));
            if (lanes.place == 0) sums[lanes.warp()] = all;
            __syncthreads();
            if (lane == 0) {
                for (int w = 1; w < warps; ++w) all += sums[w];
                job.square_sums[step * job.members + member] = all;
            }
        } else if constexpr (Traced) {
            // Lanes put their parts down, and add up a few steps' at a time: each lane the parts of another step.
            const int slot = step % traced_steps;
            parts[slot * parts_stride + thread] = (squares[0] + squares[1]) + (squares[2] + squares[3]);
            if (slot == traced_steps - 1 || step == job.steps - 1) {
                __syncwarp();
                const T* const own = parts + thread / 32 * 32 + lanes.base;
                for (int s = lanes.place; s <= slot; s += lanes.here) {
                    double all = own[s * parts_stride];
                    for (int l = 1; l < lanes.here; ++l) all += own[s * parts_stride + l];
                    if (!idle) job.square_sums[(step - slot + s) * job.members + member] = all;
                }
                __syncwarp();
            }
        }
    }
    if (idle) return;
#pragma unroll
    for (int j = 0; j < K; ++j)
        if (is_used(j)) state[j] = C[j];
}

} // namespace bandmill::cuda
