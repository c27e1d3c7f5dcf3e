// Ensemble: many runs of one equation on one grid, advanced together, with statistics.
//
//   Ensemble<double> ensemble({.equation = CahnHilliard{}, .grid = Grid(256, 2 * pi), .members = 4096},
//   UniformNoise{}); const RunResult result = ensemble.run({.end_time = 10, .times = linear_times(0, 10, 11),
//                                          .observables = {{Observable::domain_size}}});
//   result.samples[10].statistics[0].mean();
//
// A member's run depends on its own number, parameters and seed: never on how many others there are, on threads, slices
// or on whether anything is measured. On one backend it is the same to the last bit.
#pragma once

#include "bandmill/ensemble/initial_state.hpp"
#include "bandmill/ensemble/observable.hpp"
#include "bandmill/ensemble/stepper.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace bandmill {

struct EnsembleSpec {
    Equation equation;
    Grid grid;
    std::int64_t members = 1;
    double time_step = 0; // 0: the paper's 0.1 dx, with the smaller spacing of a plane
    // What differs from member to member, in the order of the equation's member_parameters: for each either one value
    // for all, or one per member.
    std::vector<std::vector<double>> parameters = {};
    std::int64_t first_member = 0;      // the number of the first, where an ensemble is split over several processes
    std::int64_t members_per_slice = 0; // 0: as many as there is memory for
    Shape shape = Shape::throughput;
    // The second direction: a member is then a plane [y][x], stepped by ADI (docs/planes.md), and `grid` its x.
    std::optional<Grid> grid_y = {};

    std::int64_t rows() const { return grid_y ? grid_y->points() : 1; } // of points along x
    std::int64_t points() const { return grid.points() * rows(); }      // of a member
    double spacing() const { return grid_y ? std::min(grid.spacing(), grid_y->spacing()) : grid.spacing(); } // smallest
};

// A member whose state is no longer finite: it stays out of every statistic from then on.
struct LostMember {
    std::int64_t member;            // its number, first_member included
    double time;                    // when it was noticed
    std::vector<double> parameters; // its own
};

struct Sample {
    std::int64_t step;
    double time;                               // step * time_step, not the time that was asked for
    std::vector<EnsembleStatistic> statistics; // one per observable asked for
    std::vector<std::vector<double>> values;   // per member, if asked for
};

struct Progress {
    std::int64_t step, steps; // of this run, all slices together
    double time;
};

struct RunPlan {
    double end_time;                // steps = ceil(end_time / time_step), counted from time 0
    std::vector<double> times = {}; // when to sample; each is taken at the first step that reaches it
    bool every_step = false;        // sample after every step instead
    std::vector<ObservableRequest> observables = {};
    bool keep_values = false;           // per member too
    std::int64_t chunk = 0;             // steps between checks of max |C|, progress and interruption; 0: chosen
    bool stop_when_lost = false;        // throw Unstable at the first lost member; otherwise only when none is left
    bool stop_when_none_is_left = true; // not where this is a part of an ensemble
    std::function<bool(const Progress&)> progress = {}; // called after every chunk; false interrupts the run
    std::function<void(const std::string&)> warn = {};  // default: to stderr
};

struct RunResult {
    std::vector<Sample> samples;
    std::vector<LostMember> lost;
    bool interrupted = false; // call run with the same plan again to go on: samples that were taken are not taken twice
};

// All that a run needs to go on with the same bits.
template <class T> struct SavedState {
    std::int64_t step = 0;
    std::vector<T> states;     // [member][point]
    std::int64_t sampled = -1; // the last step whose sample a run has taken
};

// `count` times from `first` to `last`, equally spaced, or by equal factors (first > 0).
std::vector<double> linear_times(double first, double last, int count);
std::vector<double> logarithmic_times(double first, double last, int count);

template <class T = double> class Ensemble {
  public:
    Ensemble(const EnsembleSpec& spec, const InitialState& initial, Threads threads = {});
    Ensemble(const EnsembleSpec& spec, const InitialState& initial, Device device);
    Ensemble(const EnsembleSpec& spec, const SavedState<T>& saved, Threads threads = {});
    Ensemble(const EnsembleSpec& spec, const SavedState<T>& saved, Device device);
    Ensemble(Ensemble&&) noexcept;
    Ensemble& operator=(Ensemble&&) noexcept;
    ~Ensemble();

    const EnsembleSpec& spec() const;
    double time_step() const;
    std::int64_t step() const; // that all members have reached
    double time() const { return static_cast<double>(step()) * time_step(); }
    std::string path() const; // how the backend steps, in words
    std::int64_t members_per_slice() const;

    // From the step that was reached on to the plan's end; throws Unstable. A sample that is due at this very step is
    // taken unless a run took one there before, also one before save(). After an exception the next run returns what
    // the one that threw had sampled and lost, too.
    RunResult run(const RunPlan& plan);
    // Without checks, samples or callbacks.
    void advance(std::int64_t steps);
    // One sample of the states as they are.
    Sample sample(std::span<const ObservableRequest> observables, bool keep_values = false);
    // The states of some members, [member][point]; by default of all. Counted from 0, whatever first_member is.
    std::vector<T> states(std::int64_t first = 0, std::int64_t count = -1);
    // Other states at the same step, [member][point]; no member counts as lost any more.
    void set_states(std::span<const T> states);
    SavedState<T> save();

  private:
    struct Data;
    Data& data() const; // throws if this was moved from, or an error has left its slices at different times
    std::unique_ptr<Data> data_;
};

} // namespace bandmill
