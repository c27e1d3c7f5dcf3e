#include "bandmill/study/tally.hpp"

namespace bandmill {
namespace {

// A 128-bit number as high * 2^64 + middle * 2^32 + low, with room to add up 2^31 of each part.
void add_parts(std::int64_t* parts, __int128 value) {
    parts[0] += static_cast<std::int64_t>(value >> 64);
    parts[1] += static_cast<std::int64_t>((value >> 32) & 0xffffffff);
    parts[2] += static_cast<std::int64_t>(value & 0xffffffff);
}

__int128 joined(const std::int64_t* parts) {
    return (static_cast<__int128>(parts[0]) << 64) + (static_cast<__int128>(parts[1]) << 32) + parts[2];
}

} // namespace

void Tally::add(std::int64_t group, std::int64_t sample, const EnsembleStatistic& statistic) {
    std::int64_t* numbers = numbers_.data() + (group * samples_ + sample) * width;
    numbers[0] += statistic.members;
    numbers[1] += statistic.left_out;
    add_parts(numbers + 2, statistic.sum.raw());
    add_parts(numbers + 5, statistic.squares.raw());
}

EnsembleStatistic Tally::at(std::int64_t group, std::int64_t sample) const {
    const std::int64_t* numbers = numbers_.data() + (group * samples_ + sample) * width;
    EnsembleStatistic statistic;
    statistic.members = numbers[0];
    statistic.left_out = numbers[1];
    statistic.sum = FixedSum::from_raw(joined(numbers + 2));
    statistic.squares = FixedSum::from_raw(joined(numbers + 5));
    return statistic;
}

EnsembleStatistic Tally::over_groups(std::int64_t sample) const {
    EnsembleStatistic all;
    for (std::int64_t group = 0; group < groups_; ++group) all.add(at(group, sample));
    return all;
}

} // namespace bandmill
