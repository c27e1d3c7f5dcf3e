// A study in pieces, stopped and resumed anywhere, gives what one piece gives. (Ranks and killed processes are in
// tests/cli.)
#include "own_file.hpp"

#include "bandmill/study/coarsening.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using bandmill::CampaignEnd;
using bandmill::CampaignPlan;
using bandmill::CoarseningResult;

bandmill::CoarseningSpec small_study() {
    bandmill::CoarseningSpec spec;
    spec.grid = bandmill::Grid(40, 6.283185307179586);
    spec.members = 70;
    spec.until = 9;
    spec.time_step = 0.01; // stable on this coarse grid
    spec.histogram_times = {0, 1, 5, 100};
    spec.noise.seed = 4;
    return spec;
}

void expect_same(const CoarseningResult& one, const CoarseningResult& other) {
    EXPECT_EQ(one.times, other.times);
    EXPECT_EQ(one.mean, other.mean);
    EXPECT_EQ(one.variance, other.variance);
    EXPECT_EQ(one.members, other.members);
    EXPECT_EQ(one.interface_counts, other.interface_counts);
    EXPECT_EQ(one.size_counts, other.size_counts);
    EXPECT_EQ(one.fit.slope, other.fit.slope);
    EXPECT_EQ(one.fit.slope_error, other.fit.slope_error);
}

template <class T> CoarseningResult at_once(const bandmill::CoarseningSpec& spec) {
    const auto ranks = bandmill::connect();
    bandmill::Coarsening<T> study(spec);
    EXPECT_EQ(bandmill::run_campaign<T>(study, CampaignPlan{}, *ranks), CampaignEnd::finished);
    return study.result();
}

template <class T> void stop_and_resume(const bandmill::CoarseningSpec& spec) {
    const CoarseningResult expected = at_once<T>(spec);
    const auto ranks = bandmill::connect();
    const std::string path = own_file("campaign_test.checkpoint");
    std::mt19937 chance(5);
    int stops = 0;
    bandmill::CheckpointHead head;
    std::string read_from;
    for (int start = 0;; ++start) {
        ASSERT_LT(start, 10000);
        bandmill::Coarsening<T> study(spec);
        CampaignPlan plan;
        plan.piece_points = 40 * (1 + static_cast<std::int64_t>(chance() % 30)); // cut differently every time
        plan.checkpoint = path;
        auto asked = 1 + chance() % 6;
        plan.stop_asked = [&] { return asked == 0 || --asked == 0; };
        const CampaignEnd end = bandmill::run_campaign<T>(study, plan, *ranks, start > 0 ? &head : nullptr, read_from);
        if (end == CampaignEnd::finished) {
            expect_same(study.result(), expected);
            break;
        }
        ++stops;
        read_from = path;
        head = bandmill::load_checkpoint(read_from, {});
    }
    EXPECT_GE(stops, 3);
    bandmill::remove_checkpoint(path);
}

TEST(Campaign, StoppedAndResumedEverySample) { stop_and_resume<double>(small_study()); }

TEST(Campaign, StoppedAndResumedAtSomeTimesInSinglePrecision) {
    bandmill::CoarseningSpec spec = small_study();
    spec.times = bandmill::logarithmic_times(0.1, 9, 12);
    stop_and_resume<float>(spec);
}

// Statistics worked out here, from the states of an ensemble that knows nothing of studies.
TEST(Campaign, CountsEveryMemberOnce) {
    const bandmill::CoarseningSpec spec = small_study();
    const CoarseningResult result = at_once<double>(spec);
    bandmill::Ensemble<double> ensemble(
        {.equation = spec.equation, .grid = spec.grid, .members = spec.members, .time_step = spec.time_step},
        spec.noise);
    ensemble.advance(static_cast<std::int64_t>(result.times.size()) - 1);
    double sum = 0;
    const std::vector<double> states = ensemble.states();
    for (std::int64_t member = 0; member < spec.members; ++member) {
        double square = 0;
        for (std::int64_t i = 0; i < 40; ++i) {
            const double c = states[static_cast<std::size_t>(member * 40 + i)];
            square += c * c / 40;
        }
        sum += 1 / (1 - square);
    }
    EXPECT_NEAR(result.mean.back(), sum / static_cast<double>(spec.members), 1e-12 * sum);
    for (const std::int64_t members : result.members) EXPECT_EQ(members, spec.members);
    // times 0, 1 and 5; 100 is after the end
    ASSERT_EQ(result.histogram_times.size(), 3u);
    std::int64_t counted = 0;
    for (const std::int64_t count : result.interface_counts) counted += count;
    EXPECT_EQ(counted, 3 * spec.members);
}

TEST(Campaign, RefusesSumsOfAnotherStudy) {
    const auto ranks = bandmill::connect();
    bandmill::Coarsening<double> study(small_study());
    const std::string path = own_file("campaign_other.checkpoint");
    bandmill::CheckpointHead head;
    head.sums = {1, 2, 3};
    bandmill::save_checkpoint(path, head, {}, *ranks);
    EXPECT_THROW(bandmill::run_campaign<double>(study, CampaignPlan{}, *ranks, &head, path), bandmill::FileError);
    bandmill::remove_checkpoint(path);
}

} // namespace
