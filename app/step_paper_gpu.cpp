// The paper's way on a GPU: a kernel for the right-hand sides, then its solver's kernels.
#include "kernel_stepper.hpp"
#include "step_paper.hpp"

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::Array;
using bandmill::Cuda;

template <class T> class PaperKernels : public KernelStepper<T> {
  public:
    PaperKernels(const StepCase& what, const PaperScheme& scheme, std::span<const T> states, bandmill::Device device)
        : PaperKernels(what, static_cast<T>(scheme.factor), paper_factor<T>(scheme.matrix), states, device) {}

    std::string path() const override {
        return fmt::format("stencil kernel + {}ConstantBatch", tables_.half_bandwidth == 1 ? "cuThomas" : "cuPent");
    }
    std::size_t held_bytes() const override {
        return this->field_bytes() + static_cast<std::size_t>(values_.size() + scratch_.size()) * sizeof(T);
    }

  private:
    PaperKernels(const StepCase& what, T factor, const PaperFactor<T>& solver, std::span<const T> states,
                 bandmill::Device device)
        : KernelStepper<T>(what, factor, states, device), tables_(solver.tables),
          values_(std::span<const T>(solver.values), device), scratch_(what.members, device) {
        tables_.values = values_.data();
    }
    void solve(T* x) override { paper_solve_cuda(this->device_, tables_, x, this->what_.members, scratch_.data()); }

    PaperTables<T> tables_;
    Array<T, Cuda> values_, scratch_;
};

} // namespace

template <class T>
std::unique_ptr<RivalStepper<T>> make_paper_stepper(const StepCase& what, const PaperScheme& scheme,
                                                    std::span<const T> states, bandmill::Device device) {
    return std::make_unique<PaperKernels<T>>(what, scheme, states, device);
}
template std::unique_ptr<RivalStepper<double>> make_paper_stepper(const StepCase&, const PaperScheme&,
                                                                  std::span<const double>, bandmill::Device);
template std::unique_ptr<RivalStepper<float>> make_paper_stepper(const StepCase&, const PaperScheme&,
                                                                 std::span<const float>, bandmill::Device);

} // namespace app
