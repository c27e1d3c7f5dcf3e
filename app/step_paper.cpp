// The paper's way on the CPU: plain loops, rows outside, members inside.
#include "step_paper.hpp"

#include "loop_stepper.hpp"

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::Array;
using bandmill::BandMatrix;
using bandmill::Host;

template <class T> struct Columns { // members begin to end of an interleaved batch
    const T* c;
    T* f;
    std::int64_t n, batch, begin, end;
    const T* row(std::int64_t i) const { return c + (i < 0 ? i + n : i >= n ? i - n : i) * batch; }
};

template <EquationKind kind, class T>
__attribute__((always_inline)) inline void right_sides_loop(const Columns<T>& columns, T factor) {
    for (std::int64_t i = 0; i < columns.n; ++i) {
        const T* __restrict__ before2 = columns.row(i - 2);
        const T* __restrict__ before = columns.row(i - 1);
        const T* __restrict__ here = columns.row(i);
        const T* __restrict__ after = columns.row(i + 1);
        const T* __restrict__ after2 = columns.row(i + 2);
        T* __restrict__ f = columns.f + i * columns.batch;
        for (std::int64_t m = columns.begin; m < columns.end; ++m)
            f[m] = paper_right_side<kind>(factor, before2[m], before[m], here[m], after[m], after2[m]);
    }
}

// At the widest vectors the CPU has, as the solver of the rival.
#if defined(__x86_64__)
template <EquationKind kind, class T>
__attribute__((target("avx512f,prefer-vector-width=512"))) void right_sides_v4(const Columns<T>& columns, T factor) {
    right_sides_loop<kind>(columns, factor);
}
template <EquationKind kind, class T>
__attribute__((target("avx2"))) void right_sides_v3(const Columns<T>& columns, T factor) {
    right_sides_loop<kind>(columns, factor);
}
#endif

template <EquationKind kind, class T> void right_sides(const Columns<T>& columns, T factor) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return right_sides_v4<kind>(columns, factor);
    if (__builtin_cpu_supports("avx2")) return right_sides_v3<kind>(columns, factor);
#endif
    right_sides_loop<kind>(columns, factor);
}

template <class T> class PaperLoops : public LoopStepper<T> {
  public:
    PaperLoops(const StepCase& what, const PaperScheme& scheme, std::span<const T> states, bandmill::Threads threads)
        : LoopStepper<T>(what, Layout::interleaved, states, threads), factor_(static_cast<T>(scheme.factor)),
          solver_(paper_factor<T>(scheme.matrix)), scratch_(what.members) {
        solver_.tables.values = solver_.values.data();
    }

    std::string path() const override {
        return fmt::format("stencil loop + {} loop", solver_.tables.half_bandwidth == 1 ? "Thomas" : "pentadiagonal");
    }
    std::size_t held_bytes() const override {
        return this->field_bytes() + (solver_.values.size() + static_cast<std::size_t>(scratch_.size())) * sizeof(T);
    }

  private:
    void step() override {
        const StepCase& what = this->what_;
        T *c = this->c_.data(), *f = this->f_.data();
        this->parallel_members(
            [&](std::int64_t begin, std::int64_t end) {
                paper_right_sides(what.equation, c, f, what.n, what.members, begin, end, factor_);
                paper_solve(solver_.tables, f, what.members, begin, end, scratch_.data());
            },
            64 / sizeof(T));
    }

    T factor_;
    PaperFactor<T> solver_;
    Array<T, Host> scratch_;
};

} // namespace

template <class T>
void paper_right_sides(EquationKind kind, const T* c, T* f, std::int64_t n, std::int64_t batch, std::int64_t begin,
                       std::int64_t end, T factor) {
    using enum EquationKind;
    const Columns<T> columns{c, f, n, batch, begin, end};
    if (kind == diffusion)
        right_sides<diffusion>(columns, factor);
    else if (kind == hyperdiffusion)
        right_sides<hyperdiffusion>(columns, factor);
    else
        right_sides<cahn_hilliard>(columns, factor);
}
template void paper_right_sides(EquationKind, const double*, double*, std::int64_t, std::int64_t, std::int64_t,
                                std::int64_t, double);
template void paper_right_sides(EquationKind, const float*, float*, std::int64_t, std::int64_t, std::int64_t,
                                std::int64_t, float);

PaperScheme paper_scheme(const StepCase& what, const bandmill::EnsembleSpec& spec) {
    const double dx = spec.grid.spacing(), dt = spec.time_step, dx2 = dx * dx;
    const auto fourth = [&](double s) {
        const double row[] = {s, -4 * s, 1 + 6 * s, -4 * s, s};
        return BandMatrix::toeplitz(what.n, row, bandmill::Boundary::periodic);
    };
    if (what.equation == EquationKind::diffusion) {
        const double s = std::get<bandmill::Diffusion>(spec.equation).diffusivity * dt / 2 / dx2;
        const double row[] = {-s, 1 + 2 * s, -s};
        return {BandMatrix::toeplitz(what.n, row, bandmill::Boundary::periodic), s};
    }
    if (what.equation == EquationKind::hyperdiffusion) {
        const double s = std::get<bandmill::Hyperdiffusion>(spec.equation).diffusivity * dt / 2 / (dx2 * dx2);
        return {fourth(s), s};
    }
    return {fourth(std::get<bandmill::CahnHilliard>(spec.equation).gamma * dt / (dx2 * dx2)), dt / dx2};
}

std::optional<std::string> paper_obstacle(const StepCase& what) {
    if (what.equation == EquationKind::forced_cahn_hilliard) return "without forcing only";
    if (what.statistics != Statistics::none) return "without statistics only";
    if (what.n < paper_least_rows) return fmt::format("needs at least {} points", paper_least_rows);
    return std::nullopt;
}

template <class T>
std::unique_ptr<RivalStepper<T>> make_paper_stepper(const StepCase& what, const PaperScheme& scheme,
                                                    std::span<const T> states, bandmill::Threads threads) {
    return std::make_unique<PaperLoops<T>>(what, scheme, states, threads);
}
template std::unique_ptr<RivalStepper<double>> make_paper_stepper(const StepCase&, const PaperScheme&,
                                                                  std::span<const double>, bandmill::Threads);
template std::unique_ptr<RivalStepper<float>> make_paper_stepper(const StepCase&, const PaperScheme&,
                                                                 std::span<const float>, bandmill::Threads);

} // namespace app
