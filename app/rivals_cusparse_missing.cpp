// Stands in for rivals_cusparse.cpp where the CUDA toolkit has no cuSPARSE.
#include "rivals_cusparse.hpp"

#include "rival_names.hpp"

namespace app {

std::vector<Rival<bandmill::Cuda>> cusparse_rivals(const Place<bandmill::Cuda>&) {
    const auto obstacle = [](const SolveCase&) { return "not built: cuSPARSE was not found"; };
    std::vector<Rival<bandmill::Cuda>> rivals;
    for (const RivalName& rival : rival::cuda)
        if (std::string(rival.name) != "paper")
            rivals.push_back({rival.name, Layout::interleaved, 0, obstacle, {}, {}, {}});
    return rivals;
}

} // namespace app
