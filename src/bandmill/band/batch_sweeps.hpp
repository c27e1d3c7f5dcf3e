// Elimination without row exchanges of one system with a matrix of its own, row by row: what a lane of the CPU and a
// thread of the GPU do alike. L holds the pivots, U has a unit diagonal. The last W rows and columns of a periodic
// matrix (the separator) are eliminated last, so the rows before them couple to them throughout (spikes).
//
//     forward   y_i = 1/p_i b_i - sum_w L_iw y_{i-w}       separator:  r_s = b_s - sum_i E_si y_i
//     backward  x_i = y_i - sum_w U_iw x_{i+w} - sum_s V_is x_s
//
// Values of the factor per row, all that a solve reads beside b:
//     W = 1 open 3, periodic 5; W = 2 open 5, periodic 9
// So a solve has to move 5, 7, 7, 11 values per row, b and x included (f64: 40, 56, 56, 88 bytes), and a combined
// factor and solve 5, 5, 7, 7 (40, 40, 56, 56 bytes), plus what of y (and U, V) does not stay on chip between the
// sweeps.
#pragma once

#include "bandmill/base/arithmetic.hpp"
#include "bandmill/base/macros.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace bandmill::detail {

// A factor is stored by tiles of systems: per tile [interior row][forward][lane], [interior row][backward][lane],
// [corner][lane]. Signs are folded in: every term is a multiply-add.
inline constexpr int batch_tile = 32;

template <int W, bool Periodic> struct BatchLayout {
    static constexpr int diagonals = 2 * W + 1;
    static constexpr int spikes = Periodic ? W : 0;
    static constexpr int forward = 1 + W + spikes;      // 1/p, -L towards the rows before, nearest first; -E
    static constexpr int backward = W + spikes;         // -U towards the rows after, nearest first; -V
    static constexpr int corner = Periodic ? W * W : 0; // 1/p of the separator; W = 2: 1/p_0, 1/p_1, -L_10, -U_01
    static constexpr int kept = 1 + backward;           // y, then as backward: what a combined solve keeps of a row
};

// Rows that are not in the separator.
BANDMILL_HD std::int64_t interior_rows(std::int64_t n, int half_bandwidth, bool periodic) {
    return !periodic ? n : n > half_bandwidth ? n - half_bandwidth : 0;
}
template <int W, bool Periodic> BANDMILL_HD std::int64_t tile_values(std::int64_t n) {
    using Layout = BatchLayout<W, Periodic>;
    return (interior_rows(n, W, Periodic) * (Layout::forward + Layout::backward) + Layout::corner) * batch_tile;
}
inline std::int64_t tile_values(std::int64_t n, int half_bandwidth, bool periodic) {
    if (half_bandwidth == 1) return periodic ? tile_values<1, true>(n) : tile_values<1, false>(n);
    return periodic ? tile_values<2, true>(n) : tile_values<2, false>(n);
}

// The pivots that can be used.
template <class T> struct PivotRange;
template <> struct PivotRange<double> { static constexpr double least = 0x1p-1022, beyond = 0x1p1022; };
template <> struct PivotRange<float> { static constexpr float least = 0x1p-126f, beyond = 0x1p126f; };

// 1/p to about an ulp, NaN unless p can be used.
BANDMILL_HD double inverse_or_nan(double p) {
#if defined(__CUDA_ARCH__)
    double inverse; // good to 20 bits; each correction doubles them
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(p));
    for (int i = 0; i < 2; ++i) inverse = ::fma(inverse, ::fma(-p, inverse, 1.0), inverse);
#else
    const double inverse = 1 / p;
#endif
    const double size = ::fabs(p);
    return size >= PivotRange<double>::least && size < PivotRange<double>::beyond ? inverse : ::nan("");
}
BANDMILL_HD float inverse_or_nan(float p) {
#if defined(__CUDA_ARCH__)
    float inverse; // good to an ulp
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(p));
    inverse = ::fmaf(inverse, ::fmaf(-p, inverse, 1.0f), inverse);
#else
    const float inverse = 1 / p;
#endif
    const float size = ::fabsf(p);
    return size >= PivotRange<float>::least && size < PivotRange<float>::beyond ? inverse : ::nanf("");
}

// Once an inverse is NaN all that follow are, so the first bad row is the number of those that are not.
BANDMILL_HD void count_usable(int& count, double inverse) { count += inverse == inverse; }
BANDMILL_HD void count_usable(int& count, float inverse) { count += inverse == inverse; }

// A long sum, with what rounding lost kept beside it: the corner of a periodic matrix is a sum over all rows that may
// nearly cancel.
template <class Value> struct LongSum {
    Value sum{}, lost{};

    BANDMILL_HD void add(const Value& value) {
        const Value next = sum + value;
        const Value taken = next - sum;
        lost = lost + ((sum - (next - taken)) + (value - taken));
        sum = next;
    }
    BANDMILL_HD Value value() const { return sum + lost; }
};

template <int Count, class Value> struct Values {
    Value value[Count > 0 ? Count : 1] = {};
    BANDMILL_HD Value& operator[](int k) { return value[k]; }
    BANDMILL_HD const Value& operator[](int k) const { return value[k]; }
};

