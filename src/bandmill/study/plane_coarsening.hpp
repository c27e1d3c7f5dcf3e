// Coarsening in two dimensions: an ensemble of Cahn-Hilliard planes from small noise. Domains grow by diffusion from
// where interfaces are curved most; theory (Lifshitz and Slyozov) has their size grow as t^(1/3). Two measures of it:
// l = 1 / (1 - <C^2>), as in one dimension, and the area of a plane per length of its interfaces.
#pragma once

#include "bandmill/study/campaign.hpp"
#include "bandmill/study/log_fit.hpp"
#include "bandmill/study/tally.hpp"

#include <numbers>

namespace bandmill {

struct PlaneCoarseningSpec {
    CahnHilliard equation = {};
    Grid x = Grid(256, 4 * std::numbers::pi), y = x;
    std::int64_t members = 8;
    double until = 30;
    double time_step = 0;           // 0: a tenth of the smaller spacing
    UniformNoise noise = {};        // amplitude 0.1 about 0
    std::vector<double> times = {}; // of the samples
    double fit_from = 3, fit_to = 30;

    double step_length() const { return time_step > 0 ? time_step : 0.1 * std::min(x.spacing(), y.spacing()); }
    double area() const { return x.length() * y.length(); }
    std::int64_t points() const { return x.points() * y.points(); }
};

// size = prefactor * t^exponent, a line in logarithms; errors are half of the 95 % confidence interval.
struct PowerFit {
    double prefactor, exponent, exponent_error, correlation;
    std::int64_t samples, groups; // with logarithms: of those in the window, and at all of these
};

// What was found, on rank 0.
struct PlaneCoarseningResult {
    std::vector<double> times;
    std::vector<double> size, size_error, size_variance; // l: mean over members, its standard error
    std::vector<double> interfaces, interfaces_error;    // their length in a plane
    std::vector<double> length;                          // area / mean length of the interfaces
    std::vector<std::int64_t> members, left_out;         // of l
    std::vector<std::int64_t> interfaces_left_out;       // not finite, or longer than longest_interfaces
    double fit_from, fit_to;
    std::int64_t window_samples, groups; // all, with logarithms or without
    PowerFit size_fit, length_fit;
};

template <class T> class PlaneCoarsening : public Study<T> {
  public:
    explicit PlaneCoarsening(const PlaneCoarseningSpec& spec); // throws InvalidArgument

    EnsembleSpec spec(std::int64_t first, std::int64_t count) const override;
    InitialState initial(std::int64_t, std::int64_t) const override { return spec_.noise; }
    std::int64_t members() const override { return spec_.members; }
    std::vector<MemberGroup> groups() const override { return equal_groups(spec_.members, spec_.members, steps_); }
    std::int64_t steps() const { return steps_; }
    bool run(Ensemble<T>& piece, const typename Study<T>::GoOn& go_on) override;
    std::span<std::int64_t> sums() override { return numbers_; }
    std::string status() const override { return status_; }

    const std::vector<double>& times() const { return times_; }         // true ones
    static constexpr double longest_interfaces = detail::largest_value; // of a plane, for the sums to hold it
    PlaneCoarseningResult result() const;

  private:
    enum Measure { domain_size, interface_length };
    std::int64_t group_members() const;
    Tally tally(Measure which) const;
    void add(const RunResult& result, const EnsembleSpec& piece);

    PlaneCoarseningSpec spec_;
    std::int64_t steps_, groups_;
    std::vector<std::int64_t> sample_steps_; // ascending
    std::vector<double> times_;
    mutable std::vector<std::int64_t> numbers_; // two tallies [group][sample]
    std::string status_;
};

} // namespace bandmill
