// Features of patterns whose features are known.
#include "bandmill/study/flow_features.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace {

using bandmill::FlowFeatures;
constexpr double pi = std::numbers::pi;

template <class T, class Function> FlowFeatures features_of(const Function& function, double wavenumber = 1) {
    const bandmill::Grid grid(256, 2 * pi);
    std::vector<T> state;
    for (std::int64_t i = 0; i < grid.points(); ++i) state.push_back(static_cast<T>(function(grid.position(i))));
    FlowFeatures features;
    bandmill::ForcedWave(grid, wavenumber).measure(std::span<const T>(state), features);
    return features;
}

TEST(FlowFeatures, OfAWave) {
    for (const double phase : {0.0, 0.4, 2.0, 3.1}) {
        const FlowFeatures wave = features_of<double>([=](double x) { return 0.9 + 0.25 * std::cos(x - phase); });
        EXPECT_NEAR(wave.forced_share, 1, 1e-12);
        EXPECT_NEAR(wave.range(), 0.5, 1e-3);
        EXPECT_NEAR(wave.depth(), -0.65, 1e-3) << "one phase only";
        EXPECT_NEAR(wave.gradient, 0.25 / std::sqrt(2), 1e-4);
    }
}

TEST(FlowFeatures, OfAWaveOfAnotherWavenumber) {
    const auto third = [](double x) { return std::sin(3 * x); };
    EXPECT_NEAR(features_of<double>(third, 1).forced_share, 0, 1e-12);
    EXPECT_NEAR(features_of<double>(third, 3).forced_share, 1, 1e-12);
    EXPECT_NEAR(features_of<double>([](double x) { return std::cos(x) + 0.5 * std::sin(2 * x); }).forced_share, 0.8,
                1e-12);
}

// 8 / pi^2 of its power is in its first wave. Wherever it stands, its features are the same.
TEST(FlowFeatures, OfDomains) {
    const auto domains = [](double shift) { return [=](double x) { return std::tanh(30 * std::sin(x - shift)); }; };
    const FlowFeatures here = features_of<double>(domains(0)), there = features_of<double>(domains(10 * 2 * pi / 256));
    EXPECT_NEAR(here.forced_share, 8 / (pi * pi), 0.02);
    EXPECT_NEAR(here.depth(), 1, 1e-6);
    EXPECT_NEAR(here.forced_share, there.forced_share, 1e-12);
    EXPECT_NEAR(here.gradient, there.gradient, 1e-12);
    EXPECT_NEAR(features_of<float>(domains(0)).forced_share, here.forced_share, 1e-6);
}

TEST(FlowFeatures, OfAConstant) {
    const FlowFeatures flat = features_of<double>([](double) { return 0.75; });
    EXPECT_EQ(flat.range(), 0);
    EXPECT_EQ(flat.gradient, 0);
    EXPECT_EQ(flat.forced_share, 0);
    EXPECT_EQ(flat.depth(), -0.75);
}

TEST(FlowFeatures, OfWhatIsNotFinite) {
    const FlowFeatures lost = features_of<double>([](double x) { return x > 3 ? std::nan("") : 0.5; });
    EXPECT_FALSE(std::isfinite(lost.gradient) && std::isfinite(lost.forced_share));
}

} // namespace