// The coefficients of an interior row: towards its neighbours, and towards the separator.
template <int W, bool Periodic, class Value> struct BatchRow {
    Values<2 * W + 1, Value> band;
    Values<Periodic ? W : 0, Value> to_separator;
};

// Moves the coefficients of row i that reach the separator to where they belong (periodic), or forgets those outside
// the matrix (open). m interior rows.
template <int W, bool Periodic, class Value, class Index>
BANDMILL_HD void place_ends(BatchRow<W, Periodic, Value>& row, Index i, Index m) {
    if (i >= W && i + W < m) return;
    BANDMILL_UNROLL
    for (int k = -W; k <= W; ++k) {
        if (i + k >= 0 && i + k < m) continue;
        if constexpr (Periodic) {
            const Index s = i + k < 0 ? W + i + k : i + k - m;
            BANDMILL_UNROLL
            for (int t = 0; t < W; ++t)
                if (s == t) row.to_separator[t] = row.to_separator[t] + row.band[k + W];
        }
        row.band[k + W] = Value{};
    }
}

// What one row of the factor holds.
template <int W, bool Periodic, class Value> struct FactorRow {
    Values<BatchLayout<W, Periodic>::forward, Value> forward;
    Values<BatchLayout<W, Periodic>::backward, Value> backward;
};

template <int W, bool Periodic, class Value> class Eliminator {
    static constexpr int S = BatchLayout<W, Periodic>::spikes;
    // Of the W rows before, the nearest first: -U and -V.
    Values<W, Value> upper_[W];
    Values<S, Value> spike_[W];
    // Of the separator's rows: the coefficients of columns i .. i + W - 1, as far as they are eliminated.
    Values<W, Value> below_[S > 0 ? S : 1];
    LongSum<Value> corner_[S > 0 ? S* S : 1];

  public:
    // Adds a coefficient of separator row s, j columns after that of the row to be eliminated next.
    template <int s> BANDMILL_HD void add_below(int j, const Value& value) {
        BANDMILL_UNROLL
        for (int k = 0; k < W; ++k) below_[s][k] = below_[s][k] + (k == j ? value : Value{});
    }
    template <int s> BANDMILL_HD void add_corner(int t, const Value& value) {
        BANDMILL_UNROLL
        for (int k = 0; k < W; ++k)
            if (k == t) corner_[s * W + k].add(value);
    }

    BANDMILL_HD FactorRow<W, Periodic, Value> eliminate(const BatchRow<W, Periodic, Value>& row) {
        const auto& a = row.band;
        FactorRow<W, Periodic, Value> out;
        // The coefficient of the column just before, once the one before that is gone.
        Value near = a[W - 1], pivot = a[W], after = a[W + 1];
        if constexpr (W == 2) {
            near = multiply_add(a[0], upper_[1][0], near);
            pivot = multiply_add(a[0], upper_[1][1], pivot);
            after = multiply_add(near, upper_[0][1], after);
        }
        pivot = multiply_add(near, upper_[0][0], pivot);
        const Value inverse = inverse_or_nan(pivot), minus = -inverse;
        out.forward[0] = inverse;
        out.forward[1] = minus * near;
        if constexpr (W == 2) out.forward[2] = minus * a[0];
        out.backward[0] = minus * after;
        if constexpr (W == 2) out.backward[1] = minus * a[4];
        if constexpr (Periodic) {
            BANDMILL_UNROLL
            for (int t = 0; t < W; ++t) {
                Value sum = row.to_separator[t];
                if constexpr (W == 2) sum = multiply_add(a[0], spike_[1][t], sum);
                out.backward[W + t] = minus * multiply_add(near, spike_[0][t], sum);
            }
            BANDMILL_UNROLL
            for (int s = 0; s < W; ++s) {
                const Value first = below_[s][0];
                out.forward[1 + W + s] = -first;
                BANDMILL_UNROLL
                for (int k = 0; k < W; ++k) {
                    const Value own = k + 1 < W ? below_[s][k + 1 < W ? k + 1 : k] : Value{};
                    below_[s][k] = multiply_add(first, out.backward[k], own);
                }
                BANDMILL_UNROLL
                for (int t = 0; t < W; ++t) corner_[s * W + t].add(first * out.backward[W + t]);
            }
        }
        if constexpr (W == 2) {
            upper_[1] = upper_[0];
            spike_[1] = spike_[0];
        }
        BANDMILL_UNROLL
        for (int k = 0; k < W; ++k) upper_[0][k] = out.backward[k];
        if constexpr (Periodic) {
            BANDMILL_UNROLL
            for (int t = 0; t < W; ++t) spike_[0][t] = out.backward[W + t];
        }
        return out;
    }

    // The separator's own block, once all other rows are eliminated. Fewer rows than W: the rest of the block is that
    // of the unit matrix.
    template <class Count> BANDMILL_HD Values<W * W, Value> eliminate_corner(Count& count, int rows) {
        Values<W * W, Value> out;
        out[0] = inverse_or_nan(corner_[0].value());
        count_usable(count, out[0]);
        if constexpr (W == 2) {
            if (rows < 2) {
                out[1] = Value{} + out[0]; // never used with anything but zero; a bad system stays NaN
                return out;
            }
            const Value upper = -(out[0] * corner_[1].value());
            out[1] = inverse_or_nan(multiply_add(corner_[2].value(), upper, corner_[3].value()));
            count_usable(count, out[1]);
            out[2] = -(out[1] * corner_[2].value());
            out[3] = upper;
        }
        return out;
    }
};

