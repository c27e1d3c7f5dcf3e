// The rival of `bandmill bench stencil`: a point after the other, or a thread for each, its neighbours fetched from
// memory; contiguous planes.
#pragma once

#include "bandmill/pde/weno.hpp"

#include "bandmill/base/space.hpp"
#include "bandmill/stencil/edges.hpp"

#include <cstdint>

namespace app {

template <class T> struct NaiveJob {
    const T* in;
    T* out;
    const T *u, *v; // with one of them it is advection
    std::int64_t rows, columns, batch;
    bandmill::Edges::Kind edges; // leave, periodic, even, or odd about zero
    int left, right, up, down;
    T weights[25]; // row by row
    bandmill::RightWeno5<T> derivative;
    T to_derivative;
};

// Without the hardware's fma, which the baseline of a host program lacks, a fused one would be a call.
template <class T> BANDMILL_HD T naive_multiply_add(T a, T b, T c) {
#if defined(__CUDA_ARCH__)
    return bandmill::detail::multiply_add(a, b, c);
#else
    return a * b + c;
#endif
}

// The point that stands for one of n, or for one beyond them.
BANDMILL_HD std::int64_t naive_index(bandmill::Edges::Kind edges, std::int64_t i, std::int64_t n) {
    if (edges == bandmill::Edges::Kind::periodic) return i < 0 ? i + n : i >= n ? i - n : i;
    return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i;
}

// Of one row, which may be one beyond the plane.
template <class T> struct NaiveRow {
    const NaiveJob<T>& job;
    const T* row;
    bool beyond, odd;

    BANDMILL_HD NaiveRow(const NaiveJob<T>& of, const T* plane, std::int64_t y)
        : job(of), odd(of.edges == bandmill::Edges::Kind::odd) {
        const std::int64_t found = naive_index(job.edges, y, job.rows);
        row = plane + found * job.columns;
        beyond = found != y;
    }
    BANDMILL_HD T operator()(std::int64_t x) const {
        const std::int64_t column = naive_index(job.edges, x, job.columns);
        return odd && beyond != (column != x) ? -row[column] : row[column];
    }
};

template <class T>
BANDMILL_HD T naive_derivative(const NaiveJob<T>& job, const T* plane, std::int64_t y, std::int64_t x, bool along_x,
                               bool positive) {
    T window[6];
    for (int k = 0; k < 6; ++k) {
        const int d = positive ? 2 - k : k - 2;
        window[k] = NaiveRow<T>(job, plane, along_x ? y : y + d)(along_x ? x + d : x);
    }
    return job.derivative(window);
}

template <class T>
BANDMILL_HD void naive_point(const NaiveJob<T>& job, std::int64_t y, std::int64_t x, std::int64_t m) {
    if (job.edges == bandmill::Edges::Kind::leave &&
        (x < job.left || x + job.right >= job.columns || y < job.up || y + job.down >= job.rows))
        return;
    const std::int64_t first = m * job.rows * job.columns, here = first + y * job.columns + x;
    const T* plane = job.in + first;
    T sum = T(0);
    if (job.u != nullptr || job.v != nullptr) {
        for (int axis = 0; axis < 2; ++axis) {
            const T* velocity = axis == 0 ? job.u : job.v;
            if (velocity == nullptr) continue;
            const T speed = velocity[here];
            const T slope = job.to_derivative * naive_derivative(job, plane, y, x, axis == 0, speed > T(0));
            sum = sum + (speed > T(0) ? speed : -speed) * slope;
        }
    } else {
        const T* weight = job.weights;
        for (int dy = -job.up; dy <= job.down; ++dy) {
            const NaiveRow<T> row(job, plane, y + dy);
            for (int dx = -job.left; dx <= job.right; ++dx) sum = naive_multiply_add(*weight++, row(x + dx), sum);
        }
    }
    job.out[here] = sum;
}

template <class T> void run_naive(bandmill::Device device, const NaiveJob<T>& job); // stencil_naive.cu

} // namespace app
