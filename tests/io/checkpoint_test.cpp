// Checkpoints come back as they were saved, and a good one survives whatever happens to the next.
#include "../base/expect_error.hpp"
#include "checkpoints.hpp"

#include <sys/mount.h>
#include <sys/stat.h>

namespace bandmill::test {
namespace {

constexpr std::size_t block = 65536;

CheckpointHead load_quietly(std::string path) {
    const std::string asked = path;
    CheckpointHead head = load_checkpoint(path, [](const std::string& text) { ADD_FAILURE() << text; });
    EXPECT_EQ(path, asked);
    return head;
}

class Checkpoint : public testing::Test {
  protected:
    void save(const CheckpointHead& head, const Saved& saved) { save_checkpoint(path, head, saved.pieces, *connect()); }
    void expect_round_trip(const CheckpointHead& head, const Saved& saved) {
        save(head, saved);
        const CheckpointHead loaded = load_quietly(path);
        expect_same(loaded, head);
        expect_saved(path, loaded.pieces, saved);
        EXPECT_FALSE(std::filesystem::exists(path + ".new"));
        EXPECT_FALSE(std::filesystem::exists(path + ".kept"));
    }
    // Saves a checkpoint whose states are one number over and over, which the sums tell, too.
    void save_number(std::int64_t number, std::size_t copies = 3 * block / 8 + 1) {
        const std::vector<std::int64_t> states(copies, number);
        CheckpointHead head = some_head(random);
        head.sums = {number};
        const PieceStates piece{{.first = 0, .count = 8, .step = number, .sampled = -1},
                                std::as_bytes(std::span(states))};
        save_checkpoint(path, head, std::span(&piece, 1), *connect());
    }
    std::int64_t load_number(std::string from, std::vector<std::string>* warnings = nullptr) {
        const CheckpointHead head = load_checkpoint(from, [&](const std::string& text) {
            if (warnings) warnings->push_back(text);
        });
        std::vector<std::int64_t> states(static_cast<std::size_t>(head.pieces.at(0).bytes) / 8);
        read_states(from, head.pieces.at(0), std::as_writable_bytes(std::span(states)));
        EXPECT_EQ(states, std::vector<std::int64_t>(states.size(), head.sums.at(0)));
        return head.sums.at(0);
    }
    void damage(const std::string& name) {
        std::string bytes = read_file(name);
        bytes.at(bytes.size() / 2) ^= 1;
        write_file(name, bytes);
    }

    std::mt19937_64 random{1};
    Folder folder;
    const std::string path = folder / "coarsen.nc.checkpoint";
};

TEST_F(Checkpoint, KeepsPiecesOfAllSizes) {
    expect_round_trip(some_head(random), Saved({100, 0, 1, block - 1, block, block + 1, 0, 3 * block + 17}, random));
    expect_round_trip(some_head(random), Saved({130 * block + 5, 64 * block, 128 * block, 7}, random)); // many parts
}

TEST_F(Checkpoint, KeepsAStudyWithoutPieces) {
    expect_round_trip(some_head(random), Saved({}, random));
    expect_round_trip(CheckpointHead{}, Saved({}, random));
    expect_round_trip(some_head(random), Saved({0, 0, 0}, random));
}

TEST_F(Checkpoint, KeepsAHeadOfManyBlocks) { expect_round_trip(some_head(random, 1000000), Saved({10, 20}, random)); }

TEST_F(Checkpoint, KeepsAHeadOfExactlyABlock) {
    const Saved saved({block, 3}, random);
    CheckpointHead head = some_head(random);
    const std::size_t pieces = 2 * sizeof(PieceHead), without = encode(head).size();
    for (const std::size_t size : {block - 1, block, block + 1}) {
        head.extra.assign(13 + size - without - pieces, 'x');
        expect_round_trip(head, saved);
    }
}

TEST_F(Checkpoint, NamesTheSizeThatDoesNotFit) {
    save_number(5);
    const CheckpointHead head = load_quietly(path);
    std::vector<std::byte> states(100);
    expect_error<FileError>([&] { read_states(path, head.pieces[0], states); }, {path, "100", "8 members"});
}

TEST_F(Checkpoint, RefusesPiecesWithMembersInCommon) {
    save_number(5);
    Saved saved({10, 20}, random);
    saved.pieces[1].head.first = saved.pieces[0].head.first;
    expect_error<FileError>([&] { save(some_head(random), saved); }, {"members in common"});
    EXPECT_EQ(load_number(path), 5);
}

TEST_F(Checkpoint, KeepsTheOneBefore) {
    save_number(1);
    EXPECT_FALSE(std::filesystem::exists(path + ".previous"));
    for (std::int64_t number = 2; number < 5; ++number) {
        save_number(number);
        EXPECT_EQ(load_number(path), number);
        EXPECT_EQ(load_number(path + ".previous"), number - 1);
    }
}

TEST_F(Checkpoint, GoesBackToTheOneBefore) {
    save_number(1);
    save_number(2);
    damage(path);
    std::vector<std::string> warnings;
    EXPECT_EQ(load_number(path, &warnings), 1);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("is damaged ("), std::string::npos) << warnings[0];
    EXPECT_NE(warnings[0].find(path + ".previous"), std::string::npos) << warnings[0];
    std::string name = path;
    load_checkpoint(name, nullptr);
    EXPECT_EQ(name, path + ".previous");

