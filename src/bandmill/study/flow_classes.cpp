#include "bandmill/study/flow_classes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace bandmill {
namespace {

// Less than a hundredth of the distance between the phases is no pattern: noise that dies away, or has died.
constexpr double least_range = 0.02;
// A held pattern that moves by more than this share of the forcing's speed has not come to rest.
constexpr double rest = 1e-3;

// Between which a limit is looked for. A pattern at a thousandth of the forcing's speed takes a thousand periods for
// one: it is held; one at half the speed is not. With two phases C crosses 0 and comes near the other phase, -1 or +1;
// with one it hardly reaches 0. A square wave has a fifth of its power in harmonics, or more.
struct Bounds {
    double low, high;
    double otherwise; // where numbers are everywhere: a tenth of the speed; crossing 0; a hundredth of the power
};
constexpr Bounds motion_bounds{-3, -0.3, -1}, depth_bounds{-0.2, 0.4, 0}, harmonics_bounds{-3, -1.3, -2};

double motion_of(const FlowFeatures& run) { return std::log10(std::max(run.motion, 1e-16)); }
double harmonics_of(const FlowFeatures& run) { return std::log10(std::max(1 - run.forced_share, 1e-16)); }
bool is_finite(const FlowFeatures& run) {
    return std::isfinite(run.rate) && std::isfinite(run.lowest) && std::isfinite(run.highest);
}
bool is_uniform(const FlowFeatures& run) { return run.range() < least_range; }

double median(std::vector<double> numbers, double otherwise) {
    if (numbers.empty()) return otherwise;
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::nth_element(numbers.begin(), middle, numbers.end());
    return *middle;
}

// The middle of the stretch where a window an eighth of the bounds wide sees the fewest numbers; of several, the
// longest one that has numbers on both sides.
FlowLimit emptiest_place(const std::vector<double>& sorted, Bounds bounds) {
    constexpr int places = 200;
    const double width = (bounds.high - bounds.low) / 8;
    const auto place = [&](int at) {
        return bounds.low + width / 2 + (bounds.high - bounds.low - width) * at / (places - 1);
    };
    const auto count = [&](int at) {
        const auto from = std::lower_bound(sorted.begin(), sorted.end(), place(at) - width / 2);
        return std::lower_bound(from, sorted.end(), place(at) + width / 2) - from;
    };
    const auto between = [&](int at) {
        return !sorted.empty() && sorted.front() < place(at) && sorted.back() >= place(at);
    };
    std::ptrdiff_t fewest = std::numeric_limits<std::ptrdiff_t>::max();
    int best = 0, best_length = 0;
    bool best_between = false;
    for (int at = 0; at < places;) {
        const std::ptrdiff_t here = count(at);
        int end = at + 1;
        while (end < places && count(end) == here) ++end;
        const bool here_between = between((at + end - 1) / 2);
        if (here < fewest ||
            (here == fewest && std::pair(here_between, end - at) > std::pair(best_between, best_length))) {
            fewest = here;
            best = at;
            best_length = end - at;
            best_between = here_between;
        }
        at = end;
    }
    const auto inside = std::lower_bound(sorted.begin(), sorted.end(), bounds.high) -
                        std::lower_bound(sorted.begin(), sorted.end(), bounds.low);
    // Half of what it would have if all places were alike.
    const bool is_gap = fewest == 0 || 16 * fewest <= inside;
    return {is_gap ? (place(best) + place(best + best_length - 1)) / 2 : bounds.otherwise, 0, 0, is_gap};
}

FlowLimit find_limit(std::vector<double> numbers, Bounds bounds) {
    std::sort(numbers.begin(), numbers.end());
    FlowLimit limit = emptiest_place(numbers, bounds);
    const auto border = std::lower_bound(numbers.begin(), numbers.end(), limit.value);
    limit.below = median({numbers.begin(), border}, bounds.low);
    limit.above = median({border, numbers.end()}, bounds.high);
    return limit;
}

template <class Use>
void for_each_neighbour(std::span<const FlowClass> map, std::int64_t width, std::int64_t cell, const Use& use) {
    const std::int64_t x = cell % width, y = cell / width, height = static_cast<std::int64_t>(map.size()) / width;
    for (std::int64_t b = std::max<std::int64_t>(0, y - 1); b <= std::min(height - 1, y + 1); ++b)
        for (std::int64_t a = std::max<std::int64_t>(0, x - 1); a <= std::min(width - 1, x + 1); ++a)
            if (a != x || b != y) use(map[static_cast<std::size_t>(b * width + a)]);
}

} // namespace

