// The CPU solve at one instruction-set level (BANDMILL_LEVEL, given by the build): packs of lanes sweep their systems.
#include "bandmill/cpu/solve_lanes.hpp"

#include "bandmill/cpu/lanes.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {
namespace {

// Intermediate values of a pack of systems stay here if they fit: half of a common L2, and safe on any thread's stack.
// Otherwise they go to the solution's own memory.
constexpr std::int64_t scratch_bytes = 128 * 1024;

// Kept out of line: inlined into every sweep they would take minutes to compile.
template <class T> __attribute__((noinline)) Native<T> gather(const T* line, const std::int64_t* offset, int used) {
    Native<T> value = {};
    for (int lane = 0; lane < used; ++lane) value[lane] = line[offset[lane]];
    return value;
}
template <class T>
__attribute__((noinline)) void scatter(T* line, const std::int64_t* offset, int used, Native<T> value) {
    for (int lane = 0; lane < used; ++lane) line[offset[lane]] = value[lane];
}

// Where the lanes of a pack find their systems in one view.
template <class T, int Count> struct LaneMap {
    using Value = Pack<T, Count>;
    using Unaligned = typename NativeVector<T>::unaligned;
    static constexpr int per_vector = Value::per_vector;

    std::int64_t row_stride;
    std::int64_t offset[Value::lanes];
    bool side_by_side[Count]; // all lanes of this vector are used and stand next to each other
    int used[Count];          // lanes of this vector that hold a system

    BANDMILL_INLINE LaneMap(const FieldShape& shape, std::int64_t first, int count) : row_stride(shape.row_stride) {
        for (int lane = 0; lane < Value::lanes; ++lane) {
            const std::int64_t m = first + (lane < count ? lane : 0);
            offset[lane] = m % shape.tile * shape.batch_stride + m / shape.tile * shape.tile_stride;
        }
        for (int k = 0; k < Count; ++k) {
            const int left = count - k * per_vector;
            used[k] = left < 0 ? 0 : left < per_vector ? left : per_vector;
            side_by_side[k] = used[k] == per_vector;
            for (int lane = 1; lane < per_vector; ++lane)
                if (offset[k * per_vector + lane] != offset[k * per_vector] + lane) side_by_side[k] = false;
        }
    }

    BANDMILL_INLINE Value load(const T* data, std::int64_t row) const {
        Value value;
        const T* line = data + row * row_stride;
        for (int k = 0; k < Count; ++k)
            value.part[k] = side_by_side[k] ? *reinterpret_cast<const Unaligned*>(line + offset[k * per_vector])
                                            : gather(line, offset + k * per_vector, used[k]);
        return value;
    }

    BANDMILL_INLINE void store(T* data, std::int64_t row, const Value& value) const {
        T* line = data + row * row_stride;
        for (int k = 0; k < Count; ++k) {
            if (side_by_side[k])
                *reinterpret_cast<Unaligned*>(line + offset[k * per_vector]) = value.part[k];
            else
                scatter(line, offset + k * per_vector, used[k], value.part[k]);
        }
    }
};

// The rows of a pack of systems, as sweeps.hpp wants them.
template <class T, int Count, bool Scratch> struct PackRows {
    using Value = Pack<T, Count>;
    static constexpr bool fetch_ahead = false;

    const T* b;
    T* x;
    LaneMap<T, Count> b_lanes, x_lanes;
    Value* scratch;

    BANDMILL_INLINE PackRows(const SolveJob<T>& job, std::int64_t first, int count, Value* room)
        : b(job.b), x(job.x), b_lanes(job.b_shape, first, count), x_lanes(job.x_shape, first, count), scratch(room) {}

    BANDMILL_INLINE Value load(std::int64_t i) const { return b_lanes.load(b, i); }
    BANDMILL_INLINE void store(std::int64_t i, const Value& value) { x_lanes.store(x, i, value); }
    BANDMILL_INLINE void keep(std::int64_t i, const Value& value) {
        if constexpr (Scratch)
            scratch[i] = value;
        else
            x_lanes.store(x, i, value);
    }
    BANDMILL_INLINE Value kept(std::int64_t i) const {
        if constexpr (Scratch)
            return scratch[i];
        else
            return x_lanes.load(x, i);
    }
};

template <class Rows, class T> void sweep(const SolveJob<T>& job, Rows& rows) {
    using namespace bandmill::detail;
    if (job.half_bandwidth == 1)
        return job.periodic ? sweep_direct<1, true>(job.direct, rows) : sweep_direct<1, false>(job.direct, rows);
    return job.periodic ? sweep_direct<2, true>(job.direct, rows) : sweep_direct<2, false>(job.direct, rows);
}

template <int Count, class T> void solve_pack(const SolveJob<T>& job, std::int64_t first, int count) {
    using Value = Pack<T, Count>;
    if (job.x_shape.rows * static_cast<std::int64_t>(sizeof(Value)) <= scratch_bytes) {
        alignas(64) unsigned char room[scratch_bytes];
        PackRows<T, Count, true> rows(job, first, count, reinterpret_cast<Value*>(room));
        sweep(job, rows);
    } else {
        PackRows<T, Count, false> rows(job, first, count, nullptr);
        sweep(job, rows);
    }
}

template <class T> void solve_pack_pivoted(const SolveJob<T>& job, std::int64_t first, int count) {
    PackRows<T, 1, false> rows(job, first, count, nullptr);
    switch (job.reach) {
    case 1: return detail::sweep_pivoted<1>(job.pivoted, rows);
    case 2: return detail::sweep_pivoted<2>(job.pivoted, rows);
    default: return detail::sweep_pivoted<4>(job.pivoted, rows);
    }
}

template <class T> void solve_systems(const SolveJob<T>& job, std::int64_t first, std::int64_t last) {
    // Four vectors in flight cover the latency of a multiply-add; the last few systems take one vector at a time.
    constexpr int wide = Pack<T, 4>::lanes, narrow = Pack<T, 1>::lanes;
    static_assert(systems_per_block % wide == 0);
    if (job.path == SolvePath::pivoted) {
        for (; first < last; first += narrow)
            solve_pack_pivoted(job, first, last - first < narrow ? static_cast<int>(last - first) : narrow);
        return;
    }
    for (; last - first > 2 * narrow; first += wide)
        solve_pack<4>(job, first, last - first < wide ? static_cast<int>(last - first) : wide);
    for (; first < last; first += narrow)
        solve_pack<1>(job, first, last - first < narrow ? static_cast<int>(last - first) : narrow);
}

} // namespace

void solve_range(const SolveJob<double>& job, std::int64_t first, std::int64_t last) {
    solve_systems(job, first, last);
}
void solve_range(const SolveJob<float>& job, std::int64_t first, std::int64_t last) { solve_systems(job, first, last); }

} // namespace bandmill::cpu::BANDMILL_LEVEL