// The sweep down of one right-hand side.
template <int W, bool Periodic, class Value> struct ForwardSweep {
    static constexpr int S = BatchLayout<W, Periodic>::spikes;
    Values<W, Value> past; // nearest first
    LongSum<Value> spill[S > 0 ? S : 1];

    template <class Forward> BANDMILL_HD Value row(const Forward& forward, const Value& b) {
        Value y = forward[0] * b;
        if constexpr (W == 2) y = multiply_add(forward[2], past[1], y);
        y = multiply_add(forward[1], past[0], y);
        if constexpr (Periodic) {
            BANDMILL_UNROLL
            for (int s = 0; s < W; ++s) spill[s].add(forward[1 + W + s] * y);
        }
        if constexpr (W == 2) past[1] = past[0];
        past[0] = y;
        return y;
    }

    // The separator's solution, from its right-hand sides.
    template <class Corner> BANDMILL_HD Values<W, Value> separator(const Corner& corner, Values<W, Value> b) {
        BANDMILL_UNROLL
        for (int s = 0; s < S; ++s) {
            spill[s].add(b[s]);
            b[s] = spill[s].value();
        }
        b[0] = corner[0] * b[0];
        if constexpr (W == 2) {
            b[1] = multiply_add(corner[2], b[0], corner[1] * b[1]);
            b[0] = multiply_add(corner[3], b[1], b[0]);
        }
        return b;
    }
};

// The sweep up.
template <int W, bool Periodic, class Value> struct BackwardSweep {
    Values<W, Value> next; // nearest first
    Values<W, Value> separator;

    template <class Backward> BANDMILL_HD Value row(const Backward& backward, const Value& y) {
        Value x = y;
        if constexpr (Periodic) {
            BANDMILL_UNROLL
            for (int t = 0; t < W; ++t) x = multiply_add(backward[W + t], separator[t], x);
        }
        if constexpr (W == 2) x = multiply_add(backward[1], next[1], x);
        x = multiply_add(backward[0], next[0], x);
        if constexpr (W == 2) next[1] = next[0];
        next[0] = x;
        return x;
    }
};

// Calls body(0), body(1) .. body(Count - 1), each with a constant: kernels then keep their arrays in registers.
template <int Count, class Body, int... k> BANDMILL_HD void for_constants(Body body, std::integer_sequence<int, k...>) {
    (body(std::integral_constant<int, k>{}), ...);
}

// Where the coefficients of the separator's rows belong. Row m + s, diagonal k: calls below(s, column, k) for an
// interior column, corner(s, t, k) for one of the separator's own; s and k are constants.
template <int W, class Index, class Below, class Corner>
BANDMILL_HD void for_each_separator_entry(Index n, Index m, Below below, Corner corner) {
    constexpr int D = 2 * W + 1;
    for_constants<W * D>(
        [&](auto which) {
            constexpr int s = which / D, k = which % D - W;
            if (m + s >= n) return;
            Index column = m + s + k;
            for (int turn = 0; turn < 2; ++turn) // n = 1 with W = 2: twice
                column = column < 0 ? column + n : column >= n ? column - n : column;
            if (column < m)
                below(std::integral_constant<int, s>{}, column, std::integral_constant<int, k>{});
            else
                corner(std::integral_constant<int, s>{}, static_cast<int>(column - m),
                       std::integral_constant<int, k>{});
        },
        std::make_integer_sequence<int, W * D>{});
}

// Adds what the separator's rows hold in the columns that come into view with row i, which is eliminated next;
// entry(s, k) is the coefficient of row m + s on diagonal k.
template <int W, class Value, class Index, class Entry>
BANDMILL_HD void look_below(Eliminator<W, true, Value>& eliminator, Index i, Index n, Index m, Entry entry) {
    if (i > 0 && i + W - 1 < m - W) return;
    for_each_separator_entry<W>(
        n, m,
        [&](auto s, Index column, auto k) {
            if (i == 0 ? column < W : column == i + W - 1)
                eliminator.template add_below<s>(static_cast<int>(column - i), entry(s, k));
        },
        [](auto, int, auto) {});
}
template <int W, class Value, class Index, class Count, class Entry>
BANDMILL_HD Values<W * W, Value> close_corner(Eliminator<W, true, Value>& eliminator, Index n, Index m, Count& count,
                                              Entry entry) {
    for_each_separator_entry<W>(
        n, m, [](auto, Index, auto) {},
        [&](auto s, int t, auto k) { eliminator.template add_corner<s>(t, entry(s, k)); });
    return eliminator.eliminate_corner(count, n - m < W ? static_cast<int>(n - m) : W);
}

} // namespace bandmill::detail
