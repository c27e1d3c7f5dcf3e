// Stands in for the CUDA backend in a build without it: everything links, and asking for a GPU throws a typed error.
#include "bandmill/band/batch.hpp"
#include "bandmill/band/solve.hpp"
#include "bandmill/base/array.hpp"
#include "bandmill/base/device.hpp"
#include "bandmill/base/event.hpp"
#include "bandmill/cluster/rows.hpp"
#include "bandmill/ensemble/stepper.hpp"
#include "bandmill/stencil/advect.hpp"

namespace bandmill {
namespace {

[[noreturn]] void throw_missing() {
    throw BackendUnavailable(
        "this bandmill was built without CUDA (no nvcc was found, or BANDMILL_CUDA was OFF): use the "
        "CPU backend, or build with -DBANDMILL_CUDA=ON on a machine with the CUDA toolkit");
}

} // namespace

bool cuda_built() { return false; }
std::vector<DeviceInfo> cuda_devices() { return {}; }

void* allocate(Cuda, Device, std::size_t) { throw_missing(); }
void release(Cuda, Device, void*) noexcept {}
void copy_to_device(Device, void*, const void*, std::size_t) { throw_missing(); }
void copy_to_host(Device, void*, const void*, std::size_t) { throw_missing(); }
void copy_on_device(Device, void*, const void*, std::size_t, Stream) { throw_missing(); }
void synchronize(Device, Stream) { throw_missing(); }
std::size_t free_memory(Device) { throw_missing(); }
DeviceLimits device_limits(Device) { throw_missing(); }

struct Event::Handle {};
Event::Event(Device) { throw_missing(); }
void Event::record(Stream) { throw_missing(); }
double elapsed_ms(const Event&, const Event&) { throw_missing(); }

template <class T> Factor<T, Cuda> factor(const BandMatrix&, Device) { throw_missing(); }
template Factor<double, Cuda> factor<double>(const BandMatrix&, Device);
template Factor<float, Cuda> factor<float>(const BandMatrix&, Device);

template <class T>
void solve(const Factor<T, Cuda>&, std::type_identity_t<FieldView<const T, Cuda>>,
           std::type_identity_t<FieldView<T, Cuda>>, Stream) {
    throw_missing();
}
template void solve<double>(const Factor<double, Cuda>&, FieldView<const double, Cuda>, FieldView<double, Cuda>,
                            Stream);
template void solve<float>(const Factor<float, Cuda>&, FieldView<const float, Cuda>, FieldView<float, Cuda>, Stream);

template <class T> BatchFactor<T, Cuda> factor(const BandBatch<T, Cuda>&, Device, Stream) { throw_missing(); }
template <class T>
void solve(const BatchFactor<T, Cuda>&, std::type_identity_t<FieldView<const T, Cuda>>,
           std::type_identity_t<FieldView<T, Cuda>>, Stream) {
    throw_missing();
}
template <class T> BatchWorkspace<T, Cuda>::BatchWorkspace(const BatchShape&, Device) { throw_missing(); }
template <class T>
void solve(const BandBatch<T, Cuda>&, std::type_identity_t<FieldView<const T, Cuda>>,
           std::type_identity_t<FieldView<T, Cuda>>, FieldView<std::int64_t, Cuda>, BatchWorkspace<T, Cuda>&, Stream) {
    throw_missing();
}
#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template BatchFactor<T, Cuda> factor<T>(const BandBatch<T, Cuda>&, Device, Stream);                                \
    template void solve<T>(const BatchFactor<T, Cuda>&, FieldView<const T, Cuda>, FieldView<T, Cuda>, Stream);         \
    template class BatchWorkspace<T, Cuda>;                                                                            \
    template void solve<T>(const BandBatch<T, Cuda>&, FieldView<const T, Cuda>, FieldView<T, Cuda>,                    \
                           FieldView<std::int64_t, Cuda>, BatchWorkspace<T, Cuda>&, Stream);
BANDMILL_INSTANTIATE(double)
BANDMILL_INSTANTIATE(float)
#undef BANDMILL_INSTANTIATE

template <class T> std::unique_ptr<detail::Stepper<T>> detail::make_stepper(const StepperSetup&, Device) {
    throw_missing();
}
template std::unique_ptr<detail::Stepper<double>> detail::make_stepper<double>(const StepperSetup&, Device);
template std::unique_ptr<detail::Stepper<float>> detail::make_stepper<float>(const StepperSetup&, Device);

template <class T>
std::unique_ptr<detail::Rows<T>> detail::make_rows(std::span<const RowBlock<T>>, std::int64_t, int, Device) {
    throw_missing();
}
template std::unique_ptr<detail::Rows<double>> detail::make_rows<double>(std::span<const RowBlock<double>>,
                                                                         std::int64_t, int, Device);
template std::unique_ptr<detail::Rows<float>> detail::make_rows<float>(std::span<const RowBlock<float>>, std::int64_t,
                                                                       int, Device);

template <class T>
void apply(const Stencil&, std::type_identity_t<PlaneView<const T, Cuda>>, PlaneView<T, Cuda>, const PlaneEdges&, Into,
           Stream) {
    throw_missing();
}
template void apply<double>(const Stencil&, PlaneView<const double, Cuda>, PlaneView<double, Cuda>, const PlaneEdges&,
                            Into, Stream);
template void apply<float>(const Stencil&, PlaneView<const float, Cuda>, PlaneView<float, Cuda>, const PlaneEdges&,
                           Into, Stream);

template <class T>
void advect(const std::type_identity_t<Velocity<T, Cuda>>&, const Spacing&,
            std::type_identity_t<PlaneView<const T, Cuda>>, PlaneView<T, Cuda>, const PlaneEdges&, Into, Stream) {
    throw_missing();
}
template void advect<double>(const Velocity<double, Cuda>&, const Spacing&, PlaneView<const double, Cuda>,
                             PlaneView<double, Cuda>, const PlaneEdges&, Into, Stream);
template void advect<float>(const Velocity<float, Cuda>&, const Spacing&, PlaneView<const float, Cuda>,
                            PlaneView<float, Cuda>, const PlaneEdges&, Into, Stream);

} // namespace bandmill
