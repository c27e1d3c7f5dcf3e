// DirectSweep of band/sweeps.hpp (the same arithmetic in the same order) over a strip: systems side by side in memory.
// A strip is wider than the registers, so a pack of lanes sweeps some rows, leaves its state in memory, and the next
// pack takes the same rows: memory is walked along the rows, in long pieces.
#pragma once

#include "bandmill/band/sweeps.hpp"
#include "bandmill/cpu/lanes.hpp"
#include "bandmill/cpu/tuning.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {

// Unrolled, the packs of the rows before are renamed rather than moved.
#if defined(__clang__)
#define BANDMILL_UNROLL_ROWS _Pragma("unroll")
#else
#define BANDMILL_UNROLL_ROWS _Pragma("GCC unroll 8")
#endif

// Where the rows of a strip stand: the lanes of row i from row(i) on.
template <class T> struct Lines {
    T* data; // row `first`
    std::int64_t stride;
    std::int64_t first = 0;

    BANDMILL_INLINE T* row(std::int64_t i) const { return data + (i - first) * stride; }
    operator Lines<const T>() const { return {data, stride, first}; }
};

// `Vectors` make a pack; the strip has up to `Most` lanes.
template <int W, bool Periodic, int Vectors, int Most, class T> class StripSweep {
    using Value = Pack<T, Vectors>;
    using Few = detail::Few<Value, W>;
    using Layout = detail::DirectLayout<W, Periodic>;
    static constexpr int sum_rows = 8; // as in DirectSweep

  public:
    static constexpr int lanes = Value::lanes;

    // `width` lanes: a multiple of `lanes`.
    StripSweep(const detail::DirectView<T>& tables, int width) : view_(tables), width_(width) {
        for (int at = 0; at < W * width; at += lanes) {
            store(past_ + at, Value{});
            store(edge_ + at, Value{});
        }
    }

    // Rows first .. last - 1 of the forward sweep. Calls follow each other from row 0 to n - W; in between they end at
    // multiples of 8 rows, by which spills are added up.
    void down(std::int64_t first, std::int64_t last, Lines<const T> f, Lines<T> g) {
        const bool far = is_far(f.stride);
        const std::int64_t visit = far ? far_visit_rows : near_visit_rows;
        for (std::int64_t i = first; i < last; i += visit) {
            const std::int64_t end = least(i + visit, last);
            for (int at = 0; at < width_; at += lanes) {
                if (far) fetch(f, at, i, end, end, least(end + visit, last));
                down_pack(at, i, end, f, g);
            }
        }
    }

    // The last W rows, after all others went down and before they go up.
    void separator(Lines<const T> f, Lines<T> x) {
        const std::int64_t first = view_.n - W;
        for (int at = 0; at < width_; at += lanes) {
            Few few;
            Value own[W], before[W], spill[W];
            load_few(few, past_ + W * at);
            few.copy_to(before);
            load_few(few, edge_ + W * at);
            few.copy_to(spill);
            for (int r = 0; r < W; ++r) {
                const T* row = view_.forward + (first + r) * Layout::forward;
                Value value;
                load(value, f.row(first + r) + at);
                own[r] = multiply(row[0], value);
                for (int w = W; w >= r + 1; --w) own[r] = multiply_add(row[w], before[w - r - 1], own[r]);
                if constexpr (Periodic) own[r] = own[r] + spill[r];
            }
            detail::solve_lower<W>(view_.corner, own);
            detail::solve_upper<W>(view_.corner, own);
            for (int r = 0; r < W; ++r) store(x.row(first + r) + at, own[r]);
            few.copy_from(own);
            store_few(edge_ + W * at, few);
            store_few(past_ + W * at, few);
        }
    }

    // Rows last - 1 back to first of the backward sweep, from n - W back to row 0.
    void up(std::int64_t first, std::int64_t last, Lines<const T> g, Lines<T> x) {
        const bool far = is_far(x.stride);
        const std::int64_t visit = far ? far_visit_rows : near_visit_rows;
        for (std::int64_t end = last; end > first; end -= visit) {
            const std::int64_t begin = most(end - visit, first);
            for (int at = 0; at < width_; at += lanes) {
                if (far) fetch(x, at, begin, end, most(begin - visit, first), begin);
                up_pack(at, begin, end, g, x);
            }
        }
    }

  private:
    BANDMILL_INLINE static std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
    BANDMILL_INLINE static std::int64_t most(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

    BANDMILL_INLINE static bool is_far(std::int64_t stride) {
        constexpr std::int64_t near = near_bytes / static_cast<int>(sizeof(T));
        return stride > near || stride < -near;
    }

    template <int Count> BANDMILL_INLINE static void load_few(detail::Few<Value, Count>& few, const T* from) {
        if constexpr (Count > 0) {
            load(few.first, from);
            load_few(few.rest, from + lanes);
        }
    }
    template <int Count> BANDMILL_INLINE static void store_few(T* to, const detail::Few<Value, Count>& few) {
        if constexpr (Count > 0) {
            store(to, few.first);
            store_few(to + lanes, few.rest);
        }
    }

    // Asks for what the pack after the next will need: further right in these rows, or to the left in the next ones.
    template <class Element>
    BANDMILL_INLINE void fetch(Lines<Element> lines, int at, std::int64_t begin, std::int64_t end,
                               std::int64_t next_begin, std::int64_t next_end) const {
        constexpr int ahead = ahead_bytes / static_cast<int>(sizeof(T)), line = 64 / static_cast<int>(sizeof(T));
        int to = at + ahead;
        if (to >= width_) {
            to = width_ < ahead ? at : to - width_;
            begin = next_begin;
            end = next_end;
        }
        for (std::int64_t i = begin; i < end; ++i)
            for (int k = 0; k < lanes; k += line) __builtin_prefetch(lines.row(i) + to + k);
    }

    BANDMILL_INLINE void down_pack(int at, std::int64_t first, std::int64_t last, Lines<const T> f, Lines<T> g) {
        Few past;
        load_few(past, past_ + W * at);
        const std::int64_t whole = first + (last - first) / sum_rows * sum_rows;
        for (std::int64_t i = first; i < whole; i += sum_rows) down_rows<sum_rows>(past, at, i, f, g);
        for (std::int64_t i = whole; i < last; ++i) down_rows<1>(past, at, i, f, g);
        store_few(past_ + W * at, past);
    }

    template <int Rows>
    BANDMILL_INLINE void down_rows(Few& past, int at, std::int64_t first, Lines<const T> f, Lines<T> g) {
        const T* from = f.row(first) + at;
        T* to = g.row(first) + at;
        const T* tables = view_.forward + first * Layout::forward;
        Few sum;
        BANDMILL_UNROLL_ROWS
        for (int j = 0; j < Rows; ++j) {
            const T* row = tables + j * Layout::forward;
            Value value;
            load(value, from + j * f.stride);
            value = past.add_products(row + 1, multiply(row[0], value));
            if constexpr (Periodic) sum.accumulate(row + 1 + W, value);
            past.push(value);
            store(to + j * g.stride, value);
        }
        if constexpr (Periodic) {
            Few edge;
            load_few(edge, edge_ + W * at);
            edge.add(sum);
            store_few(edge_ + W * at, edge);
        }
    }

    BANDMILL_INLINE void up_pack(int at, std::int64_t first, std::int64_t last, Lines<const T> g, Lines<T> x) {
        Few past, edge;
        load_few(past, past_ + W * at);
        if constexpr (Periodic) load_few(edge, edge_ + W * at);
        std::int64_t i = last;
        for (; i - sum_rows >= first; i -= sum_rows) {
            BANDMILL_UNROLL_ROWS
            for (int j = 1; j <= sum_rows; ++j) up_row(past, edge, at, i - j, g, x);
        }
        for (--i; i >= first; --i) up_row(past, edge, at, i, g, x);
        store_few(past_ + W * at, past);
    }

    BANDMILL_INLINE void up_row(Few& past, const Few& edge, int at, std::int64_t i, Lines<const T> g,
                                Lines<T> x) const {
        const T* row = view_.backward + i * Layout::backward;
        Value value;
        load(value, g.row(i) + at);
        if constexpr (Periodic) value = edge.add_products(row + W, value);
        value = past.add_products(row, value);
        past.push(value);
        store(x.row(i) + at, value);
    }

    const detail::DirectView<T> view_;
    int width_;
    // Per pack: the W values computed last, newest first; and what the rows spill on the separator, then its solution.
    alignas(64) T past_[W * Most], edge_[W * Most];
};

} // namespace bandmill::cpu::BANDMILL_LEVEL
