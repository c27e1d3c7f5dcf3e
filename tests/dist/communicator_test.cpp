// Ranks of all numbers do the same: this program is run alone and by mpirun with 1, 2 and 3 ranks, which take the
// tests in the same order.
#include "bandmill/dist/communicator.hpp"

#include "../io/checkpoints.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace bandmill::test {
namespace {

Communicator* ranks = nullptr;

using Random = std::mt19937_64;
Random own_random(unsigned seed) { return Random(seed * 1000 + static_cast<unsigned>(ranks->rank())); }

void sleep_ms(std::uint64_t time) { std::this_thread::sleep_for(std::chrono::milliseconds(time)); }
void sleep_up_to_ms(std::uint64_t most, Random& random) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % (1000 * most)));
}
bool is_last() { return ranks->rank() == ranks->size() - 1; }

// False if the call does not come.
bool wait_for_call() {
    for (int tries = 0; tries < 10000; ++tries, sleep_ms(1))
        if (ranks->called()) return true;
    return false;
}

std::string text_of_rank(int rank) {
    Random random(static_cast<unsigned>(rank));
    return rank % 3 == 0 ? std::string() : random_bytes(5000000 / static_cast<std::size_t>(rank), random);
}

TEST(Communicator, KnowsItself) {
    const char* expected = std::getenv("BANDMILL_TEST_RANKS");
    EXPECT_EQ(ranks->size(), expected ? std::atoi(expected) : ranks->size());
    EXPECT_GE(ranks->rank(), 0);
    EXPECT_LT(ranks->rank(), ranks->size());
    EXPECT_EQ(ranks->local_rank(), ranks->rank()); // all on one node
    std::vector<std::int64_t> seen(static_cast<std::size_t>(ranks->size()));
    seen[static_cast<std::size_t>(ranks->rank())] = 1;
    ranks->sum(seen);
    EXPECT_TRUE(!ranks->is_root() || seen == std::vector<std::int64_t>(seen.size(), 1));
}

TEST(Communicator, AddsExactly) {
    const std::int64_t count = ranks->size(), huge = std::int64_t(1) << 57;
    for (const std::size_t size : {std::size_t(0), std::size_t(1), std::size_t(1000), (std::size_t(1) << 20) + 3}) {
        std::vector<std::int64_t> numbers(size);
        const auto own = [&](std::size_t k) { return (huge / count) * (ranks->rank() + 1) + std::int64_t(k); };
        for (std::size_t k = 0; k < size; ++k) numbers[k] = own(k);
        ranks->sum(numbers);
        bool right = true;
        for (std::size_t k = 0; k < size; ++k)
            right = right &&
                    numbers[k] == (ranks->is_root() ? huge / count * (count * (count + 1) / 2) + count * std::int64_t(k)
                                                    : own(k));
        EXPECT_TRUE(right) << size;
    }
}

TEST(Communicator, GathersBytesOfAnySize) {
    const std::vector<std::string> all = ranks->gather(text_of_rank(ranks->rank()));
    ASSERT_EQ(all.size(), ranks->is_root() ? static_cast<std::size_t>(ranks->size()) : 0u);
    for (std::size_t k = 0; k < all.size(); ++k) EXPECT_TRUE(all[k] == text_of_rank(static_cast<int>(k)));
}

TEST(Communicator, SharesWhatRankZeroSays) {
    for (const int which : {1, 2, 3}) {
        const std::string said = ranks->is_root() ? text_of_rank(which) : "not this";
        EXPECT_TRUE(ranks->broadcast(said) == text_of_rank(which));
    }
}

TEST(Communicator, FindsAnyOne) {
    EXPECT_FALSE(ranks->any(false));
    EXPECT_TRUE(ranks->any(true));
    EXPECT_TRUE(ranks->any(is_last()));
}

TEST(Meeting, IsNotCalledByItself) {
    EXPECT_FALSE(ranks->called());
    ranks->meet(nullptr);
    EXPECT_FALSE(ranks->called());
}

TEST(Meeting, IsCalledForTheOthers) {
    ranks->meet(nullptr);
    if (ranks->is_root()) {
        ranks->call();
        EXPECT_FALSE(ranks->called()); // it made the call
        ranks->call();                 // once more is no other
    } else {
        EXPECT_TRUE(wait_for_call());
        EXPECT_TRUE(ranks->called()); // until it is held
    }
    ranks->meet(nullptr);
    sleep_ms(5);
    EXPECT_FALSE(ranks->called());
    ranks->meet(nullptr);
}

TEST(Meeting, MayBeCalledByAllAtOnce) {
    for (int round = 0; round < 20; ++round) {
        ranks->call();
        ranks->meet(nullptr);
        ranks->meet(nullptr); // nobody calls for this one: all calls are old by then
        EXPECT_FALSE(ranks->called());
        ranks->meet(nullptr);
    }
}

