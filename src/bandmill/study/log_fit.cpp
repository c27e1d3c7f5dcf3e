#include "bandmill/study/log_fit.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace bandmill {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Line {
    double intercept, slope, correlation;
};

// Least squares; sums about the means, so that nothing cancels.
Line fit_line(std::span<const double> x, std::span<const double> y) {
    if (x.size() < 2) return {nan, nan, nan};
    const auto count = static_cast<double>(x.size());
    double x_mean = 0, y_mean = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        x_mean += x[i] / count;
        y_mean += y[i] / count;
    }
    double xx = 0, xy = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xx += (x[i] - x_mean) * (x[i] - x_mean);
        xy += (x[i] - x_mean) * (y[i] - y_mean);
        yy += (y[i] - y_mean) * (y[i] - y_mean);
    }
    return {y_mean - xy / xx * x_mean, xy / xx, xy / std::sqrt(xx * yy)};
}

// Student's t for 95 % (two-sided), by degrees of freedom; the normal value is close enough beyond.
double student(std::size_t freedom) {
    constexpr double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
    return freedom <= std::size(table) ? table[freedom - 1] : 1.96;
}

// Half of the confidence interval of the mean of independent numbers.
double half_interval(const std::vector<double>& numbers) {
    if (numbers.size() < 2) return nan;
    const auto count = static_cast<double>(numbers.size());
    double mean = 0, squares = 0;
    for (const double number : numbers) mean += number / count;
    for (const double number : numbers) squares += (number - mean) * (number - mean);
    return student(numbers.size() - 1) * std::sqrt(squares / (count - 1) / count);
}

} // namespace

LogFit fit_log(std::span<const double> times, const std::vector<std::vector<double>>& groups,
               std::span<const double> all, double from, double to) {
    // A window's border that is meant to be a sample's time may differ from it by round-off.
    const double slack = 1e-9 * to;
    std::vector<std::size_t> inside;
    LogFit fit{};
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (!(times[i] > 0 && times[i] >= from - slack && times[i] <= to + slack)) continue;
        ++fit.in_window;
        if (std::isfinite(all[i])) inside.push_back(i);
    }
    const auto chosen = [&](std::span<const double> values) {
        std::vector<double> some;
        for (const std::size_t i : inside) some.push_back(values[i]);
        return some;
    };
    std::vector<double> log_time = chosen(times);
    for (double& time : log_time) time = std::log(time);

    const Line line = fit_line(log_time, chosen(all));
    std::vector<double> slopes, intercepts;
    for (const std::vector<double>& group : groups) {
        const Line one = fit_line(log_time, chosen(group));
        if (!std::isfinite(one.slope)) continue; // a group that lost all its members, or has no logarithm somewhere
        slopes.push_back(one.slope);
        intercepts.push_back(one.intercept);
    }
    fit.from = from;
    fit.to = to;
    fit.samples = static_cast<std::int64_t>(inside.size());
    fit.intercept = line.intercept;
    fit.slope = line.slope;
    fit.correlation = line.correlation;
    fit.groups = static_cast<std::int64_t>(slopes.size());
    fit.slope_error = half_interval(slopes);
    fit.intercept_error = half_interval(intercepts);
    return fit;
}

} // namespace bandmill
