// A library without CUDA, or without a GPU, still links; whoever asks it for the GPU gets a typed error.
#include "../base/expect_error.hpp"
#include "matrices.hpp"

#include "bandmill/bandmill.hpp"

namespace bandmill::test {
namespace {

class MissingCuda : public testing::Test {
  protected:
    void SetUp() override {
        if (!cuda_devices().empty()) GTEST_SKIP() << "there is a CUDA device";
    }
    BandMatrix matrix_ = as_matrix(make_bands({Family::dominant}, 20, 1, Boundary::open, 3));
};

TEST_F(MissingCuda, FactorThrows) {
    expect_error<BackendUnavailable>([&] { factor(matrix_, Device{}); });
    expect_error<BackendUnavailable>([&] { factor<float>(matrix_, Device{}); });
}

TEST_F(MissingCuda, MatricesOfTheirOwnThrow) {
    double value = 1;
    const FieldView<const double, Cuda> one(&value, {1, 1, 1, 1});
    const BandBatch<double, Cuda> matrices{{one, one, one}};
    expect_error<BackendUnavailable>([&] { factor(matrices, Device{}); });
    expect_error<BackendUnavailable>([&] { BatchWorkspace<double, Cuda>(matrices.shape()); });
    expect_error<BackendUnavailable>([&] { BatchWorkspace<float, Cuda>(matrices.shape()); });
}

TEST_F(MissingCuda, MemoryThrows) {
    expect_error<BackendUnavailable>([] { Array<double, Cuda>(10); });
    double value = 1;
    expect_error<BackendUnavailable>([&] { copy_to_device(Device{}, &value, &value, sizeof value); });
    expect_error<BackendUnavailable>([&] { copy_to_host(Device{}, &value, &value, sizeof value); });
    expect_error<BackendUnavailable>([&] { copy_on_device(Device{}, &value, &value, sizeof value); });
    expect_error<BackendUnavailable>([] { synchronize(Device{}); });
}

TEST_F(MissingCuda, TheHostStillWorks) {
    Array<double, Host> x(20);
    for (double& value : x) value = 1;
    EXPECT_NO_THROW(solve(factor(matrix_), contiguous(x.data(), 20, 1)));
}

} // namespace
} // namespace bandmill::test
