#include "bandmill/ensemble/check.hpp"

#include "bandmill/base/text.hpp"

#include <cmath>
#include <limits>

namespace bandmill::detail {
namespace {

// A plane is periodic, of an equation that has planes, and its points can be counted.
void check_plane(const EnsembleSpec& spec) {
    if (!spec.grid_y) return;
    if (spec.grid.ends() != Ends::periodic || spec.grid_y->ends() != Ends::periodic)
        throw InvalidArgument(
            "a plane was asked for with " +
            std::string(name(spec.grid.ends() != Ends::periodic ? spec.grid.ends() : spec.grid_y->ends())) +
            " ends (planes are periodic both ways): make the ends of both grids periodic");
    std::visit(
        []<class E>(const E&) {
            if (!PlaneEquation<E>)
                throw InvalidArgument(std::string(E::name) +
                                      " was asked for in two dimensions, where it is not defined: choose diffusion, "
                                      "hyperdiffusion or cahn-hilliard, or leave grid_y out");
        },
        spec.equation);
    if (spec.grid_y->points() > std::numeric_limits<std::int64_t>::max() / 16 / spec.grid.points())
        throw InvalidArgument("a plane of " + std::to_string(spec.grid.points()) + " x " +
                              std::to_string(spec.grid_y->points()) +
                              " points is more than memory can be counted for: give fewer points");
}

void check_members(const EnsembleSpec& spec) {
    if (spec.members < 1)
        throw InvalidArgument("an ensemble cannot have " + std::to_string(spec.members) + " members: give 1 or more");
    if (spec.members > std::numeric_limits<std::int64_t>::max() / 16 / spec.points())
        throw InvalidArgument(std::to_string(spec.members) + " members of " + std::to_string(spec.points()) +
                              " points are more than memory can be counted for: give fewer");
    if (spec.first_member < 0 || spec.first_member > std::numeric_limits<std::int64_t>::max() - spec.members)
        throw InvalidArgument("the first member cannot have the number " + std::to_string(spec.first_member) +
                              " (members are numbered from 0 in 63 bits): give a number of 0 or more");
    if (spec.members_per_slice < 0)
        throw InvalidArgument("a slice cannot have " + std::to_string(spec.members_per_slice) +
                              " members: give a positive number, or 0 for as many as there is memory for");
}

template <class E> void check_equation(const E& equation, const Grid& grid) {
    equation.check();
    // Sources look up to 3 points away, and no reflection is defined for them.
    if (E::template Rate<double>::has_source && grid.ends() != Ends::periodic)
        throw InvalidArgument(std::string(E::name) + " was asked for with " + name(grid.ends()) +
                              " ends (its source is defined on periodic grids only): make the ends periodic");
}

template <class E> std::vector<double> expanded_parameters(const E&, const EnsembleSpec& spec) {
    const auto& names = E::member_parameters;
    if (spec.parameters.size() != names.size()) {
        std::string list;
        for (const char* one : names) list += (list.empty() ? ": " : ", ") + std::string(one);
        throw InvalidArgument(std::to_string(spec.parameters.size()) + " lists of member parameters were given, but " +
                              E::name + " has " + std::to_string(names.size()) + list + ". Give one list for each");
    }
    std::vector<double> expanded;
    expanded.reserve(names.size() * static_cast<std::size_t>(spec.members));
    for (std::size_t which = 0; which < names.size(); ++which) {
        const std::vector<double>& values = spec.parameters[which];
        if (values.size() != 1 && static_cast<std::int64_t>(values.size()) != spec.members)
            throw InvalidArgument("the parameter " + std::string(names[which]) + " has " +
                                  std::to_string(values.size()) + " values for " + std::to_string(spec.members) +
                                  " members: give one for all, or one for each");
        for (std::size_t k = 0; k < values.size(); ++k)
            if (!std::isfinite(values[k]))
                throw InvalidArgument("the parameter " + std::string(names[which]) + " of member " +
                                      std::to_string(spec.first_member + static_cast<std::int64_t>(k)) +
                                      " is not finite: give a finite number");
        if (values.size() == 1)
            expanded.insert(expanded.end(), static_cast<std::size_t>(spec.members), values[0]);
        else
            expanded.insert(expanded.end(), values.begin(), values.end());
    }
    return expanded;
}

} // namespace

StepperSetup checked_setup(const EnsembleSpec& spec) {
    check_plane(spec);
    check_members(spec);
    std::visit([&](const auto& equation) { check_equation(equation, spec.grid); }, spec.equation);
    if (!(spec.time_step >= 0) || !std::isfinite(spec.time_step))
        throw InvalidArgument("a time step cannot be " + text(spec.time_step) +
                              ": give a positive, finite number, or 0 for a tenth of the grid spacing");
    return {.equation = spec.equation,
            .grid = spec.grid,
            .time_step = spec.time_step > 0 ? spec.time_step : 0.1 * spec.spacing(),
            .members = spec.members,
            .parameters =
                std::visit([&](const auto& equation) { return expanded_parameters(equation, spec); }, spec.equation),
            .shape = spec.shape,
            .most_members = spec.members_per_slice,
            .grid_y = spec.grid_y};
}

void check_requests(std::span<const ObservableRequest> requests) {
    for (const auto& [observable, histogram] : requests) {
        const std::string what = name(observable); // throws for a number that is none
        if (!histogram) continue;
        if (histogram->bins < 1)
            throw InvalidArgument("the histogram of " + what + " has " + std::to_string(histogram->bins) +
                                  " bins: give 1 or more");
        if (!(histogram->low < histogram->high) || !std::isfinite(histogram->high - histogram->low))
            throw InvalidArgument("the histogram of " + what + " goes from " + text(histogram->low) + " to " +
                                  text(histogram->high) + ": give finite bounds, the lower one first");
    }
}

void check_saved(std::int64_t step, std::size_t numbers, const EnsembleSpec& spec) {
    const std::int64_t expected = spec.members * spec.points();
    if (static_cast<std::int64_t>(numbers) != expected)
        throw InvalidArgument("a saved state of " + std::to_string(numbers) + " numbers does not suit " +
                              std::to_string(spec.members) + " members of " + std::to_string(spec.points()) +
                              " points, which have " + std::to_string(expected) +
                              ": give the specification it was saved with");
    if (step < 0)
        throw InvalidArgument("a saved state cannot have the step " + std::to_string(step) +
                              " (a run starts at 0): give the state as it was saved");
}

} // namespace bandmill::detail
