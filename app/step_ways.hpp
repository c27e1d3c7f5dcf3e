// The ways of stepping that ensembles are compared with in `bandmill bench diffusion` and `hyperdiffusion`: each step
// is a pass over memory for the right-hand sides, then a solve. Described before they are made, as the rivals of the
// solver.
//   one-solve  our own solver: one matrix for all, factored once
//   paper      the paper's solver (step_paper.hpp)
//   cusparse   a matrix for each system, written again at every step, since the library overwrites it; on a GPU
//   lapack     one matrix, factored once; on the CPU
// The libraries solve open systems: the periodic ones are bordered around them as in the paper.
#pragma once

#include "contestant.hpp"
#include "rival_names.hpp"
#include "step_paper.hpp"

#include <variant>

namespace app {

struct StepWay {
    using Made = std::unique_ptr<RivalStepper<double>>;

    std::string name;
    std::function<std::optional<std::string>(const StepCase&)> obstacle; // why it cannot take this case
    std::function<double(const StepCase&)> bytes; // all it will hold, but for what grows with n alone
    std::function<Made(const StepCase&, const PaperScheme&, std::span<const double>)> make; // from such states
};

namespace way {
inline constexpr RivalName one_solve = {"one-solve", "our solver, called once per step: members go to memory and back"},
                           paper = {"paper", "the paper's way: its periodic solver, one thread or lane per member"},
                           cusparse = {"cusparse",
                                       "gtsv/gpsvInterleavedBatch: a matrix per member, written every step"},
                           lapack = {"lapack", "gttrs/gbtrs: one matrix, factored once; contiguous members"};
inline constexpr RivalName host[] = {one_solve, paper, lapack}, cuda[] = {one_solve, paper, cusparse};
} // namespace way

inline std::span<const RivalName> way_names(Backend backend) {
    if (backend == Backend::cuda) return way::cuda;
    return way::host;
}

// In the order of the table. They keep a reference to the place.
std::vector<StepWay> make_ways(const Place<bandmill::Host>& place);
std::vector<StepWay> make_ways(const Place<bandmill::Cuda>& place);

// What a library is given to solve in such a step.
inline SolveCase open_case(const StepCase& what) {
    const int width = what.equation == EquationKind::diffusion ? 1 : 2;
    SolveCase open{};
    open.half_bandwidth = width;
    open.boundary = bandmill::Boundary::open;
    open.n = width == 1 ? what.n : what.n - 2;
    open.batch = what.members;
    open.precision = Precision::f64;
    return open;
}

// The first of the library's routines that takes the case, else why none does.
template <class Space>
std::variant<const Rival<Space>*, std::string> choose_routine(const std::vector<Rival<Space>>& routines,
                                                              const StepCase& what) {
    if (const auto reason = paper_obstacle(what)) return *reason;
    const SolveCase open = open_case(what);
    std::string reasons;
    for (const Rival<Space>& routine : routines) {
        const auto reason = routine.obstacle(open);
        if (!reason && open.n > routine.most_elements / open.batch) return "its indices may overflow";
        if (!reason) return &routine;
        reasons = *reason;
    }
    return reasons;
}

template <class Space>
std::optional<std::string> library_obstacle(const std::vector<Rival<Space>>& routines, const StepCase& what) {
    const auto chosen = choose_routine(routines, what);
    if (const auto* reason = std::get_if<std::string>(&chosen)) return *reason;
    return std::nullopt;
}

} // namespace app
