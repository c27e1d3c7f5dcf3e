#include "bandmill/study/convergence.hpp"

#include "bandmill/base/text.hpp"
#include "bandmill/ensemble/schedule.hpp"

#include <chrono>
#include <cmath>
#include <limits>

namespace bandmill {
namespace {

void check(const ConvergenceSpec& spec) {
    if (spec.fewest_points < 2 * Grid::fewest_points || spec.fewest_points % 2 != 0)
        throw InvalidArgument("convergence cannot start at " + std::to_string(spec.fewest_points) +
                              " points (they are compared with half as many, of which a grid has 5 or more): give an "
                              "even number of 10 or more");
    if (spec.most_points > most_convergence_points)
        throw InvalidArgument("a grid of " + std::to_string(spec.most_points) + " points would take for ever: give " +
                              std::to_string(most_convergence_points) + " at most");
    if (spec.most_points < spec.fewest_points)
        throw InvalidArgument("there are no grids from " + std::to_string(spec.fewest_points) + " to " +
                              std::to_string(spec.most_points) + " points: give the smaller number first");
    if (!(spec.until > 0) || !(spec.steps_per_spacing > 0))
        throw InvalidArgument("convergence needs a time and a time step above 0: give others");
}

// Half of the fewest points: what the first grid is compared with.
std::int64_t coarsest(const ConvergenceSpec& spec) { return spec.fewest_points / 2; }

std::int64_t steps_on(const ConvergenceSpec& spec, std::int64_t points) {
    const double time_step = Grid(coarsest(spec), spec.length).spacing() / spec.steps_per_spacing;
    return detail::steps_to_reach(spec.until, time_step) * (points / coarsest(spec));
}

// One member to the end; empty if go_on said no.
template <class T>
std::vector<T> final_state(const ConvergenceSpec& spec, std::int64_t points, const Where& where,
                           const std::function<bool(std::int64_t, double)>& go_on) try {
    const Grid grid(points, spec.length);
    EnsembleSpec ensemble_spec{.equation = spec.equation,
                               .grid = grid,
                               .time_step = grid.spacing() / spec.steps_per_spacing,
                               .shape = Shape::latency};
    if (std::holds_alternative<Threads>(where)) ensemble_spec.shape = Shape::throughput;
    for (const double value : spec.parameters) ensemble_spec.parameters.push_back({value});
    auto ensemble =
        std::visit([&](auto place) { return Ensemble<T>(ensemble_spec, InitialState(spec.initial), place); }, where);
    const double end_time = static_cast<double>(steps_on(spec, points)) * ensemble.time_step();
    const RunResult result = ensemble.run({.end_time = end_time,
                                           .stop_when_lost = true,
                                           .progress =
                                               [&](const Progress& progress) {
                                                   return go_on(points, static_cast<double>(progress.step) /
                                                                            static_cast<double>(progress.steps));
                                               },
                                           .warn = [](const std::string&) {}}); // coarse grids are meant to be poor
    return result.interrupted ? std::vector<T>{} : ensemble.states();
} catch (const Unstable& error) {
    throw Unstable("the grid of " + std::to_string(points) + " points: " + error.what(), error.member(), error.time());
}

template <class T> double mean_difference(const std::vector<T>& fine, const std::vector<T>& coarse) {
    double sum = 0;
    for (std::size_t i = 0; i < coarse.size(); ++i)
        sum += std::abs(static_cast<double>(fine[2 * i]) - static_cast<double>(coarse[i]));
    return sum / static_cast<double>(coarse.size());
}

} // namespace

int convergence_grids(const ConvergenceSpec& spec) {
    check(spec);
    int grids = 0;
    for (std::int64_t points = spec.fewest_points; points <= spec.most_points; points *= 2) ++grids;
    return grids;
}

template <class T>
std::vector<ConvergenceRow> study_convergence(const ConvergenceSpec& spec, const Where& where,
                                              const std::function<void(const ConvergenceRow&)>& row_done,
                                              const std::function<bool(std::int64_t, double)>& go_on) {
    check(spec);
    std::vector<ConvergenceRow> rows;
    std::vector<T> coarse = final_state<T>(spec, coarsest(spec), where, go_on);
    for (std::int64_t points = spec.fewest_points; points <= spec.most_points && !coarse.empty(); points *= 2) {
        const auto start = std::chrono::steady_clock::now();
        std::vector<T> fine = final_state<T>(spec, points, where, go_on);
        if (fine.empty()) break;
        const double difference = mean_difference(fine, coarse);
        const double order =
            rows.empty() ? std::numeric_limits<double>::quiet_NaN() : std::log2(rows.back().difference / difference);
        const std::int64_t steps = steps_on(spec, points);
        const double time_step = Grid(points, spec.length).spacing() / spec.steps_per_spacing;
        rows.push_back({points, steps, static_cast<double>(steps) * time_step, difference, order,
                        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()});
        row_done(rows.back());
        coarse = std::move(fine);
    }
    return rows;
}

template std::vector<ConvergenceRow> study_convergence<double>(const ConvergenceSpec&, const Where&,
                                                               const std::function<void(const ConvergenceRow&)>&,
                                                               const std::function<bool(std::int64_t, double)>&);
template std::vector<ConvergenceRow> study_convergence<float>(const ConvergenceSpec&, const Where&,
                                                              const std::function<void(const ConvergenceRow&)>&,
                                                              const std::function<bool(std::int64_t, double)>&);

} // namespace bandmill
