#include "bandmill/cuda/resident_launch.cuh"

namespace bandmill::cuda {

template void step_resident<float>(const Equation&, const Grid&, const Spread&, const ResidentJob<float>&, Stream);
template std::optional<Spread> choose_spread<float>(const Equation&, std::int64_t, Shape);

} // namespace bandmill::cuda
