#include "bandmill/study/log_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

std::vector<double> some_times() {
    std::vector<double> times;
    for (int i = 0; i <= 400; ++i) times.push_back(0.25 * i);
    return times;
}

TEST(LogFit, FindsAnExactLaw) {
    const std::vector<double> times = some_times();
    std::vector<double> values;
    for (const double time : times) values.push_back(time > 0 ? 1.5 + 0.36 * std::log(time) : 7);
    const bandmill::LogFit fit = bandmill::fit_log(times, {values, values}, values, 0.5, 100);
    EXPECT_EQ(fit.samples, 399); // 0.5 and 100 included
    EXPECT_NEAR(fit.slope, 0.36, 1e-13);
    EXPECT_NEAR(fit.intercept, 1.5, 1e-13);
    EXPECT_NEAR(fit.correlation, 1, 1e-13);
    EXPECT_NEAR(fit.slope_error, 0, 1e-13);
}

// Groups whose slopes scatter: the interval holds the true slope in 95 of 100 cases, though samples in time are not
// independent at all.
TEST(LogFit, TheIntervalCoversTheTruth) {
    std::mt19937_64 chance(11);
    std::normal_distribution<double> scatter(0, 0.05);
    const std::vector<double> times = some_times();
    int covered = 0;
    constexpr int trials = 2000, groups = 8;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<std::vector<double>> values(groups);
        std::vector<double> mean(times.size());
        for (std::vector<double>& group : values) {
            const double slope = 0.3 + scatter(chance), intercept = 2 + scatter(chance);
            for (std::size_t i = 0; i < times.size(); ++i) {
                group.push_back(times[i] > 0 ? intercept + slope * std::log(times[i]) : 0);
                mean[i] += group.back() / groups;
            }
        }
        const bandmill::LogFit fit = bandmill::fit_log(times, values, mean, 1, 100);
        covered += std::abs(fit.slope - 0.3) <= fit.slope_error;
    }
    EXPECT_NEAR(covered, 0.95 * trials, 4 * std::sqrt(trials * 0.95 * 0.05));
}

TEST(LogFit, TooLittleIsNotANumber) {
    const std::vector<double> times = {0, 1, 2}, values = {1, 2, 3};
    EXPECT_TRUE(std::isnan(bandmill::fit_log(times, {values}, values, 5, 9).slope));
    const bandmill::LogFit one_group = bandmill::fit_log(times, {values}, values, 0.5, 9);
    EXPECT_NEAR(one_group.slope, 1 / std::log(2.0), 1e-14);
    EXPECT_TRUE(std::isnan(one_group.slope_error));
}

} // namespace
