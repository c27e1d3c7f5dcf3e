#include "bandmill/ensemble/watch.hpp"

#include "bandmill/base/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace bandmill::detail {
namespace {

double stable_step(const EnsembleSpec& spec, double largest) {
    return std::visit(
        [&]<class E>(const E& equation) {
            if constexpr (PlaneEquation<E>)
                if (spec.grid_y) return equation.plane_stable_step(spec.grid, *spec.grid_y, largest);
            return equation.stable_step(spec.grid, largest);
        },
        spec.equation);
}

std::vector<double> parameters_of(const EnsembleSpec& spec, std::int64_t member) {
    std::vector<double> own;
    for (const std::vector<double>& values : spec.parameters)
        own.push_back(values.size() == 1 ? values[0] : values[static_cast<std::size_t>(member)]);
    return own;
}

} // namespace

std::string Watch::describe(std::int64_t member) const {
    const std::vector<double> own = parameters_of(spec_, member);
    std::string list;
    std::visit(
        [&]<class E>(const E&) {
            for (std::size_t which = 0; which < own.size(); ++which)
                list +=
                    (which == 0 ? " (" : ", ") + std::string(E::member_parameters[which]) + " = " + text(own[which]);
        },
        spec_.equation);
    return "member " + std::to_string(spec_.first_member + member) + list + (list.empty() ? "" : ")");
}

void Watch::look_at(std::int64_t first, std::span<const double> largest, double time) {
    for (std::size_t k = 0; k < largest.size(); ++k) {
        const std::int64_t member = first + static_cast<std::int64_t>(k);
        char& mark = marks_[static_cast<std::size_t>(member)];
        if (mark) continue;
        if (std::isfinite(largest[k])) {
            largest_ = std::max(largest_, largest[k]);
            continue;
        }
        mark = 1;
        lost_.push_back({spec_.first_member + member, time, parameters_of(spec_, member)});
    }
}

void Watch::warn_of_time_step(double time) {
    const double bound = std::exchange(largest_, usual_largest);
    const double limit = stable_step(spec_, bound);
    const double excess = time_step_ / limit;
    if (!(excess > warned_excess_)) return;
    warned_excess_ = 2 * excess;
    warn("the time step " + text(time_step_) + " is above " + text(limit) +
         ", the longest that is stable where |C| reaches " + text(bound) + " (time " + text(time) +
         "; nonlinear terms are taken explicitly): results may be polluted, give a smaller time_step");
}

// A rounding error of the right-hand side, which the grid makes 1 / dx^2 or 1 / dx^4 large, comes through the solve
// undamped where it is smooth. Cahn-Hilliard from noise in f32: 0.2 % of the state after 20 steps at 3e-4 of this
// measure (1024 points on 2 pi), 11 % at 2e-2.
void Watch::warn_of_round_off() {
    const auto [linear, implicitness] =
        std::visit([]<class E>(const E& e) { return std::pair(e.implicit(), E::implicitness); }, spec_.equation);
    const double dx2 = spec_.spacing() * spec_.spacing();
    const double stiffness =
        implicitness * time_step_ * std::max(std::abs(linear.second) / dx2, std::abs(linear.fourth) / (dx2 * dx2));
    if (!(epsilon_ * stiffness > 1e-3)) return;
    warn("steps this long on a grid this fine multiply round-off by " + text(stiffness) +
         ", which leaves few digits in this precision (epsilon " + text(epsilon_) +
         "): use double, fewer points or a smaller time_step");
}

void Watch::warn(const std::string& warning) const {
    if (plan_.warn)
        plan_.warn(warning);
    else
        std::fprintf(stderr, "bandmill: warning: %s\n", warning.c_str());
}

void Watch::judge(double time) {
    if (!looked_) warn_of_round_off();
    looked_ = true;
    const auto first = std::find(marks_.begin(), marks_.end(), char{1}) - marks_.begin();
    if (plan_.stop_when_none_is_left && std::find(marks_.begin(), marks_.end(), char{0}) == marks_.end())
        throw Unstable("no member is finite any more at time " + text(time) + ", " + describe(first) +
                           " and all others are lost (the time step " + text(time_step_) +
                           " is too long for them, or their initial states are out of range): give a smaller time_step",
                       spec_.first_member + first, time);
    if (plan_.stop_when_lost && first < static_cast<std::ptrdiff_t>(marks_.size())) {
        throw Unstable(describe(first) + " is no longer finite at time " + text(time) + " (the time step " +
                           text(time_step_) +
                           " is too long for it, or its initial state is out of range): give a smaller time_step, or "
                           "leave stop_when_lost out to go on without it",
                       spec_.first_member + first, time);
    }
    warn_of_time_step(time);
}

} // namespace bandmill::detail
