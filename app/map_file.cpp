#include "map_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace app {
namespace {

using bandmill::FlowClass;
using bandmill::FlowFeatures;
using bandmill::FlowMapSpec;
using bandmill::FlowParameter;
using enum bandmill::NumberType;

const char* meaning_of(FlowParameter parameter) {
    constexpr std::array<const char*, bandmill::flow_parameters> meanings{
        "mean concentration of the initial state", "amplitude f0 of the forcing f0 k cos(k x)",
        "speed v of the forcing", "wavenumber k of the forcing", "gamma of the equation"};
    return meanings[static_cast<std::size_t>(parameter)];
}

// What the file tells of every cell. `number` is the feature.
struct FeatureVariable {
    const char* name;
    const char* meaning;
    double (*number)(const FlowFeatures& run);
};
constexpr FeatureVariable feature_variables[] = {
    {"rate", "root of the mean of C_t^2 in the closing window", [](const FlowFeatures& run) { return run.rate; }},
    {"early_rate", "rate in the first half of the window", [](const FlowFeatures& run) { return run.early_rate; }},
    {"late_rate", "rate in the second half of the window", [](const FlowFeatures& run) { return run.late_rate; }},
    {"motion", "rate / (speed gradient): 1 for a pattern that the forcing leaves behind",
     [](const FlowFeatures& run) { return run.motion; }},
    {"gradient", "root of the mean of C_x^2, at the end", [](const FlowFeatures& run) { return run.gradient; }},
    {"forced_share", "share of the variance of C in the forced wavenumber, at the end",
     [](const FlowFeatures& run) { return run.forced_share; }},
    {"range", "highest - lowest", [](const FlowFeatures& run) { return run.range(); }},
    {"lowest", "lowest C at the end", [](const FlowFeatures& run) { return run.lowest; }},
    {"highest", "highest C at the end", [](const FlowFeatures& run) { return run.highest; }},
    {"largest", "largest |C| at the end", largest_size},
    {"interfaces", "sign changes of C at the end", [](const FlowFeatures& run) { return run.interfaces; }},
    {"free_energy", "free energy at the end", [](const FlowFeatures& run) { return run.free_energy; }},
    {"mean_drift", "change of the mean of C since the start", [](const FlowFeatures& run) { return run.mean_drift; }},
};

std::int64_t kept_width(const FlowMapSpec& spec) { return std::min(spec.keep_width, spec.width()); }
std::int64_t kept_height(const FlowMapSpec& spec) { return std::min(spec.keep_height, spec.height()); }
bool keeps_states(const FlowMapSpec& spec) { return kept_width(spec) * kept_height(spec) > 0; }
std::string kept_name(FlowParameter axis) { return std::string("kept_") + name(axis); }

// The panels' dimensions: parameters with several values.
std::vector<std::string> panel_dimensions(const FlowMapSpec& spec) {
    std::vector<std::string> names;
    for (const FlowParameter parameter : spec.panel_parameters())
        if (spec.of(parameter).size() > 1) names.emplace_back(name(parameter));
    return names;
}

class LayoutMaker {
  public:
    LayoutMaker(const FlowMapSpec& spec, Classifier classifier, bandmill::NumberType state) : spec_(spec) {
        add_parameters();
        add_classes(classifier);
        for (const FeatureVariable& feature : feature_variables) add(feature.name, f64, cells_, feature.meaning);
        add("time_step", f64, cells_, "time step of the cell");
        add("step_too_long", i64, cells_, "1: |C| was above what the time step allows, even so; 0: it was not");
        add_outcomes();
        if (keeps_states(spec)) add_states(state);
        add_attributes(classifier);
    }
    bandmill::DataLayout layout;

  private:
    void add(const std::string& name, bandmill::NumberType type, std::vector<std::string> dimensions,
             const char* meaning) {
        layout.variables.push_back({name, type, std::move(dimensions), {{"long_name", meaning}, {"units", "1"}}});
    }
    void add_dimension(const std::string& name, std::int64_t length, bandmill::NumberType type, const char* meaning) {
        layout.dimensions.push_back({name, length});
        add(name, type, {name}, meaning);
    }

