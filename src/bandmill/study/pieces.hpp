// Pieces: how the members of an ensemble are divided into what one rank steps together, and over ranks.
// A piece may be cut anywhere, also one that is under way: no member knows of the others.
#pragma once

#include "bandmill/io/checkpoint.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bandmill {

// Members that are stepped alike. No piece crosses its borders.
struct MemberGroup {
    std::int64_t first, count;
    std::int64_t steps; // of each of them
};
// Members 0 .. members - 1 in groups of `size`; the last may be smaller.
std::vector<MemberGroup> equal_groups(std::int64_t members, std::int64_t size, std::int64_t steps);
double member_steps(std::span<const MemberGroup> groups);

// All members, not started.
std::vector<PieceHead> not_started(std::span<const MemberGroup> groups);
// Those that its members have before them. 0 for a piece of members that are in none of the groups.
std::int64_t steps_left(const PieceHead& piece, std::span<const MemberGroup> groups);
// The part of it from its member number `first` on, `count` of them.
PieceHead part(const PieceHead& piece, std::int64_t first, std::int64_t count);

// So that none has more than `most` members.
std::vector<PieceHead> cut(std::span<const PieceHead> pieces, std::int64_t most);
// What one rank of `ranks` gets: contiguous, with equal shares of the steps that are left.
std::vector<PieceHead> share(std::span<const PieceHead> pieces, std::span<const MemberGroup> groups, int rank,
                             int ranks);

} // namespace bandmill
