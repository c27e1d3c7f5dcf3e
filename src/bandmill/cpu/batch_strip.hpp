// Systems with matrices of their own, side by side: where their rows stand, and their elimination. Some rows of all
// packs of a strip are worked on before the next rows, so that memory is walked along the rows; what a pack remembers
// in between stands in memory.
#pragma once

#include "bandmill/band/batch_sweeps.hpp"
#include "bandmill/cpu/batch_lanes.hpp"
#include "bandmill/cpu/lanes.hpp"
#include "bandmill/cpu/stage.hpp"

#include <cstdint>

namespace bandmill::cpu::BANDMILL_LEVEL {

template <class T, int V> BANDMILL_INLINE Pack<T, V> inverse_or_nan(const Pack<T, V>& p) {
    using Range = detail::PivotRange<T>;
    Pack<T, V> result;
    for (int k = 0; k < V; ++k) {
        const Native<T> value = p.part[k], size = value < 0 ? -value : value;
        const auto usable = (size >= spread(Range::least)) & (size < spread(Range::beyond));
        result.part[k] = usable ? spread(T(1)) / value : spread(static_cast<T>(__builtin_nan("")));
    }
    return result;
}
template <class T, int V> struct Counts {
    Index<T> part[V] = {};
};
template <class T, int V> BANDMILL_INLINE void count_usable(Counts<T, V>& count, const Pack<T, V>& inverse) {
    for (int k = 0; k < V; ++k) count.part[k] -= inverse.part[k] == inverse.part[k]; // true is -1
}

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
    static constexpr int V = batch_factor_vectors(W, Periodic);
    using Layout = BatchLayout<W, Periodic>;

  public:
    using Value = Pack<T, V>;
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
        Counts<T, V> count;
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
        Counts<T, V> count;
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
    BANDMILL_INLINE void add_counts(int at, const Counts<T, V>& count) {
        constexpr int side = Pack<T, 1>::lanes;
        for (int lane = 0; lane < lanes; ++lane) usable_[at + lane] += count.part[lane / side][lane % side];
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

} // namespace bandmill::cpu::BANDMILL_LEVEL
