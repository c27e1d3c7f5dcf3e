// The usual way on a GPU: kernels, one plane after the other.
#include "plane_rival.hpp"
#include "rivals_cuda.hpp"

#include "bandmill/base/array.hpp"

namespace app {
namespace {

using bandmill::Array;
using bandmill::Cuda;

template <class T> class PlaneKernels : public RivalStepper<T> {
  public:
    PlaneKernels(const bandmill::EnsembleSpec& spec, std::span<const T> states, bandmill::Device device)
        : PlaneKernels(spec, plane_rival_scheme(spec), states, device) {}

    std::string path() const override { return "stencil kernel + cuPentConstantBatch + transpositions"; }
    std::size_t held_bytes() const override {
        return static_cast<std::size_t>(c_.size() + f_.size() + turned_.size()) * sizeof(T);
    }
    void advance(std::int64_t steps) override {
        const std::int64_t nx = numbers_.nx, ny = numbers_.ny;
        for (std::int64_t s = 0; s < steps; ++s)
            for (T* c = c_.data(); c != c_.data() + c_.size(); c += nx * ny) {
                plane_right_sides_cuda(device_, numbers_, c, f_.data());
                paper_solve_cuda<T>(device_, along_y_, f_.data(), nx, nullptr);
                transpose_cuda(device_, f_.data(), turned_.data(), nx, ny, false);
                paper_solve_cuda<T>(device_, along_x_, turned_.data(), ny, nullptr);
                transpose_cuda(device_, turned_.data(), c, ny, nx, true);
            }
        bandmill::synchronize(device_);
    }
    std::vector<T> states(std::int64_t first, std::int64_t count) const override {
        const std::int64_t plane = numbers_.nx * numbers_.ny;
        std::vector<T> some(static_cast<std::size_t>(count * plane));
        bandmill::copy_to_host(device_, some.data(), c_.data() + first * plane, some.size() * sizeof(T));
        return some;
    }

  private:
    PlaneKernels(const bandmill::EnsembleSpec& spec, const PlaneRivalScheme& scheme, std::span<const T> states,
                 bandmill::Device device)
        : device_(device), numbers_(spec, scheme), c_(states, device), f_(spec.points(), device),
          turned_(spec.points(), device) {
        const auto place = [&](const bandmill::BandMatrix& matrix, PaperTables<T>& tables, Array<T, Cuda>& values) {
            const PaperFactor<T> factor = paper_factor<T>(matrix);
            tables = factor.tables;
            values = Array<T, Cuda>(std::span<const T>(factor.values), device);
            tables.values = values.data();
        };
        place(scheme.along_x, along_x_, values_x_);
        place(scheme.along_y, along_y_, values_y_);
    }

    bandmill::Device device_;
    PlaneRivalNumbers<T> numbers_;
    PaperTables<T> along_x_{}, along_y_{};
    Array<T, Cuda> values_x_, values_y_, c_, f_, turned_;
};

} // namespace

template <class T>
std::unique_ptr<RivalStepper<T>> make_plane_rival(const bandmill::EnsembleSpec& spec, std::span<const T> states,
                                                  bandmill::Device device) {
    return std::make_unique<PlaneKernels<T>>(spec, states, device);
}
template std::unique_ptr<RivalStepper<double>> make_plane_rival(const bandmill::EnsembleSpec&, std::span<const double>,
                                                                bandmill::Device);
template std::unique_ptr<RivalStepper<float>> make_plane_rival(const bandmill::EnsembleSpec&, std::span<const float>,
                                                               bandmill::Device);

} // namespace app
