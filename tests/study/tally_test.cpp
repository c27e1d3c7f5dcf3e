#include "bandmill/study/tally.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using bandmill::EnsembleStatistic;
using bandmill::Tally;

TEST(Tally, GivesBackWhatWasAdded) {
    std::mt19937_64 chance(3);
    std::uniform_real_distribution<double> value(-50, 50);
    std::vector<std::int64_t> numbers(2 * 3 * Tally::width);
    Tally tally(numbers, 2, 3);
    EnsembleStatistic expected[2][3];
    for (int k = 0; k < 500; ++k) {
        EnsembleStatistic one;
        for (int i = 0; i < 4; ++i) one.add(value(chance), {});
        if (k % 9 == 0) one.add(1e300, {}); // left out
        const auto group = static_cast<std::int64_t>(chance() % 2), sample = static_cast<std::int64_t>(chance() % 3);
        tally.add(group, sample, one);
        expected[group][sample].add(one);
    }
    for (std::int64_t sample = 0; sample < 3; ++sample) {
        for (std::int64_t group = 0; group < 2; ++group) {
            EXPECT_EQ(tally.at(group, sample).sum, expected[group][sample].sum);
            EXPECT_EQ(tally.at(group, sample).squares, expected[group][sample].squares);
            EXPECT_EQ(tally.at(group, sample).members, expected[group][sample].members);
            EXPECT_EQ(tally.at(group, sample).left_out, expected[group][sample].left_out);
        }
        expected[0][sample].add(expected[1][sample]);
        EXPECT_EQ(tally.over_groups(sample).mean(), expected[0][sample].mean());
        EXPECT_EQ(tally.over_groups(sample).standard_error(), expected[0][sample].standard_error());
    }
}

// Ranks add the numbers themselves, and need not know what they mean.
TEST(Tally, NumbersOfRanksAddUp) {
    std::vector<std::int64_t> one(Tally::width), other(Tally::width);
    EnsembleStatistic all;
    for (int k = 0; k < 100; ++k) {
        EnsembleStatistic single;
        single.add(0.1 * k - 7.3, {});
        Tally(k % 3 == 0 ? one : other, 1, 1).add(0, 0, single);
        all.add(single);
    }
    for (std::size_t i = 0; i < one.size(); ++i) one[i] += other[i];
    EXPECT_EQ(Tally(one, 1, 1).at(0, 0).sum, all.sum);
    EXPECT_EQ(Tally(one, 1, 1).at(0, 0).squares, all.squares);
}

} // namespace
