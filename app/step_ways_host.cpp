#include "loop_stepper.hpp"
#include "place_host.hpp"
#include "rivals_lapack.hpp"
#include "step_ways.hpp"

namespace app {
namespace {

using bandmill::Host;
using States = std::span<const double>;

class OneSolve : public LoopStepper<double> {
  public:
    OneSolve(const Place<Host>& place, const StepCase& what, const PaperScheme& scheme, States states)
        : LoopStepper<double>(what, Layout::interleaved, states, {place.threads()}), place_(place),
          difference_factor_(scheme.factor), factor_(bandmill::factor<double>(scheme.matrix)) {}
    std::string path() const override {
        return std::string("stencil loop + solve, ") + bandmill::name(factor_.report().path);
    }
    std::size_t held_bytes() const override { return field_bytes() + factor_.report().bytes; }

  private:
    void step() override {
        parallel_members(
            [&](std::int64_t begin, std::int64_t end) {
                paper_right_sides(what_.equation, c_.data(), f_.data(), what_.n, what_.members, begin, end,
                                  difference_factor_);
            },
            8);
        bandmill::solve(factor_, bandmill::interleaved(f_, what_.n, what_.members),
                        bandmill::Threads{place_.threads()});
    }

    const Place<Host>& place_;
    double difference_factor_;
    bandmill::Factor<double, Host> factor_;
};

// One member, contiguous: the two rows at either end look around the corner.
template <EquationKind kind> void right_side_of_member(double factor, const double* c, double* f, std::int64_t n) {
    const auto wrapped = [&](std::int64_t i) { return c[i < 0 ? i + n : i >= n ? i - n : i]; };
    const auto row = [&](std::int64_t i) {
        f[i] = paper_right_side<kind>(factor, wrapped(i - 2), wrapped(i - 1), c[i], wrapped(i + 1), wrapped(i + 2));
    };
    row(0), row(1), row(n - 2), row(n - 1);
    for (std::int64_t i = 2; i < n - 2; ++i)
        f[i] = paper_right_side<kind>(factor, c[i - 2], c[i - 1], c[i], c[i + 1], c[i + 2]);
}

void correct_member(const PaperTables<double>& tables, double* x) {
    const std::int64_t rows = tables.rows;
    if (tables.half_bandwidth == 1) {
        const double amount = sherman_morrison(tables.border, x[0], x[rows - 1]), *z = tables.response(0);
        for (std::int64_t i = 0; i < rows; ++i) x[i] -= amount * z[i];
    } else {
        navon_border(tables.border, x[0], x[1], x[rows - 2], x[rows - 1], x[rows], x[rows + 1]);
        const double upper = x[rows], lower = x[rows + 1], *wu = tables.response(0), *wl = tables.response(1);
        for (std::int64_t i = 0; i < rows; ++i) x[i] = x[i] - wu[i] * upper - wl[i] * lower;
    }
}

class LapackSteps : public LoopStepper<double> {
  public:
    LapackSteps(const Place<Host>& place, const Rival<Host>& routine, const StepCase& what, const PaperScheme& scheme,
                States states)
        : LoopStepper<double>(what, Layout::contiguous, states, {place.threads()}), difference_factor_(scheme.factor),
          border_(paper_factor<double>(scheme.matrix)),
          solver_(routine.template make<double>(open_case(what), paper_open_part(scheme.matrix))), name_(routine.name) {
        border_.tables.values = border_.values.data();
    }
    std::string path() const override { return "stencil loop + " + name_ + ", " + solver_->path(); }
    std::size_t held_bytes() const override {
        return field_bytes() + border_.values.size() * sizeof(double) + solver_->held_bytes();
    }

  private:
    void step() override {
        const std::int64_t n = what_.n;
        for_each_member([&](std::int64_t m) {
            if (what_.equation == EquationKind::diffusion)
                right_side_of_member<EquationKind::diffusion>(difference_factor_, &c_[m * n], &f_[m * n], n);
            else
                right_side_of_member<EquationKind::hyperdiffusion>(difference_factor_, &c_[m * n], &f_[m * n], n);
        });
        const auto open = bandmill::strided(f_.data(), border_.tables.rows, what_.members, 1, n);
        solver_->solve(open, open);
        for_each_member([&](std::int64_t m) { correct_member(border_.tables, &f_[m * n]); });
    }
    template <class Work> void for_each_member(const Work& work) {
        parallel_members(
            [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t m = begin; m < end; ++m) work(m);
            },
            1);
    }

    double difference_factor_;
    PaperFactor<double> border_;
    std::unique_ptr<Contestant<double, Host>> solver_;
    std::string name_;
};

double fields(const StepCase& what) { return 2 * what.state_bytes(); }

} // namespace

std::vector<StepWay> make_ways(const Place<Host>& place) {
    StepWay ours{way::one_solve.name, [](const StepCase&) { return std::nullopt; }, fields, {}};
    ours.make = [&place](const StepCase& what, const PaperScheme& scheme, States states) {
        return std::make_unique<OneSolve>(place, what, scheme, states);
    };
    StepWay paper{way::paper.name, paper_obstacle, fields, {}};
    paper.make = [&place](const StepCase& what, const PaperScheme& scheme, States states) {
        return make_paper_stepper<double>(what, scheme, states, bandmill::Threads{place.threads()});
    };
    const std::vector<Rival<Host>> routines = {lapack_gttrs(place), lapack_gbtrs(place)};
    StepWay lapack{way::lapack.name, {}, fields, {}};
    lapack.obstacle = [routines](const StepCase& what) { return library_obstacle(routines, what); };
    lapack.make = [&place, routines](const StepCase& what, const PaperScheme& scheme, States states) {
        const Rival<Host>& routine = *std::get<const Rival<Host>*>(choose_routine(routines, what));
        return std::make_unique<LapackSteps>(place, routine, what, scheme, states);
    };
    return {ours, paper, lapack};
}

} // namespace app
