#include "kernel_stepper.hpp"
#include "place_cuda.hpp"
#include "rivals_cusparse.hpp"
#include "step_ways.hpp"

namespace app {
namespace {

using bandmill::Cuda;
using States = std::span<const double>;

class OneSolve : public KernelStepper<double> {
  public:
    OneSolve(const Place<Cuda>& place, const StepCase& what, const PaperScheme& scheme, States states)
        : KernelStepper<double>(what, scheme.factor, states, place.device()),
          factor_(bandmill::factor<double>(scheme.matrix, place.device())) {}
    std::string path() const override {
        return std::string("stencil kernel + solve, ") + bandmill::name(factor_.report().path);
    }
    std::size_t held_bytes() const override {
        const bandmill::FactorReport& report = factor_.report();
        return field_bytes() + report.bytes +
               report.workspace_bytes_per_system * static_cast<std::size_t>(what_.members);
    }

  private:
    void solve(double* x) override { bandmill::solve(factor_, bandmill::interleaved<Cuda>(x, what_.n, what_.members)); }

    bandmill::Factor<double, Cuda> factor_;
};

class CusparseSteps : public KernelStepper<double> {
  public:
    CusparseSteps(const Place<Cuda>& place, const Rival<Cuda>& routine, const StepCase& what, const PaperScheme& scheme,
                  States states)
        : CusparseSteps(place, routine, what, scheme, states, paper_factor<double>(scheme.matrix)) {}
    std::string path() const override { return "stencil kernel + " + name_ + ", " + solver_->path(); }
    std::size_t held_bytes() const override {
        return field_bytes() + static_cast<std::size_t>(values_.size() + scratch_.size()) * sizeof(double) +
               solver_->held_bytes();
    }

  private:
    CusparseSteps(const Place<Cuda>& place, const Rival<Cuda>& routine, const StepCase& what, const PaperScheme& scheme,
                  States states, const PaperFactor<double>& border)
        : KernelStepper<double>(what, scheme.factor, states, place.device()), tables_(border.tables),
          values_(std::span<const double>(border.values), place.device()), scratch_(what.members, place.device()),
          solver_(routine.template make<double>(open_case(what), paper_open_part(scheme.matrix))), name_(routine.name) {
        tables_.values = values_.data();
    }
    void solve(double* x) override {
        const auto open = bandmill::interleaved<Cuda>(x, tables_.rows, what_.members);
        solver_->solve(open, open);
        paper_border_cuda(device_, tables_, x, what_.members, scratch_.data());
    }

    PaperTables<double> tables_;
    bandmill::Array<double, Cuda> values_, scratch_;
    std::unique_ptr<Contestant<double, Cuda>> solver_;
    std::string name_;
};

double fields(const StepCase& what) { return 2 * what.state_bytes(); }

// Those that write their matrices again before each solve.
std::vector<Rival<Cuda>> resetting_routines(const Place<Cuda>& place) {
    std::vector<Rival<Cuda>> routines;
    for (Rival<Cuda>& rival : cusparse_rivals(place))
        if (rival.name.ends_with("InterleavedBatch+reset")) routines.push_back(std::move(rival));
    return routines;
}

} // namespace

std::vector<StepWay> make_ways(const Place<Cuda>& place) {
    StepWay ours{way::one_solve.name, [](const StepCase&) { return std::nullopt; }, fields, {}};
    ours.make = [&place](const StepCase& what, const PaperScheme& scheme, States states) {
        return std::make_unique<OneSolve>(place, what, scheme, states);
    };
    StepWay paper{way::paper.name, paper_obstacle, fields, {}};
    paper.make = [&place](const StepCase& what, const PaperScheme& scheme, States states) {
        return make_paper_stepper<double>(what, scheme, states, place.device());
    };
    const std::vector<Rival<Cuda>> routines = resetting_routines(place);
    StepWay cusparse{way::cusparse.name, {}, {}, {}};
    cusparse.obstacle = [routines](const StepCase& what) { return library_obstacle(routines, what); };
    cusparse.bytes = [routines](const StepCase& what) {
        const Rival<Cuda>& routine = *std::get<const Rival<Cuda>*>(choose_routine(routines, what));
        return fields(what) + static_cast<double>(routine.holding(open_case(what)).total());
    };
    cusparse.make = [&place, routines](const StepCase& what, const PaperScheme& scheme, States states) {
        const Rival<Cuda>& routine = *std::get<const Rival<Cuda>*>(choose_routine(routines, what));
        return std::make_unique<CusparseSteps>(place, routine, what, scheme, states);
    };
    return {ours, paper, cusparse};
}

} // namespace app
