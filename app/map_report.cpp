#include "map_report.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::FlowClass;
using bandmill::FlowMapSpec;

// A terminal of 80 columns and 30 lines shows it whole.
constexpr std::int64_t most_columns = 64, most_rows = 24;
constexpr std::size_t most_pictures = 4;

char letter_of(FlowClass kind) {
    switch (kind) {
    case FlowClass::a0: return '.';
    case FlowClass::a1: return '#';
    case FlowClass::a2: return '~';
    case FlowClass::none: break;
    }
    return '?';
}

std::vector<std::string> picture_of(std::span<const FlowClass> map, std::int64_t width) {
    const std::int64_t height = std::ssize(map) / width;
    std::vector<std::string> rows;
    for (const std::int64_t y : FlowMapSpec::kept_along(height, most_rows)) {
        std::string& row = rows.emplace_back();
        for (const std::int64_t x : FlowMapSpec::kept_along(width, most_columns))
            row += letter_of(map[static_cast<std::size_t>(y * width + x)]);
    }
    return {rows.rbegin(), rows.rend()};
}

double speckle_of(std::span<const FlowClass> map, std::int64_t width) {
    std::int64_t marked = 0;
    for (const char mark : bandmill::speckles(map, width)) marked += mark;
    return static_cast<double>(marked) / static_cast<double>(map.size());
}

// The last parameter changes fastest.
std::vector<double> parameters_of(const FlowMapSpec& spec, std::int64_t panel) {
    std::vector<double> values;
    const std::vector<bandmill::FlowParameter> others = spec.panel_parameters();
    for (auto parameter = others.rbegin(); parameter != others.rend(); ++parameter) {
        const std::vector<double>& all = spec.of(*parameter);
        values.push_back(all[static_cast<std::size_t>(panel % std::ssize(all))]);
        panel /= std::ssize(all);
    }
    return {values.rbegin(), values.rend()};
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

std::string panel_line(const FlowMapSpec& spec, const MapPanel& panel) {
    const auto all = static_cast<double>(spec.width() * spec.height());
    std::string text = panel_name(spec, panel) + ":";
    for (std::size_t kind = 0; kind < panel.cells.size(); ++kind)
        text += fmt::format("{} A{} {} ({})", kind > 0 ? "," : "", kind, panel.cells[kind],
                            percent(static_cast<double>(panel.cells[kind]) / all));
    text += fmt::format("; speckle {}", percent(panel.speckle));
    if (!std::isnan(panel.kmeans_speckle)) text += fmt::format(", by raw k-means {}", percent(panel.kmeans_speckle));
    text += fmt::format("; {} cells not settled", panel.unsettled);
    if (panel.none > 0) text += fmt::format("; {} without a finite run", panel.none);
    return text + "\n";
}

std::string picture_text(const FlowMapSpec& spec, const MapPanel& panel) {
    const std::vector<double>&x = spec.of(spec.x), &y = spec.of(spec.y);
    const std::string top = fmt::format("{:.4g}", y.back()), bottom = fmt::format("{:.4g}", y.front());
    const std::size_t margin = std::max({top.size(), bottom.size(), std::size_t{4}});
    std::string text = fmt::format("{:>{}}\n", name(spec.y), margin + 1);
    for (std::size_t row = 0; row < panel.picture.size(); ++row) {
        const std::string& label = row + 1 == panel.picture.size() ? bottom : row == 0 ? top : "";
        text += fmt::format("{:>{}} {}\n", label, margin, panel.picture[row]);
    }
    const std::string left = fmt::format("{:.4g}", x.front()), right = fmt::format("{:.4g} {}", x.back(), name(spec.x));
    const std::size_t gap = panel.picture[0].size() > left.size() + 1 ? panel.picture[0].size() - left.size() : 1;
    return text + fmt::format("{:>{}}{}{}{}\n", "", margin + 1, left, std::string(gap, ' '), right);
}

} // namespace

template <class T>
std::vector<MapPanel> map_panels(const FlowMapSpec& spec, const bandmill::FlowMapResult<T>& result,
                                 Classifier classifier) {
    const std::int64_t size = spec.width() * spec.height();
    std::vector<MapPanel> panels;
    for (std::int64_t which = 0; which < spec.panels(); ++which) {
        const auto part = [&](const auto& all) {
            return std::span(all).subspan(static_cast<std::size_t>(which * size), static_cast<std::size_t>(size));
        };
        MapPanel panel{.parameters = parameters_of(spec, which), .cells = {}, .picture = {}};
        const std::span<const FlowClass> map = part(chosen_classes(result, classifier));
        for (const FlowClass kind : map)
            ++(kind == FlowClass::none ? panel.none : panel.cells[static_cast<std::size_t>(kind)]);
        for (const bandmill::FlowVerdict& verdict : part(result.verdicts)) panel.unsettled += is_unsettled(verdict);
        panel.speckle = speckle_of(part(result.classes), spec.width());
        panel.kmeans_speckle = result.kmeans.empty() ? std::numeric_limits<double>::quiet_NaN()
                                                     : speckle_of(part(result.kmeans), spec.width());
        panel.picture = picture_of(map, spec.width());
        panels.push_back(std::move(panel));
    }
    return panels;
}
template std::vector<MapPanel> map_panels(const FlowMapSpec&, const bandmill::FlowMapResult<double>&, Classifier);
template std::vector<MapPanel> map_panels(const FlowMapSpec&, const bandmill::FlowMapResult<float>&, Classifier);

std::string panel_name(const FlowMapSpec& spec, const MapPanel& panel) {
    std::string text;
    const std::vector<bandmill::FlowParameter> others = spec.panel_parameters();
    for (std::size_t i = 0; i < others.size(); ++i)
        text += fmt::format("{}{} {:.6g}", i > 0 ? ", " : "", name(others[i]), panel.parameters[i]);
    return text;
}

std::string panels_text(const FlowMapSpec& spec, const std::vector<MapPanel>& panels) {
    std::string text;
    for (const MapPanel& panel : panels) {
        text += fmt::format("\n{}", panel_line(spec, panel));
        if (panels.size() <= most_pictures) text += picture_text(spec, panel);
    }
    text += "\n. A0: the forcing leaves the domains behind   # A1: domains that it holds   ~ A2: a sinusoidal wave\n";
    if (panels.size() > most_pictures) text += "(no pictures of so many panels)\n";
    return text;
}

std::string rule_text(const bandmill::FlowRule& rule) {
    return fmt::format(
        "rule     A0 moves at more than {:.2g} of the forcing's speed, in the forcing's frame; the rest is "
        "held:\n"
        "         A1 if the rarer sign of C goes beyond {:.2g} and more than {:.2g} % of the variance is "
        "not in the\n"
        "         forced wavenumber, else A2 ({})\n",
        std::pow(10, rule.motion.value), rule.depth.value, 100 * std::pow(10, rule.harmonics.value),
        rule.motion.is_gap && rule.depth.is_gap
            ? "limits: where these runs have gaps"
            : fmt::format("the limit of {} is the usual one: these runs have no gap there",
                          rule.motion.is_gap ? "depth" : "motion"));
}

} // namespace app
