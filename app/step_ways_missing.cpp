// Stands in for the ways on a GPU in a build without CUDA, where nothing is benchmarked on a GPU.
#include "place_cuda.hpp"
#include "step_ways.hpp"

namespace app {

std::vector<StepWay> make_ways(const Place<bandmill::Cuda>&) { return {}; }

} // namespace app
