// Stencils and advection on the CPU at one instruction-set level (BANDMILL_LEVEL, given by the build). Levels with FMA
// give the same bits.
#include "bandmill/cpu/stencil_lanes.hpp"

#include "bandmill/cpu/stencil_blocks.hpp"
#include "bandmill/cpu/stencil_formulas.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {
namespace {

#if defined(__AVX512F__)
BANDMILL_INLINE void store_past_cache(double* to, Native<double> v) { _mm512_stream_pd(to, v); }
BANDMILL_INLINE void store_past_cache(float* to, Native<float> v) { _mm512_stream_ps(to, v); }
#elif defined(__AVX__)
BANDMILL_INLINE void store_past_cache(double* to, Native<double> v) { _mm256_stream_pd(to, v); }
BANDMILL_INLINE void store_past_cache(float* to, Native<float> v) { _mm256_stream_ps(to, v); }
#else
template <class T> BANDMILL_INLINE void store_past_cache(T* to, Native<T> v) {
    *reinterpret_cast<typename NativeVector<T>::unaligned*>(to) = v;
}
#endif

template <class T, class Formula> class Runs {
  public:
    Runs(const StencilJob<T>& job, const Formula& formula, const StencilScratch<T>& scratch)
        : job_(job), formula_(formula), scratch_(scratch) {}

    void compute(std::int64_t first, std::int64_t last) {
        const std::int64_t rows = job_.axis[middle].count, panels = job_.panels();
        std::int64_t row = first % rows, panel = first / rows % panels, plane = first / rows / panels;
        for (std::int64_t run = first, taken; run < last; run += taken) {
            taken = last - run >= stencil_block_rows && may_take_block(row, plane) ? stencil_block_rows : 1;
            compute_rows(row, panel * job_.panel, plane, taken);
            row += taken;
            if (row < rows) continue;
            row = 0;
            if (++panel < panels) continue;
            panel = 0, ++plane;
        }
    }

  private:
    using Vector = Pack<T, 1>;

    // Rows of results that look at rows of the plane only.
    bool may_take_block(std::int64_t row, std::int64_t plane) const {
        const StencilAxis<T>& across = job_.axis[middle];
        return job_.patch_rows > 0 && inside(across, row) && inside(across, row + stencil_block_rows - 1) &&
               written(job_.axis[outer], plane);
    }

    // One row of results, or those of a block.
    void compute_rows(std::int64_t row, std::int64_t begin, std::int64_t plane, std::int64_t count) {
        const StencilAxis<T>& along = job_.axis[inner];
        if (!written(job_.axis[middle], row) || !written(job_.axis[outer], plane)) return;
        const std::int64_t end = begin + job_.panel < along.count ? begin + job_.panel : along.count;
        std::int64_t inside = along.before, outside = along.count - along.after;
        if (inside > outside) inside = outside = along.count;
        const std::int64_t first = clamp(inside, begin, end), last = clamp(outside, begin, end);
        const bool together = count > 1 && last - first >= Vector::lanes;
        if (together) block(first, last, row, plane);
        for (std::int64_t k = row; k < row + count; ++k) {
            place_lines(k, plane);
            if (!along.leaves_edges()) edge(clamp(0, begin, end), first, k, plane);
            if (!together) interior(first, last, k, plane);
            if (!along.leaves_edges()) edge(last, clamp(along.count, begin, end), k, plane);
        }
    }

    void block(std::int64_t begin, std::int64_t end, std::int64_t row, std::int64_t plane) {
        if (job_.patch_rows == 3)
            block_of<3>(begin, end, row, plane);
        else if (job_.patch_rows == 5)
            block_of<5>(begin, end, row, plane);
        else
            block_of<7>(begin, end, row, plane);
    }

    template <int R> void block_of(std::int64_t begin, std::int64_t end, std::int64_t row, std::int64_t plane) {
        constexpr int P = stencil_block_rows;
        const StencilAxis<T>& across = job_.axis[middle];
        const T* const first = job_.in + plane * job_.axis[outer].in_stride + (row - across.before) * across.in_stride +
                               begin - job_.axis[inner].before;
        const T* lines[R + P - 1];
        for (int r = 0; r < R + P - 1; ++r) lines[r] = first + r * across.in_stride;
        T* out[P];
        for (int p = 0; p < P; ++p) out[p] = target(begin, row + p, plane);
        if (job_.dense)
            put_block<R, true>(lines, out, end - begin);
        else
            put_block<R, false>(lines, out, end - begin);
    }

    template <int R, bool Dense> void put_block(const T* const* lines, T* const* out, std::int64_t count) const {
        std::int64_t i = 0;
        if (job_.stream) { // all rows begin alike (stencil.cpp)
            const std::int64_t head = past_line_begin(out[0]);
            if (head < count) {
                i = (head + Vector::lanes - 1) / Vector::lanes * Vector::lanes;
                if (i > count) i = count;
                put_block_packs<R, Dense, 1, false>(lines, out, 0, i);
                i = put_block_packs<R, Dense, block_vectors<T>, true>(lines, out, head, count);
            }
        } else {
            i = put_block_packs<R, Dense, block_vectors<T>, false>(lines, out, 0, count);
        }
        put_block_packs<R, Dense, 1, false>(lines, out, i, count);
    }

    // Whole packs; single vectors until all is done (there are as many points as they have lanes).
    template <int R, bool Dense, int Count, bool past_cache>
    std::int64_t put_block_packs(const T* const* lines, T* const* out, std::int64_t i, std::int64_t count) const {
        constexpr int P = stencil_block_rows;
        using Value = Pack<T, Count>;
        Value sums[P];
        for (; i + Value::lanes <= count; i += Value::lanes) {
            sum_block<R, Dense>(lines, job_.patch, job_.patch_columns, i, sums);
            for (int p = 0; p < P; ++p) {
                if constexpr (past_cache)
                    for (int k = 0; k < Count; ++k)
                        store_past_cache(out[p] + i + k * Value::per_vector, sums[p].part[k]);
                else
                    store(out[p] + i, sums[p]);
            }
        }
        if (Count > 1 || i >= count) return i;
        // Some are computed again.
        sum_block<R, Dense>(lines, job_.patch, job_.patch_columns, count - Value::lanes, sums);
        for (int p = 0; p < P; ++p) store(out[p] + count - Value::lanes, sums[p]);
        return count;
    }

    // Elements up to the first that begins a cache line.
    static std::int64_t past_line_begin(const T* at) {
        constexpr std::int64_t line = 64 / sizeof(T);
        const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at) / sizeof(T)) % line;
        return (line - past) % line;
    }

    static bool written(const StencilAxis<T>& axis, std::int64_t i) {
        return i >= axis.first_written() && i < axis.end_written();
    }
    static bool inside(const StencilAxis<T>& axis, std::int64_t i) {
        return i >= axis.before && i < axis.count - axis.after;
    }
    static std::int64_t clamp(std::int64_t i, std::int64_t begin, std::int64_t end) {
        return i < begin ? begin : i < end ? i : end;
    }

    void place_lines(std::int64_t row, std::int64_t plane) {
        const T* own = job_.in + row * job_.axis[middle].in_stride + plane * job_.axis[outer].in_stride;
        all_plain_ = true;
        if (inside(job_.axis[middle], row) && inside(job_.axis[outer], plane)) {
            for (int k = 0; k < job_.line_count; ++k)
                scratch_.lines[k] = {own + job_.lines[k].offset, {0, false, T(0)}, {0, false, T(0)}, true};
            return;
        }
        const std::int64_t point[axes] = {0, row, plane};
        for (int k = 0; k < job_.line_count; ++k) {
            detail::Ghost<T> ghost[axes];
            const T* at = job_.in;
            for (int a = 0; a < axes; ++a) {
                ghost[a] = job_.axis[a].rule.locate(point[a] + job_.lines[k].step[a], job_.axis[a].count);
                if (ghost[a].index < 0)
                    at = nullptr;
                else if (at != nullptr)
                    at += ghost[a].index * job_.axis[a].in_stride;
            }
            const detail::Ghost<T>&x = ghost[job_.x_axis], &y = ghost[job_.y_axis];
            scratch_.lines[k] = {at, x, y, x.plain() && y.plain()};
            all_plain_ = all_plain_ && scratch_.lines[k].plain;
        }
    }

    // Points whose neighbours along the inner axis are all there.
    void interior(std::int64_t begin, std::int64_t end, std::int64_t row, std::int64_t plane) {
        if (begin >= end) return;
        const std::int64_t stride = job_.axis[inner].in_stride;
        for (int k = 0; k < job_.neighbour_count; ++k) {
            const LineState<T>& line = scratch_.lines[job_.neighbours[k].line];
            scratch_.taps[k] = {line.at == nullptr ? nullptr : line.at + (begin + job_.neighbours[k].step) * stride,
                                &line};
        }
        bool contiguous = stride == 1 && job_.axis[inner].out_stride == 1;
        for (int k = 0; k < 2; ++k) {
            if (job_.velocity[k].data == nullptr) continue;
            scratch_.taps[job_.neighbour_count + k] = {companion(k, begin, row, plane), nullptr};
            const std::int64_t step = job_.velocity[k].stride[inner];
            contiguous = contiguous && (step == 1 || step == 0);
        }
        T* const out = target(begin, row, plane);
        if (!contiguous)
            put_gathered(out, 0, end - begin);
        else if (all_plain_)
            put<true>(out, end - begin);
        else
            put<false>(out, end - begin);
    }

    // Points that miss some: their lines are copied first, as they go on beyond the edge.
    void edge(std::int64_t begin, std::int64_t end, std::int64_t row, std::int64_t plane) {
        if (begin >= end) return;
        const StencilAxis<T>& along = job_.axis[inner];
        const std::int64_t count = end - begin, width = job_.edge_width();
        for (int k = 0; k < job_.line_count; ++k) {
            T* to = scratch_.edges + k * width;
            for (std::int64_t i = begin - along.before; i < end + along.after; ++i)
                *to++ = continued(scratch_.lines[k], along.rule.locate(i, along.count));
        }
        for (int k = 0; k < job_.neighbour_count; ++k)
            scratch_.taps[k] = {
                scratch_.edges + job_.neighbours[k].line * width + along.before + job_.neighbours[k].step, nullptr};
        for (int k = 0; k < 2; ++k) {
            if (job_.velocity[k].data == nullptr) continue;
            const T* from = companion(k, begin, row, plane);
            T* to = scratch_.edges + (job_.line_count + k) * width;
            scratch_.taps[job_.neighbour_count + k] = {to, nullptr};
            for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * job_.velocity[k].stride[inner]];
        }
        T* const out = target(begin, row, plane);
        for (std::int64_t i = 0; i < count; i += Vector::lanes)
            put_some(out, i, count,
                     [&](Vector start) { return formula_(Contiguous<T, 1, true>{i}, scratch_.taps, start); });
    }

    T continued(const LineState<T>& line, const detail::Ghost<T>& along) const {
        const bool inner_is_x = job_.x_axis == inner, inner_is_y = job_.y_axis == inner;
        const detail::Ghost<T>&x = inner_is_x ? along : line.x, &y = inner_is_y ? along : line.y;
        const bool there = line.at != nullptr && along.index >= 0;
        return y.value(x.value(there ? line.at[along.index * job_.axis[inner].in_stride] : T(0)));
    }

    const T* companion(int k, std::int64_t i, std::int64_t row, std::int64_t plane) const {
        const Companion<T>& field = job_.velocity[k];
        return field.data + i * field.stride[inner] + row * field.stride[middle] + plane * field.stride[outer];
    }
    T* target(std::int64_t i, std::int64_t row, std::int64_t plane) const {
        return job_.out + i * job_.axis[inner].out_stride + row * job_.axis[middle].out_stride +
               plane * job_.axis[outer].out_stride;
    }

    template <bool Plain> void put(T* out, std::int64_t count) const {
        std::int64_t i = 0;
        if (job_.stream && !job_.add) {
            // Whole cache lines only: one that is stored both ways costs more than it saves.
            const std::int64_t head = past_line_begin(out);
            if (head < count) {
                put_head<Plain>(out, head, count);
                i = put_packs<Formula::vectors, Plain, true>(out, head, count);
            }
        } else {
            i = put_packs<Formula::vectors, Plain, false>(out, i, count);
        }
        i = put_packs<1, Plain, false>(out, i, count);
        if (i < count && count >= Vector::lanes && !job_.add) // some are computed again
            put_packs<1, Plain, false>(out, count - Vector::lanes, count);
        else
            put_gathered(out, i, count);
    }

    // At least `head` results, by whole vectors where there are as many points.
    template <bool Plain> void put_head(T* out, std::int64_t head, std::int64_t count) const {
        const std::int64_t whole = (head + Vector::lanes - 1) / Vector::lanes * Vector::lanes;
        if (whole <= count)
            put_packs<1, Plain, false>(out, 0, whole);
        else
            put_gathered(out, 0, head);
    }

    template <int Count, bool Plain, bool past_cache>
    std::int64_t put_packs(T* out, std::int64_t i, std::int64_t count) const {
        using Value = Pack<T, Count>;
        for (; i + Value::lanes <= count; i += Value::lanes) {
            Value start;
            if (job_.add) load(start, out + i);
            const Value result = formula_(Contiguous<T, Count, Plain>{i}, scratch_.taps, start);
            if constexpr (past_cache)
                for (int k = 0; k < Count; ++k) store_past_cache(out + i + k * Value::per_vector, result.part[k]);
            else
                store(out + i, result);
        }
        return i;
    }

    void put_gathered(T* out, std::int64_t i, std::int64_t count) const {
        for (; i < count; i += Vector::lanes) {
            const int lanes = static_cast<int>(count - i < Vector::lanes ? count - i : Vector::lanes);
            put_some(out, i, count, [&](Vector start) {
                return formula_(Gathered<T>{i, job_.axis[inner].in_stride, lanes}, scratch_.taps, start);
            });
        }
    }

    // Up to a vector of results, to any distance.
    template <class Result>
    BANDMILL_INLINE void put_some(T* out, std::int64_t i, std::int64_t count, const Result& result) const {
        const std::int64_t stride = job_.axis[inner].out_stride;
        const std::int64_t lanes = count - i < Vector::lanes ? count - i : Vector::lanes;
        T values[Vector::lanes] = {};
        if (job_.add)
            for (std::int64_t lane = 0; lane < lanes; ++lane) values[lane] = out[(i + lane) * stride];
        Vector start;
        load(start, values);
        store(values, result(start));
        for (std::int64_t lane = 0; lane < lanes; ++lane) out[(i + lane) * stride] = values[lane];
    }

    const StencilJob<T>& job_;
    Formula formula_;
    StencilScratch<T> scratch_;
    bool all_plain_ = true;
};

template <class T>
void stencil_range(const StencilJob<T>& job, std::int64_t first, std::int64_t last, const StencilScratch<T>& scratch) {
    if (job.weights != nullptr)
        Runs(job, WeightedSum<T>{job.weights, job.neighbour_count}, scratch).compute(first, last);
    else
        Runs(job, Upwind<T>{job}, scratch).compute(first, last);
#if defined(__x86_64__)
    if (job.stream) __builtin_ia32_sfence(); // what passed by the cache is there for others to see
#endif
}

} // namespace

const StencilRange<double> stencil_range_f64 = stencil_range<double>;
const StencilRange<float> stencil_range_f32 = stencil_range<float>;

} // namespace bandmill::cpu::BANDMILL_LEVEL
