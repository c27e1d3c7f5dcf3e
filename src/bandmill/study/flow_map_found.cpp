// What a FlowMap makes of its numbers: features, classes, k-means, the result.
#include "bandmill/base/threads.hpp"
#include "bandmill/study/flow_map.hpp"
#include "bandmill/study/flow_map_numbers.hpp"

#include <chrono>
#include <limits>

namespace bandmill {

using namespace detail::flow_map;

// Round-off in C, of which the rate takes fourth differences, is no motion. (Up to 70 times the last bit of C adds up
// in one; a seventh of it on average. Twice that is taken off.)
template <class T> void FlowMap<T>::set_motion(FlowFeatures& seen, const ForcedCahnHilliard& equation) const {
    const double largest = std::max(seen.highest, -seen.lowest);
    const double noise = rate_noise(equation) * largest;
    const double rate = std::sqrt(std::max(0.0, seen.rate * seen.rate - noise * noise));
    seen.pace = seen.gradient > 0 ? rate / seen.gradient : 0;
    seen.motion = equation.speed > 0 ? seen.pace / equation.speed : 0;
}

template <class T> double FlowMap<T>::rate_noise(const ForcedCahnHilliard& equation) const {
    const double spacing = spec_.grid.spacing();
    return 5.0 * std::numeric_limits<T>::epsilon() * equation.gamma / (spacing * spacing * spacing * spacing);
}

template <class T> FlowFeatures FlowMap<T>::features(std::int64_t cell) const {
    const auto samples = std::ssize(window_steps(steps_ << halvings(cell, most_halvings)));
    const ForcedCahnHilliard equation = this->cell(cell).equation;
    const auto mean = [&](double squares, std::int64_t count) {
        return rate_unit(equation) * root_mean(squares, count);
    };
    const auto first = static_cast<double>(known(cell, early)), second = static_cast<double>(known(cell, late));
    FlowFeatures seen;
    seen.lowest = as_real(known(cell, lowest));
    seen.highest = as_real(known(cell, highest));
    if (!std::isfinite(seen.lowest) || !std::isfinite(seen.highest)) return {};
    seen.early_rate = mean(first, samples / 2);
    seen.late_rate = mean(second, samples - samples / 2);
    seen.rate = mean(first + second, samples);
    seen.gradient = as_real(known(cell, gradient));
    seen.forced_share = as_real(known(cell, forced_share));
    seen.interfaces = as_real(known(cell, interfaces));
    seen.free_energy = as_real(known(cell, free_energy));
    seen.mean_drift = as_real(known(cell, mean_drift));
    set_motion(seen, equation);
    return seen;
}

template <class T> std::vector<FlowFeatures> FlowMap<T>::all_features() const {
    std::vector<FlowFeatures> all(static_cast<std::size_t>(spec_.cells()));
    detail::for_each_share(spec_.cells(), threads(), [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t k = from; k < to; ++k) all[static_cast<std::size_t>(k)] = features(k);
    });
    return all;
}

template <class T> std::vector<FlowClass> FlowMap<T>::classes(const std::vector<FlowFeatures>& all) const {
    std::vector<FlowClass> kinds;
    for (const FlowFeatures& seen : all) kinds.push_back(judge(seen, rule_).kind);
    return kinds;
}

// k-means of the final states, panel by panel.
template <class T> void FlowMap<T>::sort_states(const std::vector<FlowClass>& kinds, Communicator& ranks) {
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t panel = spec_.width() * spec_.height(), points = spec_.grid.points();
    std::vector<std::vector<Run>> runs;
    for (int round = 0; round <= round_; ++round) runs.push_back(runs_of(round));
    // The rows of a piece, where they belong: -1 for those that were run again.
    std::vector<std::vector<std::int64_t>> cells;
    for (const FinishedPiece<T>& piece : finished_) {
        const auto round = static_cast<int>(piece.first / members_per_round_);
        std::vector<std::int64_t>& own = cells.emplace_back();
        for (std::int64_t k = 0; k < piece.count; ++k) {
            const std::int64_t number =
                runs[static_cast<std::size_t>(round)][static_cast<std::size_t>(piece.first - first_member(round) + k)]
                    .cell;
            const bool repeated_later = known(number, rounds) >> (round + 1) != 0;
            own.push_back(repeated_later ? -1 : number);
        }
    }
    for (std::int64_t which = 0; which < spec_.panels(); ++which) {
        std::vector<std::vector<std::int64_t>> places; // of each block, in the panel
        std::vector<RowBlock<T>> blocks;
        for (std::size_t p = 0; p < finished_.size(); ++p)
            for (std::size_t from = 0; from < cells[p].size();) {
                std::vector<std::int64_t> block;
                std::size_t to = from;
                for (; to < cells[p].size() && cells[p][to] >= 0 && cells[p][to] / panel == which; ++to)
                    block.push_back(cells[p][to] % panel);
                if (!block.empty()) {
                    blocks.push_back({std::span<const T>(finished_[p].states)
                                          .subspan(from * static_cast<std::size_t>(points),
                                                   block.size() * static_cast<std::size_t>(points)),
                                      {}});
                    places.push_back(std::move(block));
                }
                from = std::max(to, from + 1);
            }
        for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b].numbers = places[b];
        std::vector<std::int64_t> labels(static_cast<std::size_t>(panel)); // + 1
        try {
            const KMeansResult found = kmeans<T>(
                blocks, points, {.clusters = flow_classes, .seed = spec_.seed, .restarts = spec_.kmeans_restarts},
                where_, ranks);
            for (std::size_t b = 0; b < blocks.size(); ++b)
                for (std::size_t row = 0; row < places[b].size(); ++row)
                    labels[static_cast<std::size_t>(places[b][row])] = found.labels[b][row] + 1;
        } catch (const InvalidArgument& error) { // thrown on all ranks; the map is worth more than this
            if (ranks.is_root() && this->warn) this->warn(std::string("a map goes without k-means: ") + error.what());
        }
        ranks.sum(labels);
        if (!ranks.is_root()) continue;
        const auto of_panel =
            std::span(kinds).subspan(static_cast<std::size_t>(which * panel), static_cast<std::size_t>(panel));
        const std::vector<FlowClass> named = name_clusters(labels, of_panel);
        for (std::int64_t k = 0; k < panel; ++k)
            number(which * panel + k, sorted_as) =
                known_[static_cast<std::size_t>(1 + (which * panel + k) * fields + sorted_as)] =
                    static_cast<int>(named[static_cast<std::size_t>(k)]) + 2;
    }
    kmeans_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The gradient of two interfaces, each of energy sqrt(8 gamma) / 3 = gamma times the integral of C_x^2.
