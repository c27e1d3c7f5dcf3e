// The cases of `bandmill bench diffusion` and `hyperdiffusion`: the paper's two problems that it times.
#pragma once

#include "step_case.hpp"

namespace app {

struct PaperLists {
    std::vector<std::int64_t> n, members; // empty: the paper's
    int threads;                          // 0 on a GPU
};

// n = 64, 256, 1024 and members = 2^6, 2^8 .. 2^16, 2^20 on a GPU. On the CPU members up to 2^12, and as long as all
// together have no more than 2^20 points: under a minute on two cores.
std::vector<StepCase> make_paper_cases(EquationKind equation, const PaperLists& lists, Backend backend);

// Periodic on a length of 1, diffusivity 1. The paper does not say what step it took: here it is 0.1 dx, as in its
// other runs.
bandmill::EnsembleSpec paper_spec(const StepCase& what);

} // namespace app
