// The rival of `bandmill bench stencil`: a point after the other, or a thread for each, its neighbours fetched from
// memory; contiguous planes.
#pragma once

#include "bandmill/pde/weno.hpp"

#include "bandmill/base/space.hpp"

#include <cstdint>

namespace app {

template <class T> struct NaiveJob {
    const T* in;
    T* out;
    const T *u, *v; // with one of them it is advection
    std::int64_t rows, columns, batch;
    bool periodic; // else points that miss neighbours are left alone
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

template <class T> BANDMILL_HD std::int64_t wrapped(std::int64_t i, std::int64_t n) {
    return i < 0 ? i + n : i >= n ? i - n : i;
}

template <class T>
BANDMILL_HD T naive_derivative(const NaiveJob<T>& job, const T* plane, std::int64_t y, std::int64_t x, bool along_x,
                               bool positive) {
    T window[6];
    for (int k = 0; k < 6; ++k) {
        const int d = positive ? 2 - k : k - 2;
        const std::int64_t row = wrapped<T>(along_x ? y : y + d, job.rows),
                           column = wrapped<T>(along_x ? x + d : x, job.columns);
        window[k] = plane[row * job.columns + column];
    }
    return job.derivative(window);
}

template <class T>
BANDMILL_HD void naive_point(const NaiveJob<T>& job, std::int64_t y, std::int64_t x, std::int64_t m) {
    if (!job.periodic && (x < job.left || x + job.right >= job.columns || y < job.up || y + job.down >= job.rows))
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
            const T* row = plane + wrapped<T>(y + dy, job.rows) * job.columns;
            for (int dx = -job.left; dx <= job.right; ++dx)
                sum = naive_multiply_add(*weight++, row[wrapped<T>(x + dx, job.columns)], sum);
        }
    }
    job.out[here] = sum;
}

template <class T> void run_naive(bandmill::Device device, const NaiveJob<T>& job); // stencil_naive.cu

} // namespace app
