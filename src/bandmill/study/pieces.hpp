// Pieces: how the members of an ensemble are divided into what one rank steps together, and over ranks.
// A piece may be cut anywhere, also one that is under way: no member knows of the others.
#pragma once

#include "bandmill/io/checkpoint.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bandmill {

// All members, not started.
PieceHead whole(std::int64_t members);
// The part of it from its member number `first` on, `count` of them.
PieceHead part(const PieceHead& piece, std::int64_t first, std::int64_t count);

// Cut at the multiples of `groups_of` members, and further so that none has more than `most`.
std::vector<PieceHead> cut(std::span<const PieceHead> pieces, std::int64_t groups_of, std::int64_t most);
// What one rank of `ranks` gets: contiguous, with equal shares of the steps that are left.
std::vector<PieceHead> share(std::span<const PieceHead> pieces, std::int64_t steps, int rank, int ranks);

} // namespace bandmill
