// The CPU stepper at one instruction-set level (BANDMILL_LEVEL, given by the build): a pack of lanes steps its members.
#include "bandmill/cpu/step_lanes.hpp"

#include "bandmill/cpu/step_measure.hpp"
#include "bandmill/cpu/step_rows.hpp"
#include "bandmill/cpu/tuning.hpp"
#include "bandmill/pde/equations.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {
namespace {

template <class T> using Members = Pack<T, step_vectors>;

template <class E, bool Periodic, class T>
__attribute__((noinline)) void advance_block(const StepJob<T>& job, std::int64_t steps) {
    const detail::DirectView<T> tables = job.tables; // a copy: no store can change it
    for (; steps > 0; --steps) {
        fill_ghosts<Members<T>>(job);
        StepRows<E, Periodic, Members<T>, T> rows(job);
        detail::sweep_direct<E::half_bandwidth, Periodic>(tables, rows);
    }
}

template <class E, bool Periodic, class T>
__attribute__((noinline)) void measure_block(const StepJob<T>& job, unsigned wanted, double* values) {
    fill_ghosts<Members<T>>(job);
    const Measure<E, Periodic, Members<T>, T> measure(job);
    const auto of = [&](Observable which) { return values + static_cast<int>(which) * Members<T>::lanes; };
    const auto wants = [&](Observable which) { return (wanted >> static_cast<int>(which) & 1) != 0; };
    if (wants(Observable::mean)) measure.mean(of(Observable::mean));
    if (wants(Observable::mean_square) || wants(Observable::domain_size))
        measure.mean_square(of(Observable::mean_square));
    if (wants(Observable::domain_size)) measure.domain_size(of(Observable::mean_square), of(Observable::domain_size));
    if (wants(Observable::free_energy)) measure.free_energy(of(Observable::free_energy));
    if (wants(Observable::largest)) measure.largest(of(Observable::largest));
    if (wants(Observable::rate)) measure.rate(of(Observable::rate));
    if (wants(Observable::interfaces)) measure.interfaces(of(Observable::interfaces));
}

template <class E, class T> void advance(const StepJob<T>& job, std::int64_t steps) {
    job.ends == Ends::periodic ? advance_block<E, true>(job, steps) : advance_block<E, false>(job, steps);
}
template <class E, class T> void measure(const StepJob<T>& job, unsigned wanted, double* values) {
    job.ends == Ends::periodic ? measure_block<E, true>(job, wanted, values)
                               : measure_block<E, false>(job, wanted, values);
}

// The functions of every equation, in the order of the variant.
template <class T, class... E>
void look_up(std::size_t equation, StepFunctions<T>& functions, const std::variant<E...>*) {
    static constexpr StepFunctions<T> all[] = {{Members<T>::lanes, advance<E, T>, measure<E, T>}...};
    functions = all[equation];
}

} // namespace

void step_functions(std::size_t equation, StepFunctions<double>& functions) {
    look_up(equation, functions, static_cast<const Equation*>(nullptr));
}
void step_functions(std::size_t equation, StepFunctions<float>& functions) {
    look_up(equation, functions, static_cast<const Equation*>(nullptr));
}

} // namespace bandmill::cpu::BANDMILL_LEVEL
