#include "bandmill/study/coarsening.hpp"

#include "bandmill/base/text.hpp"
#include "bandmill/ensemble/schedule.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace bandmill {
namespace {

// Enough for a confidence interval, few enough that the pieces of a group still fill a machine. Small ensembles have
// fewer: a CPU steps 64 members almost as fast as one.
constexpr std::int64_t most_groups = 16, fewest_groups = 8, members_worth_a_group = 64;
// Their sums take 4 GiB, and as much in every checkpoint.
constexpr std::int64_t most_samples = std::int64_t{1} << 22;

std::vector<std::int64_t> steps_of(std::vector<double> times, double until, double time_step) {
    std::vector<std::int64_t> steps;
    for (const double time : times)
        if (time <= until * (1 + 1e-9)) steps.push_back(detail::steps_to_reach(std::min(time, until), time_step));
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
}

std::vector<double> times_of(const std::vector<std::int64_t>& steps, double time_step) {
    std::vector<double> times;
    for (const std::int64_t step : steps) times.push_back(static_cast<double>(step) * time_step);
    return times;
}

// For a line that changes all the time: few digits.
std::string rounded(double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.3g", value);
    return digits;
}

// What lies outside counts in the bins at the ends: every member is somewhere.
void add_to(std::span<std::int64_t> counts, const EnsembleStatistic& statistic) {
    for (std::size_t bin = 0; bin < statistic.histogram.size(); ++bin) counts[bin] += statistic.histogram[bin];
    counts.front() += statistic.below;
    counts.back() += statistic.above;
}

} // namespace

template <class T> Coarsening<T>::Coarsening(const CoarseningSpec& spec) : spec_(spec) {
    const double time_step = spec.step_length();
    if (!(spec.until > 0))
        throw InvalidArgument("a study until the time " + detail::text(spec.until) +
                              " has no steps: give a later time");
    if (!(spec.fit_from > 0) || !(spec.fit_from < spec.fit_to))
        throw InvalidArgument("a law in log t cannot be fitted from " + detail::text(spec.fit_from) + " to " +
                              detail::text(spec.fit_to) + ": give two times above 0, the earlier one first");
    steps_ = detail::steps_to_reach(spec.until, time_step);
    if (spec.times.empty() && steps_ >= most_samples)
        throw InvalidArgument(std::to_string(steps_) + " steps are too many to be sampled one by one (more than " +
                              std::to_string(most_samples) + "): sample at some times only");
    if (spec.times.empty())
        for (std::int64_t step = 0; step <= steps_; ++step) sample_steps_.push_back(step);
    else
        sample_steps_ = steps_of(spec.times, spec.until, time_step);
    histogram_steps_ = steps_of(spec.histogram_times, spec.until, time_step);
    times_ = times_of(sample_steps_, time_step);
    histogram_times_ = times_of(histogram_steps_, time_step);
    groups_ = (spec.members + group_members() - 1) / group_members();
    const auto samples = static_cast<std::int64_t>(sample_steps_.size());
    const std::int64_t bins = interface_bins().bins + size_bins().bins;
    numbers_.resize(static_cast<std::size_t>(groups_ * samples * Tally::width) +
                    histogram_steps_.size() * static_cast<std::size_t>(bins));
}

template <class T> EnsembleSpec Coarsening<T>::spec(std::int64_t first, std::int64_t count) const {
    return {.equation = spec_.equation,
            .grid = spec_.grid,
            .members = count,
            .time_step = spec_.time_step,
            .first_member = first};
}

template <class T> std::int64_t Coarsening<T>::group_members() const {
    const auto size = [&](std::int64_t groups) { return (spec_.members + groups - 1) / groups; };
    return std::max(size(most_groups), std::min(size(fewest_groups), members_worth_a_group));
}

// As many as domains of the fastest growing wavelength, 2 pi sqrt(2 gamma), can make, three times over.
template <class T> HistogramBins Coarsening<T>::interface_bins() const {
    const double most = 6 * spec_.grid.length() / (2 * std::numbers::pi * std::sqrt(2 * spec_.equation.gamma));
    const int bins = static_cast<int>(std::clamp(std::ceil(most), 16.0, 4096.0)) + 1;
    return {-0.5, bins - 0.5, bins};
}

// From no domains (l = 1) to beyond those with two interfaces.
template <class T> HistogramBins Coarsening<T>::size_bins() const {
    const int largest = static_cast<int>(std::clamp(std::ceil(spec_.interface_size() * 0.6), 4.0, 400.0));
    return {0, static_cast<double>(largest), 10 * largest};
}

template <class T> Tally Coarsening<T>::tally() const {
    return {numbers_, groups_, static_cast<std::int64_t>(sample_steps_.size())};
}

template <class T> std::span<std::int64_t> Coarsening<T>::histogram(std::size_t which) const {
    const auto bins = static_cast<std::size_t>(interface_bins().bins + size_bins().bins);
    const std::size_t first = numbers_.size() - (histogram_steps_.size() - which) * bins;
    return std::span(numbers_).subspan(first, bins);
}

