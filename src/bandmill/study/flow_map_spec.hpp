// FlowMapSpec: which cells a flow map has, and how each of them is run.
#pragma once

#include "bandmill/ensemble/ensemble.hpp"

#include <array>
#include <numbers>
#include <vector>

namespace bandmill {

enum class FlowParameter { mean, forcing, speed, wavenumber, gamma };
inline constexpr int flow_parameters = 5;
const char* name(FlowParameter parameter);

struct FlowMapSpec {
    // Of each parameter: along its axis, or else one per panel. The panels are all combinations.
    std::array<std::vector<double>, flow_parameters> values{
        {linear_times(0, 1.5, 96), linear_times(0, 2, 96), {0.5}, {1}, {0.01}}};
    FlowParameter x = FlowParameter::mean, y = FlowParameter::forcing;
    Grid grid = Grid(256, 2 * std::numbers::pi);
    double until = 50;
    double time_step = 0; // 0: 0.1 dx; cells that need it take a half of it, a quarter, ...
    double window = 0; // at the end, in which motion is measured; 0: a period of the slowest forcing, at most until / 2
    double amplitude = 0.1;
    std::uint64_t seed = 1;
    int refine = 0; // other noises for each cell at a border
    std::int64_t keep_width = 48,
                 keep_height = 48; // cells of a panel whose final states are kept; as many as there are
    int kmeans_restarts = 8;       // 0: no k-means of the final states

    const std::vector<double>& of(FlowParameter parameter) const { return values[static_cast<std::size_t>(parameter)]; }
    std::int64_t width() const { return static_cast<std::int64_t>(of(x).size()); }
    std::int64_t height() const { return static_cast<std::int64_t>(of(y).size()); }
    std::vector<FlowParameter> panel_parameters() const; // those that are no axis; the last one changes fastest
    std::int64_t panels() const;
    std::int64_t cells() const { return panels() * width() * height(); } // [panel][y][x]
    double step_length() const { return time_step > 0 ? time_step : 0.1 * grid.spacing(); }
    double window_length() const;
    // Which cells keep their states: indices along an axis of `cells`.
    static std::vector<std::int64_t> kept_along(std::int64_t cells, std::int64_t keep);
};

namespace detail {
void check(const FlowMapSpec& spec); // throws InvalidArgument
}

} // namespace bandmill
