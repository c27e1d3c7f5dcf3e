// The paper's way of stepping, as a rival: one pass over memory for the right-hand sides, then its solver for periodic
// systems (paper.hpp), again in passes over memory; interleaved members.
//   diffusion        (1 - dt/2 D2) C' = C + dt/2 D2 C
//   hyperdiffusion   (1 + dt/2 D4) C' = C - dt/2 D4 C
//   cahn-hilliard    (1 + gamma dt D4) C' = C + dt D2 (C^3 - C)
#pragma once

#include "paper.hpp"
#include "rival_stepper.hpp"
#include "step_case.hpp"
#include "step_paper_row.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace app {

// What stands above, for one case.
struct PaperScheme {
    bandmill::BandMatrix matrix;
    double factor; // of the differences in the right-hand side, in units of the grid
};
PaperScheme paper_scheme(const StepCase& what, const bandmill::EnsembleSpec& spec);

std::optional<std::string> paper_obstacle(const StepCase& what); // why it cannot take this case

// Member m starts from number m % k of the k states given, [member][point].
template <class T>
std::unique_ptr<RivalStepper<T>> make_paper_stepper(const StepCase& what, const PaperScheme& scheme,
                                                    std::span<const T> states, bandmill::Threads threads);
template <class T>
std::unique_ptr<RivalStepper<T>> make_paper_stepper(const StepCase& what, const PaperScheme& scheme,
                                                    std::span<const T> states, bandmill::Device device);

} // namespace app
