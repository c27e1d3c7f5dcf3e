// The paper's way on a GPU: a kernel for the right-hand sides, then its solver's kernels.
#include "rivals_cuda.hpp"
#include "step_paper.hpp"

#include "bandmill/base/array.hpp"
#include "bandmill/base/device.hpp"

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::Array;
using bandmill::Cuda;

template <class T> class PaperKernels : public PaperStepper<T> {
  public:
    PaperKernels(const StepCase& what, const PaperScheme& scheme, std::span<const T> states, bandmill::Device device)
        : PaperKernels(what, static_cast<T>(scheme.factor), paper_factor<T>(scheme.matrix), states, device) {}

    std::string path() const override {
        return fmt::format("stencil kernel + {}ConstantBatch", tables_.half_bandwidth == 1 ? "cuThomas" : "cuPent");
    }

    void advance(std::int64_t steps) override {
        for (std::int64_t k = 0; k < steps; ++k) {
            paper_right_sides_cuda(device_, what_.equation, c_.data(), f_.data(), what_.n, what_.members, factor_);
            paper_solve_cuda(device_, tables_, f_.data(), what_.members, scratch_.data());
            std::swap(c_, f_);
        }
        bandmill::synchronize(device_);
    }

    std::vector<T> states(std::int64_t count) const override {
        std::vector<std::int64_t> where;
        for (std::int64_t m = 0; m < count; ++m)
            for (std::int64_t i = 0; i < what_.n; ++i) where.push_back(i * what_.members + m);
        const Array<std::int64_t, Cuda> positions(where, device_);
        Array<T, Cuda> gathered(positions.size(), device_);
        gather_cuda(device_, c_.data(), positions.data(), positions.size(), gathered.data());
        std::vector<T> values(where.size());
        gathered.copy_to(values);
        return values;
    }

  private:
    PaperKernels(const StepCase& what, T factor, const PaperFactor<T>& solver, std::span<const T> states,
                 bandmill::Device device)
        : what_(what), device_(device), factor_(factor), tables_(solver.tables),
          values_(std::span<const T>(solver.values), device), c_(what.n * what.members, device), f_(c_.size(), device),
          scratch_(what.members, device) {
        tables_.values = values_.data();
        const std::int64_t given = static_cast<std::int64_t>(states.size()) / what.n;
        std::vector<T> row(static_cast<std::size_t>(what.members));
        for (std::int64_t i = 0; i < what.n; ++i) {
            for (std::size_t m = 0; m < row.size(); ++m)
                row[m] = states[m % static_cast<std::size_t>(given) * static_cast<std::size_t>(what.n) +
                                static_cast<std::size_t>(i)];
            bandmill::copy_to_device(device, c_.data() + i * what.members, row.data(), row.size() * sizeof(T));
        }
        bandmill::synchronize(device);
    }

    StepCase what_;
    bandmill::Device device_;
    T factor_;
    PaperTables<T> tables_;
    Array<T, Cuda> values_, c_, f_, scratch_;
};

} // namespace

template <class T>
std::unique_ptr<PaperStepper<T>> make_paper_stepper(const StepCase& what, const PaperScheme& scheme,
                                                    std::span<const T> states, bandmill::Device device) {
    return std::make_unique<PaperKernels<T>>(what, scheme, states, device);
}
template std::unique_ptr<PaperStepper<double>> make_paper_stepper(const StepCase&, const PaperScheme&,
                                                                  std::span<const double>, bandmill::Device);
template std::unique_ptr<PaperStepper<float>> make_paper_stepper(const StepCase&, const PaperScheme&,
                                                                 std::span<const float>, bandmill::Device);

} // namespace app