TEST(Meeting, MayBeCalledByOneThatWaits) {
    if (is_last()) {
        int waits = 0;
        ranks->meet([&] {
            if (++waits == 5) ranks->call();
        });
        EXPECT_GE(waits, ranks->size() > 1 ? 5 : 0);
    } else {
        EXPECT_TRUE(wait_for_call());
        ranks->meet(nullptr);
    }
}

// The call for the next meeting reaches ranks that have not noticed the end of this one.
TEST(Meeting, MayBeCalledRightAfterAnother) {
    for (int round = 0; round < 20; ++round) {
        if (ranks->is_root()) {
            ranks->meet(nullptr);
            ranks->call();
        } else {
            bool first = true;
            ranks->meet([&] {
                if (!std::exchange(first, false)) return;
                sleep_ms(8);
                ranks->called();
            });
            EXPECT_TRUE(wait_for_call());
        }
        ranks->meet(nullptr);
    }
}

// Each rank computes at its own pace, calls now and then, comes when it is called, and waits when it has finished.
TEST(Meeting, BringsRanksOfAnyPaceTogether) {
    Random random = own_random(7);
    std::int64_t held = 0;
    for (int round = 0; round < 200; ++round) {
        const std::uint64_t work = random() % 4, calls = random() % 3;
        for (std::uint64_t done = 0; done < work && !ranks->called(); ++done) {
            sleep_up_to_ms(2, random);
            if (calls == 0 && done == 1) {
                ranks->call();
                break;
            }
        }
        ranks->meet([&] {
            if (random() % 10 == 0) ranks->call();
        });
        ++held;
        std::int64_t sum[] = {held, held * held};
        ranks->sum(sum);
        if (!ranks->is_root()) continue;
        ASSERT_EQ(sum[0], held * ranks->size());
        ASSERT_EQ(sum[1], held * held * ranks->size());
    }
}

TEST(CheckpointOfRanks, IsReadByOne) {
    const std::string name =
        ranks->broadcast(ranks->is_root() ? testing::TempDir() + "bandmill_ranks_" + std::to_string(getpid()) : "");
    auto saved_by = [](int rank) {
        Random random(static_cast<unsigned>(rank));
        return Saved(rank % 3 == 2 ? std::vector<std::size_t>{} : std::vector<std::size_t>{70000, 0, 65536, 5}, random,
                     10000 * rank);
    };
    Random random(5);
    const CheckpointHead head = some_head(random);
    const Saved own = saved_by(ranks->rank());
    for (int round = 0; round < 2; ++round)
        save_checkpoint(name, ranks->is_root() ? head : CheckpointHead{}, own.pieces, *ranks);
    // A folder that one rank does not see.
    const Saved one({10}, random, ranks->rank() * 10000);
    try {
        save_checkpoint(is_last() ? "/nowhere/x" : name, head, one.pieces, *ranks);
        ADD_FAILURE() << "was saved";
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("/nowhere/x.new' (No such file"), std::string::npos) << error.what();
    }
    ranks->meet(nullptr);
    if (!ranks->is_root()) return;
    EXPECT_FALSE(std::filesystem::exists(name + ".new"));
    std::string path = name;
    const CheckpointHead loaded = load_checkpoint(path, [](const std::string& text) { ADD_FAILURE() << text; });
    expect_same(loaded, head);
    std::span<const PieceHead> pieces = loaded.pieces;
    for (int rank = 0; rank < ranks->size(); ++rank) {
        const Saved theirs = saved_by(rank);
        ASSERT_GE(pieces.size(), theirs.pieces.size());
        expect_saved(path, pieces.first(theirs.pieces.size()), theirs);
        pieces = pieces.subspan(theirs.pieces.size());
    }
    EXPECT_TRUE(pieces.empty());
    remove_checkpoint(name);
}

// One voice for what went well; failures are told by every rank.
class FailuresOnly final : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (result.failed())
            std::fprintf(stderr, "rank %d: %s:%d: %s\n", ranks->rank(), result.file_name() ? result.file_name() : "",
                         result.line_number(), result.message());
    }
};

} // namespace
} // namespace bandmill::test

int main(int count, char** arguments) {
    using namespace bandmill::test;
    testing::InitGoogleTest(&count, arguments);
    auto connected = bandmill::connect();
    ranks = connected.get();
    const std::string how = count > 1 ? arguments[1] : "";
    if (!how.empty()) { // the last rank ends, and has to end the others with it
        if (is_last() && how == "--abort") ranks->abort(3);
        try {
            const auto own = std::move(connected);
            if (is_last()) throw std::runtime_error("a rank fails");
            ranks->meet(nullptr);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            return 3;
        }
        return 0;
    }
    if (!ranks->is_root()) {
        auto& listeners = testing::UnitTest::GetInstance()->listeners();
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(new FailuresOnly);
    }
    return ranks->any(RUN_ALL_TESTS() != 0) ? 1 : 0;
}
