// Tally: counts and exact sums of one observable, at each time and in each group of members, as integers that ranks and
// checkpoints can add up in any order.
#pragma once

#include "bandmill/ensemble/observable.hpp"

#include <cstdint>
#include <span>

namespace bandmill {

class Tally {
  public:
    // Numbers that one statistic takes: members, left_out, and three parts of each sum.
    static constexpr std::int64_t width = 8;

    // A view of groups * samples * width numbers that someone else keeps.
    Tally(std::span<std::int64_t> numbers, std::int64_t groups, std::int64_t samples)
        : groups_(groups), samples_(samples), numbers_(numbers) {}

    void add(std::int64_t group, std::int64_t sample, const EnsembleStatistic& statistic);
    EnsembleStatistic at(std::int64_t group, std::int64_t sample) const;
    EnsembleStatistic over_groups(std::int64_t sample) const;

  private:
    std::int64_t groups_, samples_;
    std::span<std::int64_t> numbers_; // [group][sample][width]
};

} // namespace bandmill