double FlowLimit::confidence(double number) const {
    const double typical = number < value ? value - below : above - value;
    const double distance = std::abs(number - value) / std::max(typical, 1e-6);
    return 1 / (1 + std::exp(-4 * distance));
}

FlowRule find_rule(std::span<const FlowFeatures> runs) {
    std::vector<double> motion, depth, harmonics;
    for (const FlowFeatures& run : runs)
        if (is_finite(run) && !is_uniform(run)) motion.push_back(motion_of(run));
    FlowRule rule{};
    rule.motion = find_limit(std::move(motion), motion_bounds);
    const auto steady = [&](const FlowFeatures& run) {
        return is_finite(run) && !is_uniform(run) && motion_of(run) < rule.motion.value;
    };
    for (const FlowFeatures& run : runs)
        if (steady(run)) depth.push_back(run.depth());
    rule.depth = find_limit(std::move(depth), depth_bounds);
    for (const FlowFeatures& run : runs)
        if (steady(run) && run.depth() >= rule.depth.value) harmonics.push_back(harmonics_of(run));
    rule.harmonics = find_limit(std::move(harmonics), harmonics_bounds);
    return rule;
}

FlowVerdict judge(const FlowFeatures& run, const FlowRule& rule) {
    if (!is_finite(run)) return {};
    if (is_uniform(run)) { // noise that still grows may become anything
        const bool growing = run.late_rate > run.early_rate && run.rate > rest * least_range;
        return {FlowClass::a2, growing ? 0.5 : 1, !growing};
    }
    const double motion = motion_of(run);
    if (motion >= rule.motion.value) // one that has slowed down may yet be held
        return {FlowClass::a0, rule.motion.confidence(motion), run.late_rate > run.early_rate / 2};
    const bool settled =
        run.motion <= rest && (run.motion > 0 || run.pace <= rest); // where nothing travels, by its pace
    const double depth = rule.depth.confidence(run.depth());
    const bool two_phases = run.depth() >= rule.depth.value;
    const double harmonics = rule.harmonics.confidence(harmonics_of(run));
    const bool harmonic = harmonics_of(run) >= rule.harmonics.value;
    const double steady = rule.motion.confidence(motion);
    if (two_phases && harmonic) return {FlowClass::a1, std::min({steady, depth, harmonics}), settled};
    return {FlowClass::a2, std::min(steady, two_phases ? harmonics : depth), settled};
}

std::vector<char> speckles(std::span<const FlowClass> map, std::int64_t width) {
    std::vector<char> marks(map.size());
    for (std::size_t cell = 0; cell < map.size(); ++cell) {
        std::array<int, flow_classes + 1> counts{}; // from FlowClass::none on
        int neighbours = 0;
        for_each_neighbour(map, width, static_cast<std::int64_t>(cell), [&](FlowClass kind) {
            ++counts[static_cast<std::size_t>(static_cast<int>(kind) + 1)];
            ++neighbours;
        });
        for (int kind = 0; kind <= flow_classes; ++kind)
            if (kind != static_cast<int>(map[cell]) + 1 && 2 * counts[static_cast<std::size_t>(kind)] > neighbours)
                marks[cell] = 1;
    }
    return marks;
}

std::vector<char> border_cells(std::span<const FlowClass> map, std::int64_t width) {
    std::vector<char> marks(map.size());
    for (std::size_t cell = 0; cell < map.size(); ++cell)
        for_each_neighbour(map, width, static_cast<std::int64_t>(cell), [&](FlowClass kind) {
            if (kind != map[cell]) marks[cell] = 1;
        });
    return marks;
}

std::vector<FlowClass> name_clusters(std::span<const std::int64_t> labels, std::span<const FlowClass> kinds) {
    std::int64_t both[flow_classes + 1][flow_classes + 1]{}; // [cluster + 1][class + 1]
    for (std::size_t k = 0; k < labels.size(); ++k) ++both[labels[k]][static_cast<int>(kinds[k]) + 1];
    std::array<int, flow_classes> order{0, 1, 2}, best = order;
    std::int64_t most = -1;
    do {
        std::int64_t agreeing = 0;
        for (int cluster = 0; cluster < flow_classes; ++cluster)
            agreeing += both[cluster + 1][order[static_cast<std::size_t>(cluster)] + 1];
        if (agreeing > most) {
            most = agreeing;
            best = order;
        }
    } while (std::next_permutation(order.begin(), order.end()));
    std::vector<FlowClass> named;
    for (const std::int64_t label : labels)
        named.push_back(label == 0 ? FlowClass::none
                                   : static_cast<FlowClass>(best[static_cast<std::size_t>(label - 1)]));
    return named;
}

// k-means may take as long as some of the steps.

} // namespace bandmill