template <class T> std::int64_t Coarsening<T>::segment_end(std::int64_t step) const {
    const auto next = std::upper_bound(histogram_steps_.begin(), histogram_steps_.end(), step);
    return next == histogram_steps_.end() ? steps_ : *next;
}

template <class T> void Coarsening<T>::add(const RunResult& result, const EnsembleSpec& piece) {
    const std::int64_t group = piece.first_member / group_members();
    for (const Sample& sample : result.samples) {
        const auto at = std::lower_bound(sample_steps_.begin(), sample_steps_.end(), sample.step);
        tally().add(group, at - sample_steps_.begin(), sample.statistics[0]);
    }
    if (!result.samples.empty())
        status_ = "runs " + std::to_string(piece.first_member + 1) + " to " +
                  std::to_string(piece.first_member + piece.members) + ": t = " + rounded(result.samples.back().time) +
                  ", l = " + rounded(result.samples.back().statistics[0].mean());
    this->lost.insert(this->lost.end(), result.lost.begin(), result.lost.end());
}

template <class T> void Coarsening<T>::add_histograms(Ensemble<T>& piece) {
    const auto at = std::lower_bound(histogram_steps_.begin(), histogram_steps_.end(), piece.step());
    if (at == histogram_steps_.end() || *at != piece.step()) return;
    const ObservableRequest requests[] = {{Observable::interfaces, interface_bins()},
                                          {Observable::domain_size, size_bins()}};
    const Sample sample = piece.sample(requests);
    const auto counts = histogram(static_cast<std::size_t>(at - histogram_steps_.begin()));
    const auto interfaces = static_cast<std::size_t>(interface_bins().bins);
    add_to(counts.first(interfaces), sample.statistics[0]);
    add_to(counts.subspan(interfaces), sample.statistics[1]);
}

// A histogram belongs to the step that a segment ends with: a piece that is stopped at step s > 0 has those up to s
// behind it, so that a resumed one counts none twice.
template <class T> bool Coarsening<T>::run(Ensemble<T>& piece, const typename Study<T>::GoOn& go_on) {
    const std::int64_t group = piece.spec().first_member / group_members();
    const double time_step = piece.time_step();
    bool wanted = true;
    if (piece.step() == 0) {
        add_histograms(piece);
        if (sample_steps_.front() == 0) {
            const ObservableRequest request[] = {{Observable::domain_size, {}}};
            tally().add(group, 0, piece.sample(request).statistics[0]);
        }
    }
    while (piece.step() < steps_ && wanted) {
        RunPlan plan{.end_time = static_cast<double>(segment_end(piece.step())) * time_step,
                     .every_step = spec_.times.empty(),
                     .observables = {{Observable::domain_size, {}}}};
        for (const std::int64_t step : sample_steps_)
            if (!plan.every_step && step > piece.step() && step <= segment_end(piece.step()))
                plan.times.push_back(static_cast<double>(step) * time_step);
        if (!plan.every_step && plan.times.empty()) plan.observables.clear();
        const RunResult result = this->run_for_a_while(piece, std::move(plan), go_on, wanted);
        add(result, piece.spec());
        if (!result.interrupted) add_histograms(piece);
    }
    return piece.step() >= steps_;
}

template <class T> CoarseningResult Coarsening<T>::result() const {
    CoarseningResult result;
    result.times = times_;
    result.histogram_times = histogram_times_;
    std::vector<std::vector<double>> by_group(static_cast<std::size_t>(groups_));
    for (std::int64_t sample = 0; sample < static_cast<std::int64_t>(times_.size()); ++sample) {
        const EnsembleStatistic all = tally().over_groups(sample);
        result.mean.push_back(all.mean());
        result.standard_error.push_back(all.standard_error());
        result.variance.push_back(all.variance());
        result.members.push_back(all.members);
        result.left_out.push_back(all.left_out);
        for (std::int64_t group = 0; group < groups_; ++group)
            by_group[static_cast<std::size_t>(group)].push_back(tally().at(group, sample).mean());
    }
    const auto interfaces = static_cast<std::size_t>(interface_bins().bins);
    for (std::size_t which = 0; which < histogram_steps_.size(); ++which) {
        const auto counts = histogram(which);
        result.interface_counts.insert(result.interface_counts.end(), counts.begin(), counts.begin() + interfaces);
        result.size_counts.insert(result.size_counts.end(), counts.begin() + interfaces, counts.end());
    }
    // The last step may lie a little after the end that was asked for.
    const double fit_to = spec_.fit_to < spec_.until ? spec_.fit_to : std::max(spec_.until, times_.back());
    result.fit = fit_log(times_, by_group, result.mean, spec_.fit_from, fit_to);
    return result;
}

template class Coarsening<double>;
template class Coarsening<float>;

} // namespace bandmill
