// cuSPARSE as a rival on a GPU. Without it in the build, the rivals say so as their obstacle.
#pragma once

#include "contestant.hpp"

namespace app {

std::vector<Rival<bandmill::Cuda>> cusparse_rivals(const Place<bandmill::Cuda>& place);

} // namespace app
