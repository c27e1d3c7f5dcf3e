// Coarsening: how domains grow in an ensemble of Cahn-Hilliard runs from small noise. l = 1 / (1 - <C^2>) of a run
// measures its domains; over the ensemble its mean follows a + b log t.
#pragma once

#include "bandmill/study/campaign.hpp"
#include "bandmill/study/log_fit.hpp"
#include "bandmill/study/tally.hpp"

#include <numbers>

namespace bandmill {

struct CoarseningSpec {
    CahnHilliard equation = {};
    Grid grid = Grid(256, 2 * std::numbers::pi);
    std::int64_t members = 8192;
    double until = 100;
    double time_step = 0;           // 0: 0.1 dx
    UniformNoise noise = {};        // amplitude 0.1 about 0
    std::vector<double> times = {}; // of the samples; empty: after every step, and at the start
    std::vector<double> histogram_times = {1, 2, 5, 10, 20, 50, 100}; // those after `until` are left out
    double fit_from = 0.4, fit_to = 100;

    double step_length() const { return time_step > 0 ? time_step : 0.1 * grid.spacing(); }
    // n interfaces, far apart, make l = interface_size() / n.
    double interface_size() const { return grid.length() / (2 * std::sqrt(2 * equation.gamma)); }
};

// What was found, on rank 0.
struct CoarseningResult {
    std::vector<double> times, mean, standard_error, variance;
    std::vector<std::int64_t> members, left_out;
    std::vector<double> histogram_times;
    std::vector<std::int64_t> interface_counts; // [time][bin]: bin n counts runs with n interfaces
    std::vector<std::int64_t> size_counts;      // [time][bin]
    LogFit fit = {};
};

template <class T> class Coarsening : public Study<T> {
  public:
    explicit Coarsening(const CoarseningSpec& spec); // throws InvalidArgument

    EnsembleSpec spec(std::int64_t first, std::int64_t count) const override;
    InitialState initial(std::int64_t, std::int64_t) const override { return spec_.noise; }
    std::int64_t members() const override { return spec_.members; }
    std::vector<MemberGroup> groups() const override { return equal_groups(spec_.members, group_members(), steps_); }
    std::int64_t steps() const { return steps_; }
    bool run(Ensemble<T>& piece, const typename Study<T>::GoOn& go_on) override;
    std::span<std::int64_t> sums() override { return numbers_; }
    std::string status() const override { return status_; }

    const std::vector<double>& times() const { return times_; }                     // true ones
    const std::vector<double>& histogram_times() const { return histogram_times_; } // true ones
    HistogramBins interface_bins() const;
    HistogramBins size_bins() const;
    CoarseningResult result() const;

  private:
    std::int64_t group_members() const;
    std::int64_t segment_end(std::int64_t step) const; // the next step at which a run must stop: histogram, or the end
    void add_histograms(Ensemble<T>& piece);
    void add(const RunResult& result, const EnsembleSpec& piece);
    Tally tally() const;
    std::span<std::int64_t> histogram(std::size_t which) const; // interfaces and sizes at one time, one after the other

    CoarseningSpec spec_;
    std::int64_t steps_, groups_;
    std::vector<std::int64_t> sample_steps_, histogram_steps_; // ascending
    std::vector<double> times_, histogram_times_;
    mutable std::vector<std::int64_t> numbers_; // the tally [group][sample], then the histograms [time][bin]
    std::string status_;
};

} // namespace bandmill
