// The law l = a + b log t, fitted to means over an ensemble.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bandmill {

struct LogFit {
    double from, to; // the times it was fitted to: samples in this window, all with the same weight
    std::int64_t in_window = 0, samples = 0; // all that lie there, and those that are finite
    double intercept, slope;                 // a, b: NaN below two samples
    double correlation;                      // r between l and log t
    std::int64_t groups = 0;                 // that the errors come from: those that are finite at all these samples
    double slope_error;                      // half of the 95 % confidence interval of b; NaN below two groups
    double intercept_error;                  // the same of a
};

// Samples of one run at different times depend on each other, so that the scatter about the line says nothing about
// the slope's error. Groups of members are independent: the line is fitted to each, and their scatter gives the
// interval (Student's t). `groups` is [group][time], `all` the means over everyone.
LogFit fit_log(std::span<const double> times, const std::vector<std::vector<double>>& groups,
               std::span<const double> all, double from, double to);

} // namespace bandmill
