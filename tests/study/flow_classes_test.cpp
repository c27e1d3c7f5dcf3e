// The rule finds its limits in the runs, whatever they are, and does not invent classes that are not there.
#include "bandmill/study/flow_classes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

using bandmill::find_rule;
using bandmill::FlowClass;
using bandmill::FlowFeatures;
using bandmill::FlowRule;
using bandmill::judge;

// Spread by `scatter` decades, and as much in C.
struct Maker {
    std::mt19937 chance{3};
    double scatter = 0.1;

    FlowFeatures make(double motion, double lowest, double highest, double share) {
        std::normal_distribution<double> spread(0, scatter);
        FlowFeatures run;
        run.gradient = 1;
        run.rate = run.early_rate = run.late_rate = run.motion = motion * std::pow(10, spread(chance));
        run.lowest = lowest + 0.2 * spread(chance);
        run.highest = highest + 0.2 * spread(chance);
        run.forced_share = std::min(0.9999, share + 0.02 * spread(chance));
        return run;
    }
    FlowFeatures moving() { return make(0.8, -1, 1, 0.5); }
    FlowFeatures held() { return make(1e-6, -1, 1.1, 0.7); }
    FlowFeatures wave() { return make(1e-8, 0.5, 1.3, 0.98); }
};

std::vector<FlowFeatures> some(Maker& maker, int moving, int held, int waves) {
    std::vector<FlowFeatures> runs;
    for (int i = 0; i < moving; ++i) runs.push_back(maker.moving());
    for (int i = 0; i < held; ++i) runs.push_back(maker.held());
    for (int i = 0; i < waves; ++i) runs.push_back(maker.wave());
    return runs;
}

void expect_sorted(const std::vector<FlowFeatures>& runs, int moving, int held) {
    const FlowRule rule = find_rule(runs);
    for (int i = 0; i < static_cast<int>(runs.size()); ++i) {
        const auto verdict = judge(runs[static_cast<std::size_t>(i)], rule);
        EXPECT_EQ(verdict.kind, i < moving ? FlowClass::a0 : i < moving + held ? FlowClass::a1 : FlowClass::a2);
        EXPECT_GT(verdict.confidence, 0.75);
        EXPECT_LE(verdict.confidence, 1);
        EXPECT_TRUE(verdict.settled);
    }
}

TEST(FlowClasses, OfClearRuns) {
    for (const double scatter : {0.0, 0.1, 0.3}) {
        Maker maker{.scatter = scatter};
        expect_sorted(some(maker, 200, 300, 400), 200, 300);
        expect_sorted(some(maker, 5, 800, 5), 5, 800);
    }
}

// A map of a single kind stays one: the heaps that are missing are not cut out of the one that is there.
TEST(FlowClasses, OfOneKindOnly) {
    Maker maker;
    expect_sorted(some(maker, 300, 0, 0), 300, 0);
    expect_sorted(some(maker, 0, 300, 0), 0, 300);
    expect_sorted(some(maker, 0, 0, 300), 0, 0);
    expect_sorted(some(maker, 1, 0, 0), 1, 0);
    expect_sorted({}, 0, 0);
}

// Limits lie between the heaps, not at a fixed place.
TEST(FlowClasses, LimitsFollowTheRuns) {
    Maker maker{.scatter = 0.02};
    std::vector<FlowFeatures> runs;
    for (int i = 0; i < 100; ++i) runs.push_back(maker.make(0.02, -1, 1, 0.5)); // slow ones
    for (int i = 0; i < 100; ++i) runs.push_back(maker.make(1e-5, -0.15, 0.8, 0.5));
    for (int i = 0; i < 100; ++i) runs.push_back(maker.make(1e-5, 0.4, 0.8, 0.98));
    const FlowRule slow = find_rule(runs);
    EXPECT_LT(slow.motion.value, -1.8);
    EXPECT_GT(slow.motion.value, -3);
    EXPECT_LT(slow.depth.value, 0.1);
    EXPECT_GT(slow.depth.value, -0.3);
    for (auto& run : runs) run.motion *= run.motion > 1e-3 ? 40 : 200; // 0.8 and 2e-3
    EXPECT_GT(find_rule(runs).motion.value, -2.6);
    EXPECT_LT(find_rule(runs).motion.value, -0.2);
    EXPECT_EQ(judge(runs[0], find_rule(runs)).kind, FlowClass::a0);
    EXPECT_EQ(judge(runs[150], find_rule(runs)).kind, FlowClass::a1);
}

