// The CPU solve at one instruction-set level (BANDMILL_LEVEL, given by the build): packs of lanes sweep their systems.
#include "bandmill/cpu/solve_lanes.hpp"

#include "bandmill/cpu/lanes.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {
namespace {

// Intermediate values of a pack of systems stay on the stack if they fit: within any L2, and half of the smallest stack
// that threads commonly get (musl: 128 KiB). Otherwise they go to the solution's own memory.
constexpr std::int64_t scratch_bytes = 64 * 1024;

BANDMILL_INLINE std::int64_t system_offset(const FieldShape& shape, std::int64_t m) {
    return m % shape.tile * shape.batch_stride + m / shape.tile * shape.tile_stride;
}

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

// Where the lanes of a pack find their systems in one view: all side by side, the fast case ...
template <class T, int Count> struct AdjacentLanes {
    using Value = Pack<T, Count>;
    using Unaligned = typename NativeVector<T>::unaligned;
    std::int64_t row_stride, start;

    BANDMILL_INLINE AdjacentLanes(const FieldShape& shape, std::int64_t first, int)
        : row_stride(shape.row_stride), start(system_offset(shape, first)) {}

    BANDMILL_INLINE static bool fits(const FieldShape& shape, std::int64_t first, int count) {
        return count == Value::lanes && shape.batch_stride == 1 && first % shape.tile + count <= shape.tile;
    }
    BANDMILL_INLINE Value load(const T* data, std::int64_t row) const {
        Value value;
        const T* line = data + row * row_stride + start;
        for (int k = 0; k < Count; ++k)
            value.part[k] = *reinterpret_cast<const Unaligned*>(line + k * Value::per_vector);
        return value;
    }
    BANDMILL_INLINE void store(T* data, std::int64_t row, const Value& value) const {
        T* line = data + row * row_stride + start;
        for (int k = 0; k < Count; ++k) *reinterpret_cast<Unaligned*>(line + k * Value::per_vector) = value.part[k];
    }
};

// ... or anywhere, and not all of them used.
template <class T, int Count> struct ScatteredLanes {
    using Value = Pack<T, Count>;
    std::int64_t row_stride;
    std::int64_t offset[Value::lanes];
    int used[Count]; // lanes of this vector that hold a system

    BANDMILL_INLINE ScatteredLanes(const FieldShape& shape, std::int64_t first, int count)
        : row_stride(shape.row_stride) {
        for (int lane = 0; lane < Value::lanes; ++lane)
            offset[lane] = system_offset(shape, first + (lane < count ? lane : 0));
        for (int k = 0; k < Count; ++k) {
            const int left = count - k * Value::per_vector;
            used[k] = left < 0 ? 0 : left < Value::per_vector ? left : Value::per_vector;
        }
    }
    BANDMILL_INLINE Value load(const T* data, std::int64_t row) const {
        Value value;
        for (int k = 0; k < Count; ++k)
            value.part[k] = gather(data + row * row_stride, offset + k * Value::per_vector, used[k]);
        return value;
    }
    BANDMILL_INLINE void store(T* data, std::int64_t row, const Value& value) const {
        for (int k = 0; k < Count; ++k)
            scatter(data + row * row_stride, offset + k * Value::per_vector, used[k], value.part[k]);
    }
};

// The rows of a pack of systems, as sweeps.hpp wants them.
template <class T, int Count, template <class, int> class Lanes, bool Scratch> struct PackRows {
    using Value = Pack<T, Count>;
    static constexpr int ahead = 1;

    const T* b;
    T* x;
    Lanes<T, Count> b_lanes, x_lanes;
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

template <int Count, template <class, int> class Lanes, bool Scratch, class T>
void sweep(const SolveJob<T>& job, std::int64_t first, int count) {
    using namespace bandmill::detail;
    alignas(64) unsigned char room[Scratch ? scratch_bytes : 64];
    PackRows<T, Count, Lanes, Scratch> rows(job, first, count, reinterpret_cast<Pack<T, Count>*>(room));
    if (job.half_bandwidth == 1)
        return job.periodic ? sweep_direct<1, true>(job.direct, rows) : sweep_direct<1, false>(job.direct, rows);
    return job.periodic ? sweep_direct<2, true>(job.direct, rows) : sweep_direct<2, false>(job.direct, rows);
}

template <class T> void solve_pack(const SolveJob<T>& job, std::int64_t first, int count) {
    constexpr int wide = 4; // vectors in flight: they cover the latency of a multiply-add
    using Value = Pack<T, wide>;
    const bool adjacent = AdjacentLanes<T, wide>::fits(job.b_shape, first, count) &&
                          AdjacentLanes<T, wide>::fits(job.x_shape, first, count);
    const bool fits = job.x_shape.rows * static_cast<std::int64_t>(sizeof(Value)) <= scratch_bytes;
    // A tile's rows stand close together and stay in the cache by themselves; scratch would only crowd it.
    const bool dense = job.x_shape.row_stride * static_cast<std::int64_t>(sizeof(T)) <= 1024;
    if (adjacent && (dense || !fits)) return sweep<wide, AdjacentLanes, false>(job, first, count);
    if (adjacent) return sweep<wide, AdjacentLanes, true>(job, first, count);
    if (fits) return sweep<wide, ScatteredLanes, true>(job, first, count);
    constexpr int narrow = Pack<T, 1>::lanes;
    for (int done = 0; done < count; done += narrow)
        sweep<1, ScatteredLanes, false>(job, first + done, count - done < narrow ? count - done : narrow);
}

template <class T> void solve_pack_pivoted(const SolveJob<T>& job, std::int64_t first, int count) {
    PackRows<T, 1, ScatteredLanes, false> rows(job, first, count, nullptr);
    switch (job.reach) {
    case 1: return detail::sweep_pivoted<1>(job.pivoted, rows);
    case 2: return detail::sweep_pivoted<2>(job.pivoted, rows);
    default: return detail::sweep_pivoted<4>(job.pivoted, rows);
    }
}

template <class T> void solve_systems(const SolveJob<T>& job, std::int64_t first, std::int64_t last) {
    const bool pivoted = job.path == SolvePath::pivoted;
    const int lanes = pivoted ? Pack<T, 1>::lanes : Pack<T, 4>::lanes;
    static_assert(systems_per_block % Pack<T, 4>::lanes == 0);
    for (; first < last; first += lanes) {
        const int count = last - first < lanes ? static_cast<int>(last - first) : lanes;
        pivoted ? solve_pack_pivoted(job, first, count) : solve_pack(job, first, count);
    }
}

} // namespace

void solve_range(const SolveJob<double>& job, std::int64_t first, std::int64_t last) {
    solve_systems(job, first, last);
}
void solve_range(const SolveJob<float>& job, std::int64_t first, std::int64_t last) { solve_systems(job, first, last); }

} // namespace bandmill::cpu::BANDMILL_LEVEL
