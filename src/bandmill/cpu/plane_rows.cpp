// Right-hand sides of a plane at one instruction-set level (BANDMILL_LEVEL, given by the build): down the rows, with
// three rows of C and three of the potential at hand. Loops that a compiler turns into vectors; no fused multiply-adds,
// so that all levels agree to the bit.
#include "bandmill/cpu/plane_rows.hpp"

#include "bandmill/pde/equations.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {
namespace {

// Three rows, the oldest first, each with a ghost before and after its n points.
template <class T> struct ThreeRows {
    T* row[3];

    ThreeRows(T* room, std::int64_t n) : row{room, room + (n + 2), room + 2 * (n + 2)} {}
    T* next() { // the oldest becomes the newest, to be filled
        T* const oldest = row[0];
        row[0] = row[1];
        row[1] = row[2];
        return row[2] = oldest;
    }
};

template <class T> void wrap(T* row, std::int64_t n) {
    row[0] = row[n];
    row[n + 1] = row[1];
}

template <class T> void load(const PlaneJob<T>& job, std::int64_t y, T* __restrict__ to) {
    y = y < 0 ? y + job.rows : y >= job.rows ? y - job.rows : y;
    const T* __restrict__ const state = job.state + y * job.row_stride;
    if (job.increment == nullptr) {
        for (std::int64_t i = 0; i < job.n; ++i) to[i + 1] = state[i];
    } else {
        const T* __restrict__ const increment = job.increment + y * job.row_stride;
        for (std::int64_t i = 0; i < job.n; ++i) to[i + 1] = state[i] + T(0.5) * increment[i];
    }
    wrap(to, job.n);
}

template <class E, class T>
__attribute__((noinline)) void potential(const PlaneJob<T>& job, const ThreeRows<T>& states, T* __restrict__ to) {
    const auto rate = *static_cast<const typename E::template PlaneRate<T>*>(job.rate);
    const PlaneWeights<T> weights = job.laplacian;
    const T *__restrict__ const below = states.row[0], *__restrict__ const here = states.row[1],
                                *__restrict__ const above = states.row[2];
    for (std::int64_t i = 1; i <= job.n; ++i)
        to[i] = rate.potential(here[i], weights.laplacian(here[i], here[i - 1], here[i + 1], below[i], above[i]));
    wrap(to, job.n);
}

template <class T>
__attribute__((noinline)) void update(const PlaneJob<T>& job, const ThreeRows<T>& potentials, std::int64_t y) {
    const PlaneWeights<T> weights = job.update;
    const T *__restrict__ const below = potentials.row[0] + 1, *__restrict__ const here = potentials.row[1] + 1,
                                *__restrict__ const above = potentials.row[2] + 1;
    T* __restrict__ const to = job.result + y * job.row_stride;
    for (std::int64_t i = 0; i < job.n; ++i)
        to[i] = weights.laplacian(here[i], here[i - 1], here[i + 1], below[i], above[i]);
    if (job.increment == nullptr) return;
    const T* __restrict__ const increment = job.increment + y * job.row_stride;
    for (std::int64_t i = 0; i < job.n; ++i) to[i] -= increment[i];
}

template <class E, class T> void rate(const PlaneJob<T>& job, std::int64_t first, std::int64_t last) {
    ThreeRows<T> states(job.scratch, job.n), potentials(job.scratch + 3 * (job.n + 2), job.n);
    for (std::int64_t y = first - 2; y < first; ++y) load(job, y, states.next());
    for (std::int64_t y = first - 1; y <= last; ++y) {
        load(job, y + 1, states.next());
        potential<E>(job, states, potentials.next());
        if (y > first) update(job, potentials, y - 1);
    }
}

template <class E, class T> constexpr PlaneFunctions<T> functions_of() {
    if constexpr (PlaneEquation<E>) return {rate<E, T>};
    return {};
}
template <class T, class... E>
void look_up(std::size_t equation, PlaneFunctions<T>& functions, const std::variant<E...>*) {
    static constexpr PlaneFunctions<T> all[] = {functions_of<E, T>()...};
    functions = all[equation];
}

} // namespace

void plane_functions(std::size_t equation, PlaneFunctions<double>& functions) {
    look_up(equation, functions, static_cast<const Equation*>(nullptr));
}
void plane_functions(std::size_t equation, PlaneFunctions<float>& functions) {
    look_up(equation, functions, static_cast<const Equation*>(nullptr));
}

} // namespace bandmill::cpu::BANDMILL_LEVEL
