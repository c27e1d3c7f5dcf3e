// What both partitioned kernels share: how the segments of a system talk to each other within a block.
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

// Values of all separators in shared memory: [segment][w][lane], so that lanes are neighbours.
template <class T, int W> struct Exchange {
    T* values;
    int lanes, lane;

    __device__ __forceinline__ void put(int p, const T (&value)[W]) const {
#pragma unroll
        for (int w = 0; w < W; ++w) values[(p * W + w) * lanes + lane] = value[w];
    }
    __device__ __forceinline__ void get(int p, T (&value)[W]) const {
#pragma unroll
        for (int w = 0; w < W; ++w) value[w] = values[(p * W + w) * lanes + lane];
    }
};

// One thread's part in a partitioned solve, once its segment's right-hand side stands in `segment.g`; all threads of
// the block must call it. band/probe.cpp does the same on the host, operation by operation. `separators` is the table
// that view.separators points to, or a copy of it. `p` beyond the last segment marks a thread that only keeps the
// barriers.
template <class T, int W, int K>
__device__ __forceinline__ void solve_segment(const detail::PartitionView<T>& view, const T* separators,
                                              const Exchange<T, W>& spills, const Exchange<T, W>& edges, int p,
                                              detail::Segment<T, W, K>& segment) {
    using namespace detail;
    using Layout = SeparatorLayout<W>;
    const int root = view.segments - 1;
    auto table = [&](int q) { return separators + q * Layout::entries; };
    const int level_of_p = p == root ? view.levels : min(separator_level(p), view.levels);
    const int own_level = p > root ? -1 : level_of_p;
    T edge[W], other[W];

    segment.sweep_down(other);
    if (p <= root) spills.put(p, other);
    __syncthreads();
#pragma unroll
    for (int w = 0; w < W; ++w) edge[w] = segment.g[K - W + w];
    if (p < root || (p == root && view.periodic)) {
        spills.get(p < root ? p + 1 : 0, other);
#pragma unroll
        for (int w = 0; w < W; ++w) edge[w] += other[w];
    }

    for (int level = 0; level < view.levels; ++level) {
        if (own_level == level) {
            solve_lower<W>(table(p), edge);
            edges.put(p, edge);
        }
        __syncthreads();
        if (own_level > level) {
            const int left = sender_from_left(p, level, view.segments);
            const int right = sender_from_right(p, level, view.segments, view.periodic);
            if (left >= 0) {
                edges.get(left, other);
                add_product<W>(edge, table(left) + Layout::to_right, other);
            }
            if (right >= 0) {
                edges.get(right, other);
                add_product<W>(edge, table(right) + Layout::to_left, other);
            }
        }
    }
    if (own_level == view.levels) {
        solve_lower<W>(table(p), edge);
        solve_upper<W>(table(p), edge);
        edges.put(p, edge);
    }
    for (int level = view.levels - 1; level >= 0; --level) {
        __syncthreads();
        if (own_level == level) {
            const int left = left_neighbour(p, level, view.segments, view.periodic);
            const int right = right_neighbour(p, level, view.segments);
            if (left >= 0) {
                edges.get(left, other);
                add_product<W>(edge, table(p) + Layout::from_left, other);
            }
            edges.get(right, other);
            add_product<W>(edge, table(p) + Layout::from_right, other);
            solve_upper<W>(table(p), edge);
            edges.put(p, edge);
        }
    }
    __syncthreads();

#pragma unroll
    for (int w = 0; w < W; ++w) {
        segment.g[K - W + w] = edge[w];
        other[w] = T(0);
    }
    if (p <= root && (p > 0 || view.periodic)) edges.get(p > 0 ? p - 1 : root, other);
    segment.sweep_up(other);
}

} // namespace bandmill::cuda