    void add_parameters() {
        std::vector<FlowParameter> all = spec_.panel_parameters();
        all.insert(all.end(), {spec_.y, spec_.x});
        for (const FlowParameter parameter : all) {
            const bool axis = parameter == spec_.x || parameter == spec_.y;
            const auto count = static_cast<std::int64_t>(spec_.of(parameter).size());
            if (axis || count > 1)
                add_dimension(name(parameter), count, f64, meaning_of(parameter));
            else
                add(name(parameter), f64, {}, meaning_of(parameter));
        }
        cells_ = panel_dimensions(spec_);
        cells_.insert(cells_.end(), {name(spec_.y), name(spec_.x)});
    }

    void add_classes(Classifier classifier) {
        const auto add_class = [&](const char* name, const char* meaning, const char* by) {
            add(name, i64, cells_, meaning);
            auto& attributes = layout.variables.back().attributes;
            attributes.push_back({"flag_values", "0 1 2"});
            attributes.push_back({"flag_meanings", "A0 A1 A2"});
            attributes.push_back({"classifier", by});
        };
        const bool raw = classifier == Classifier::raw_kmeans;
        add_class("class", "pattern that the cell ends in; -1: no finite run", raw ? "raw-kmeans" : "physical");
        if (spec_.kmeans_restarts > 0)
            add_class("kmeans_class", "class by k-means of the final states; -1: no finite run", "raw-kmeans");
        add("confidence", f64, cells_,
            "of the class by the features: 0.5 at a limit of the rule, towards 1 away from it");
        add("settled", i64, cells_,
            "1: a longer run would show the same, as far as this one can tell; 0: it might not");
    }

    void add_outcomes() {
        add("runs", i64, cells_, "finite runs of the cell; more than 1 only at a border, by --refine");
        add_dimension("outcome", bandmill::flow_classes, i64, "class that a run ended in");
        std::vector<std::string> dimensions = cells_;
        dimensions.emplace_back("outcome");
        add("outcome_share", f64, dimensions, "share of the cell's runs that ended in the class, by the features");
    }

    void add_states(bandmill::NumberType type) {
        add_dimension(kept_name(spec_.y), kept_height(spec_), f64, meaning_of(spec_.y));
        add_dimension(kept_name(spec_.x), kept_width(spec_), f64, meaning_of(spec_.x));
        add_dimension("position", spec_.grid.points(), f64, "position, in the frame of the forcing");
        std::vector<std::string> dimensions = panel_dimensions(spec_);
        dimensions.insert(dimensions.end(), {kept_name(spec_.y), kept_name(spec_.x), "position"});
        add("state", type, dimensions, "concentration at the end");
    }

    // Those that only the end knows have their places, too.
    void add_attributes(Classifier classifier) {
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        layout.attributes = {{"equation", "forced-cahn-hilliard"},
                             {"classifier", classifier == Classifier::raw_kmeans ? "raw-kmeans" : "physical"},
                             {"length", spec_.grid.length()},
                             {"points", spec_.grid.points()},
                             {"time_step", spec_.step_length()},
                             {"window", spec_.window_length()},
                             {"amplitude", spec_.amplitude},
                             {"seed", static_cast<std::int64_t>(spec_.seed)},
                             {"refine", std::int64_t{spec_.refine}}};
        for (const char* name : {"until", "limit_motion_log10", "limit_depth", "limit_harmonics_log10", "speckle",
                                 "kmeans_speckle", "kmeans_seconds"})
            layout.attributes.push_back({name, unknown});
        for (const char* name : {"limits_in_gaps", "repeated_cells", "refined_runs", "unsettled_cells", "lost_members"})
            layout.attributes.push_back({name, std::int64_t{0}});
    }

    const FlowMapSpec& spec_;
    std::vector<std::string> cells_; // dimensions of what every cell has
};

using Reals = std::span<const double>;
using Counts = std::span<const std::int64_t>;

// One number of each cell, by `number(index)`.
template <class Value>
void write_cells(bandmill::DataFile& file, const char* variable, std::int64_t cells, const auto& number) {
    std::vector<Value> values(static_cast<std::size_t>(cells));
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<Value>(number(k));
    file.write(variable, 0, std::span<const Value>(values));
}

template <class T> void write_outcomes(bandmill::DataFile& file, const bandmill::FlowMapResult<T>& result) {
    const auto runs = [](const std::array<int, bandmill::flow_classes>& outcomes) {
        return std::accumulate(outcomes.begin(), outcomes.end(), std::int64_t{0});
    };
    std::vector<double> shares;
    for (const auto& outcomes : result.outcomes)
        for (const int count : outcomes)
            shares.push_back(static_cast<double>(count) / static_cast<double>(runs(outcomes))); // NaN without runs
    file.write("outcome_share", 0, Reals(shares));
    write_cells<std::int64_t>(file, "runs", std::ssize(result.outcomes),
                              [&](std::size_t k) { return runs(result.outcomes[k]); });
}

} // namespace

