// What the maps of the forced Cahn-Hilliard equation show: which patterns there are, and where their borders lie.
#include "bandmill/study/flow_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace {

using bandmill::FlowClass;
using Map = bandmill::FlowMapResult<double>;

constexpr int cells = 48;
double mean_at(int x) { return 1.5 * x / (cells - 1); }
double forcing_at(int y) { return 2.0 * y / (cells - 1); }
std::size_t at(int x, int y) { return static_cast<std::size_t>(y * cells + x); }

Map map_at(double speed, std::uint64_t seed) {
    bandmill::FlowMapSpec spec;
    spec.values = {bandmill::linear_times(0, 1.5, cells), bandmill::linear_times(0, 2, cells), {speed}, {1}, {0.01}};
    spec.grid = bandmill::Grid(256, 2 * std::numbers::pi);
    spec.seed = seed;
    bandmill::FlowMap<double> study(spec);
    const auto ranks = bandmill::connect();
    bandmill::run_campaign<double>(study, {}, *ranks);
    EXPECT_TRUE(study.lost.empty());
    return study.result();
}

// The largest forcing that still lets the pattern go.
double a0_border(const Map& map, int x) {
    int y = cells - 1;
    while (y >= 0 && map.classes[at(x, y)] != FlowClass::a0) --y;
    return y < 0 ? 0 : forcing_at(y);
}

double agreement(const std::vector<FlowClass>& one, const std::vector<FlowClass>& other) {
    std::size_t same = 0;
    for (std::size_t k = 0; k < one.size(); ++k) same += one[k] == other[k];
    return static_cast<double>(same) / static_cast<double>(one.size());
}

// What holds at any speed.
void expect_sound(const Map& map) {
    EXPECT_LE(map.speckle, map.kmeans_speckle / 5);
    for (const char too_long : map.step_too_long) EXPECT_FALSE(too_long);
    for (const auto& features : map.features) EXPECT_LT(std::abs(features.mean_drift), 2e-3); // WENO5 does not keep it
    const auto unsettled = std::count_if(map.verdicts.begin(), map.verdicts.end(), [](auto& v) { return !v.settled; });
    EXPECT_LT(static_cast<double>(unsettled) / (cells * cells), 0.1);
    // Resolved, |C| stays below 1.82 there, whatever the noise; with too long a step it does not.
    EXPECT_NEAR(map.features.back().highest, 1.81, 0.01);
    EXPECT_EQ(map.classes[at(cells - 1, 0)], FlowClass::a2) << "nothing forces it, and it is uniform";
    EXPECT_EQ(map.classes[at(cells - 1, cells - 1)], FlowClass::a2);
    EXPECT_EQ(map.classes[at(0, cells - 1)], FlowClass::a1);
    EXPECT_EQ(map.classes[at(10, 5)], FlowClass::a0);
}

TEST(FlowPatterns, AtHalfTheSpeed) {
    const Map map = map_at(0.5, 1);
    expect_sound(map);
    // Forcing of about 0.72 holds the domains, whatever the mean is.
    for (int x = 0; mean_at(x) < 0.7; ++x) EXPECT_NEAR(a0_border(map, x), 0.72, 0.05) << "mean " << mean_at(x);
    EXPECT_GT(agreement(map.classes, map_at(0.5, 2).classes), 0.97);

    // The paper's figure: raw k-means draws its border between waves and domains from about (0.8, 0.9) up to the top.
    for (int y = 0; y < cells; ++y) {
        if (forcing_at(y) < 0.95) continue;
        int x = 0;
        while (x < cells && map.kmeans[at(x, y)] == FlowClass::a1) ++x;
        EXPECT_GT(mean_at(x), 0.75) << "forcing " << forcing_at(y);
        EXPECT_LT(mean_at(x), 1.0) << "forcing " << forcing_at(y);
        for (; x < cells; ++x) EXPECT_EQ(map.kmeans[at(x, y)], FlowClass::a2);
    }
    // It is in the wrong place: patterns right of it have both phases, as the physical map knows.
    const int top = cells - 1, x = static_cast<int>(std::lround(1.1 / 1.5 * (cells - 1)));
    EXPECT_EQ(map.kmeans[at(x, top)], FlowClass::a2);
    EXPECT_EQ(map.classes[at(x, top)], FlowClass::a1);
    EXPECT_GT(map.features[at(x, top)].depth(), 0.5);
}

TEST(FlowPatterns, AtSpeedOne) {
    const Map map = map_at(1, 1);
    expect_sound(map);
    // A faster wave needs more to hold them.
    for (int x = 0; mean_at(x) < 0.7; ++x) {
        EXPECT_GT(a0_border(map, x), 1.1) << "mean " << mean_at(x);
        EXPECT_LT(a0_border(map, x), 1.75) << "mean " << mean_at(x);
    }
    EXPECT_GT(agreement(map.classes, map_at(1, 2).classes), 0.97);
}

} // namespace
