// What the code blocks of the documentation may use without declaring it. Each block is the body of one test.
#pragma once

#include <bandmill/bandmill.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#ifdef BANDMILL_HAVE_CUDA
#include <cuda_runtime.h>
#endif

class Cpu : public testing::Test {
  protected:
    static constexpr std::int64_t n = 100, batch = 33;
    const bandmill::BandMatrix matrix =
        bandmill::BandMatrix::toeplitz(n, std::array{-1.0, 4.0, -1.0}, bandmill::Boundary::periodic);
    std::vector<double> x = std::vector<double>(n * batch, 2.0);
    const bandmill::EnsembleSpec spec{
        .equation = bandmill::CahnHilliard{}, .grid = bandmill::Grid(32, 2 * std::numbers::pi), .members = 40};
};

class Gpu : public Cpu {
  protected:
    void SetUp() override {
        if (bandmill::cuda_devices().empty()) GTEST_SKIP() << "no GPU";
    }
};

#define SNIPPET(name, suite) TEST_F(suite, name)
