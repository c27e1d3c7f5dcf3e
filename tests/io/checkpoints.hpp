// Checkpoints for the tests: a folder that goes with its test, whole files as bytes, a checkpoint of known contents.
#pragma once

#include "bandmill/io/checkpoint.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace bandmill::test {

class Folder {
  public:
    Folder() {
        std::string name = testing::TempDir() + "bandmill_checkpoint_XXXXXX";
        if (!mkdtemp(name.data())) throw FileError("no temporary folder could be made");
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

inline std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), std::ssize(bytes));
}

inline std::string random_bytes(std::size_t size, std::mt19937_64& random) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
}

// What one rank saves: pieces of given sizes, their members in a row from `first` on.
struct Saved {
    std::vector<std::string> states;
    std::vector<PieceStates> pieces;

    Saved(const std::vector<std::size_t>& sizes, std::mt19937_64& random, std::int64_t first = 0) {
        for (const std::size_t size : sizes) states.push_back(random_bytes(size, random));
        for (const std::string& bytes : states) {
            const std::int64_t count = 1 + static_cast<std::int64_t>(random() % 1000);
            pieces.push_back({{.first = first,
                               .count = count,
                               .step = static_cast<std::int64_t>(random() % 100000),
                               .sampled = static_cast<std::int64_t>(random() % 100) - 1},
                              std::as_bytes(std::span(bytes))});
            first += count;
        }
    }
    Saved(const Saved&) = delete;
    Saved& operator=(const Saved&) = delete;
};

inline CheckpointHead some_head(std::mt19937_64& random, std::size_t sums = 100) {
    CheckpointHead head{.study = "coarsen",
                        .version = "0.1.0",
                        .options = "members = 4096\nseed = 1\n",
                        .extra = std::string("zero \0 inside", 13),
                        .sums = {},
                        .pieces = {}};
    for (std::size_t k = 0; k < sums; ++k) head.sums.push_back(static_cast<std::int64_t>(random()));
    return head;
}

inline void expect_same(const CheckpointHead& a, const CheckpointHead& b) {
    EXPECT_EQ(a.study, b.study);
    EXPECT_EQ(a.version, b.version);
    EXPECT_EQ(a.options, b.options);
    EXPECT_EQ(a.extra, b.extra);
    EXPECT_EQ(a.sums, b.sums);
}

// Pieces of `head` and the states that the file holds for them are those that were saved.
inline void expect_saved(const std::string& path, std::span<const PieceHead> heads, const Saved& saved) {
    ASSERT_EQ(heads.size(), saved.pieces.size());
    for (std::size_t k = 0; k < heads.size(); ++k) {
        const PieceHead &loaded = heads[k], &expected = saved.pieces[k].head;
        EXPECT_EQ(loaded.first, expected.first);
        EXPECT_EQ(loaded.count, expected.count);
        EXPECT_EQ(loaded.step, expected.step);
        EXPECT_EQ(loaded.sampled, expected.sampled);
        ASSERT_EQ(loaded.bytes, std::ssize(saved.states[k]));
        std::string states(saved.states[k].size(), '\0');
        read_states(path, loaded, std::as_writable_bytes(std::span(states)));
        EXPECT_TRUE(states == saved.states[k]) << "piece " << k;
    }
}

} // namespace bandmill::test
