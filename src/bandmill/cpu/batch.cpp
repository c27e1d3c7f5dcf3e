#include "bandmill/band/batch.hpp"

#include "bandmill/band/batch_sweeps.hpp"
#include "bandmill/base/threads.hpp"
#include "bandmill/cpu/batch_lanes.hpp"
#include "bandmill/cpu/level.hpp"
#include "bandmill/cpu/tuning.hpp"

#include <algorithm>

namespace bandmill {
namespace {

using detail::batch_tile;

template <class T> cpu::BatchWork<T> work_at(cpu::Level level) {
    const auto choose = [](auto f64, auto f32) {
        if constexpr (std::is_same_v<T, double>)
            return f64();
        else
            return f32();
    };
    switch (level) {
#if defined(__x86_64__)
    case cpu::Level::v4: return choose(cpu::v4::batch_work_f64, cpu::v4::batch_work_f32);
    case cpu::Level::v3: return choose(cpu::v3::batch_work_f64, cpu::v3::batch_work_f32);
    default: return choose(cpu::v2::batch_work_f64, cpu::v2::batch_work_f32);
#else
    default: return choose(cpu::generic::batch_work_f64, cpu::generic::batch_work_f32);
#endif
    }
}

template <class T> cpu::BatchJob<T> job_of(const BatchShape& shape) {
    cpu::BatchJob<T> job{};
    job.half_bandwidth = shape.half_bandwidth;
    job.periodic = shape.boundary == Boundary::periodic;
    job.n = shape.rows;
    job.batch = shape.batch;
    return job;
}

template <class T> void add_matrices(cpu::BatchJob<T>& job, const BandBatch<T, Host>& matrices) {
    for (int d = 0; d < matrices.diagonals(); ++d) {
        job.diagonals[d] = matrices.data(d);
        job.diagonal_shapes[d] = matrices.field_shape(d);
    }
}

std::int64_t tiles_of(const BatchShape& shape) { return (shape.batch + batch_tile - 1) / batch_tile; }

// As in solve.cpp: for little work one thread is quicker.
int threads_for(const BatchShape& shape, Threads threads) {
    const int count = detail::thread_count(threads);
    return shape.rows * shape.batch < 16384 ? 1 : count;
}

std::int64_t kept_values(const BatchShape& shape) {
    return 1 + shape.half_bandwidth * (shape.boundary == Boundary::periodic ? 2 : 1);
}

// Systems side by side in the scratch of one thread.
template <class T> std::int64_t scratch_strip(const BatchShape& shape) {
    std::int64_t strip = cpu::most_batch_strip;
    while (strip > batch_tile &&
           strip * shape.rows * kept_values(shape) * static_cast<int>(sizeof(T)) > cpu::batch_scratch_bytes)
        strip /= 2;
    return strip;
}

// What threads take from each other: whole strips, so that they stay wide.
template <class T> std::int64_t strips_of(const BatchShape& shape) {
    const std::int64_t strip = scratch_strip<T>(shape);
    return (shape.batch + strip - 1) / strip;
}

// Threads that can have work in one call.
template <class T> int useful_threads(const BatchShape& shape, Threads threads) {
    return static_cast<int>(std::clamp<std::int64_t>(strips_of<T>(shape), 1, threads_for(shape, threads)));
}

} // namespace

template <class T> BatchFactor<T, Host> factor(const BandBatch<T, Host>& matrices, Threads threads) {
    const BatchShape& shape = matrices.shape();
    const int count = threads_for(shape, threads);
    cpu::BatchJob<T> job = job_of<T>(shape);
    auto data = std::make_shared<detail::BatchFactorData<T, Host>>();
    data->values = Array<T, Host>(tiles_of(shape) * detail::tile_values(shape.rows, job.half_bandwidth, job.periodic));
    data->status = Array<std::int64_t, Host>(shape.batch);
    add_matrices(job, matrices);
    job.values = data->values.data();
    job.status = data->status.data();
    job.status_shape = {1, shape.batch, 0, 1, std::max<std::int64_t>(shape.batch, 1), 0};
    const auto work = work_at<T>(cpu::level());
    detail::for_each_share(tiles_of(shape), count,
                           [&](std::int64_t begin, std::int64_t end) { work.factor(job, begin, end); });
    return {shape, std::move(data)};
}

template <class T>
void solve(const BatchFactor<T, Host>& factor, std::type_identity_t<FieldView<const T, Host>> b,
           std::type_identity_t<FieldView<T, Host>> x, Threads threads) {
    const BatchShape& shape = factor.shape();
    detail::check_batch_solve(shape, b.shape(), b.data(), x.shape(), x.data(), sizeof(T));
    const int count = threads_for(shape, threads);
    cpu::BatchJob<T> job = job_of<T>(shape);
    job.values = const_cast<T*>(factor.data().values.data()); // a solve only reads it
    job.b = b.data();
    job.b_shape = b.shape();
    job.x = x.data();
    job.x_shape = x.shape();
    const auto work = work_at<T>(cpu::level());
    detail::for_each_share(tiles_of(shape), count,
                           [&](std::int64_t begin, std::int64_t end) { work.solve(job, begin, end); });
}

template <class T>
BatchWorkspace<T, Host>::BatchWorkspace(const BatchShape& shape, Threads threads) : shape_(shape), threads_(1) {
    detail::check_batch_shape(shape);
    threads_ = useful_threads<T>(shape, threads);
    values_ = Array<T, Host>(threads_ * scratch_strip<T>(shape) * shape.rows * kept_values(shape));
}

template <class T>
void solve(const BandBatch<T, Host>& matrices, std::type_identity_t<FieldView<const T, Host>> b,
           std::type_identity_t<FieldView<T, Host>> x, FieldView<std::int64_t, Host> status,
           BatchWorkspace<T, Host>& workspace, Threads threads) {
    const BatchShape& shape = matrices.shape();
    detail::check_combined(matrices, b, x, status, workspace.shape());
    cpu::BatchJob<T> job = job_of<T>(shape);
    add_matrices(job, matrices);
    job.b = b.data();
    job.b_shape = b.shape();
    job.x = x.data();
    job.x_shape = x.shape();
    job.status = status.data();
    job.status_shape = status.shape();
    job.strip = scratch_strip<T>(shape);
    const auto work = work_at<T>(cpu::level());
    const std::int64_t tiles = tiles_of(shape), group = job.strip / batch_tile, groups = strips_of<T>(shape);
    const int shares = std::min(useful_threads<T>(shape, threads), workspace.threads());
    // A share is a thread's, and so is its scratch.
    detail::for_each_share(shares, shares, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t which = begin; which < end; ++which)
            work.combine(job, std::min(tiles, groups * which / shares * group),
                         std::min(tiles, groups * (which + 1) / shares * group),
                         workspace.of_thread(static_cast<int>(which)));
    });
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template BatchFactor<T, Host> factor<T>(const BandBatch<T, Host>&, Threads);                                       \
    template void solve<T>(const BatchFactor<T, Host>&, FieldView<const T, Host>, FieldView<T, Host>, Threads);        \
    template class BatchWorkspace<T, Host>;                                                                            \
    template void solve<T>(const BandBatch<T, Host>&, FieldView<const T, Host>, FieldView<T, Host>,                    \
                           FieldView<std::int64_t, Host>, BatchWorkspace<T, Host>&, Threads);
BANDMILL_INSTANTIATE(double)
BANDMILL_INSTANTIATE(float)

} // namespace bandmill