bandmill::DataLayout map_layout(const FlowMapSpec& spec, Classifier classifier, bandmill::NumberType state) {
    return LayoutMaker(spec, classifier, state).layout;
}

void write_map_coordinates(bandmill::DataFile& file, const FlowMapSpec& spec) {
    for (int which = 0; which < bandmill::flow_parameters; ++which) {
        const auto parameter = static_cast<FlowParameter>(which);
        file.write(name(parameter), 0, Reals(spec.of(parameter)));
    }
    std::vector<std::int64_t> outcomes(bandmill::flow_classes);
    std::iota(outcomes.begin(), outcomes.end(), 0);
    file.write("outcome", 0, Counts(outcomes));
    if (!keeps_states(spec)) return;
    const auto write_kept = [&](FlowParameter axis, std::int64_t cells, std::int64_t keep) {
        std::vector<double> values;
        for (const std::int64_t at : FlowMapSpec::kept_along(cells, keep))
            values.push_back(spec.of(axis)[static_cast<std::size_t>(at)]);
        file.write(kept_name(axis), 0, Reals(values));
    };
    write_kept(spec.y, spec.height(), spec.keep_height);
    write_kept(spec.x, spec.width(), spec.keep_width);
    std::vector<double> positions;
    for (std::int64_t i = 0; i < spec.grid.points(); ++i) positions.push_back(spec.grid.position(i));
    file.write("position", 0, Reals(positions));
}

template <class T>
void write_map(bandmill::DataFile& file, const bandmill::FlowMap<T>& study, const FlowMapSpec& spec,
               const bandmill::FlowMapResult<T>& result, Classifier classifier) {
    const std::int64_t cells = spec.cells();
    const auto write_classes = [&](const char* variable, const std::vector<FlowClass>& classes) {
        write_cells<std::int64_t>(file, variable, cells, [&](std::size_t k) { return static_cast<int>(classes[k]); });
    };
    write_classes("class", chosen_classes(result, classifier));
    if (!result.kmeans.empty()) write_classes("kmeans_class", result.kmeans);
    write_cells<double>(file, "confidence", cells, [&](std::size_t k) { return result.verdicts[k].confidence; });
    write_cells<std::int64_t>(file, "settled", cells, [&](std::size_t k) { return result.verdicts[k].settled; });
    for (const FeatureVariable& feature : feature_variables)
        write_cells<double>(file, feature.name, cells,
                            [&](std::size_t k) { return feature.number(result.features[k]); });
    write_cells<double>(file, "time_step", cells,
                        [&](std::size_t k) { return std::ldexp(spec.step_length(), -result.halvings[k]); });
    write_cells<std::int64_t>(file, "step_too_long", cells, [&](std::size_t k) { return result.step_too_long[k]; });
    write_outcomes(file, result);
    if (keeps_states(spec)) file.write("state", 0, std::span<const T>(result.kept));

    file.set_attribute("until", study.time());
    file.set_attribute("limit_motion_log10", result.rule.motion.value);
    file.set_attribute("limit_depth", result.rule.depth.value);
    file.set_attribute("limit_harmonics_log10", result.rule.harmonics.value);
    file.set_attribute("limits_in_gaps", std::int64_t{result.rule.motion.is_gap && result.rule.depth.is_gap});
    file.set_attribute("speckle", result.speckle);
    if (!result.kmeans.empty()) file.set_attribute("kmeans_speckle", result.kmeans_speckle);
    file.set_attribute("kmeans_seconds", study.kmeans_seconds);
    file.set_attribute("repeated_cells", study.repeated);
    file.set_attribute("refined_runs", study.refined);
    file.set_attribute("unsettled_cells", static_cast<std::int64_t>(std::count_if(
                                              result.verdicts.begin(), result.verdicts.end(), is_unsettled)));
    file.set_attribute("lost_members", static_cast<std::int64_t>(study.lost.size()));
}

template void write_map(bandmill::DataFile&, const bandmill::FlowMap<double>&, const FlowMapSpec&,
                        const bandmill::FlowMapResult<double>&, Classifier);
template void write_map(bandmill::DataFile&, const bandmill::FlowMap<float>&, const FlowMapSpec&,
                        const bandmill::FlowMapResult<float>&, Classifier);

} // namespace app
