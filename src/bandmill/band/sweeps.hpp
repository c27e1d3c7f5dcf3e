// The sequential sweeps: one lane (a GPU thread, or a pack of SIMD lanes) solves its system row by row.
// Written once; `Rows` says where the rows are:
//   Value load(i)              row i of the right-hand side
//   void keep(i, g), kept(i)   room for one intermediate value per row (the solution's own memory, or scratch)
//   void store(i, x)           row i of the solution
//   ahead                      rows to load before working on them (a GPU thread must; with 1 a CPU does so itself)
// Rows may be read and written in place: row i is kept or stored only after it was loaded.
#pragma once

#include "bandmill/band/order.hpp"
#include "bandmill/base/arithmetic.hpp"

#include <cstdint>

namespace bandmill::detail {

// Elimination with one segment, laid out as the sweeps read it: every term is a multiply-add. The last W rows are the
// separator; a periodic system reaches it from both ends.
template <class T> struct DirectView {
    std::int64_t n;
    const T* forward;  // per row: v (separator: scale), -L towards the W rows before, (periodic) -L of the separator
    const T* backward; // per row: -U towards the W rows after, (periodic) -U towards the separator
    const T* corner;   // the separator's own block, for solve_lower and solve_upper
};

template <int W, bool Periodic> struct DirectLayout {
    static constexpr int spike = Periodic ? W : 0;
    static constexpr int forward = 1 + W + spike;
    static constexpr int backward = W + spike;
};

// A W x W block on the diagonal, factored: its v (W), -L below and -U above the diagonal (W x W each).
template <int W, class T, class Value> BANDMILL_HD void solve_lower(const T* block, Value (&x)[W]) {
    BANDMILL_UNROLL
    for (int r = 0; r < W; ++r) {
        x[r] = multiply(block[r], x[r]);
        for (int q = 0; q < r; ++q) x[r] = multiply_add(block[W + r * W + q], x[q], x[r]);
    }
}
template <int W, class T, class Value> BANDMILL_HD void solve_upper(const T* block, Value (&x)[W]) {
    BANDMILL_UNROLL
    for (int r = W - 2; r >= 0; --r)
        for (int q = r + 1; q < W; ++q) x[r] = multiply_add(block[W + W * W + r * W + q], x[q], x[r]);
}

// W values, one by one rather than in an array: compilers keep arrays of SIMD packs in memory.
template <class Value, int W> struct Few {
    Value first{};
    Few<Value, W - 1> rest;

    BANDMILL_HD void push(const Value& value) { // the oldest is forgotten
        rest.push(first);
        first = value;
    }
    // sum + coefficient[0] * first + coefficient[1] * second + ..., the first added last: it is the newest
    template <class T> BANDMILL_HD Value add_products(const T* coefficient, const Value& sum) const {
        return multiply_add(coefficient[0], first, rest.add_products(coefficient + 1, sum));
    }
    // each += its coefficient * value
    template <class T> BANDMILL_HD void accumulate(const T* coefficient, const Value& value) {
        first = multiply_add(coefficient[0], value, first);
        rest.accumulate(coefficient + 1, value);
    }
    BANDMILL_HD void add(const Few& other) {
        first = first + other.first;
        rest.add(other.rest);
    }
    BANDMILL_HD void copy_to(Value* values) const {
        values[0] = first;
        rest.copy_to(values + 1);
    }
    BANDMILL_HD void copy_from(const Value* values) {
        first = values[0];
        rest.copy_from(values + 1);
    }
};
template <class Value> struct Few<Value, 0> {
    BANDMILL_HD void push(const Value&) {}
    template <class T> BANDMILL_HD Value add_products(const T*, const Value& sum) const { return sum; }
    template <class T> BANDMILL_HD void accumulate(const T*, const Value&) {}
    BANDMILL_HD void add(const Few&) {}
    BANDMILL_HD void copy_to(Value*) const {}
    BANDMILL_HD void copy_from(const Value*) {}
};

template <int W, bool Periodic, class T, class Rows> class DirectSweep {
    using Value = typename Rows::Value;
    using Layout = DirectLayout<W, Periodic>;
    const DirectView<T>& view;
    Rows& rows;
    Few<Value, W> past; // the W values computed last, newest first
    Few<Value, W> edge; // what the rows spill on the separator, then its solution

  public:
    BANDMILL_HD DirectSweep(const DirectView<T>& tables, Rows& where) : view(tables), rows(where) {}

    BANDMILL_HD void run() {
        // Rows are taken in blocks whose loads do not wait for the recurrence.
        constexpr int block = Rows::ahead > sum_rows ? Rows::ahead : sum_rows;
        const std::int64_t m = view.n - W, whole = m / block * block;
        for (std::int64_t i = 0; i < whole; i += block) sweep_down<block>(i);
        for (std::int64_t i = whole; i < m; ++i) sweep_down<1>(i);
        sweep_separator(m);
        past = edge;
        for (std::int64_t i = m - 1; i >= whole; --i) sweep_up<1>(i);
        for (std::int64_t i = whole - block; i >= 0; i -= block) sweep_up<block>(i);
    }

  private:
    static constexpr bool fetches = Rows::ahead > 1;
    static constexpr int sum_rows =
        8; // spills are added up by so many rows at a time: that rounds less than row by row

    template <int Count> BANDMILL_HD void sweep_down(std::int64_t first) {
        Value f[fetches ? Count : 1];
        BANDMILL_UNROLL
        for (int j = 0; fetches && j < Count; ++j) f[j] = rows.load(first + j);
        Few<Value, W> sum;
        BANDMILL_UNROLL
        for (int j = 0; j < Count; ++j) {
            const T* row = view.forward + (first + j) * Layout::forward;
            const Value g = past.add_products(row + 1, multiply(row[0], fetches ? f[j] : rows.load(first + j)));
            if constexpr (Periodic) sum.accumulate(row + 1 + W, g);
            past.push(g);
            rows.keep(first + j, g);
            if constexpr (Periodic)
                if ((j + 1) % sum_rows == 0 || j + 1 == Count) {
                    edge.add(sum);
                    sum = Few<Value, W>{};
                }
        }
    }

    BANDMILL_HD void sweep_separator(std::int64_t first) {
        Value own[W], before[W], spill[W];
        past.copy_to(before);
        edge.copy_to(spill);
        BANDMILL_UNROLL
        for (int r = 0; r < W; ++r) {
            const T* row = view.forward + (first + r) * Layout::forward;
            own[r] = multiply(row[0], rows.load(first + r)); // only scaled: its pivot comes with the corner
            BANDMILL_UNROLL
            for (int w = W; w >= r + 1; --w) own[r] = multiply_add(row[w], before[w - r - 1], own[r]);
            if constexpr (Periodic) own[r] = own[r] + spill[r];
        }
        solve_lower<W>(view.corner, own);
        solve_upper<W>(view.corner, own);
        edge.copy_from(own);
        BANDMILL_UNROLL
        for (int r = 0; r < W; ++r) rows.store(first + r, own[r]);
    }

    template <int Count> BANDMILL_HD void sweep_up(std::int64_t first) {
        Value g[fetches ? Count : 1];
        BANDMILL_UNROLL
        for (int j = 0; fetches && j < Count; ++j) g[j] = rows.kept(first + j);
        BANDMILL_UNROLL
        for (int j = Count - 1; j >= 0; --j) {
            const T* row = view.backward + (first + j) * Layout::backward;
            Value x = fetches ? g[j] : rows.kept(first + j);
            if constexpr (Periodic) x = edge.add_products(row + W, x);
            x = past.add_products(row, x);
            past.push(x);
            rows.store(first + j, x);
        }
    }
};

template <int W, bool Periodic, class T, class Rows>
BANDMILL_HD void sweep_direct(const DirectView<T>& view, Rows& rows) {
    DirectSweep<W, Periodic, T, Rows>(view, rows).run();
}

// PivotedFactor, rounded; signs folded in.
template <class T> struct PivotedView {
    std::int64_t n;
    bool folded;
    const T* forward;         // per position: scale, v, -multiplier_1..R
    const T* backward;        // per position: -upper_1..2R
    const std::int8_t* pivot; // per position: how far below the pivot row stands
};

template <int R> struct PivotedLayout {
    static constexpr int forward = 2 + R;
    static constexpr int backward = 2 * R;
};

// R = reach of the PivotedFactor. Every system exchanges the same rows, so lanes never diverge.
template <int R, class T, class Rows> BANDMILL_HD void sweep_pivoted(const PivotedView<T>& view, Rows& rows) {
    using Value = typename Rows::Value;
    using Layout = PivotedLayout<R>;
    const std::int64_t n = view.n;
    auto row_at = [&](std::int64_t position) { return view.folded ? folded_row(position, n) : position; };
    auto load = [&](std::int64_t position) {
        return multiply(view.forward[position * Layout::forward], rows.load(row_at(position)));
    };

    Value window[R + 1]; // right-hand sides of positions k .. k + R, as far as they are eliminated
    BANDMILL_UNROLL
    for (int j = 0; j <= R; ++j) {
        window[j] = Value{};
        if (j < R && j < n) window[j] = load(j);
    }
    for (std::int64_t k = 0; k < n; ++k) {
        if (k + R < n) window[R] = load(k + R);
        const T* row = view.forward + k * Layout::forward;
        const int pivot = view.pivot[k];
        BANDMILL_UNROLL
        for (int j = 1; j <= R; ++j)
            if (pivot == j) {
                const Value top = window[0];
                window[0] = window[j];
                window[j] = top;
            }
        BANDMILL_UNROLL
        for (int j = 1; j <= R; ++j) window[j] = multiply_add(row[1 + j], window[0], window[j]);
        rows.keep(row_at(k), multiply(row[1], window[0]));
        BANDMILL_UNROLL
        for (int j = 0; j < R; ++j) window[j] = window[j + 1];
        window[R] = Value{};
    }

    Value next[2 * R];
    for (int j = 0; j < 2 * R; ++j) next[j] = Value{};
    for (std::int64_t k = n - 1; k >= 0; --k) {
        const T* row = view.backward + k * Layout::backward;
        Value x = rows.kept(row_at(k));
        BANDMILL_UNROLL
        for (int j = 2 * R; j >= 1; --j) x = multiply_add(row[j - 1], next[j - 1], x);
        BANDMILL_UNROLL
        for (int j = 2 * R - 1; j >= 1; --j) next[j] = next[j - 1];
        next[0] = x;
        rows.store(row_at(k), x);
    }
}

} // namespace bandmill::detail
