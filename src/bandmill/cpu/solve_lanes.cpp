// The CPU solve at one instruction-set level (BANDMILL_LEVEL, given by the build): packs of lanes sweep their systems.
#include "bandmill/cpu/solve_lanes.hpp"

#include "bandmill/cpu/lanes.hpp"
#include "bandmill/cpu/stage.hpp"
#include "bandmill/cpu/strip_sweep.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {
namespace {

constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

// Systems from `first` on that stand side by side in the view, up to `most`.
std::int64_t side_by_side(const FieldShape& shape, std::int64_t first, std::int64_t most) {
    if (shape.batch_stride != 1) return 1;
    return smaller(most, shape.tile - first % shape.tile);
}

template <class T> constexpr int strip_lanes = strip_bytes / static_cast<int>(sizeof(T));

// A strip that is in memory as the sweeps want it; the intermediate values go to the solution's own memory.
template <int W, bool Periodic, int Vectors, class T>
__attribute__((noinline)) void solve_strip(const SolveJob<T>& job, std::int64_t first, int width) {
    const std::int64_t m = job.direct.n - W;
    const Lines<const T> b{job.b + system_offset(job.b_shape, first), job.b_shape.row_stride};
    const Lines<T> x{job.x + system_offset(job.x_shape, first), job.x_shape.row_stride};
    StripSweep<W, Periodic, Vectors, strip_lanes<T>, T> sweep(job.direct, width);
    sweep.down(0, m, b, x);
    sweep.separator(b, x);
    sweep.up(0, m, x, x);
}

// Any other systems: some rows of them are brought side by side at a time.
template <class T> constexpr int staged_width = staged_lanes > Pack<T, 1>::lanes ? staged_lanes : Pack<T, 1>::lanes;

template <int W, bool Periodic, class T>
__attribute__((noinline)) void solve_staged(const SolveJob<T>& job, std::int64_t first, int count) {
    constexpr int width = staged_width<T>;
    constexpr int room_rows = scratch_bytes / static_cast<int>(sizeof(T)) / width;
    static_assert(staged_rows % 8 == 0 && staged_rows <= room_rows);
    alignas(64) T room[room_rows * width];

    const std::int64_t n = job.direct.n, m = n - W;
    const bool kept = n <= room_rows; // otherwise room for the rows at hand only
    const Stage<T, width> b(job.b_shape, first, count), x(job.x_shape, first, count);
    StripSweep<W, Periodic, width / Pack<T, 1>::lanes, width, T> sweep(job.direct, width);
    const auto lines = [&](std::int64_t i) { return Lines<T>{room, width, kept ? 0 : i}; };
    const auto end = [&](std::int64_t i) { return smaller(i + staged_rows, m); };

    for (std::int64_t i = 0; i < m; i += staged_rows) {
        b.copy_in(job.b, i, end(i), lines(i));
        sweep.down(i, end(i), lines(i), lines(i));
        if (!kept) x.copy_out(lines(i), i, end(i), job.x);
    }
    b.copy_in(job.b, m, n, lines(m));
    sweep.separator(lines(m), lines(m));
    x.copy_out(lines(m), m, n, job.x);
    for (std::int64_t i = (m - 1) / staged_rows * staged_rows; i >= 0; i -= staged_rows) {
        if (!kept) x.copy_in(job.x, i, end(i), lines(i));
        sweep.up(i, end(i), lines(i), lines(i));
        x.copy_out(lines(i), i, end(i), job.x);
    }
}

template <int W, bool Periodic, class T>
void solve_direct(const SolveJob<T>& job, std::int64_t first, std::int64_t last) {
    constexpr int vectors = smaller(vectors_of_pack(W, Periodic), most_pack_lanes / Pack<T, 1>::lanes);
    constexpr int lanes = Pack<T, vectors>::lanes;
    while (first < last) {
        std::int64_t count = smaller(last - first, strip_lanes<T>);
        const std::int64_t adjacent = side_by_side(job.b_shape, first, side_by_side(job.x_shape, first, count));
        if (adjacent >= lanes) {
            count = adjacent / lanes * lanes;
            solve_strip<W, Periodic, vectors>(job, first, static_cast<int>(count));
        } else {
            count = smaller(count, staged_width<T>);
            solve_staged<W, Periodic>(job, first, static_cast<int>(count));
        }
        first += count;
    }
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

// Rows of one vector of systems that stand anywhere, as sweep_pivoted wants them.
template <class T> struct ScatteredRows {
    using Value = Pack<T, 1>;
    static constexpr int ahead = 1;
    const T* b;
    T* x;
    std::int64_t b_stride, x_stride;
    std::int64_t b_offset[Value::lanes], x_offset[Value::lanes];
    int used;

    ScatteredRows(const SolveJob<T>& job, std::int64_t first, int count)
        : b(job.b), x(job.x), b_stride(job.b_shape.row_stride), x_stride(job.x_shape.row_stride), used(count) {
        for (int lane = 0; lane < count; ++lane) {
            b_offset[lane] = system_offset(job.b_shape, first + lane);
            x_offset[lane] = system_offset(job.x_shape, first + lane);
        }
    }
    BANDMILL_INLINE Value load(std::int64_t i) const { return {{gather(b + i * b_stride, b_offset, used)}}; }
    BANDMILL_INLINE Value kept(std::int64_t i) const { return {{gather<T>(x + i * x_stride, x_offset, used)}}; }
    BANDMILL_INLINE void keep(std::int64_t i, const Value& value) { store(i, value); }
    BANDMILL_INLINE void store(std::int64_t i, const Value& value) {
        scatter(x + i * x_stride, x_offset, used, value.part[0]);
    }
};

template <class T> void solve_pivoted(const SolveJob<T>& job, std::int64_t first, std::int64_t last) {
    constexpr int lanes = Pack<T, 1>::lanes;
    for (; first < last; first += lanes) {
        ScatteredRows<T> rows(job, first, last - first < lanes ? static_cast<int>(last - first) : lanes);
        switch (job.reach) {
        case 1: detail::sweep_pivoted<1>(job.pivoted, rows); break;
        case 2: detail::sweep_pivoted<2>(job.pivoted, rows); break;
        default: detail::sweep_pivoted<4>(job.pivoted, rows);
        }
    }
}

template <class T> void solve_systems(const SolveJob<T>& job, std::int64_t first, std::int64_t last) {
    if (job.path == SolvePath::pivoted) return solve_pivoted(job, first, last);
    if (job.half_bandwidth == 1)
        return job.periodic ? solve_direct<1, true>(job, first, last) : solve_direct<1, false>(job, first, last);
    return job.periodic ? solve_direct<2, true>(job, first, last) : solve_direct<2, false>(job, first, last);
}

} // namespace

void solve_range(const SolveJob<double>& job, std::int64_t first, std::int64_t last) {
    solve_systems(job, first, last);
}
void solve_range(const SolveJob<float>& job, std::int64_t first, std::int64_t last) { solve_systems(job, first, last); }

} // namespace bandmill::cpu::BANDMILL_LEVEL
