// Stepper: what a backend does for an ensemble. It holds a slice of the members where it steps them.
#pragma once

#include "bandmill/base/space.hpp"
#include "bandmill/ensemble/observable.hpp"
#include "bandmill/pde/equations.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bandmill {

// How a member is spread over a GPU: for many members, or for the shortest time of a few (other rounding).
enum class Shape { throughput, latency };

namespace detail {

// What every backend is told. All of it is checked before.
struct StepperSetup {
    Equation equation;
    Grid grid;
    double time_step;
    std::int64_t members;           // of the ensemble; a backend may hold fewer at a time
    std::vector<double> parameters; // [parameter][member]
    Shape shape = Shape::throughput;
    std::int64_t most_members = 0;   // to hold at a time; 0: as many as there is memory for
    std::optional<Grid> grid_y = {}; // of a plane
};

// Where the results of `samples` samples of the members held go.
struct SampleTarget {
    std::span<const ObservableRequest> requests;
    // [sample][request]; results are added to what is there
    std::span<EnsembleStatistic> statistics;
    // [sample][request][member held], or empty
    std::span<double> values;
};

template <class T> class Stepper {
  public:
    virtual ~Stepper() = default;
    virtual std::string path() const = 0; // how it steps, in words
    virtual std::int64_t capacity() const = 0;

    // Members first .. first + count - 1 become those that are held. states: [member][point].
    virtual void load(std::int64_t first, std::int64_t count, const T* states) = 0;
    virtual void store(T* states) = 0;
    // With a target: a sample after every step.
    virtual void advance(std::int64_t steps, const SampleTarget* target = nullptr) = 0;
    // One sample of the states as they are.
    virtual void observe(const SampleTarget& target) = 0;
};

template <class T> std::unique_ptr<Stepper<T>> make_stepper(const StepperSetup& setup, Threads threads);
template <class T> std::unique_ptr<Stepper<T>> make_stepper(const StepperSetup& setup, Device device);

} // namespace detail
} // namespace bandmill
