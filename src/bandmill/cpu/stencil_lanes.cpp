// Stencils and advection on the CPU at one instruction-set level (BANDMILL_LEVEL, given by the build). Levels with FMA
// give the same bits.
#include "bandmill/cpu/stencil_lanes.hpp"

#include "bandmill/cpu/lanes.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {
namespace {

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

// Full packs of neighbouring points.
template <class T, int Count> struct Contiguous {
    using Value = Pack<T, Count>;
    std::int64_t i;

    BANDMILL_INLINE Value operator()(const Source<T>& source) const {
        Value value;
        if (source.plain) {
            load(value, source.at + i);
            return value;
        }
        if (source.stride == 0)
            value = same<T, Count>(*source.at);
        else
            load(value, source.at + i);
        return beyond(source.y, beyond(source.x, value));
    }
};

// Up to a vector of points, at any distance; lanes that are left over repeat the last.
template <class T> struct Gathered {
    using Value = Pack<T, 1>;
    std::int64_t i;
    int count;

    BANDMILL_INLINE Value operator()(const Source<T>& source) const {
        T values[Value::lanes];
        for (int lane = 0; lane < Value::lanes; ++lane)
            values[lane] = source.at[(i + (lane < count ? lane : count - 1)) * source.stride];
        Value value;
        load(value, values);
        return source.plain ? value : beyond(source.y, beyond(source.x, value));
    }
};

template <class T> struct WeightedSum {
    static constexpr int vectors = 4; // of a pack: as many sums as hide the latency of the additions
    const T* weights;
    int count;

    template <class Read>
    BANDMILL_INLINE typename Read::Value operator()(const Read& read, const Source<T>* sources,
                                                    typename Read::Value sum) const {
        for (int k = 0; k < count; ++k) sum = multiply_add(weights[k], read(sources[k]), sum);
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
    BANDMILL_INLINE typename Read::Value operator()(const Read& read, const Source<T>* sources,
                                                    typename Read::Value sum) const {
        using Value = typename Read::Value;
        const Source<T>* velocity = sources + job.neighbour_count;
        for (int along = 0; along < 2; ++along) {
            if (job.velocity[along].data == nullptr) continue;
            const Value speed = read(velocity[along]);
            Value ahead[7], window[6];
            for (int k = 0; k < 7; ++k) ahead[k] = read(sources[k]);
            for (int k = 0; k < 6; ++k) window[k] = choose(speed, ahead[5 - k], ahead[k + 1]);
            const Value magnitude = choose(speed, speed, -speed);
            sum = multiply_add(job.to_derivative[along] * magnitude, job.derivative[along](window), sum);
            sources += 7;
        }
        return sum;
    }
};

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
    Runs(const StencilJob<T>& job, const Formula& formula, Source<T>* sources, T* edge_values)
        : job_(job), formula_(formula), sources_(sources), edge_values_(edge_values) {}

    void compute(std::int64_t first, std::int64_t last) {
        const std::int64_t rows = job_.axis[middle].count, panels = job_.panels();
        std::int64_t row = first % rows, panel = first / rows % panels, plane = first / rows / panels;
        for (std::int64_t run = first; run < last; ++run) {
            compute_row(row, panel * job_.panel, plane);
            if (++row < rows) continue;
            row = 0;
            if (++panel < panels) continue;
            panel = 0, ++plane;
        }
    }

  private:
    void compute_row(std::int64_t row, std::int64_t begin, std::int64_t plane) {
        const StencilAxis<T>& along = job_.axis[inner];
        if (!written(job_.axis[middle], row) || !written(job_.axis[outer], plane)) return;
        const std::int64_t end = begin + job_.panel < along.count ? begin + job_.panel : along.count;
        std::int64_t inside = along.before, outside = along.count - along.after;
        if (inside > outside) inside = outside = along.count;
        if (!along.leaves_edges()) edge(clamp(0, begin, end), clamp(inside, begin, end), row, plane);
        interior(clamp(inside, begin, end), clamp(outside, begin, end), row, plane);
        if (!along.leaves_edges()) edge(clamp(outside, begin, end), clamp(along.count, begin, end), row, plane);
    }

    static bool written(const StencilAxis<T>& axis, std::int64_t i) {
        return i >= axis.first_written() && i < axis.end_written();
    }
    static std::int64_t clamp(std::int64_t i, std::int64_t begin, std::int64_t end) {
        return i < begin ? begin : i < end ? i : end;
    }

    // Points whose neighbours along the inner axis are all there.
    void interior(std::int64_t begin, std::int64_t end, std::int64_t row, std::int64_t plane) {
        if (begin >= end) return;
        bool contiguous = job_.axis[inner].out_stride == 1;
        for (int k = 0; k < job_.neighbour_count; ++k) {
            sources_[k] = source(job_.neighbours[k], begin, row, plane);
            contiguous = contiguous && (sources_[k].stride == 1 || sources_[k].stride == 0);
        }
        contiguous = companions(begin, row, plane) && contiguous;
        put(target(begin, row, plane), end - begin, contiguous);
    }

    // Points that miss some: these are brought together first.
    void edge(std::int64_t begin, std::int64_t end, std::int64_t row, std::int64_t plane) {
        if (begin >= end) return;
        const std::int64_t count = end - begin;
        for (int k = 0; k < job_.neighbour_count; ++k) {
            T* values = edge_values_ + k * count;
            for (std::int64_t i = 0; i < count; ++i) {
                const Source<T> one = source(job_.neighbours[k], begin + i, row, plane);
                values[i] = one.plain ? *one.at : one.y.value(one.x.value(*one.at));
            }
            sources_[k] = {values, 1, {0, false, T(0)}, {0, false, T(0)}, true};
        }
        const bool contiguous = companions(begin, row, plane);
        put(target(begin, row, plane), count, contiguous && job_.axis[inner].out_stride == 1);
    }

    Source<T> source(const Neighbour& neighbour, std::int64_t i, std::int64_t row, std::int64_t plane) const {
        const std::int64_t point[axes] = {i, row, plane};
        detail::Ghost<T> ghost[axes];
        std::int64_t offset = 0;
        bool there = true;
        for (int a = 0; a < axes; ++a) {
            ghost[a] = job_.axis[a].rule.locate(point[a] + neighbour.step[a], job_.axis[a].count);
            there = there && ghost[a].index >= 0;
            offset += ghost[a].index * job_.axis[a].in_stride;
        }
        Source<T> source{job_.in, job_.axis[inner].in_stride, ghost[job_.x_axis], ghost[job_.y_axis], false};
        if (there)
            source.at += offset;
        else
            source.stride = 0; // the first element, whose value does not count
        source.plain = source.x.plain() && source.y.plain() && source.stride == 1;
        return source;
    }

    // Velocities at the points; whether whole vectors of them can be loaded.
    bool companions(std::int64_t i, std::int64_t row, std::int64_t plane) {
        bool contiguous = true;
        for (int k = 0; k < 2; ++k) {
            const Companion<T>& field = job_.velocity[k];
            if (field.data == nullptr) continue;
            const T* at =
                field.data + i * field.stride[inner] + row * field.stride[middle] + plane * field.stride[outer];
            const std::int64_t stride = field.stride[inner];
            sources_[job_.neighbour_count + k] = {at, stride, {0, false, T(0)}, {0, false, T(0)}, stride == 1};
            contiguous = contiguous && (stride == 1 || stride == 0);
        }
        return contiguous;
    }

    T* target(std::int64_t i, std::int64_t row, std::int64_t plane) const {
        return job_.out + i * job_.axis[inner].out_stride + row * job_.axis[middle].out_stride +
               plane * job_.axis[outer].out_stride;
    }

    void put(T* out, std::int64_t count, bool contiguous) const {
        std::int64_t i = 0;
        if (contiguous) {
            if (job_.stream && !job_.add) {
                const auto past = reinterpret_cast<std::uintptr_t>(out) % vector_bytes;
                const auto head = static_cast<std::int64_t>((vector_bytes - past) % vector_bytes / sizeof(T));
                if (head < count) i = put_rest(out, 0, head, 1);
                i = put_packs<Formula::vectors, true>(out, i, count);
            } else {
                i = put_packs<Formula::vectors, false>(out, i, count);
            }
            i = put_packs<1, false>(out, i, count);
        }
        put_rest(out, i, count, job_.axis[inner].out_stride);
    }

    template <int Count, bool past_cache> std::int64_t put_packs(T* out, std::int64_t i, std::int64_t count) const {
        using Value = Pack<T, Count>;
        for (; i + Value::lanes <= count; i += Value::lanes) {
            Value start;
            if (job_.add) load(start, out + i);
            const Value result = formula_(Contiguous<T, Count>{i}, sources_, start);
            if constexpr (past_cache)
                for (int k = 0; k < Count; ++k) store_past_cache(out + i + k * Value::per_vector, result.part[k]);
            else
                store(out + i, result);
        }
        return i;
    }

    std::int64_t put_rest(T* out, std::int64_t i, std::int64_t count, std::int64_t stride) const {
        using Value = Pack<T, 1>;
        for (; i < count; i += Value::lanes) {
            const int lanes = static_cast<int>(count - i < Value::lanes ? count - i : Value::lanes);
            T values[Value::lanes] = {};
            if (job_.add)
                for (int lane = 0; lane < lanes; ++lane) values[lane] = out[(i + lane) * stride];
            Value start;
            load(start, values);
            store(values, formula_(Gathered<T>{i, lanes}, sources_, start));
            for (int lane = 0; lane < lanes; ++lane) out[(i + lane) * stride] = values[lane];
        }
        return count;
    }

    const StencilJob<T>& job_;
    Formula formula_;
    Source<T>* sources_;
    T* edge_values_;
};

template <class T>
void stencil_range(const StencilJob<T>& job, std::int64_t first, std::int64_t last, Source<T>* sources,
                   T* edge_values) {
    if (job.weights != nullptr)
        Runs(job, WeightedSum<T>{job.weights, job.neighbour_count}, sources, edge_values).compute(first, last);
    else
        Runs(job, Upwind<T>{job}, sources, edge_values).compute(first, last);
#if defined(__x86_64__)
    if (job.stream) __builtin_ia32_sfence(); // what passed by the cache is there for others to see
#endif
}

} // namespace

const StencilRange<double> stencil_range_f64 = stencil_range<double>;
const StencilRange<float> stencil_range_f32 = stencil_range<float>;

} // namespace bandmill::cpu::BANDMILL_LEVEL
