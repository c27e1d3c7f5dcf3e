// Systems with a matrix of their own at one instruction-set level: every lane of a pack solves its own.
#include "bandmill/cpu/batch_lanes.hpp"

#include "bandmill/cpu/batch_strip.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {
namespace {

template <int W, bool Periodic, class T> bool diagonals_direct(const BatchJob<T>& job, std::int64_t first, int width) {
    for (int d = 0; d < 2 * W + 1; ++d)
        if (!Operand<T, const T>::is_direct(job.diagonal_shapes[d], first, width, width)) return false;
    return true;
}

template <int W, bool Periodic, class T> __attribute__((noinline)) void factor_strip(const Strip<T>& strip) {
    using Work = Elimination<W, Periodic, T>;
    using Layout = BatchLayout<W, Periodic>;
    constexpr int V = Work::lanes / Pack<T, 1>::lanes;
    alignas(64) T buffers[2 * Layout::diagonals * Work::buffer_values];
    Work work(strip, buffers);
    const BatchJob<T>& job = strip.job;
    const std::int64_t m = detail::interior_rows(job.n, W, Periodic);
    const auto tile = [&](int at) { return Tile<W, Periodic, T>(job.values, job.n, (strip.first + at) / batch_tile); };
    if constexpr (Periodic) work.fetch_separator();
    for (std::int64_t i = 0; i < m; i += visit_rows) {
        const std::int64_t end = least(i + visit_rows, m);
        work.fetch(i, end);
        for (int at = 0; at < strip.width; at += Work::lanes) {
            const auto to = tile(at);
            work.rows(at, i, end, [&](std::int64_t row, const auto& out) {
                const int lane = at % batch_tile;
                store_values<Layout::forward, T, V>(to.forward + row * Layout::forward * batch_tile + lane, batch_tile,
                                                    out.forward);
                store_values<Layout::backward, T, V>(to.backward + row * Layout::backward * batch_tile + lane,
                                                     batch_tile, out.backward);
            });
        }
    }
    if constexpr (Periodic)
        for (int at = 0; at < strip.width; at += Work::lanes)
            store_values<W * W, T, V>(tile(at).corner + at % batch_tile, batch_tile, work.corner(at));
    work.report();
}

// One tile at a time: its factor is walked from one end to the other anyway.
template <int W, bool Periodic, class T> __attribute__((noinline)) void solve_tile(const Strip<T>& strip) {
    using Layout = BatchLayout<W, Periodic>;
    constexpr int vectors =
        batch_solve_vectors < batch_tile / Pack<T, 1>::lanes ? batch_solve_vectors : batch_tile / Pack<T, 1>::lanes;
    using Value = Pack<T, vectors>;
    constexpr int lanes = Value::lanes, packs = batch_tile / lanes;
    const BatchJob<T>& job = strip.job;
    const std::int64_t n = job.n, m = detail::interior_rows(n, W, Periodic);
    const Tile<W, Periodic, T> tile(job.values, n, strip.first / batch_tile);
    alignas(64) T b_buffer[visit_rows * batch_tile], x_buffer[visit_rows * batch_tile];
    const Operand<T, const T> b(strip, job.b, job.b_shape, b_buffer);
    const Operand<T, T> x(strip, job.x, job.x_shape, x_buffer);

    detail::ForwardSweep<W, Periodic, Value> down[packs];
    for (std::int64_t i = 0; i < m; i += visit_rows) {
        const std::int64_t end = least(i + visit_rows, m);
        const Lines<const T> from = b.fetch(i, end);
        const Lines<T> to = x.room(i);
        for (int p = 0; p < packs; ++p) {
            auto sweep = down[p];
            for (std::int64_t row = i; row < end; ++row) {
                Values<Layout::forward, Value> forward;
                Value value;
                load_values<Layout::forward, T, vectors>(
                    forward, tile.forward + row * Layout::forward * batch_tile + p * lanes, batch_tile);
                load(value, from.row(row) + p * lanes);
                store(to.row(row) + p * lanes, sweep.row(forward, value));
            }
            down[p] = sweep;
        }
        x.deliver(i, end);
    }
    detail::BackwardSweep<W, Periodic, Value> up[packs];
    if constexpr (Periodic) {
        const Lines<const T> from = b.fetch(m, n);
        const Lines<T> to = x.room(m);
        for (int p = 0; p < packs; ++p) {
            Values<W * W, Value> corner;
            Values<W, Value> own;
            load_values<W * W, T, vectors>(corner, tile.corner + p * lanes, batch_tile);
            for (int s = 0; m + s < n; ++s) load(own[s], from.row(m + s) + p * lanes);
            up[p].separator = down[p].separator(corner, own);
            for (int s = 0; m + s < n; ++s) store(to.row(m + s) + p * lanes, up[p].separator[s]);
        }
        x.deliver(m, n);
    }
    for (std::int64_t end = m; end > 0;) {
        const std::int64_t i = (end - 1) / visit_rows * visit_rows;
        const Lines<const T> from = x.fetch(i, end);
        const Lines<T> to = x.room(i);
        for (int p = 0; p < packs; ++p) {
            auto sweep = up[p];
            for (std::int64_t row = end - 1; row >= i; --row) {
                Values<Layout::backward, Value> backward;
                Value value;
                load_values<Layout::backward, T, vectors>(
                    backward, tile.backward + row * Layout::backward * batch_tile + p * lanes, batch_tile);
                load(value, from.row(row) + p * lanes);
                store(to.row(row) + p * lanes, sweep.row(backward, value));
            }
            up[p] = sweep;
        }
        x.deliver(i, end);
        end = i;
    }
}

template <int W, bool Periodic, class T>
__attribute__((noinline)) void combine_strip(const Strip<T>& strip, T* scratch) {
    using Work = Elimination<W, Periodic, T>;
    using Layout = BatchLayout<W, Periodic>;
    using Value = typename Work::Value;
    constexpr int lanes = Work::lanes, V = lanes / Pack<T, 1>::lanes;
    alignas(64) T buffers[(2 * Layout::diagonals + 2) * Work::buffer_values];
    T* const own_buffers = buffers + 2 * Layout::diagonals * Work::buffer_values;
    Work work(strip, buffers);
    const BatchJob<T>& job = strip.job;
    const std::int64_t n = job.n, m = detail::interior_rows(n, W, Periodic), width = strip.width;
    const Operand<T, const T> b(strip, job.b, job.b_shape, own_buffers);
    const Operand<T, T> x(strip, job.x, job.x_shape, own_buffers + Work::buffer_values);
    const auto kept = [&](std::int64_t row, int at) { return scratch + row * Layout::kept * width + at; };

    detail::ForwardSweep<W, Periodic, Value> down[Work::most];
    if constexpr (Periodic) work.fetch_separator();
    for (std::int64_t i = 0; i < m; i += visit_rows) {
        const std::int64_t end = least(i + visit_rows, m);
        work.fetch(i, end);
        const Lines<const T> from = b.fetch(i, end);
        for (int at = 0; at < width; at += lanes) {
            auto sweep = down[at / lanes];
            work.rows(at, i, end, [&](std::int64_t row, const auto& out) {
                Value value;
                load(value, from.row(row) + at);
                store(kept(row, at), sweep.row(out.forward, value));
                store_values<Layout::backward, T, V>(kept(row, at) + width, width, out.backward);
            });
            down[at / lanes] = sweep;
        }
    }
    detail::BackwardSweep<W, Periodic, Value> up[Work::most];
    if constexpr (Periodic) {
        const Lines<const T> from = b.fetch(m, n);
        const Lines<T> to = x.room(m);
        for (int at = 0; at < width; at += lanes) {
            Values<W, Value> own;
            for (int s = 0; m + s < n; ++s) load(own[s], from.row(m + s) + at);
            auto& sweep = up[at / lanes];
            sweep.separator = down[at / lanes].separator(work.corner(at), own);
            for (int s = 0; m + s < n; ++s) store(to.row(m + s) + at, sweep.separator[s]);
        }
        x.deliver(m, n);
    }
    for (std::int64_t end = m; end > 0;) {
        const std::int64_t i = (end - 1) / visit_rows * visit_rows;
        const Lines<T> to = x.room(i);
        for (int at = 0; at < width; at += lanes) {
            auto sweep = up[at / lanes];
            for (std::int64_t row = end - 1; row >= i; --row) {
                Values<Layout::backward, Value> backward;
                Value value;
                load(value, kept(row, at));
                load_values<Layout::backward, T, V>(backward, kept(row, at) + width, width);
                store(to.row(row) + at, sweep.row(backward, value));
            }
            up[at / lanes] = sweep;
        }
        x.deliver(i, end);
        end = i;
    }
    work.report();
}

template <int W, bool Periodic, class T>
void factor_with(const BatchJob<T>& job, std::int64_t first, std::int64_t last) {
    for_each_strip(
        job, first, last, most_batch_strip,
        [&](std::int64_t system, int width) { return diagonals_direct<W, Periodic>(job, system, width); },
        factor_strip<W, Periodic, T>);
}
template <int W, bool Periodic, class T>
void solve_with(const BatchJob<T>& job, std::int64_t first, std::int64_t last) {
    for_each_strip(
        job, first, last, batch_tile, [](std::int64_t, int) { return true; }, solve_tile<W, Periodic, T>);
}
template <int W, bool Periodic, class T>
void combine_with(const BatchJob<T>& job, std::int64_t first, std::int64_t last, T* scratch) {
    const auto direct = [&](std::int64_t system, int width) {
        return diagonals_direct<W, Periodic>(job, system, width) &&
               Operand<T, const T>::is_direct(job.b_shape, system, width, width) &&
               Operand<T, T>::is_direct(job.x_shape, system, width, width);
    };
    for_each_strip(job, first, last, job.strip, direct,
                   [&](const Strip<T>& strip) { combine_strip<W, Periodic, T>(strip, scratch); });
}

// Calls the instantiation that the job asks for.
#define BANDMILL_FOR_JOB(call, ...)                                                                                    \
    if (job.half_bandwidth == 1)                                                                                       \
        job.periodic ? call<1, true>(__VA_ARGS__) : call<1, false>(__VA_ARGS__);                                       \
    else                                                                                                               \
        job.periodic ? call<2, true>(__VA_ARGS__) : call<2, false>(__VA_ARGS__)

template <class T> BatchWork<T> batch_work() {
    return {[](const BatchJob<T>& job, std::int64_t first, std::int64_t last) {
                BANDMILL_FOR_JOB(factor_with, job, first, last);
            },
            [](const BatchJob<T>& job, std::int64_t first, std::int64_t last) {
                BANDMILL_FOR_JOB(solve_with, job, first, last);
            },
            [](const BatchJob<T>& job, std::int64_t first, std::int64_t last, T* scratch) {
                BANDMILL_FOR_JOB(combine_with, job, first, last, scratch);
            }};
}

} // namespace

BatchWork<double> batch_work_f64() { return batch_work<double>(); }
BatchWork<float> batch_work_f32() { return batch_work<float>(); }

} // namespace bandmill::cpu::BANDMILL_LEVEL
