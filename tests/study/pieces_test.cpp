// However members are cut and shared out, each is stepped once, from where it stands.
#include "bandmill/study/pieces.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace {

using bandmill::PieceHead;

// Where the states of a member begin, and the step it has reached: what cutting must not change.
struct Member {
    std::int64_t step = -1, offset = -1;
    bool operator==(const Member&) const = default;
};

void add_members(const std::vector<PieceHead>& pieces, std::vector<Member>& members) {
    for (const PieceHead& piece : pieces)
        for (std::int64_t k = 0; k < piece.count; ++k) {
            Member& member = members[static_cast<std::size_t>(piece.first + k)];
            ASSERT_EQ(member, Member()) << "member " << piece.first + k << " is there twice";
            member = {piece.step, piece.bytes == 0 ? 0 : piece.offset + k * (piece.bytes / piece.count)};
        }
}

std::vector<PieceHead> random_pieces(std::mt19937& chance, std::int64_t& members) {
    std::vector<PieceHead> pieces;
    std::int64_t offset = 65536;
    members = 0;
    for (int count = std::uniform_int_distribution(1, 6)(chance); count > 0; --count) {
        const std::int64_t size = std::uniform_int_distribution(1, 300)(chance);
        const bool started = chance() % 2 == 0;
        const std::int64_t step = started ? std::uniform_int_distribution(1, 100)(chance) : 0;
        pieces.push_back({members, size, step, -1, started ? offset : 0, started ? size * 40 : 0});
        members += size;
        offset += 65536;
    }
    return pieces;
}

TEST(Pieces, CuttingAndSharingKeepEveryMember) {
    std::mt19937 chance(7);
    for (int trial = 0; trial < 300; ++trial) {
        std::int64_t count = 0;
        const std::vector<PieceHead> pieces = random_pieces(chance, count);
        std::vector<Member> expected(static_cast<std::size_t>(count)), found = expected;
        add_members(pieces, expected);

        const std::int64_t most = std::uniform_int_distribution(1, 100)(chance);
        const int ranks = std::uniform_int_distribution(1, 40)(chance);
        const auto groups = bandmill::equal_groups(count, count, 100);
        for (int rank = 0; rank < ranks; ++rank) {
            const auto own = bandmill::cut(bandmill::share(pieces, groups, rank, ranks), most);
            for (const PieceHead& piece : own) {
                EXPECT_GE(piece.count, 1);
                EXPECT_LE(piece.count, most);
            }
            add_members(own, found);
        }
        EXPECT_EQ(found, expected);
    }
}

TEST(Pieces, SharesAreEqual) {
    const auto groups = bandmill::equal_groups(1000, 300, 10);
    const std::vector<PieceHead> pieces = bandmill::not_started(groups);
    for (const int ranks : {1, 2, 3, 7, 16})
        for (int rank = 0; rank < ranks; ++rank) {
            std::int64_t members = 0;
            for (const PieceHead& piece : bandmill::share(pieces, groups, rank, ranks)) members += piece.count;
            EXPECT_NEAR(static_cast<double>(members), 1000.0 / ranks, 1.0);
        }
}

// Work is what is left to do: members near their end count little.
TEST(Pieces, SharesCountTheStepsThatAreLeft) {
    const std::vector<PieceHead> pieces = {{0, 100, 1000, 999, 65536, 800}, {100, 100, 0, -1, 0, 0}};
    std::int64_t members = 0;
    const auto groups = bandmill::equal_groups(200, 200, 1000);
    for (const PieceHead& piece : bandmill::share(pieces, groups, 0, 2)) members += piece.count;
    EXPECT_NEAR(static_cast<double>(members), 150, 1);
}

// Some groups take more steps than others: ranks get equal work, not equal numbers.
TEST(Pieces, SharesCountTheStepsOfTheGroups) {
    const std::vector<bandmill::MemberGroup> groups = {{50, 100, 300}, {150, 100, 100}};
    EXPECT_EQ(bandmill::member_steps(groups), 40000);
    EXPECT_EQ(bandmill::steps_left({50, 100, 7, -1}, groups), 293);
    EXPECT_EQ(bandmill::steps_left({249, 1, 0, -1}, groups), 100);
    EXPECT_EQ(bandmill::steps_left({0, 50, 0, -1}, groups), 0) << "of an earlier round";
    EXPECT_EQ(bandmill::steps_left({250, 1, 0, -1}, groups), 0);
    std::int64_t members = 0;
    for (const PieceHead& piece : bandmill::share(bandmill::not_started(groups), groups, 0, 2)) members += piece.count;
    EXPECT_NEAR(static_cast<double>(members), 67, 1);
}

TEST(Pieces, NothingLeftIsNothingForAnyone) {
    for (int rank = 0; rank < 3; ++rank) EXPECT_TRUE(bandmill::share({}, {}, rank, 3).empty());
}

} // namespace