// Where motion takes all values there is no gap to be found, and the rule says so.
TEST(FlowClasses, WithoutAGapTheLimitIsTheUsualOne) {
    Maker maker{.scatter = 0};
    std::vector<FlowFeatures> runs;
    for (int i = 0; i < 1000; ++i) runs.push_back(maker.make(std::pow(10, -3.5 + 3.5 * i / 1000), -1, 1, 0.5));
    EXPECT_FALSE(find_rule(runs).motion.is_gap);
    EXPECT_EQ(find_rule(runs).motion.value, -1);
    EXPECT_TRUE(find_rule(some(maker, 10, 10, 10)).motion.is_gap);
}

TEST(FlowClasses, ASinusoidalWaveAboutZeroIsAWave) {
    Maker maker{.scatter = 0};
    auto runs = some(maker, 50, 50, 50);
    runs.push_back(maker.make(1e-7, -0.7, 0.7, 0.9999));
    EXPECT_EQ(judge(runs.back(), find_rule(runs)).kind, FlowClass::a2);
}

TEST(FlowClasses, WhatIsUniformIsAWaveAndWhatIsNotFiniteIsNothing) {
    Maker maker;
    auto runs = some(maker, 50, 50, 50);
    FlowFeatures flat = maker.make(50, 0.8, 0.8, 0);
    flat.lowest = flat.highest - 1e-9;
    runs.push_back(flat);
    runs.push_back({}); // all NaN
    const FlowRule rule = find_rule(runs);
    EXPECT_EQ(judge(flat, rule).kind, FlowClass::a2);
    EXPECT_EQ(judge(runs.back(), rule).kind, FlowClass::none);
    EXPECT_EQ(judge(runs.back(), rule).confidence, 0);
    EXPECT_TRUE(std::isfinite(rule.motion.value) && std::isfinite(rule.depth.value));
}

TEST(FlowClasses, ConfidenceIsLeastAtTheLimit) {
    const bandmill::FlowLimit limit{-1.5, -6, 0, true};
    EXPECT_DOUBLE_EQ(limit.confidence(-1.5), 0.5);
    EXPECT_NEAR(limit.confidence(-6), 0.982, 1e-3);
    EXPECT_NEAR(limit.confidence(0), 0.982, 1e-3);
    for (double number = -8; number < -1.6; number += 0.1)
        EXPECT_GT(limit.confidence(number), limit.confidence(number + 0.1));
}

// A held pattern that still creeps, and a moving one that slows down, may change.
TEST(FlowClasses, WhatHasNotSettledIsMarked) {
    Maker maker{.scatter = 0};
    const FlowRule rule = find_rule(some(maker, 50, 50, 50));
    FlowFeatures creeping = maker.held(), slowing = maker.moving();
    creeping.motion = 2e-3;
    slowing.late_rate = slowing.early_rate / 3;
    EXPECT_FALSE(judge(creeping, rule).settled);
    EXPECT_FALSE(judge(slowing, rule).settled);
    EXPECT_TRUE(judge(maker.held(), rule).settled);
    EXPECT_TRUE(judge(maker.moving(), rule).settled);
}

std::vector<FlowClass> map_of(const char* letters) {
    std::vector<FlowClass> map;
    for (; *letters; ++letters) map.push_back(static_cast<FlowClass>(*letters - '0'));
    return map;
}
std::string marks_of(const std::vector<char>& marks) {
    std::string text;
    for (const char mark : marks) text += mark ? 'x' : '.';
    return text;
}

TEST(FlowClasses, SpecklesAndBorders) {
    EXPECT_EQ(marks_of(bandmill::speckles(map_of("0000"
                                                 "0100"
                                                 "0000"
                                                 "2222"
                                                 "2222"),
                                          4)),
              "...."
              "."
              "x.."
              "...."
              "...."
              "....");
    EXPECT_EQ(marks_of(bandmill::border_cells(map_of("0001"
                                                     "0001"
                                                     "0000"
                                                     "0000"),
                                              4)),
              "..xx"
              "..xx"
              "..xx"
              "....");
    EXPECT_EQ(marks_of(bandmill::border_cells(map_of("0"), 1)), ".");
    EXPECT_EQ(marks_of(bandmill::speckles(map_of("0"), 1)), ".");
    EXPECT_EQ(marks_of(bandmill::speckles(map_of("01010"), 5)), "xxxxx");
}

} // namespace
