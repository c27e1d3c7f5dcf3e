#include "bandmill/study/plane_coarsening.hpp"

#include "bandmill/base/text.hpp"
#include "bandmill/ensemble/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace bandmill {
namespace {

constexpr std::int64_t most_groups = 16; // enough for a confidence interval; a plane fills a machine by itself

// A line in logarithms, with errors from the groups.
PowerFit power_fit(const LogFit& line, double sign) {
    return {std::exp(sign * line.intercept), sign * line.slope, line.slope_error,
            sign * line.correlation,         line.samples,      line.groups};
}

std::vector<double> logarithms(std::vector<double> values) {
    for (double& value : values) value = std::log(value); // not finite: left out of the fit
    return values;
}

} // namespace

template <class T> PlaneCoarsening<T>::PlaneCoarsening(const PlaneCoarseningSpec& spec) : spec_(spec) {
    if (!(spec.until > 0))
        throw InvalidArgument("a study until the time " + detail::text(spec.until) +
                              " has no steps: give a later time");
    if (!(spec.fit_from > 0) || !(spec.fit_from < spec.fit_to))
        throw InvalidArgument("a power of t cannot be fitted from " + detail::text(spec.fit_from) + " to " +
                              detail::text(spec.fit_to) + ": give two times above 0, the earlier one first");
    if (spec.times.empty())
        throw InvalidArgument("a study of planes was given no times of samples (every step would take longer to "
                              "measure than to take): name some");
    const double time_step = spec.step_length();
    steps_ = detail::steps_to_reach(spec.until, time_step);
    for (const double time : spec.times)
        if (time <= spec.until * (1 + 1e-9))
            sample_steps_.push_back(detail::steps_to_reach(std::min(time, spec.until), time_step));
    std::sort(sample_steps_.begin(), sample_steps_.end());
    sample_steps_.erase(std::unique(sample_steps_.begin(), sample_steps_.end()), sample_steps_.end());
    for (const std::int64_t step : sample_steps_) times_.push_back(static_cast<double>(step) * time_step);
    groups_ = (spec.members + group_members() - 1) / group_members();
    numbers_.resize(static_cast<std::size_t>(2 * groups_ * Tally::width) * sample_steps_.size());
}

template <class T> std::int64_t PlaneCoarsening<T>::group_members() const {
    return (spec_.members + most_groups - 1) / most_groups;
}

template <class T> EnsembleSpec PlaneCoarsening<T>::spec(std::int64_t first, std::int64_t count) const {
    return {.equation = spec_.equation,
            .grid = spec_.x,
            .members = count,
            .time_step = spec_.step_length(),
            .first_member = first,
            .grid_y = spec_.y};
}

template <class T> Tally PlaneCoarsening<T>::tally(Measure which) const {
    const std::size_t half = numbers_.size() / 2;
    return {std::span(numbers_).subspan(which == domain_size ? 0 : half, half), groups_,
            static_cast<std::int64_t>(sample_steps_.size())};
}

template <class T> void PlaneCoarsening<T>::add(const RunResult& result, const EnsembleSpec& piece) {
    for (const Sample& sample : result.samples) {
        const auto at = std::lower_bound(sample_steps_.begin(), sample_steps_.end(), sample.step);
        for (const Measure which : {domain_size, interface_length})
            for (std::int64_t member = 0; member < piece.members; ++member) {
                EnsembleStatistic one;
                one.add(sample.values[which][static_cast<std::size_t>(member)], {});
                tally(which).add((piece.first_member + member) / group_members(), at - sample_steps_.begin(), one);
            }
    }
    if (!result.samples.empty()) {
        char text[96];
        const Sample& last = result.samples.back();
        std::snprintf(text, sizeof text, "runs %lld to %lld: t = %.3g, l = %.3g",
                      static_cast<long long>(piece.first_member + 1),
                      static_cast<long long>(piece.first_member + piece.members), last.time, last.statistics[0].mean());
        status_ = text;
    }
    this->lost.insert(this->lost.end(), result.lost.begin(), result.lost.end());
}

// A piece that was stopped knows which sample it took last, so that a resumed one takes none twice.
template <class T> bool PlaneCoarsening<T>::run(Ensemble<T>& piece, const typename Study<T>::GoOn& go_on) {
    const RunPlan plan{.end_time = static_cast<double>(steps_) * piece.time_step(),
                       .times = times_,
                       .observables = {{Observable::domain_size, {}}, {Observable::interfaces, {}}},
                       .keep_values = true}; // a piece may have members of several groups
    for (bool wanted = true; piece.step() < steps_ && wanted;)
        add(this->run_for_a_while(piece, plan, go_on, wanted), piece.spec());
    return piece.step() >= steps_;
}

template <class T> PlaneCoarseningResult PlaneCoarsening<T>::result() const {
    PlaneCoarseningResult result{};
    result.times = times_;
    const auto groups = static_cast<std::size_t>(groups_);
    std::vector<std::vector<double>> sizes(groups), lengths(groups);
    for (std::int64_t sample = 0; sample < static_cast<std::int64_t>(times_.size()); ++sample) {
        const EnsembleStatistic size = tally(domain_size).over_groups(sample);
        const EnsembleStatistic length = tally(interface_length).over_groups(sample);
        result.size.push_back(size.mean());
        result.size_error.push_back(size.standard_error());
        result.size_variance.push_back(size.variance());
        result.interfaces.push_back(length.mean());
        result.interfaces_error.push_back(length.standard_error());
        result.length.push_back(spec_.area() / length.mean());
        result.members.push_back(size.members);
        result.left_out.push_back(size.left_out);
        result.interfaces_left_out.push_back(length.left_out);
        for (std::size_t group = 0; group < groups; ++group) {
            const auto at = static_cast<std::int64_t>(group);
            sizes[group].push_back(std::log(tally(domain_size).at(at, sample).mean()));
            lengths[group].push_back(std::log(tally(interface_length).at(at, sample).mean() / spec_.area()));
        }
    }
    // The last step may lie a little after the end that was asked for.
    const double fit_to = spec_.fit_to < spec_.until ? spec_.fit_to : std::max(spec_.until, times_.back());
    const LogFit size = fit_log(times_, sizes, logarithms(result.size), spec_.fit_from, fit_to);
    std::vector<double> per_area = result.interfaces;
    for (double& value : per_area) value /= spec_.area();
    const LogFit length = fit_log(times_, lengths, logarithms(per_area), spec_.fit_from, fit_to);
    result.fit_from = size.from;
    result.fit_to = size.to;
    result.window_samples = size.in_window;
    result.groups = groups_;
    result.size_fit = power_fit(size, 1);
    result.length_fit = power_fit(length, -1); // it is one over them
    return result;
}

template class PlaneCoarsening<double>;
template class PlaneCoarsening<float>;

} // namespace bandmill
