// Classes of flow patterns, by a rule whose three limits are taken from the runs themselves.
//
//   A0  the forcing is too weak to hold the domains: the pattern moves in the forcing's frame    motion > limit
//   A1  domains near C = +-1, held by the forcing                                                 steady, two phases
//   A2  a sinusoidal wave about the mean                                                          steady, one phase
//
// Motion falls into two heaps, decades apart: what is held has come to rest, what is not moves at about the speed of
// the forcing. So does the depth of the rarer phase among steady patterns. A limit lies where there are fewest runs,
// within bounds that physics sets; without such a place, at one that physics suggests. Patterns with two phases that
// are sinusoidal all the same (few harmonics) are A2.
#pragma once

#include "bandmill/study/flow_features.hpp"

namespace bandmill {

enum class FlowClass : signed char { none = -1, a0 = 0, a1 = 1, a2 = 2 };
inline constexpr int flow_classes = 3;

// A number's limit, and where runs on either side of it typically are.
struct FlowLimit {
    double value, below, above;
    bool is_gap; // are there fewer than elsewhere? Otherwise it is set without them

    // 0.5 at the limit, 0.98 where a typical run of that side is.
    double confidence(double number) const;
};

struct FlowRule {
    FlowLimit motion;    // log10 of it
    FlowLimit depth;     // of steady patterns
    FlowLimit harmonics; // log10 (1 - forced_share) of steady patterns with two phases
};

struct FlowVerdict {
    FlowClass kind = FlowClass::none;
    double confidence = 0; // 0 to 1
    bool settled = false;  // would a longer run show the same, as far as this one can tell?
};

// From all runs that are finite.
FlowRule find_rule(std::span<const FlowFeatures> runs);
// FlowClass::none for a run that is not finite.
FlowVerdict judge(const FlowFeatures& run, const FlowRule& rule);

// On a map of `width` columns: which cells differ from most of their (up to eight) neighbours?
std::vector<char> speckles(std::span<const FlowClass> map, std::int64_t width);
// Which have a neighbour of another class?
std::vector<char> border_cells(std::span<const FlowClass> map, std::int64_t width);

// k-means numbers its clusters by chance. Each gets the name that suits its cells best: of all ways to name them, the
// one by which most cells agree with their patterns. labels: cluster + 1, 0 for none.
std::vector<FlowClass> name_clusters(std::span<const std::int64_t> labels, std::span<const FlowClass> kinds);

} // namespace bandmill