    std::filesystem::remove(path); // as between two renames
    EXPECT_EQ(load_number(path, &warnings), 1);
    EXPECT_EQ(warnings.size(), 2u);

    damage(path + ".previous");
    expect_error<FileError>([&] { load_number(path); },
                            {"cannot read '" + path + "'", path + ".previous' is damaged ("});
}

TEST_F(Checkpoint, RefusesForeignFiles) {
    for (const std::string& bytes : {std::string(), std::string("members = 4096\n"), std::string(100000, '\0'),
                                     "\x89HDF\r\n\x1a\n" + random_bytes(200000, random)}) {
        write_file(path, bytes);
        expect_error<FileError>([&] { load_number(path); }, {path, "is not a bandmill checkpoint"});
    }
    std::filesystem::remove(path);
    expect_error<FileError>([&] { load_number(path); }, {path, "No such file"});
    std::filesystem::create_directory(path);
    expect_error<FileError>([&] { load_number(path); }, {path, "is not a bandmill checkpoint"});
    std::filesystem::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    expect_error<FileError>([&] { load_number(path); }, {path, "is not a bandmill checkpoint"});
}

TEST_F(Checkpoint, TellsANewerFormat) {
    save_number(1);
    std::string bytes = read_file(path);
    bytes.at(bytes.size() - 32) = 2;
    write_file(path, bytes);
    expect_error<FileError>([&] { load_number(path); }, {"format 2", "newer bandmill"});
}

TEST_F(Checkpoint, NeedsItsFolder) {
    const Saved saved({10}, random);
    expect_error<FileError>(
        [&] { save_checkpoint(folder / "none/x.checkpoint", some_head(random), saved.pieces, *connect()); },
        {"none/x.checkpoint", "No such file", "folder"});
}

TEST_F(Checkpoint, IsRemovedWithAllThatBelongsToIt) {
    save_number(1);
    save_number(2);
    write_file(path + ".new", "of a run that was killed");
    remove_checkpoint(path);
    EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(path).parent_path()));
    remove_checkpoint(path);
}

TEST_F(Checkpoint, SurvivesAFullDisk) {
    const std::string disk = folder / "disk";
    std::filesystem::create_directory(disk);
    if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=2m") != 0) GTEST_SKIP() << "a small disk cannot be mounted here";
    const std::string full = disk + "/x.checkpoint";
    const Saved small({300000}, random), large({3000000}, random);
    const CheckpointHead head = some_head(random);
    save_checkpoint(full, head, small.pieces, *connect());
    for (const CheckpointHead& next : {head, some_head(random, 300000)}) { // its states, or its head do not fit
        const Saved& saved = next.sums == head.sums ? large : small;
        expect_error<FileError>([&] { save_checkpoint(full, next, saved.pieces, *connect()); },
                                {full + ".new", "No space left on device"});
        EXPECT_FALSE(std::filesystem::exists(full + ".new"));
        expect_saved(full, load_quietly(full).pieces, small);
    }
    EXPECT_EQ(umount(disk.c_str()), 0);
}

} // namespace
} // namespace bandmill::test
