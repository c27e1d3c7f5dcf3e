#include "paper_case.hpp"

namespace app {
namespace {

std::vector<std::int64_t> members_for(std::int64_t n, Backend backend) {
    if (backend == Backend::cuda) return {64, 256, 1024, 4096, 16384, 65536, 1048576};
    std::vector<std::int64_t> few;
    for (const std::int64_t members : {64, 256, 1024, 4096})
        if (few.empty() || members <= (std::int64_t{1} << 20) / n) few.push_back(members);
    return few;
}

} // namespace

std::vector<StepCase> make_paper_cases(EquationKind equation, const PaperLists& lists, Backend backend) {
    std::vector<StepCase> cases;
    for (const std::int64_t n : lists.n.empty() ? std::vector<std::int64_t>{64, 256, 1024} : lists.n)
        for (const std::int64_t members : lists.members.empty() ? members_for(n, backend) : lists.members) {
            StepCase what{equation, n, members};
            what.threads = lists.threads;
            // What a user with so few members would choose on a GPU; it changes nothing beyond 256 points.
            if (backend == Backend::cuda && members <= 256) what.shape = bandmill::Shape::latency;
            cases.push_back(what);
        }
    return cases;
}

bandmill::EnsembleSpec paper_spec(const StepCase& what) {
    bandmill::Equation equation = bandmill::Diffusion{};
    if (what.equation == EquationKind::hyperdiffusion) equation = bandmill::Hyperdiffusion{};
    bandmill::EnsembleSpec spec{.equation = equation, .grid = bandmill::Grid(what.n, 1.0), .members = what.members};
    spec.time_step = 0.1 * spec.grid.spacing();
    spec.shape = what.shape;
    return spec;
}

} // namespace app
