#include "bandmill/cuda/resident_launch.cuh"

namespace bandmill::cuda {

template void step_resident<double>(const Equation&, const Grid&, const Spread&, const ResidentJob<double>&, Stream);
template std::optional<Spread> choose_spread<double>(const Equation&, std::int64_t, Shape);

} // namespace bandmill::cuda
