// Stands in for rivals_cusparse.cpp where the CUDA toolkit has no cuSPARSE.
#include "rivals_cusparse.hpp"

#include "own_rivals.hpp"

namespace app {

namespace {
std::vector<Rival<bandmill::Cuda>> missing(std::span<const RivalName> names) {
    const auto obstacle = [](const SolveCase&) { return "not built: cuSPARSE was not found"; };
    std::vector<Rival<bandmill::Cuda>> rivals;
    for (const RivalName& rival : names)
        if (std::string(rival.name) != "paper")
            rivals.push_back({rival.name, Layout::interleaved, 0, obstacle, {}, {}, {}});
    return rivals;
}
} // namespace

std::vector<Rival<bandmill::Cuda>> cusparse_rivals(const Place<bandmill::Cuda>&) { return missing(rival::cuda); }
std::vector<Rival<bandmill::Cuda>> make_own_rivals(const Place<bandmill::Cuda>&) { return missing(rival::own_cuda); }

} // namespace app
