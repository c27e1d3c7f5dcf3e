// What all partitioned kernels share: how the segments of a group talk to each other within a block.
#pragma once

#include "bandmill/band/partition.hpp"
#include "bandmill/base/field.hpp"

#include <cstdint>

namespace bandmill::cuda {

// Where a system starts in a view. 64-bit division takes a hundred instructions, so views without tiles skip it.
__device__ __forceinline__ std::int64_t system_offset(const FieldShape& shape, std::int64_t m) {
    if (shape.tile >= shape.batch) return m * shape.batch_stride;
    return m % shape.tile * shape.batch_stride + m / shape.tile * shape.tile_stride;
}

// Values of separators in shared memory: [slot][w][lane], so that lanes are neighbours.
template <class Value, int W> struct Exchange {
    Value* values;
    int lanes, lane;

    __device__ __forceinline__ Value* at(int slot, int w) const { return values + (slot * W + w) * lanes + lane; }
    __device__ __forceinline__ void put(int slot, const Value (&value)[W]) const {
#pragma unroll
        for (int w = 0; w < W; ++w) *at(slot, w) = value[w];
    }
    __device__ __forceinline__ void get(int slot, Value (&value)[W]) const {
#pragma unroll
        for (int w = 0; w < W; ++w) value[w] = *at(slot, w);
    }
};

// One thread's part in a partitioned solve: segment q of its group. All threads of the block must make all calls; `q`
// beyond the group marks one that only keeps the barriers. band/probe.cpp does the same on the host, operation by
// operation.
template <class T, int W, int K, class Value> struct GroupThread {
    using Layout = detail::SeparatorLayout<W>;

    const detail::PartitionView<T>& view;
    const T* separators; // the group's tables, wherever they are
    // Slot q: what separator q - 1 receives from its right; slot 0 is for the end of the group before. (Registers are
    // scarce, so these sums stay in shared memory.)
    Exchange<Value, W> spills;
    Exchange<Value, W> edges; // slot 0: the end of the group before (zero if there is none), slot q + 1: separator q
    int q;
    detail::Segment<T, W, K, Value> segment;
    Value edge[W];

    __device__ __forceinline__ const T* block(int sender, int part) const {
        return separators + sender * Layout::entries + part;
    }
    __device__ __forceinline__ bool is_end() const { return q == view.group - 1; }
    // -1: none. The end's level is above all.
    __device__ __forceinline__ int own_level() const {
        if (q >= view.group) return -1;
        return is_end() ? view.levels + 1 : min(detail::separator_level(q), view.levels);
    }
    __device__ __forceinline__ void add_spill() {
        Value other[W];
        spills.get(q + 1, other);
#pragma unroll
        for (int w = 0; w < W; ++w) edge[w] = edge[w] + other[w];
    }
    // Adds what separator `sender`, just eliminated, leaves on its left neighbour, whose sum stands in `slot`.
    __device__ __forceinline__ void spill_from(int sender, int slot) {
        Value sum[W], other[W];
        spills.get(slot, sum);
        edges.get(sender + 1, other);
        detail::add_product<W>(sum, block(sender, Layout::to_left), other);
        spills.put(slot, sum);
    }

    // Eliminates the group down to its end: thread group - 1 then holds its right-hand side in `edge`, and what the end
    // of the group before receives stands in slot 0 of `spills`, written by thread 0.
    __device__ __forceinline__ void eliminate() {
        using namespace detail;
        const int level_here = own_level();
        segment.sweep_down(edge);
        if (q < view.group) spills.put(q, edge);
        __syncthreads();
#pragma unroll
        for (int w = 0; w < W; ++w) edge[w] = segment.g[K - W + w];
        for (int level = 0; level < view.levels; ++level) {
            if (level_here == level) {
                add_spill();
                solve_lower<W>(block(q, 0), edge);
                edges.put(q + 1, edge);
            }
            __syncthreads();
            if (q == 0 && 1 << level < view.group) spill_from((1 << level) - 1, 0);
            if (level_here > level) {
                const int from_left = sender_from_left(q, level, view.group);
                const int from_right = sender_from_right(q, level, view.group);
                if (from_left >= 0) {
                    Value other[W];
                    edges.get(from_left + 1, other);
                    add_product<W>(edge, block(from_left, Layout::to_right), other);
                }
                if (from_right >= 0) spill_from(from_right, q + 1);
            }
        }
        if (level_here == view.levels) { // feels no other
            add_spill();
            solve_lower<W>(block(q, 0), edge);
            solve_upper<W>(block(q, 0), edge);
            edges.put(q + 1, edge);
        }
    }

    // The rest, once the solutions of the group's end and of the end before it stand in `edges`.
    __device__ __forceinline__ void substitute() {
        using namespace detail;
        const int level_here = own_level();
        Value other[W];
        for (int level = view.levels - 1; level >= 0; --level) {
            if (level_here == level) {
                edges.get(left_neighbour(q, level) + 1, other);
                add_product<W>(edge, block(q, Layout::from_left), other);
                edges.get(right_neighbour(q, level, view.group) + 1, other);
                add_product<W>(edge, block(q, Layout::from_right), other);
                solve_upper<W>(block(q, 0), edge);
                edges.put(q + 1, edge);
            }
            __syncthreads();
        }
        if (q >= view.group) return;
        if (is_end()) edges.get(view.group, edge);
#pragma unroll
        for (int w = 0; w < W; ++w) segment.g[K - W + w] = edge[w];
        edges.get(q, other);
        segment.sweep_up(other);
    }
};

// The ends of all groups of a system that one block holds: `edges` and `spills` of group 0, group after group.
template <class T, class Value, int W> struct BlockEnds {
    const detail::PartitionView<T>& view;
    Exchange<Value, W> spills, edges;
    int worker, workers;

    __device__ __forceinline__ int slot(int c) const { return c * (view.group + 1) + view.group; }
    __device__ __forceinline__ void load(int c, Value (&value)[W]) const { edges.get(slot(c), value); }
    __device__ __forceinline__ void load_spill(int c, Value (&value)[W]) const { spills.get(c * view.group, value); }
    __device__ __forceinline__ void keep(int c, const Value (&value)[W]) { edges.put(slot(c), value); }
    __device__ __forceinline__ void store(int c, const Value (&value)[W]) {
        keep(c, value);
        if (c + 1 < view.groups())
            edges.put(slot(c) + 1, value); // the group after looks for it in its slot 0
        else if (view.periodic)
            edges.put(0, value);
    }
    __device__ __forceinline__ const T* table(int c) const {
        return view.separators + view.end_of(c) * detail::SeparatorLayout<W>::entries;
    }
    __device__ __forceinline__ void wait() const { __syncthreads(); }
};

} // namespace bandmill::cuda
