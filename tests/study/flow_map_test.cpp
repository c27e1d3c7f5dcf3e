// A map's cells do not depend on how they are cut, grouped, stopped and resumed, or on which other cells there are.
// (Patterns are in flow_patterns_test.cpp; ranks and killed processes in tests/cli.)
#include "bandmill/study/flow_map.hpp"

#include "../base/expect_error.hpp"
#include "own_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>

namespace {

using bandmill::FlowMap;
using bandmill::FlowMapResult;
using bandmill::FlowMapSpec;
using bandmill::FlowParameter;

FlowMapSpec small_map(std::int64_t width = 5, std::int64_t height = 4) {
    FlowMapSpec spec;
    spec.values = {bandmill::linear_times(0, 1.2, static_cast<int>(width)),
                   bandmill::linear_times(0, 1.5, static_cast<int>(height)),
                   {0.5},
                   {1},
                   {0.02}};
    spec.grid = bandmill::Grid(48, 6.283185307179586);
    spec.until = 6;
    spec.keep_width = 2;
    spec.keep_height = 3;
    spec.kmeans_restarts = 2;
    return spec;
}

template <class T> FlowMapResult<T> run(FlowMap<T>& map, bandmill::CampaignPlan plan = {}) {
    const auto ranks = bandmill::connect();
    EXPECT_EQ(bandmill::run_campaign<T>(map, plan, *ranks), bandmill::CampaignEnd::finished);
    return map.result();
}
template <class T = double> FlowMapResult<T> run(const FlowMapSpec& spec) {
    FlowMap<T> map(spec);
    return run(map);
}

// NaN is NaN.
bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
void expect_same(const bandmill::FlowFeatures& one, const bandmill::FlowFeatures& other) {
    EXPECT_TRUE(same(one.rate, other.rate)) << one.rate << " " << other.rate;
    EXPECT_TRUE(same(one.early_rate, other.early_rate));
    EXPECT_TRUE(same(one.motion, other.motion));
    EXPECT_TRUE(same(one.forced_share, other.forced_share));
    EXPECT_TRUE(same(one.lowest, other.lowest) && same(one.highest, other.highest));
    EXPECT_TRUE(same(one.interfaces, other.interfaces) && same(one.free_energy, other.free_energy));
    EXPECT_TRUE(same(one.mean_drift, other.mean_drift));
}
template <class T> void expect_same(const FlowMapResult<T>& one, const FlowMapResult<T>& other) {
    ASSERT_EQ(one.features.size(), other.features.size());
    for (std::size_t k = 0; k < one.features.size(); ++k) expect_same(one.features[k], other.features[k]);
    EXPECT_EQ(one.classes, other.classes);
    EXPECT_EQ(one.kmeans, other.kmeans);
    EXPECT_EQ(one.outcomes, other.outcomes);
    EXPECT_EQ(one.halvings, other.halvings);
    EXPECT_EQ(one.kept, other.kept);
    EXPECT_EQ(one.rule.motion.value, other.rule.motion.value);
}

template <class T> void stop_and_resume(const FlowMapSpec& spec) {
    FlowMap<T> whole(spec);
    const FlowMapResult<T> expected = run(whole);
    const auto ranks = bandmill::connect();
    const std::string path = own_file("flow_map_test.checkpoint");
    std::mt19937 chance(8);
    bandmill::CheckpointHead head;
    std::string read_from;
    int stops = 0;
    for (int start = 0;; ++start) {
        ASSERT_LT(start, 10000);
        FlowMap<T> map(spec);
        bandmill::CampaignPlan plan;
        plan.piece_points = 48 * (1 + static_cast<std::int64_t>(chance() % 7)); // cut differently every time
        plan.checkpoint = path;
        auto asked = 1 + chance() % 12;
        plan.stop_asked = [&] { return asked == 0 || --asked == 0; };
        if (bandmill::run_campaign<T>(map, plan, *ranks, start > 0 ? &head : nullptr, read_from) ==
            bandmill::CampaignEnd::finished) {
            expect_same(map.result(), expected);
            break;
        }
        ++stops;
        read_from = path;
        head = bandmill::load_checkpoint(read_from, [](const std::string&) {});
    }
    EXPECT_GT(stops, 5);
    bandmill::remove_checkpoint(path);
}

TEST(FlowMap, StoppedAndResumedAnywhere) {
    FlowMapSpec spec = small_map();
    spec.refine = 2;
    stop_and_resume<double>(spec);
    stop_and_resume<float>(spec);
}

// Steps that are too long for some cells, so that there are rounds with shorter ones.
TEST(FlowMap, StoppedAndResumedWhileCellsAreStepped) {
    FlowMapSpec spec = small_map();
    spec.time_step = 0.009; // |C| comes to a little more than is expected in two of the cells
    spec.refine = 1;
    FlowMap<double> map(spec);
    run(map);
    EXPECT_GT(map.repeated, 0);
    stop_and_resume<double>(spec);
}

TEST(FlowMap, ACellDoesNotKnowTheOthers) {
    const FlowMapSpec spec = small_map();
    const FlowMapResult<double> whole = run(spec);
    FlowMapSpec row = spec; // cells 0 to 4 have the same numbers there
    row.values[1] = {0};
    const FlowMapResult<double> alone = run(row);
    for (std::size_t k = 0; k < alone.features.size(); ++k) expect_same(alone.features[k], whole.features[k]);
}

TEST(FlowMap, PanelsAreMapsOfTheirOwn) {
    FlowMapSpec both = small_map(4, 3);
    both.values[2] = {0.5, 1};
    both.values[3] = {1, 2};
    const FlowMapResult<double> all = run(both);
    ASSERT_EQ(all.features.size(), 48u);
    std::size_t first = 0;
    for (const double speed : {0.5, 1.0})
        for (const double wavenumber : {1.0, 2.0}) {
            FlowMapSpec one = small_map(4, 3);
            one.values[2] = {speed};
            one.values[3] = {wavenumber};
            one.window = both.window_length();
            const FlowMapResult<double> alone = run(one);
            for (std::size_t k = 0; k < 12; ++k) expect_same(all.features[first + k], alone.features[k]);
            first += 12;
        }
}

// Each cell of a map of speed and gamma has a matrix and an equation of its own: it is what an ensemble of one member
// gives, with the noise of the cell's number.
TEST(FlowMap, AnyTwoParameters) {
    FlowMapSpec spec = small_map();
    spec.x = FlowParameter::speed;
    spec.y = FlowParameter::gamma;
    spec.values = {{{0.3}, {0.8}, {0, 0.4, 0.8}, {1}, {0.02, 0.05}}};
    FlowMap<double> study(spec);
    const FlowMapResult<double> map = run(study);
    ASSERT_EQ(map.features.size(), 6u);
    for (std::size_t k = 0; k < 6; ++k) {
        const bandmill::ForcedCahnHilliard equation{.gamma = spec.values[4][k / 3], .speed = spec.values[2][k % 3]};
        bandmill::Ensemble<double> alone({.equation = equation,
                                          .grid = spec.grid,
                                          .time_step = std::ldexp(spec.step_length(), -map.halvings[k]),
                                          .parameters = {{0.8}}},
                                         bandmill::UniformNoise{.amplitude = 0.1,
                                                                .mean = {0.3},
                                                                .exact_mean = true,
                                                                .seed = spec.seed,
                                                                .numbers = {static_cast<std::int64_t>(k)}});
        alone.advance(study.steps() << map.halvings[k]);
        const std::vector<double> state = alone.states();
        EXPECT_EQ(*std::max_element(state.begin(), state.end()), map.features[k].highest);
        EXPECT_EQ(*std::min_element(state.begin(), state.end()), map.features[k].lowest);
    }
}

// What the equation's limit allows at the largest |C| that a cell had, in the end.
TEST(FlowMap, TimeStepsAreWithinTheLimit) {
    FlowMapSpec spec = small_map(4, 4);
    spec.values[0] = bandmill::linear_times(0, 1.5, 4);
    spec.values[1] = bandmill::linear_times(0, 2, 4);
    spec.values[4] = {0.01};
    const FlowMapResult<double> map = run(spec);
    int shortened = 0;
    for (std::size_t k = 0; k < map.features.size(); ++k) {
        const double largest = std::max(map.features[k].highest, -map.features[k].lowest);
        const double step = std::ldexp(spec.step_length(), -map.halvings[k]);
        EXPECT_LE(step, bandmill::CahnHilliard{0.01}.stable_step(spec.grid, largest));
        EXPECT_FALSE(map.step_too_long[k]);
        shortened += map.halvings[k] > 0;
    }
    EXPECT_GT(shortened, 0);
}

// Even a step that suits no cell at all is found to be too long, and shortened until it suits.
TEST(FlowMap, AStepThatIsFarTooLong) {
    FlowMapSpec spec = small_map(3, 2);
    spec.time_step = 0.1;
    const FlowMapResult<double> map = run(spec);
    for (std::size_t k = 0; k < map.features.size(); ++k) {
        EXPECT_TRUE(std::isfinite(map.features[k].rate));
        EXPECT_GT(map.halvings[k], 0);
    }
}

TEST(FlowMap, RefinedCellsHaveSeveralRuns) {
    FlowMapSpec spec = small_map(6, 6);
    spec.until = 15;
    spec.refine = 3;
    const FlowMapResult<double> map = run(spec);
    const FlowMapSpec plain_spec = [&] {
        FlowMapSpec plain = spec;
        plain.refine = 0;
        return plain;
    }();
    const FlowMapResult<double> plain = run(plain_spec);
    const auto borders = bandmill::border_cells(plain.classes, 6);
    int several = 0;
    for (std::size_t k = 0; k < map.outcomes.size(); ++k) {
        const int runs = map.outcomes[k][0] + map.outcomes[k][1] + map.outcomes[k][2];
        EXPECT_EQ(runs, borders[k] ? 4 : 1);
        several += runs > 1;
        expect_same(map.features[k], plain.features[k]);
    }
    EXPECT_GT(several, 0);
}

TEST(FlowMap, KeptStatesAreThoseOfTheirCells) {
    const FlowMapSpec spec = small_map();
    const FlowMapResult<double> map = run(spec);
    ASSERT_EQ(map.kept.size(), 2u * 3 * 48);
    EXPECT_EQ(FlowMapSpec::kept_along(4, 3), (std::vector<std::int64_t>{0, 2, 3}));
    EXPECT_EQ(FlowMapSpec::kept_along(768, 2), (std::vector<std::int64_t>{0, 767}));
    EXPECT_EQ(FlowMapSpec::kept_along(3, 48), (std::vector<std::int64_t>{0, 1, 2}));
    const auto last = std::span(map.kept).last(48); // the corner
    EXPECT_EQ(*std::max_element(last.begin(), last.end()), map.features.back().highest);
    const auto first = std::span(map.kept).first(48);
    EXPECT_EQ(*std::min_element(first.begin(), first.end()), map.features.front().lowest);
}

// However fast the forcing is, what it leaves behind moves, and sums do not overflow.
TEST(FlowMap, FastForcing) {
    for (const double speed : {5.0, 20.0, 200.0}) {
        FlowMapSpec spec = small_map(4, 3);
        spec.values[0] = bandmill::linear_times(0, 0.3, 4);
        spec.values[1] = bandmill::linear_times(0, 0.5, 3);
        spec.values[2] = {speed};
        spec.until = 4;
        spec.time_step = std::min(spec.step_length(), spec.grid.spacing() / speed / 2);
        spec.refine = 1;
        const FlowMapResult<double> map = run(spec);
        for (std::size_t k = 0; k < map.classes.size(); ++k) {
            EXPECT_EQ(map.classes[k], bandmill::FlowClass::a0) << "speed " << speed << ", cell " << k;
            EXPECT_GT(map.features[k].motion, 0.2);
            EXPECT_LT(map.features[k].motion, 3);
        }
    }
}

// Round-off is not taken for motion.
TEST(FlowMap, SinglePrecisionSeesTheSamePatterns) {
    // Patterns that have not formed yet may differ, and sanitizers take minutes until they have.
    if (std::getenv("BANDMILL_TEST_MAX_ELEMENTS")) GTEST_SKIP() << "BANDMILL_TEST_MAX_ELEMENTS is set";
    FlowMapSpec spec = small_map(10, 8);
    spec.values[0] = bandmill::linear_times(0, 1.5, 10);
    spec.values[1] = bandmill::linear_times(0, 2, 8);
    spec.values[4] = {0.01};
    spec.grid = bandmill::Grid(256, 6.283185307179586);
    spec.until = 20;
    const FlowMapResult<float> coarse = run<float>(spec);
    const FlowMapResult<double> fine = run<double>(spec);
    int same = 0;
    for (std::size_t k = 0; k < fine.classes.size(); ++k) same += coarse.classes[k] == fine.classes[k];
    EXPECT_GE(same, 77);
    EXPECT_GT(FlowMap<float>(spec).hidden_motion(), 1e6 * FlowMap<double>(spec).hidden_motion());
}

// Where the forcing does not travel nothing is left behind, but what still changes has not settled.
TEST(FlowMap, StandingForcing) {
    FlowMapSpec spec = small_map(4, 4);
    spec.values[2] = {0};
    spec.until = 0.5;
    const FlowMapResult<double> early = run(spec);
    int unsettled = 0;
    for (std::size_t k = 0; k < 16; ++k) {
        EXPECT_NE(early.classes[k], bandmill::FlowClass::a0);
        unsettled += !early.verdicts[k].settled;
    }
    EXPECT_GT(unsettled, 8);
    spec.until = 100;
    const FlowMapResult<double> late = run(spec);
    for (std::size_t k = 8; k < 16; ++k) EXPECT_TRUE(late.verdicts[k].settled) << k;
}

// A map whose states k-means cannot take is a map all the same.
TEST(FlowMap, StatesThatAreTooSmallForKMeans) {
    FlowMapSpec spec = small_map(3, 2);
    spec.values[0] = {0, 0, 0};
    spec.values[1] = {0, 0};
    spec.values[4] = {10};
    spec.amplitude = 1e-150;
    FlowMap<double> study(spec);
    std::string told;
    study.warn = [&](const std::string& text) { told += text; };
    const FlowMapResult<double> map = run(study);
    EXPECT_NE(told.find("k-means"), std::string::npos);
    for (const auto kind : map.classes) EXPECT_EQ(kind, bandmill::FlowClass::a2);
    for (const auto kind : map.kmeans) EXPECT_EQ(kind, bandmill::FlowClass::none);
}

TEST(FlowMap, WhatCannotBe) {
    const auto refused = [](const auto& change, const char* word) {
        FlowMapSpec spec = small_map();
        change(spec);
        bandmill::test::expect_error<bandmill::InvalidArgument>([&] { FlowMap<double> map(spec); }, {word});
    };
    refused([](FlowMapSpec& spec) { spec.y = spec.x; }, "axes");
    refused([](FlowMapSpec& spec) { spec.values[2].clear(); }, "speed");
    refused([](FlowMapSpec& spec) { spec.values[0][1] = std::nan(""); }, "mean");
    refused([](FlowMapSpec& spec) { spec.until = 0; }, "time");
    refused([](FlowMapSpec& spec) { spec.window = 7; }, "window");
    refused([](FlowMapSpec& spec) { spec.refine = -1; }, "again");
    refused([](FlowMapSpec& spec) { spec.keep_width = -1; }, "negative");
    refused([](FlowMapSpec& spec) { spec.kmeans_restarts = -1; }, "k-means");
    refused([](FlowMapSpec& spec) { spec.values[3] = {25}; }, "wavenumber"); // 48 points
}

} // namespace
