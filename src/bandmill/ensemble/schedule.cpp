#include "bandmill/ensemble/schedule.hpp"

#include "bandmill/base/text.hpp"
#include "bandmill/ensemble/check.hpp"

#include <algorithm>
#include <cmath>

namespace bandmill {
namespace {

constexpr double round_off = 1e-9;
constexpr double most_steps = 1e15; // a double still tells their times apart
// A million points take about a second a thousand steps on a CPU core, and far less on a GPU.
constexpr std::int64_t default_chunk = 1000;
// Numbers that the samples of one chunk may bring: 128 MiB.
constexpr std::int64_t most_numbers = std::int64_t{1} << 24;

// How many steps of samples fit into a chunk, where every step is sampled.
std::int64_t sampled_chunk(const RunPlan& plan, std::int64_t held) {
    std::int64_t numbers = 0;
    for (const ObservableRequest& request : plan.observables)
        numbers += 8 + (request.histogram ? request.histogram->bins : 0) + (plan.keep_values ? held : 0);
    return std::max<std::int64_t>(1, most_numbers / numbers);
}

void check_times(const RunPlan& plan) {
    if (!std::isfinite(plan.end_time) || plan.end_time < 0)
        throw InvalidArgument("a run cannot end at the time " + detail::text(plan.end_time) +
                              " (it starts at 0): give a finite end_time of 0 or more");
    if (plan.every_step && !plan.times.empty())
        throw InvalidArgument("both every_step and " + std::to_string(plan.times.size()) +
                              " times were asked for (every_step takes the place of times): give one of the two");
    for (const double time : plan.times)
        if (!(time >= 0) || time > plan.end_time * (1 + round_off))
            throw InvalidArgument("a sample at the time " + detail::text(time) +
                                  " cannot be taken (the run goes from 0 to " + detail::text(plan.end_time) +
                                  "): give times in between, or a later end_time");
    if ((plan.every_step || !plan.times.empty()) && plan.observables.empty())
        throw InvalidArgument("samples were asked for, but no observables (there is nothing to measure): name some, or "
                              "leave the times out");
    if (plan.chunk < 0)
        throw InvalidArgument("a chunk cannot have " + std::to_string(plan.chunk) +
                              " steps: give a positive number, or 0 to have it chosen");
}

void check_range(double first, double last, int count) {
    if (!std::isfinite(first) || !std::isfinite(last) || first > last)
        throw InvalidArgument("there are no times from " + detail::text(first) + " to " + detail::text(last) +
                              ": give finite ones, the earlier one first");
    if (count < 2)
        throw InvalidArgument("a row of " + std::to_string(count) +
                              " times cannot have both a first and a last one: ask for 2 or more");
}

} // namespace

std::vector<double> linear_times(double first, double last, int count) {
    check_range(first, last, count);
    std::vector<double> times(static_cast<std::size_t>(count), last); // the last one is exact
    for (int i = 0; i < count - 1; ++i) times[static_cast<std::size_t>(i)] = first + (last - first) * i / (count - 1);
    return times;
}

std::vector<double> logarithmic_times(double first, double last, int count) {
    check_range(first, last, count);
    if (!(first > 0))
        throw InvalidArgument("times in equal factors cannot start at " + detail::text(first) +
                              " (no factor leads away from 0): give a first time above 0");
    std::vector<double> times(static_cast<std::size_t>(count), last);
    for (int i = 0; i < count - 1; ++i)
        times[static_cast<std::size_t>(i)] = first * std::pow(last / first, static_cast<double>(i) / (count - 1));
    return times;
}

namespace detail {

std::int64_t steps_to_reach(double time, double time_step) {
    const double ratio = time / time_step, nearest = std::round(ratio);
    if (!(ratio <= most_steps))
        throw InvalidArgument("reaching the time " + text(time) + " takes " + text(ratio) + " steps of " +
                              text(time_step) +
                              " (more than can be counted): give a longer time_step or an earlier time");
    return static_cast<std::int64_t>(std::abs(ratio - nearest) <= round_off * nearest ? nearest : std::ceil(ratio));
}

Schedule::Schedule(const RunPlan& plan, double time_step, std::int64_t held) : every_step_(plan.every_step) {
    check_times(plan);
    check_requests(plan.observables);
    steps_ = steps_to_reach(plan.end_time, time_step);
    chunk_ = plan.chunk > 0 ? plan.chunk : default_chunk;
    if (every_step_) chunk_ = std::min(chunk_, sampled_chunk(plan, held));
    for (const double time : plan.times) samples_.push_back(std::min(steps_, steps_to_reach(time, time_step)));
    std::sort(samples_.begin(), samples_.end());
    samples_.erase(std::unique(samples_.begin(), samples_.end()), samples_.end());
}

bool Schedule::samples_at(std::int64_t step) const {
    return std::binary_search(samples_.begin(), samples_.end(), step);
}

std::int64_t Schedule::chunk_after(std::int64_t step) const {
    const auto next = std::upper_bound(samples_.begin(), samples_.end(), step);
    const std::int64_t end = next == samples_.end() ? steps_ : *next;
    return std::min(chunk_, end - step);
}

} // namespace detail
} // namespace bandmill
