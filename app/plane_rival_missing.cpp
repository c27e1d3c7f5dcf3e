// Stands in for the usual way on a GPU in a build without CUDA, where nothing is benchmarked on a GPU.
#include "plane_rival.hpp"

#include "bandmill/base/error.hpp"

namespace app {

template <class T>
std::unique_ptr<RivalStepper<T>> make_plane_rival(const bandmill::EnsembleSpec&, std::span<const T>, bandmill::Device) {
    throw bandmill::BackendUnavailable("this bandmill was built without CUDA: use --backend cpu");
}
template std::unique_ptr<RivalStepper<double>> make_plane_rival(const bandmill::EnsembleSpec&, std::span<const double>,
                                                                bandmill::Device);
template std::unique_ptr<RivalStepper<float>> make_plane_rival(const bandmill::EnsembleSpec&, std::span<const float>,
                                                               bandmill::Device);

} // namespace app
