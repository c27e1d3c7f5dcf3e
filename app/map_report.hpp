// What bandmill map tells in the end: the classes of each panel, a picture of them, the rule.
#pragma once

#include "map_file.hpp"

#include <string>

namespace app {

// One map of two parameters, at one value of each of the others.
struct MapPanel {
    std::vector<double> parameters;                         // in the order of panel_parameters()
    std::array<std::int64_t, bandmill::flow_classes> cells; // of each class
    std::int64_t none = 0;                                  // cells without a finite run
    std::int64_t unsettled = 0;
    double speckle = 0, kmeans_speckle = 0; // shares of the panel's cells; the latter NaN without k-means
    std::vector<std::string> picture;       // from the top row down
};

template <class T>
std::vector<MapPanel> map_panels(const bandmill::FlowMapSpec& spec, const bandmill::FlowMapResult<T>& result,
                                 Classifier classifier);

// "speed 0.5, wavenumber 1, gamma 0.01"
std::string panel_name(const bandmill::FlowMapSpec& spec, const MapPanel& panel);
std::string panels_text(const bandmill::FlowMapSpec& spec, const std::vector<MapPanel>& panels);
std::string rule_text(const bandmill::FlowRule& rule);

} // namespace app
