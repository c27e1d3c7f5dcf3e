// A process that saves checkpoints is killed: at random moments, and before each call that changes something on the
// disk. One of its checkpoints can always be loaded.
#include "checkpoints.hpp"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <limits>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

long calls_left = std::numeric_limits<long>::max();

void count_a_call() {
    if (--calls_left < 0) kill(getpid(), SIGKILL);
}

} // namespace

// In place of libc's.
extern "C" {
ssize_t pwrite(int file, const void* bytes, size_t size, off_t place) {
    count_a_call();
    return syscall(SYS_pwrite64, file, bytes, size, place);
}
int fsync(int file) {
    count_a_call();
    return static_cast<int>(syscall(SYS_fsync, file));
}
int link(const char* from, const char* to) noexcept {
    count_a_call();
    return static_cast<int>(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int unlink(const char* name) noexcept {
    count_a_call();
    return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, name, 0));
}
int rename(const char* from, const char* to) noexcept {
    count_a_call();
    return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
}

namespace bandmill::test {
namespace {

void save_number(const std::string& path, std::int64_t number, std::size_t copies = 20000) {
    const std::vector<std::int64_t> states(copies, number);
    CheckpointHead head{.study = "x", .version = "1", .options = "", .extra = "", .sums = {number}, .pieces = {}};
    const PieceStates piece{{.first = 0, .count = 8, .step = number, .sampled = -1}, std::as_bytes(std::span(states))};
    save_checkpoint(path, head, std::span(&piece, 1), *connect());
}

std::int64_t load_number(std::string path) {
    const CheckpointHead head = load_checkpoint(path, nullptr);
    std::vector<std::int64_t> states(static_cast<std::size_t>(head.pieces.at(0).bytes) / 8);
    read_states(path, head.pieces.at(0), std::as_writable_bytes(std::span(states)));
    EXPECT_EQ(states, std::vector<std::int64_t>(states.size(), head.sums.at(0)));
    return head.sums.at(0);
}

// Runs `action` in a child. Returns whether it came to its end.
template <class Action, class Meanwhile> bool finishes(Action action, Meanwhile meanwhile) {
    const pid_t child = fork();
    if (child == 0) {
        action();
        _exit(0);
    }
    meanwhile(child);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return WIFEXITED(status);
}

TEST(KilledWhileSaving, AtRandomMoments) {
    std::mt19937_64 random(1);
    const Folder folder;
    const std::string path = folder / "x.checkpoint";
    std::int64_t number = 0;
    save_number(path, number);
    for (int round = 0; round < 60; ++round) {
        const auto end = std::chrono::microseconds(random() % 20000);
        finishes(
            [&] {
                for (;;) save_number(path, ++number, 1 + random() % 40000);
            },
            [&](pid_t child) {
                std::this_thread::sleep_for(end);
                kill(child, SIGKILL);
            });
        const std::int64_t reached = load_number(path);
        EXPECT_GE(reached, number);
        number = reached;
    }
    EXPECT_GT(number, 0);
}

// What a run may find when it saves again.
enum class Before { one, two, newest_damaged, newest_missing, killed_before };

class KilledWhileSavingWith : public testing::TestWithParam<Before> {};

TEST_P(KilledWhileSavingWith, BeforeEachCallOfTheSystem) {
    bool finished = false;
    long calls = 0;
    for (; !finished; ++calls) {
        ASSERT_LT(calls, 100);
        const Folder folder;
        const std::string path = folder / "x.checkpoint";
        save_number(path, 1);
        if (GetParam() != Before::one) save_number(path, 2);
        if (GetParam() == Before::newest_damaged) write_file(path, read_file(path).substr(1));
        if (GetParam() == Before::newest_missing) std::filesystem::remove(path);
        if (GetParam() == Before::killed_before)
            for (const char* left : {".new", ".kept"}) write_file(path + left, "left behind");
        const std::int64_t good = load_number(path);
        finished = finishes(
            [&] {
                calls_left = calls;
                save_number(path, 3);
                calls_left = std::numeric_limits<long>::max();
            },
            [](pid_t) {});
        const std::int64_t reached = load_number(path);
        EXPECT_TRUE(reached == good || reached == 3) << reached << " after " << calls << " calls";
        EXPECT_TRUE(!finished || reached == 3);
        save_number(path, 4); // what the killed one left is no obstacle
        EXPECT_EQ(load_number(path), 4);
    }
    EXPECT_GT(calls, 8); // else our calls were not taken
}

std::string name_of(const testing::TestParamInfo<Before>& info) {
    constexpr const char* names[] = {"One", "Two", "DamagedNewest", "MissingNewest", "AnotherKill"};
    return names[static_cast<int>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(After, KilledWhileSavingWith,
                         testing::Values(Before::one, Before::two, Before::newest_damaged, Before::newest_missing,
                                         Before::killed_before),
                         name_of);

} // namespace
} // namespace bandmill::test
