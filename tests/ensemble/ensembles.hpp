// Small ensembles, and ways to compare what they did.
#pragma once

#include "bandmill/ensemble/ensemble.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace bandmill::test {

inline EnsembleSpec small_spec(std::int64_t members = 20) {
    return {.equation = CahnHilliard{}, .grid = Grid(32, 2 * std::numbers::pi), .members = members, .time_step = 0.01};
}

// Steps 0, 7, 100 and 250 of 250.
inline RunPlan small_plan() {
    return {.end_time = 2.5,
            .times = {0, 0.07, 1, 2.5},
            .observables = {{Observable::domain_size, HistogramBins{1, 2, 10}}, {Observable::mean}},
            .keep_values = true};
}

inline void expect_same(const std::vector<Sample>& a, const std::vector<Sample>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t s = 0; s < a.size(); ++s) {
        EXPECT_EQ(a[s].step, b[s].step);
        EXPECT_EQ(a[s].time, b[s].time);
        EXPECT_EQ(a[s].values, b[s].values);
        ASSERT_EQ(a[s].statistics.size(), b[s].statistics.size());
        for (std::size_t r = 0; r < a[s].statistics.size(); ++r) {
            EXPECT_EQ(a[s].statistics[r].members, b[s].statistics[r].members);
            EXPECT_EQ(a[s].statistics[r].sum, b[s].statistics[r].sum);
            EXPECT_EQ(a[s].statistics[r].squares, b[s].statistics[r].squares);
            EXPECT_EQ(a[s].statistics[r].histogram, b[s].statistics[r].histogram);
            EXPECT_EQ(a[s].statistics[r].below, b[s].statistics[r].below);
        }
    }
}

inline std::vector<std::int64_t> steps_of(const RunResult& result) {
    std::vector<std::int64_t> steps;
    for (const Sample& sample : result.samples) steps.push_back(sample.step);
    return steps;
}

} // namespace bandmill::test
