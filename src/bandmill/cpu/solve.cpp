#include "bandmill/band/solve.hpp"

#include "bandmill/band/tables.hpp"
#include "bandmill/base/threads.hpp"
#include "bandmill/cpu/level.hpp"
#include "bandmill/cpu/solve_lanes.hpp"

namespace bandmill {
namespace {

template <class T> cpu::SolveRange<T> solver_for(cpu::Level level) {
    switch (level) {
#if defined(__x86_64__)
    case cpu::Level::v4: return cpu::v4::solve_range;
    case cpu::Level::v3: return cpu::v3::solve_range;
    default: return cpu::v2::solve_range;
#else
    default: return cpu::generic::solve_range;
#endif
    }
}

// Threads take whole blocks of systems. 64 are a multiple of every pack and of a cache line; a small batch is split
// more finely, so that no thread goes without.
std::int64_t systems_per_block(std::int64_t batch, int threads) {
    std::int64_t block = 64;
    while (block > 16 && batch / block < 4 * static_cast<std::int64_t>(threads)) block /= 2;
    return block;
}

} // namespace

template <class T>
void solve(const Factor<T, Host>& factor, std::type_identity_t<FieldView<const T, Host>> b,
           std::type_identity_t<FieldView<T, Host>> x, Threads threads) {
    detail::check_solve(factor.size(), b.shape(), b.data(), x.shape(), x.data(), sizeof(T));
    int count = detail::thread_count(threads);
    const cpu::SolveRange<T> solve_range = solver_for<T>(cpu::level());
    if (x.batch() == 0) return;

    const detail::SolveTables<T>& tables = factor.data().tables;
    cpu::SolveJob<T> job{};
    job.path = factor.report().path;
    job.half_bandwidth = factor.half_bandwidth();
    job.periodic = factor.boundary() == Boundary::periodic;
    if (tables.direct) job.direct = tables.direct->view();
    if (tables.pivoted) {
        job.pivoted = tables.pivoted->view();
        job.reach = tables.pivoted->reach;
    }
    job.b = b.data();
    job.b_shape = b.shape();
    job.x = x.data();
    job.x_shape = x.shape();

    // Waking threads costs more than 16,384 unknowns, which one core solves in about 10 us.
    if (x.rows() * x.batch() < 16384) count = 1;
    const std::int64_t block = systems_per_block(x.batch(), count);
    detail::for_each_share((x.batch() + block - 1) / block, count, [&](std::int64_t begin, std::int64_t end) {
        solve_range(job, begin * block, end * block < x.batch() ? end * block : x.batch());
    });
}

template void solve<double>(const Factor<double, Host>&, FieldView<const double, Host>, FieldView<double, Host>,
                            Threads);
template void solve<float>(const Factor<float, Host>&, FieldView<const float, Host>, FieldView<float, Host>, Threads);

} // namespace bandmill
