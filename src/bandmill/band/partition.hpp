// The partitioned solve: one thread holds one segment of a system in registers, so that memory is read once and written
// once (long systems: read twice). It is Gaussian elimination in another order, not a scan of partial results, and so
// as stable as any:
//   - a system is cut into P segments; the last W rows of each are its separator, the rows before them its interior
//   - interiors are eliminated first, all at once; each touches only its own separator and the one to its left
//   - segments form groups (what one thread block holds). Within each group the separators, all but the last, are
//     eliminated by odd-even levels: every second one, every second of the rest, ...
//   - what remains is one separator per group, its end, coupled to the ends before and after: they are eliminated by
//     levels in the same way. The last end is the root; a periodic system closes its ring through it
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
    int segments = 0;       // P: each holds about n / P rows, at most K and at least W
    int group = 0;          // segments per group; divides P

    int groups() const { return segments / group; }
};

// First row of segment p; segment P would start at n. Segments start on multiples of 4 or 2 rows if n is one, so that
// the segments of contiguous systems start on 16 bytes where the systems do.
template <class Integer> BANDMILL_HD Integer segment_start(Integer p, Integer segments, Integer n) {
    const int shift = n % 4 == 0 ? 2 : n % 2 == 0 ? 1 : 0;
    return (p * (n >> shift) / segments) << shift;
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

// The odd-even order of `count` separators in a row: those of a group, or the ends of all groups. Separator q < count -
// 1 is eliminated at the level that counts the trailing zero bits of q + 1; the last one after all levels.
BANDMILL_HD int separator_level(int q) {
    int level = 0;
    for (int r = q + 1; r % 2 == 0; r /= 2) ++level;
    return level;
}
BANDMILL_HD int levels_of(int count) {
    int levels = 0;
    while (1 << levels < count) ++levels;
    return levels;
}

// Neighbours of separator q when it is eliminated at `level`; -1 on the left is what stands before the row: the end of
// the group before, or for ends the root of a periodic system.
BANDMILL_HD int left_neighbour(int q, int level) {
    const int left = q - (1 << level);
    return left >= 0 ? left : -1;
}
BANDMILL_HD int right_neighbour(int q, int level, int count) {
    const int right = q + (1 << level);
    return right < count - 1 ? right : count - 1;
}

// The separators eliminated at `level` whose right (left) neighbour is q: -1 if there is none. Asked with q = -1,
// sender_from_right gives the one whose left neighbour stands before the row.
BANDMILL_HD int sender_from_left(int q, int level, int count) {
    if (q < count - 1) return q - (1 << level);
    const int period = 2 << level; // the last: the last one eliminated at this level, if it ends the row
    const int last = (count - 1 + (1 << level)) / period * period - (1 << level) - 1;
    return last >= 0 && last + (1 << level) >= count - 1 ? last : -1;
}
BANDMILL_HD int sender_from_right(int q, int level, int count) {
    const int sender = q + (1 << level);
    return sender < count - 1 ? sender : -1;
}

// b += block * y
template <int W, class T, class Value>
BANDMILL_HD void add_product(Value (&b)[W], const T* block, const Value (&y)[W]) {
    BANDMILL_UNROLL
    for (int a = 0; a < W; ++a) BANDMILL_UNROLL
    for (int c = 0; c < W; ++c) b[a] = multiply_add(block[a * W + c], y[c], b[a]);
}

// Table entries come 16 bytes at a time: shared memory serves such a load as fast as one of 8.
template <class T> struct alignas(16) Group {
    static constexpr int size = 16 / static_cast<int>(sizeof(T));
    T value[size];
};

// `Value` is T, or several systems' values side by side.
template <class T, int W, int K, class Value = T> struct Segment {
    using Layout = SegmentLayout<W>;
    static_assert(K % Group<T>::size == 0 && K > W);
    const T* table; // this segment's columns, on a boundary of 16 bytes
    Value g[K];     // right-hand side, then intermediate values, then the solution; the separator stands last

    BANDMILL_HD Group<T> entries(int column, int j) const {
        return *reinterpret_cast<const Group<T>*>(table + column * K + j);
    }

    // Eliminates the interior. `spill` is what the separator to the left receives.
    BANDMILL_HD void sweep_down(Value (&spill)[W]) {
        BANDMILL_UNROLL
        for (int w = 0; w < W; ++w) spill[w] = Value{};
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
                Value value = multiply(inverse.value[i], g[j]);
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
    BANDMILL_HD void sweep_up(const Value (&left)[W]) {
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
                Value value = g[j];
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
    int segments, group;
    int levels, end_levels; // within a group, and of the ends; those whose couplings are below rounding are left out
    bool periodic;
    const T* rows;       // [segment][column][K]
    const T* separators; // [segment][entry]

    BANDMILL_HD int groups() const { return segments / group; }
    BANDMILL_HD int end_of(int c) const { return (c + 1) * group - 1; } // the separator that ends group c
};

// Solves for the ends of all groups. `Ends` says where they are, c counting groups, and who shares the work:
//   load(c, value), keep(c, value)  the end's right-hand side, as far as it is eliminated, and then its solution
//   load_spill(c, value)            what group c spills on the end of the group before
//   store(c, value)                 keeps a solution
//   table(c)                        SeparatorLayout of the end
//   worker, workers, wait()         this thread, of so many; all have come here
template <int W, class Value, class T, class Ends>
BANDMILL_HD void solve_ends(const PartitionView<T>& view, Ends& ends) {
    using Layout = SeparatorLayout<W>;
    const int groups = view.groups(), root = groups - 1, levels = view.end_levels;
    Value own[W], other[W];
    for (int level = 0; level <= levels; ++level) {
        const int count = root >> level; // of those left, the root aside
        for (int k = ends.worker; k <= count; k += ends.workers) {
            const int c = k < count ? ((k + 1) << level) - 1 : root;
            ends.load(c, own);
            if (level == 0) {
                if (c < root || view.periodic) {
                    ends.load_spill(c < root ? c + 1 : 0, other);
                    BANDMILL_UNROLL
                    for (int w = 0; w < W; ++w) own[w] = own[w] + other[w];
                }
            } else {
                const int left = sender_from_left(c, level - 1, groups);
                const int ring = view.periodic ? -1 : groups; // what stands to the right of the root
                const int right = sender_from_right(c < root ? c : ring, level - 1, groups);
                if (left >= 0) {
                    ends.load(left, other);
                    add_product<W>(own, ends.table(left) + Layout::to_right, other);
                }
                if (right >= 0) {
                    ends.load(right, other);
                    add_product<W>(own, ends.table(right) + Layout::to_left, other);
                }
            }
            if (level == levels) { // the root, or ends that feel no other
                solve_lower<W>(ends.table(c), own);
                solve_upper<W>(ends.table(c), own);
                ends.store(c, own);
            } else {
                if (k < count && k % 2 == 0) solve_lower<W>(ends.table(c), own);
                ends.keep(c, own);
            }
        }
        ends.wait();
    }
    for (int level = levels - 1; level >= 0; --level) {
        for (int k = 2 * ends.worker; k < root >> level; k += 2 * ends.workers) {
            const int c = ((k + 1) << level) - 1, before = left_neighbour(c, level);
            const int left = before >= 0 ? before : view.periodic ? root : -1;
            ends.load(c, own);
            if (left >= 0) {
                ends.load(left, other);
                add_product<W>(own, ends.table(c) + Layout::from_left, other);
            }
            ends.load(right_neighbour(c, level, groups), other);
            add_product<W>(own, ends.table(c) + Layout::from_right, other);
            solve_upper<W>(ends.table(c), own);
            ends.store(c, own);
        }
        ends.wait();
    }
}

} // namespace bandmill::detail
