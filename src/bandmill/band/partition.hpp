// The partitioned solve: one thread holds one segment of a system in registers, so that memory is read once and written
// once. It is Gaussian elimination in another order, not a scan of partial results, and so as stable as any:
//   - a system is cut into P segments; the last W rows of each are its separator, the rows before them its interior
//   - interiors are eliminated first, all at once; each touches only its own separator and the one to its left
//   - the P separators, a small block tridiagonal system, are then eliminated by odd-even levels (every second one,
//   every
//     second of the rest, ...), the last separator being the root; a periodic system closes its ring through the root
//   - back substitution in the opposite order
// An open and a periodic matrix take the same operations: 1 + 4W multiply-adds per row, and a step up and down per
// level. (A scan of LU carries costs the same but its long-range partial sums cancel: on hyperdiffusion with sigma =
// 1e10 and n = 1024 its backward error is 100 epsilons, this one's is below 2.)
#pragma once

#include "bandmill/band/sweeps.hpp"

#include <cstdint>

namespace bandmill::detail {

// How a system is cut. Chosen from n, never from the batch: it decides the rounding.
struct Partition {
    std::int64_t slots = 0; // K: rows a thread has room for
    int segments = 0;       // P: each holds n / P rows, rounded down or up, and at least W
};

// First row of segment p; segment P would start at n.
BANDMILL_HD std::int64_t segment_start(std::int64_t p, std::int64_t segments, std::int64_t n) {
    return p * n / segments;
}

// Columns of a segment's table, each with K entries. A segment shorter than K has its unused slots in front: nothing
// but the spikes reaches back to them, and those are zero there.
template <int W> struct SegmentLayout {
    static constexpr int pivot_inverse = 0;       // v; for a separator, whose pivot comes later, its row's scale
    static constexpr int lower = 1;               // -L, towards earlier rows of the segment
    static constexpr int lower_spike = lower + W; // -L of the separator to the left
    static constexpr int upper = lower_spike + W; // -U, towards later rows of the segment
    static constexpr int upper_spike = upper + W; // -U towards the separator to the left
    static constexpr int columns = upper_spike + W;
};

// One separator's table.
template <int W> struct SeparatorLayout {
    static constexpr int corner = 0; // its own block, for solve_lower and solve_upper
    static constexpr int to_left = W + 2 * W * W;
    static constexpr int to_right = to_left + W * W;
    static constexpr int from_left = to_right + W * W;
    static constexpr int from_right = from_left + W * W;
    static constexpr int entries = from_right + W * W;
};

// Separator p < P - 1 is eliminated at the level that counts the trailing zero bits of p + 1; the root after all
// levels.
BANDMILL_HD int separator_level(int p) {
    int level = 0;
    for (int q = p + 1; q % 2 == 0; q /= 2) ++level;
    return level;
}

// Neighbours of separator p when it is eliminated at `level`: -1 if there is none.
BANDMILL_HD int left_neighbour(int p, int level, int segments, bool periodic) {
    const int left = p - (1 << level);
    return left >= 0 ? left : periodic ? segments - 1 : -1;
}
BANDMILL_HD int right_neighbour(int p, int level, int segments) {
    const int right = p + (1 << level);
    return right < segments - 1 ? right : segments - 1;
}

// The separators eliminated at `level` whose right (left) neighbour is p: -1 if there is none.
BANDMILL_HD int sender_from_left(int p, int level, int segments) {
    if (p < segments - 1) return p - (1 << level);
    const int period = 2 << level; // the root: the last one eliminated at this level, if it ends the chain
    const int last = (segments - 1 + (1 << level)) / period * period - (1 << level) - 1;
    return last >= 0 && last + (1 << level) >= segments - 1 ? last : -1;
}
BANDMILL_HD int sender_from_right(int p, int level, int segments, bool periodic) {
    const int sender = p < segments - 1 ? p + (1 << level) : periodic ? (1 << level) - 1 : segments;
    return sender < segments - 1 ? sender : -1;
}

// b += block * y
template <int W, class T> BANDMILL_HD void add_product(T (&b)[W], const T* block, const T (&y)[W]) {
    BANDMILL_UNROLL
    for (int a = 0; a < W; ++a) BANDMILL_UNROLL
    for (int c = 0; c < W; ++c) b[a] = multiply_add(block[a * W + c], y[c], b[a]);
}

// Table entries come 16 bytes at a time: shared memory serves such a load as fast as one of 8.
template <class T> struct alignas(16) Group {
    static constexpr int size = 16 / static_cast<int>(sizeof(T));
    T value[size];
};

template <class T, int W, int K> struct Segment {
    using Layout = SegmentLayout<W>;
    static_assert(K % Group<T>::size == 0 && K > W);
    const T* table; // this segment's columns, on a boundary of 16 bytes
    T g[K];         // right-hand side, then intermediate values, then the solution; the separator stands last

    BANDMILL_HD Group<T> entries(int column, int j) const {
        return *reinterpret_cast<const Group<T>*>(table + column * K + j);
    }

    // Eliminates the interior. `spill` is what the separator to the left receives.
    BANDMILL_HD void sweep_down(T (&spill)[W]) {
        BANDMILL_UNROLL
        for (int w = 0; w < W; ++w) spill[w] = T(0);
        BANDMILL_UNROLL
        for (int first = 0; first < K; first += Group<T>::size) {
            const Group<T> inverse = entries(Layout::pivot_inverse, first);
            Group<T> lower[W], spike[W];
            BANDMILL_UNROLL
            for (int w = 0; w < W; ++w) {
                lower[w] = entries(Layout::lower + w, first);
                spike[w] = entries(Layout::lower_spike + w, first);
            }
            BANDMILL_UNROLL
            for (int i = 0; i < Group<T>::size; ++i) {
                const int j = first + i;
                T value = multiply(inverse.value[i], g[j]);
                BANDMILL_UNROLL
                for (int w = W; w >= 1; --w)
                    if (j >= w) value = multiply_add(lower[w - 1].value[i], g[j - w], value);
                g[j] = value;
                if (j >= K - W) continue; // the separator does not spill
                BANDMILL_UNROLL
                for (int w = 0; w < W; ++w) spill[w] = multiply_add(spike[w].value[i], value, spill[w]);
            }
        }
    }

    // Back substitution, once the segment's own separator stands in g and the one to the left is known.
    BANDMILL_HD void sweep_up(const T (&left)[W]) {
        BANDMILL_UNROLL
        for (int first = K - Group<T>::size; first >= 0; first -= Group<T>::size) {
            Group<T> upper[W], spike[W];
            BANDMILL_UNROLL
            for (int w = 0; w < W; ++w) {
                upper[w] = entries(Layout::upper + w, first);
                spike[w] = entries(Layout::upper_spike + w, first);
            }
            BANDMILL_UNROLL
            for (int i = Group<T>::size - 1; i >= 0; --i) {
                const int j = first + i;
                if (j >= K - W) continue;
                T value = g[j];
                BANDMILL_UNROLL
                for (int w = 0; w < W; ++w) value = multiply_add(spike[w].value[i], left[w], value);
                BANDMILL_UNROLL
                for (int w = W; w >= 1; --w) value = multiply_add(upper[w - 1].value[i], g[j + w], value);
                g[j] = value;
            }
        }
    }
};

template <class T> struct PartitionView {
    std::int64_t n;
    int segments;
    int levels; // of the separators' elimination; levels whose couplings are below rounding are left out
    bool periodic;
    const T* rows;       // [segment][column][K]
    const T* separators; // [segment][entry]
};

} // namespace bandmill::detail
