// The paper's way on the CPU: plain loops, rows outside, members inside.
#include "step_paper.hpp"

#include "parallel.hpp"

#include "bandmill/base/array.hpp"

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

template <class T> class PaperLoops : public PaperStepper<T> {
  public:
    PaperLoops(const StepCase& what, const PaperScheme& scheme, std::span<const T> states, bandmill::Threads threads)
        // For little work, waking threads would cost more than it saves; the solver's benchmark has the same limit.
        : what_(what), threads_(what.points() < 16384 ? 1 : threads.count), factor_(static_cast<T>(scheme.factor)),
          solver_(paper_factor<T>(scheme.matrix)), c_(what.n * what.members), f_(c_.size()), scratch_(what.members) {
        solver_.tables.values = solver_.values.data();
        const std::int64_t given = static_cast<std::int64_t>(states.size()) / what.n;
        for (std::int64_t i = 0; i < what.n; ++i)
            for (std::int64_t m = 0; m < what.members; ++m)
                c_[i * what.members + m] = states[static_cast<std::size_t>(m % given * what.n + i)];
    }

    std::string path() const override {
        return fmt::format("stencil loop + {} loop", solver_.tables.half_bandwidth == 1 ? "Thomas" : "pentadiagonal");
    }

    void advance(std::int64_t steps) override {
        for (std::int64_t k = 0; k < steps; ++k) {
            parallel_ranges(
                threads_, what_.members, [&](std::int64_t begin, std::int64_t end) { step(begin, end); },
                64 / sizeof(T));
            std::swap(c_, f_);
        }
    }

    std::vector<T> states(std::int64_t count) const override {
        std::vector<T> values;
        for (std::int64_t m = 0; m < count; ++m)
            for (std::int64_t i = 0; i < what_.n; ++i) values.push_back(c_[i * what_.members + m]);
        return values;
    }

  private:
    void step(std::int64_t begin, std::int64_t end) {
        using enum EquationKind;
        const Columns<T> columns{c_.data(), f_.data(), what_.n, what_.members, begin, end};
        if (what_.equation == diffusion)
            right_sides<diffusion>(columns, factor_);
        else if (what_.equation == hyperdiffusion)
            right_sides<hyperdiffusion>(columns, factor_);
        else
            right_sides<cahn_hilliard>(columns, factor_);
        paper_solve(solver_.tables, f_.data(), what_.members, begin, end, scratch_.data());
    }

    StepCase what_;
    int threads_;
    T factor_;
    PaperFactor<T> solver_;
    Array<T, Host> c_, f_, scratch_;
};

} // namespace

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
std::unique_ptr<PaperStepper<T>> make_paper_stepper(const StepCase& what, const PaperScheme& scheme,
                                                    std::span<const T> states, bandmill::Threads threads) {
    return std::make_unique<PaperLoops<T>>(what, scheme, states, threads);
}
template std::unique_ptr<PaperStepper<double>> make_paper_stepper(const StepCase&, const PaperScheme&,
                                                                  std::span<const double>, bandmill::Threads);
template std::unique_ptr<PaperStepper<float>> make_paper_stepper(const StepCase&, const PaperScheme&,
                                                                 std::span<const float>, bandmill::Threads);

} // namespace app
