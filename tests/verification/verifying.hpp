// The one place where these tests know which backend they are compiled for, and how much they may ask of it.
#pragma once

#include "../backend/limits.hpp"

#include "bandmill/ensemble/ensemble.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace bandmill::test {

#if defined(BANDMILL_TEST_CUDA)
using Place = Device;
constexpr bool on_cuda = true;
#else
using Place = Threads;
constexpr bool on_cuda = false;
#endif
#if defined(BANDMILL_TEST_SLOW_BUILD)
constexpr bool slow_build = true; // sanitizers or no optimisation: ten to a hundred times slower
#else
constexpr bool slow_build = false;
#endif

constexpr double pi = std::numbers::pi;

template <class T = double> Ensemble<T> start(const EnsembleSpec& spec, const InitialState& initial, Place place = {}) {
    return Ensemble<T>(spec, initial, place);
}

// An equation of each kind, with parameters that suit grids of length 2 pi.
inline std::vector<Equation> every_equation() {
    return {Diffusion{0.7}, Hyperdiffusion{0.2}, CahnHilliard{}, ForcedCahnHilliard{}};
}
inline const char* name_of(const Equation& equation) {
    return std::visit([](const auto& e) { return e.name; }, equation);
}
inline std::vector<Ends> ends_of(const Equation& equation) {
    if (std::holds_alternative<ForcedCahnHilliard>(equation)) return {Ends::periodic};
    return {Ends::periodic, Ends::neumann, Ends::dirichlet};
}

// Tests that are skipped, one by one, where this backend has no device.
class VerificationTest : public testing::Test {
  protected:
    void SetUp() override {
        if (on_cuda && cuda_devices().empty()) GTEST_SKIP() << "no CUDA device";
    }
};

// Tests that need many steps to say anything: left out under tools that slow a program down a hundred times.
class FullSizeTest : public VerificationTest {
  protected:
    void SetUp() override {
        VerificationTest::SetUp();
        if (limits().small) GTEST_SKIP() << "BANDMILL_TEST_SMALL is set";
    }
};

} // namespace bandmill::test
