#include "bandmill/study/flow_map_spec.hpp"

#include "bandmill/base/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace bandmill {

const char* name(FlowParameter parameter) {
    constexpr std::array<const char*, flow_parameters> names{"mean", "forcing", "speed", "wavenumber", "gamma"};
    return names[static_cast<std::size_t>(parameter)];
}

std::vector<FlowParameter> FlowMapSpec::panel_parameters() const {
    std::vector<FlowParameter> others;
    for (int which = 0; which < flow_parameters; ++which)
        if (const auto parameter = static_cast<FlowParameter>(which); parameter != x && parameter != y)
            others.push_back(parameter);
    return others;
}

std::int64_t FlowMapSpec::panels() const {
    std::int64_t count = 1;
    for (const FlowParameter parameter : panel_parameters()) count *= static_cast<std::int64_t>(of(parameter).size());
    return count;
}

double FlowMapSpec::window_length() const {
    if (window > 0) return window;
    double slowest = std::numeric_limits<double>::infinity();
    for (const double v : of(FlowParameter::speed))
        for (const double k : of(FlowParameter::wavenumber))
            if (v * std::abs(k) > 0) slowest = std::min(slowest, v * std::abs(k));
    return std::min(until / 2, std::isfinite(slowest) ? 2 * std::numbers::pi / slowest : until / 4);
}

std::vector<std::int64_t> FlowMapSpec::kept_along(std::int64_t cells, std::int64_t keep) {
    keep = std::min(keep, cells);
    std::vector<std::int64_t> kept;
    for (std::int64_t i = 0; i < keep; ++i)
        kept.push_back(keep == 1 ? 0 : (i * (cells - 1) + (keep - 1) / 2) / (keep - 1));
    return kept;
}

static constexpr std::int64_t most_cells = std::int64_t{1} << 28;

void detail::check(const FlowMapSpec& spec) {
    if (spec.x == spec.y)
        throw InvalidArgument("both axes of the map are " + std::string(name(spec.x)) + ": give two parameters");
    for (int which = 0; which < flow_parameters; ++which) {
        const auto parameter = static_cast<FlowParameter>(which);
        if (spec.of(parameter).empty())
            throw InvalidArgument("the map has no value for " + std::string(name(parameter)) + ": give at least one");
        for (const double value : spec.of(parameter))
            if (!std::isfinite(value))
                throw InvalidArgument("a value of " + std::string(name(parameter)) +
                                      " is not finite: give finite numbers");
    }
    double cells = 1;
    for (const std::vector<double>& values : spec.values) cells *= static_cast<double>(values.size());
    if (cells > static_cast<double>(most_cells) / std::max(1, spec.refine))
        throw InvalidArgument("a map of " + detail::text(cells) +
                              " cells is too large (more than 2^28 runs in a round): "
                              "give fewer cells, panels or repetitions");
    for (const double k : spec.of(FlowParameter::wavenumber))
        if (std::abs(k) * spec.grid.length() > std::numbers::pi * static_cast<double>(spec.grid.points()))
            throw InvalidArgument("a forcing of wavenumber " + detail::text(k) + " is too fine for " +
                                  std::to_string(spec.grid.points()) + " points: give more points, or a smaller one");
    if (spec.grid.ends() != Ends::periodic)
        throw InvalidArgument("the forced equation is periodic: give a periodic grid");
    if (!(spec.until > 0) || !std::isfinite(spec.until))
        throw InvalidArgument("a map at the time " + detail::text(spec.until) + " has no steps: give a later time");
    if (!(spec.window >= 0) || spec.window > spec.until)
        throw InvalidArgument("a closing window of " + detail::text(spec.window) +
                              " does not lie within the run, which "
                              "ends at " +
                              detail::text(spec.until) + ": give a shorter one");
    if (spec.refine < 0 || spec.refine > 1000)
        throw InvalidArgument("cells at a border cannot be run again " + std::to_string(spec.refine) +
                              " times: give 0 to 1000");
    if (spec.keep_width < 0 || spec.keep_height < 0)
        throw InvalidArgument("the number of cells that keep their states is negative: give 0 or more");
    if (spec.kmeans_restarts < 0)
        throw InvalidArgument("k-means cannot start " + std::to_string(spec.kmeans_restarts) +
                              " times: give 0 or more");
}

} // namespace bandmill
