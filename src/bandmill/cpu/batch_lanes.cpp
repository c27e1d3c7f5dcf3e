// Systems with a matrix of their own at one instruction-set level: every lane of a pack eliminates its own.
// Some rows of all packs of a strip are worked on before the next rows, so that memory is walked along the rows; what a
// pack remembers in between stands in memory.
#include "bandmill/cpu/batch_lanes.hpp"

#include "bandmill/band/batch_sweeps.hpp"
#include "bandmill/cpu/lanes.hpp"
#include "bandmill/cpu/stage.hpp"

#include <cstdint>

namespace bandmill::cpu::BANDMILL_LEVEL {

template <class T> BANDMILL_INLINE Pack<T, 1> inverse_or_nan(const Pack<T, 1>& p) {
    using Range = detail::PivotRange<T>;
    const Native<T> value = p.part[0], size = value < 0 ? -value : value;
    const auto usable = (size >= spread(Range::least)) & (size < spread(Range::beyond));
    return {{usable ? spread(T(1)) / value : spread(static_cast<T>(__builtin_nan("")))}};
}
template <class T> BANDMILL_INLINE void count_usable(Index<T>& count, const Pack<T, 1>& inverse) {
    count -= inverse.part[0] == inverse.part[0]; // true is -1
}

namespace {

using detail::batch_tile;
using detail::BatchLayout;
using detail::Values;

constexpr int visit_rows = batch_visit_rows;

template <class T> struct Strip {
    const BatchJob<T>& job;
    std::int64_t first; // system
    int count;          // systems that are there
    int width;          // lanes: count, rounded up to whole tiles
};

// Rows of one view for a strip: as they stand if all lanes are there side by side, else by way of a buffer.
template <class T, class Element> class Operand {
  public:
    Operand(const Strip<T>& strip, Element* data, const FieldShape& shape, T* buffer)
        : direct_(is_direct(shape, strip.first, strip.count, strip.width)), data_(data), buffer_(buffer),
          stage_(shape, strip.first, strip.count), lines_{data + system_offset(shape, strip.first), shape.row_stride} {}

    static bool is_direct(const FieldShape& shape, std::int64_t first, int count, int width) {
        return shape.batch_stride == 1 && count == width && first % shape.tile + count <= shape.tile;
    }
    bool direct() const { return direct_; }
    // Rows first .. last - 1, ready to be read.
    Lines<Element> fetch(std::int64_t first, std::int64_t last) const {
        if (direct_) return lines_;
        stage_.copy_in(data_, first, last, {buffer_, batch_tile, first});
        return {buffer_, batch_tile, first};
    }
    // Room for them, which deliver then takes where they belong.
    Lines<Element> room(std::int64_t first) const {
        return direct_ ? lines_ : Lines<Element>{buffer_, batch_tile, first};
    }
    void deliver(std::int64_t first, std::int64_t last) const {
        if (!direct_) stage_.copy_out(Lines<const T>{buffer_, batch_tile, first}, first, last, data_);
    }

  private:
    bool direct_;
    Element* data_;
    T* buffer_;
    Stage<T, batch_tile> stage_;
    Lines<Element> lines_;
};

// Where values of a row stand: those of lane 0, the next value `stride` further on.
template <int Count, class T, int V>
BANDMILL_INLINE void load_values(Values<Count, Pack<T, V>>& values, const T* from, std::int64_t stride) {
    for (int k = 0; k < Count; ++k) load(values[k], from + k * stride);
}
template <int Count, class T, int V>
BANDMILL_INLINE void store_values(T* to, std::int64_t stride, const Values<Count, Pack<T, V>>& values) {
    for (int k = 0; k < Count; ++k) store(to + k * stride, values[k]);
}

// The parts of a factor's tile.
template <int W, bool Periodic, class T> struct Tile {
    using Layout = BatchLayout<W, Periodic>;
    T *forward, *backward, *corner;
    Tile(T* values, std::int64_t n, std::int64_t tile) {
        const std::int64_t m = detail::interior_rows(n, W, Periodic);
        forward = values + tile * detail::tile_values<W, Periodic>(n);
        backward = forward + m * Layout::forward * batch_tile;
        corner = backward + m * Layout::backward * batch_tile;
    }
};

// The matrices of a strip, eliminated row by row.
template <int W, bool Periodic, class T> class Elimination {
    using Value = Pack<T, 1>;
    using Layout = BatchLayout<W, Periodic>;

  public:
    static constexpr int lanes = Value::lanes;
    static constexpr int most = most_batch_strip / lanes; // packs
    static constexpr int buffer_values = visit_rows * batch_tile;

    Elimination(const Strip<T>& strip, T* buffers) : strip_(strip), buffers_(buffers) {
        for (std::int64_t& count : usable_) count = 0;
    }

    void fetch(std::int64_t first, std::int64_t last) {
        for (int d = 0; d < Layout::diagonals; ++d) lines_[d] = operand(d, 0).fetch(first, last);
    }
    // Rows of the pack at lane `at`; use(i, factor row) takes each.
    template <class Use> BANDMILL_INLINE void rows(int at, std::int64_t first, std::int64_t last, Use use) {
        auto eliminator = state_[at / lanes];
        Index<T> count = {};
        const std::int64_t n = strip_.job.n, m = detail::interior_rows(n, W, Periodic);
        for (std::int64_t i = first; i < last; ++i) {
            detail::BatchRow<W, Periodic, Value> row;
            for (int d = 0; d < Layout::diagonals; ++d) load(row.band[d], lines_[d].row(i) + at);
            detail::place_ends(row, i, m);
            if constexpr (Periodic) look_below(eliminator, i, n, m, [&](int s, int k) { return below(at, s, k); });
            const auto out = eliminator.eliminate(row);
            count_usable(count, out.forward[0]);
            use(i, out);
        }
        add_counts(at, count);
        state_[at / lanes] = eliminator;
    }
    // The separator's rows; after all others.
    void fetch_separator() {
        const std::int64_t n = strip_.job.n, m = detail::interior_rows(n, W, Periodic);
        for (int d = 0; d < Layout::diagonals; ++d) separator_[d] = operand(d, Layout::diagonals).fetch(m, n);
    }
    BANDMILL_INLINE Values<W * W, Value> corner(int at) {
        const std::int64_t n = strip_.job.n, m = detail::interior_rows(n, W, Periodic);
        Index<T> count = {};
        const auto out = close_corner(state_[at / lanes], n, m, count, [&](int s, int k) { return below(at, s, k); });
        add_counts(at, count);
        return out;
    }
    void report() const {
        const BatchJob<T>& job = strip_.job;
        for (int lane = 0; lane < strip_.count; ++lane)
            job.status[system_offset(job.status_shape, strip_.first + lane)] =
                usable_[lane] == job.n ? 0 : usable_[lane] + 1;
    }

  private:
    Operand<T, const T> operand(int d, int buffer) const {
        return {strip_, strip_.job.diagonals[d], strip_.job.diagonal_shapes[d],
                buffers_ + (buffer + d) * buffer_values};
    }
    BANDMILL_INLINE Value below(int at, int s, int k) const {
        Value value;
        load(value, separator_[k + W].row(detail::interior_rows(strip_.job.n, W, Periodic) + s) + at);
        return value;
    }
    BANDMILL_INLINE void add_counts(int at, const Index<T>& count) {
        for (int lane = 0; lane < lanes; ++lane) usable_[at + lane] += count[lane];
    }

    const Strip<T>& strip_;
    T* buffers_; // for the rows at hand, then for the separator's
    Lines<const T> lines_[Layout::diagonals] = {}, separator_[Layout::diagonals] = {};
    detail::Eliminator<W, Periodic, Value> state_[most];
    std::int64_t usable_[most_batch_strip];
};

BANDMILL_INLINE std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

// Calls work(strip) for the systems of tiles first .. last - 1: wide strips where `direct` says that nothing has to be
// brought side by side, else a tile at a time.
template <class T, class Direct, class Work>
BANDMILL_INLINE void for_each_strip(const BatchJob<T>& job, std::int64_t first, std::int64_t last, std::int64_t widest,
                                    Direct direct, Work work) {
    const std::int64_t end = least(last * batch_tile, job.batch);
    for (std::int64_t system = first * batch_tile; system < end;) {
        std::int64_t width = widest;
        while (width > batch_tile && (system + width > end || !direct(system, static_cast<int>(width)))) width /= 2;
        const int count = static_cast<int>(least(width, end - system));
        work(Strip<T>{job, system, count, static_cast<int>(width)});
        system += count;
    }
}

template <int W, bool Periodic, class T> bool diagonals_direct(const BatchJob<T>& job, std::int64_t first, int width) {
    for (int d = 0; d < 2 * W + 1; ++d)
        if (!Operand<T, const T>::is_direct(job.diagonal_shapes[d], first, width, width)) return false;
    return true;
}

template <int W, bool Periodic, class T> __attribute__((noinline)) void factor_strip(const Strip<T>& strip) {
    using Work = Elimination<W, Periodic, T>;
    using Layout = BatchLayout<W, Periodic>;
    alignas(64) T buffers[2 * Layout::diagonals * Work::buffer_values];
    Work work(strip, buffers);
    const BatchJob<T>& job = strip.job;
    const std::int64_t m = detail::interior_rows(job.n, W, Periodic);
    const auto tile = [&](int at) { return Tile<W, Periodic, T>(job.values, job.n, (strip.first + at) / batch_tile); };
    if constexpr (Periodic) work.fetch_separator();
    for (std::int64_t i = 0; i < m; i += visit_rows) {
        const std::int64_t end = least(i + visit_rows, m);
        work.fetch(i, end);
        for (int at = 0; at < strip.width; at += Work::lanes) {
            const auto to = tile(at);
            work.rows(at, i, end, [&](std::int64_t row, const auto& out) {
                const int lane = at % batch_tile;
                store_values<Layout::forward, T, 1>(to.forward + row * Layout::forward * batch_tile + lane, batch_tile,
                                                    out.forward);
                store_values<Layout::backward, T, 1>(to.backward + row * Layout::backward * batch_tile + lane,
                                                     batch_tile, out.backward);
            });
        }
    }
    if constexpr (Periodic)
        for (int at = 0; at < strip.width; at += Work::lanes)
            store_values<W * W, T, 1>(tile(at).corner + at % batch_tile, batch_tile, work.corner(at));
    work.report();
}

// One tile at a time: its factor is walked from one end to the other anyway.
template <int W, bool Periodic, class T> __attribute__((noinline)) void solve_tile(const Strip<T>& strip) {
    using Layout = BatchLayout<W, Periodic>;
    constexpr int vectors =
        batch_solve_vectors < batch_tile / Pack<T, 1>::lanes ? batch_solve_vectors : batch_tile / Pack<T, 1>::lanes;
    using Value = Pack<T, vectors>;
    constexpr int lanes = Value::lanes, packs = batch_tile / lanes;
    const BatchJob<T>& job = strip.job;
    const std::int64_t n = job.n, m = detail::interior_rows(n, W, Periodic);
    const Tile<W, Periodic, T> tile(job.values, n, strip.first / batch_tile);
    alignas(64) T b_buffer[visit_rows * batch_tile], x_buffer[visit_rows * batch_tile];
    const Operand<T, const T> b(strip, job.b, job.b_shape, b_buffer);
    const Operand<T, T> x(strip, job.x, job.x_shape, x_buffer);

    detail::ForwardSweep<W, Periodic, Value> down[packs];
    for (std::int64_t i = 0; i < m; i += visit_rows) {
        const std::int64_t end = least(i + visit_rows, m);
        const Lines<const T> from = b.fetch(i, end);
        const Lines<T> to = x.room(i);
        for (int p = 0; p < packs; ++p) {
            auto sweep = down[p];
            for (std::int64_t row = i; row < end; ++row) {
                Values<Layout::forward, Value> forward;
                Value value;
                load_values<Layout::forward, T, vectors>(
                    forward, tile.forward + row * Layout::forward * batch_tile + p * lanes, batch_tile);
                load(value, from.row(row) + p * lanes);
                store(to.row(row) + p * lanes, sweep.row(forward, value));
            }
            down[p] = sweep;
        }
        x.deliver(i, end);
    }
    detail::BackwardSweep<W, Periodic, Value> up[packs];
    if constexpr (Periodic) {
        const Lines<const T> from = b.fetch(m, n);
        const Lines<T> to = x.room(m);
        for (int p = 0; p < packs; ++p) {
            Values<W * W, Value> corner;
            Values<W, Value> own;
            load_values<W * W, T, vectors>(corner, tile.corner + p * lanes, batch_tile);
            for (int s = 0; m + s < n; ++s) load(own[s], from.row(m + s) + p * lanes);
            up[p].separator = down[p].separator(corner, own);
            for (int s = 0; m + s < n; ++s) store(to.row(m + s) + p * lanes, up[p].separator[s]);
        }
        x.deliver(m, n);
    }
    for (std::int64_t end = m; end > 0;) {
        const std::int64_t i = (end - 1) / visit_rows * visit_rows;
        const Lines<const T> from = x.fetch(i, end);
        const Lines<T> to = x.room(i);
        for (int p = 0; p < packs; ++p) {
            auto sweep = up[p];
            for (std::int64_t row = end - 1; row >= i; --row) {
                Values<Layout::backward, Value> backward;
                Value value;
                load_values<Layout::backward, T, vectors>(
                    backward, tile.backward + row * Layout::backward * batch_tile + p * lanes, batch_tile);
                load(value, from.row(row) + p * lanes);
                store(to.row(row) + p * lanes, sweep.row(backward, value));
            }
            up[p] = sweep;
        }
        x.deliver(i, end);
        end = i;
    }
}

template <int W, bool Periodic, class T>
__attribute__((noinline)) void combine_strip(const Strip<T>& strip, T* scratch) {
    using Work = Elimination<W, Periodic, T>;
    using Layout = BatchLayout<W, Periodic>;
    using Value = Pack<T, 1>;
    constexpr int lanes = Work::lanes;
    alignas(64) T buffers[(2 * Layout::diagonals + 2) * Work::buffer_values];
    T* const own_buffers = buffers + 2 * Layout::diagonals * Work::buffer_values;
    Work work(strip, buffers);
    const BatchJob<T>& job = strip.job;
    const std::int64_t n = job.n, m = detail::interior_rows(n, W, Periodic), width = strip.width;
    const Operand<T, const T> b(strip, job.b, job.b_shape, own_buffers);
    const Operand<T, T> x(strip, job.x, job.x_shape, own_buffers + Work::buffer_values);
    const auto kept = [&](std::int64_t row, int at) { return scratch + row * Layout::kept * width + at; };

    detail::ForwardSweep<W, Periodic, Value> down[Work::most];
    if constexpr (Periodic) work.fetch_separator();
    for (std::int64_t i = 0; i < m; i += visit_rows) {
        const std::int64_t end = least(i + visit_rows, m);
        work.fetch(i, end);
        const Lines<const T> from = b.fetch(i, end);
        for (int at = 0; at < width; at += lanes) {
            auto sweep = down[at / lanes];
            work.rows(at, i, end, [&](std::int64_t row, const auto& out) {
                Value value;
                load(value, from.row(row) + at);
                store(kept(row, at), sweep.row(out.forward, value));
                store_values<Layout::backward, T, 1>(kept(row, at) + width, width, out.backward);
            });
            down[at / lanes] = sweep;
        }
    }
    detail::BackwardSweep<W, Periodic, Value> up[Work::most];
    if constexpr (Periodic) {
        const Lines<const T> from = b.fetch(m, n);
        const Lines<T> to = x.room(m);
        for (int at = 0; at < width; at += lanes) {
            Values<W, Value> own;
            for (int s = 0; m + s < n; ++s) load(own[s], from.row(m + s) + at);
            auto& sweep = up[at / lanes];
            sweep.separator = down[at / lanes].separator(work.corner(at), own);
            for (int s = 0; m + s < n; ++s) store(to.row(m + s) + at, sweep.separator[s]);
        }
        x.deliver(m, n);
    }
    for (std::int64_t end = m; end > 0;) {
        const std::int64_t i = (end - 1) / visit_rows * visit_rows;
        const Lines<T> to = x.room(i);
        for (int at = 0; at < width; at += lanes) {
            auto sweep = up[at / lanes];
            for (std::int64_t row = end - 1; row >= i; --row) {
                Values<Layout::backward, Value> backward;
                Value value;
                load(value, kept(row, at));
                load_values<Layout::backward, T, 1>(backward, kept(row, at) + width, width);
                store(to.row(row) + at, sweep.row(backward, value));
            }
            up[at / lanes] = sweep;
        }
        x.deliver(i, end);
        end = i;
    }
    work.report();
}

template <int W, bool Periodic, class T>
void factor_with(const BatchJob<T>& job, std::int64_t first, std::int64_t last) {
    for_each_strip(
        job, first, last, most_batch_strip,
        [&](std::int64_t system, int width) { return diagonals_direct<W, Periodic>(job, system, width); },
        factor_strip<W, Periodic, T>);
}
template <int W, bool Periodic, class T>
void solve_with(const BatchJob<T>& job, std::int64_t first, std::int64_t last) {
    for_each_strip(
        job, first, last, batch_tile, [](std::int64_t, int) { return true; }, solve_tile<W, Periodic, T>);
}
template <int W, bool Periodic, class T>
void combine_with(const BatchJob<T>& job, std::int64_t first, std::int64_t last, T* scratch) {
    const auto direct = [&](std::int64_t system, int width) {
        return diagonals_direct<W, Periodic>(job, system, width) &&
               Operand<T, const T>::is_direct(job.b_shape, system, width, width) &&
               Operand<T, T>::is_direct(job.x_shape, system, width, width);
    };
    for_each_strip(job, first, last, job.strip, direct,
                   [&](const Strip<T>& strip) { combine_strip<W, Periodic, T>(strip, scratch); });
}

// Calls the instantiation that the job asks for.
#define BANDMILL_FOR_JOB(call, ...)                                                                                    \
    if (job.half_bandwidth == 1)                                                                                       \
        job.periodic ? call<1, true>(__VA_ARGS__) : call<1, false>(__VA_ARGS__);                                       \
    else                                                                                                               \
        job.periodic ? call<2, true>(__VA_ARGS__) : call<2, false>(__VA_ARGS__)

template <class T> BatchWork<T> batch_work() {
    return {[](const BatchJob<T>& job, std::int64_t first, std::int64_t last) {
                BANDMILL_FOR_JOB(factor_with, job, first, last);
            },
            [](const BatchJob<T>& job, std::int64_t first, std::int64_t last) {
                BANDMILL_FOR_JOB(solve_with, job, first, last);
            },
            [](const BatchJob<T>& job, std::int64_t first, std::int64_t last, T* scratch) {
                BANDMILL_FOR_JOB(combine_with, job, first, last, scratch);
            }};
}

} // namespace

BatchWork<double> batch_work_f64() { return batch_work<double>(); }
BatchWork<float> batch_work_f32() { return batch_work<float>(); }

} // namespace bandmill::cpu::BANDMILL_LEVEL
