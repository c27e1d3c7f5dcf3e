#include "bandmill/study/pieces.hpp"

#include <algorithm>
#include <cmath>

namespace bandmill {

std::vector<MemberGroup> equal_groups(std::int64_t members, std::int64_t size, std::int64_t steps) {
    std::vector<MemberGroup> groups;
    for (std::int64_t first = 0; first < members; first += size)
        groups.push_back({first, std::min(size, members - first), steps});
    return groups;
}

double member_steps(std::span<const MemberGroup> groups) {
    double all = 0;
    for (const MemberGroup& group : groups) all += static_cast<double>(group.count) * static_cast<double>(group.steps);
    return all;
}

std::vector<PieceHead> not_started(std::span<const MemberGroup> groups) {
    std::vector<PieceHead> pieces;
    for (const MemberGroup& group : groups) pieces.push_back({group.first, group.count, 0, -1});
    return pieces;
}

std::int64_t steps_left(const PieceHead& piece, std::span<const MemberGroup> groups) {
    const auto after = std::upper_bound(groups.begin(), groups.end(), piece.first,
                                        [](std::int64_t member, const MemberGroup& g) { return member < g.first; });
    if (after == groups.begin()) return 0;
    const MemberGroup& group = *(after - 1);
    return piece.first < group.first + group.count ? std::max<std::int64_t>(0, group.steps - piece.step) : 0;
}

PieceHead part(const PieceHead& piece, std::int64_t first, std::int64_t count) {
    PieceHead one = piece;
    const std::int64_t bytes_per_member = piece.bytes / piece.count;
    one.first = first;
    one.count = count;
    one.offset = piece.offset + (first - piece.first) * bytes_per_member;
    one.bytes = count * bytes_per_member;
    return one;
}

std::vector<PieceHead> cut(std::span<const PieceHead> pieces, std::int64_t most) {
    std::vector<PieceHead> small;
    for (const PieceHead& piece : pieces) {
        const std::int64_t end = piece.first + piece.count;
        for (std::int64_t first = piece.first; first < end;) {
            // Of equal size, instead of full ones and a small rest.
            const std::int64_t parts = (end - first + most - 1) / most;
            const std::int64_t count = (end - first + parts - 1) / parts;
            small.push_back(part(piece, first, count));
            first += count;
        }
    }
    return small;
}

std::vector<PieceHead> share(std::span<const PieceHead> pieces, std::span<const MemberGroup> groups, int rank,
                             int ranks) {
    // In units of member-steps; a piece that only has its last samples left counts a little too.
    const auto cost = [&](const PieceHead& piece) { return static_cast<double>(steps_left(piece, groups) + 1); };
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
