#include "bandmill/study/pieces.hpp"

#include <algorithm>
#include <cmath>

namespace bandmill {

PieceHead whole(std::int64_t members) { return {0, members, 0, -1}; }

PieceHead part(const PieceHead& piece, std::int64_t first, std::int64_t count) {
    PieceHead one = piece;
    const std::int64_t bytes_per_member = piece.bytes / piece.count;
    one.first = first;
    one.count = count;
    one.offset = piece.offset + (first - piece.first) * bytes_per_member;
    one.bytes = count * bytes_per_member;
    return one;
}

std::vector<PieceHead> cut(std::span<const PieceHead> pieces, std::int64_t groups_of, std::int64_t most) {
    std::vector<PieceHead> small;
    for (const PieceHead& piece : pieces) {
        const std::int64_t end = piece.first + piece.count;
        for (std::int64_t first = piece.first; first < end;) {
            const std::int64_t group_end = std::min(end, (first / groups_of + 1) * groups_of);
            // Of equal size, instead of full ones and a small rest.
            const std::int64_t parts = (group_end - first + most - 1) / most;
            const std::int64_t count = (group_end - first + parts - 1) / parts;
            small.push_back(part(piece, first, count));
            first += count;
        }
    }
    return small;
}

std::vector<PieceHead> share(std::span<const PieceHead> pieces, std::int64_t steps, int rank, int ranks) {
    // In units of member-steps; a piece that only has its last samples left counts a little too.
    const auto cost = [&](const PieceHead& piece) { return static_cast<double>(steps - piece.step + 1); };
    double total = 0;
    for (const PieceHead& piece : pieces) total += cost(piece) * static_cast<double>(piece.count);
    const double from = total / ranks * rank, to = rank + 1 == ranks ? 2 * total + 1 : total / ranks * (rank + 1);

    // A member belongs to the rank in whose share its work starts.
    std::vector<PieceHead> own;
    double before = 0;
    for (const PieceHead& piece : pieces) {
        const auto members_before = [&](double border) {
            const double members = (border - before) / cost(piece);
            return members <= 0                                  ? std::int64_t{0}
                   : members >= static_cast<double>(piece.count) ? piece.count
                                                                 : static_cast<std::int64_t>(std::ceil(members));
        };
        const std::int64_t first = members_before(from), last = members_before(to);
        if (first < last) own.push_back(part(piece, piece.first + first, last - first));
        before += cost(piece) * static_cast<double>(piece.count);
    }
    return own;
}

} // namespace bandmill