template <class T> double FlowMap<T>::hidden_motion() const {
    double most = 0;
    for (const double gamma : spec_.of(FlowParameter::gamma))
        for (const double speed : spec_.of(FlowParameter::speed)) {
            const double gradient = std::sqrt(2 * std::sqrt(8 / gamma) / 3 / spec_.grid.length());
            if (speed > 0) most = std::max(most, rate_noise({.gamma = gamma}) / (speed * gradient));
        }
    return most;
}

template <class T> FlowMapResult<T> FlowMap<T>::result() const {
    FlowMapResult<T> result;
    result.features = all_features();
    result.rule = rule_;
    const std::int64_t panel = spec_.width() * spec_.height();
    for (std::int64_t k = 0; k < spec_.cells(); ++k) {
        const FlowVerdict verdict = judge(result.features[static_cast<std::size_t>(k)], rule_);
        result.verdicts.push_back(verdict);
        std::array<int, flow_classes> runs{};
        for (int kind = 0; kind < flow_classes; ++kind) {
            runs[static_cast<std::size_t>(kind)] = static_cast<int>(known(k, outcomes) >> 16 * kind & 0xffff);
            if (static_cast<int>(verdict.kind) == kind) ++runs[static_cast<std::size_t>(kind)];
        }
        FlowClass kind = verdict.kind; // where two are as frequent
        for (int other = 0; other < flow_classes; ++other)
            if (kind == FlowClass::none ? runs[static_cast<std::size_t>(other)] > 0
                                        : runs[static_cast<std::size_t>(other)] > runs[static_cast<std::size_t>(kind)])
                kind = static_cast<FlowClass>(other);
        result.classes.push_back(kind);
        result.outcomes.push_back(runs);
        if (spec_.kmeans_restarts > 0) result.kmeans.push_back(static_cast<FlowClass>(known(k, sorted_as) - 2));
        result.halvings.push_back(halvings(k, most_halvings));
        result.step_too_long.push_back(known(k, too_long) != 0);
    }
    const auto share = [&](const std::vector<FlowClass>& map) {
        std::int64_t marked = 0;
        for (std::int64_t first = 0; first < std::ssize(map); first += panel)
            for (const char mark :
                 speckles(std::span(map).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(panel)),
                          spec_.width()))
                marked += mark;
        return static_cast<double>(marked) / static_cast<double>(spec_.cells());
    };
    result.speckle = share(result.classes);
    result.kmeans_speckle = share(result.kmeans);
    const std::size_t states = 1 + static_cast<std::size_t>(spec_.cells() * fields);
    const std::size_t kept =
        static_cast<std::size_t>(spec_.panels() * spec_.grid.points()) * kept_x_.size() * kept_y_.size();
    result.kept.reserve(kept);
    for (std::size_t i = 0; i < kept; ++i) result.kept.push_back(static_cast<T>(as_real(known_[states + i])));
    return result;
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template void FlowMap<T>::set_motion(FlowFeatures&, const ForcedCahnHilliard&) const;                              \
    template double FlowMap<T>::rate_noise(const ForcedCahnHilliard&) const;                                           \
    template std::vector<FlowFeatures> FlowMap<T>::all_features() const;                                               \
    template std::vector<FlowClass> FlowMap<T>::classes(const std::vector<FlowFeatures>&) const;                       \
    template void FlowMap<T>::sort_states(const std::vector<FlowClass>&, Communicator&);                               \
    template double FlowMap<T>::hidden_motion() const;                                                                 \
    template FlowMapResult<T> FlowMap<T>::result() const
BANDMILL_INSTANTIATE(double);
BANDMILL_INSTANTIATE(float);
#undef BANDMILL_INSTANTIATE

} // namespace bandmill
