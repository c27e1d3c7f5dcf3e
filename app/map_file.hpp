// The file of bandmill map.
#pragma once

#include "bandmill/io/data_file.hpp"
#include "bandmill/study/flow_map.hpp"

namespace app {

// What `class` of the file is taken from.
enum class Classifier { physical, raw_kmeans };

// Without what tells where it comes from.
bandmill::DataLayout map_layout(const bandmill::FlowMapSpec& spec, Classifier classifier, bandmill::NumberType state);
void write_map_coordinates(bandmill::DataFile& file, const bandmill::FlowMapSpec& spec);
template <class T>
void write_map(bandmill::DataFile& file, const bandmill::FlowMap<T>& study, const bandmill::FlowMapSpec& spec,
               const bandmill::FlowMapResult<T>& result, Classifier classifier);

template <class T>
const std::vector<bandmill::FlowClass>& chosen_classes(const bandmill::FlowMapResult<T>& result,
                                                       Classifier classifier) {
    return classifier == Classifier::raw_kmeans ? result.kmeans : result.classes;
}
// Has the cell a class, but not yet for good?
inline bool is_unsettled(const bandmill::FlowVerdict& verdict) {
    return verdict.kind != bandmill::FlowClass::none && !verdict.settled;
}
inline double largest_size(const bandmill::FlowFeatures& run) { return std::max(run.highest, -run.lowest); }

} // namespace app
