// No altered checkpoint is taken for a good one, and no bytes whatever do harm to the parser of its head.
#include "checkpoints.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

namespace bandmill::test {
namespace {

using Random = std::mt19937_64;
constexpr std::size_t block = 65536, trailer = 56;

std::size_t below(std::size_t bound, Random& random) { return random() % bound; }

void flip_bit(std::string& bytes, Random& random) {
    bytes[below(bytes.size(), random)] ^= static_cast<char>(1 << below(8, random));
}
void flip_bit_of_trailer(std::string& bytes, Random& random) {
    bytes[bytes.size() - 1 - below(trailer, random)] ^= static_cast<char>(1 << below(8, random));
}
void change_bytes(std::string& bytes, Random& random) {
    for (std::size_t count = 1 + below(100, random); count > 0; --count)
        bytes[below(bytes.size(), random)] = static_cast<char>(random());
}
void truncate(std::string& bytes, Random& random) { bytes.resize(below(bytes.size(), random)); }
void truncate_little(std::string& bytes, Random& random) { bytes.resize(bytes.size() - 1 - below(200, random)); }
void extend(std::string& bytes, Random& random) { bytes += random_bytes(1 + below(200, random), random); }
void lose_a_block(std::string& bytes, Random& random) {
    bytes.erase(below(bytes.size() / block, random) * block, block);
}
void double_a_block(std::string& bytes, Random& random) {
    const std::size_t at = below(bytes.size() / block, random) * block;
    bytes.insert(at, bytes.substr(at, block));
}
void swap_blocks(std::string& bytes, Random& random) {
    const std::size_t a = below(bytes.size() / block, random) * block, b = below(bytes.size() / block, random) * block;
    std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(a),
                     bytes.begin() + static_cast<std::ptrdiff_t>(a + (a == b ? 0 : block)),
                     bytes.begin() + static_cast<std::ptrdiff_t>(b));
}
void zero_a_range(std::string& bytes, Random& random) {
    const std::size_t at = below(bytes.size(), random), size = std::min(bytes.size() - at, below(10000, random));
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), size, '\0');
}
void insert_a_byte(std::string& bytes, Random& random) { bytes.insert(below(bytes.size(), random), 1, '\0'); }

using Alteration = void (*)(std::string&, Random&);
constexpr Alteration alterations[] = {flip_bit,     flip_bit_of_trailer, change_bytes,   truncate,    truncate_little,
                                      extend,       lose_a_block,        double_a_block, swap_blocks, zero_a_range,
                                      insert_a_byte};

void expect_refused(const std::string& path, const std::string& bytes) {
    write_file(path, bytes);
    std::string name = path;
    try {
        load_checkpoint(name, [](const std::string&) { ADD_FAILURE() << "there is no predecessor"; });
        ADD_FAILURE() << "was taken for a good one";
    } catch (const FileError& error) {
        const std::string text = error.what();
        EXPECT_TRUE(text.find("is damaged (") != std::string::npos ||
                    text.find("newer bandmill") != std::string::npos ||
                    text.find("is not a bandmill checkpoint") != std::string::npos)
            << text;
    }
}

TEST(AlteredCheckpoint, IsRefused) {
    Random random(2);
    const Folder folder;
    const std::string path = folder / "x.checkpoint";
    const Saved saved({100, 2 * block, 0, block - 5, block}, random);
    save_checkpoint(path, some_head(random), saved.pieces, *connect());
    const std::string good = read_file(path);
    ASSERT_EQ(good.size(), 6 * block + trailer);
    int altered = 0;
    for (int round = 0; round < 150; ++round)
        for (const Alteration alter : alterations) {
            std::string bad = good;
            alter(bad, random);
            if (bad == good) continue;
            expect_refused(path, bad);
            ++altered;
        }
    EXPECT_GT(altered, 1400);
    write_file(path, good);
    std::string name = path;
    expect_saved(path, load_checkpoint(name, nullptr).pieces, saved);
}

// Where a field might have bits to spare.
TEST(AlteredCheckpoint, IsRefusedForEveryBitOfItsTrailerAndPadding) {
    Random random(3);
    const Folder folder;
    const std::string path = folder / "x.checkpoint";
    const Saved saved({9}, random);
    save_checkpoint(path, some_head(random), saved.pieces, *connect());
    std::string bytes = read_file(path);
    std::vector<std::size_t> places{block - 1, block + 8, block + 9, 2 * block - 1};
    for (std::size_t k = 0; k < trailer; ++k) places.push_back(bytes.size() - 1 - k);
    for (const std::size_t place : places)
        for (int bit = 0; bit < 8; ++bit) {
            bytes[place] ^= static_cast<char>(1 << bit);
            expect_refused(path, bytes);
            bytes[place] ^= static_cast<char>(1 << bit);
        }
}

// Either a FileError, or a head whose bytes are these and no others.
bool decodes(const std::string& bytes, std::int64_t file_bytes) {
    try {
        EXPECT_TRUE(encode(decode(std::as_bytes(std::span(bytes)), file_bytes)) == bytes);
        return true;
    } catch (const FileError&) {
        return false;
    }
}

CheckpointHead head_with_pieces(Random& random) {
    CheckpointHead head = some_head(random, below(20, random));
    head.options = random_bytes(below(300, random), random);
    std::int64_t first = 0, offset = 1 << 20;
    for (std::size_t k = below(10, random); k > 0; --k) {
        const auto count = static_cast<std::int64_t>(below(100, random)),
                   bytes = static_cast<std::int64_t>(random() >> 40);
        head.pieces.push_back({first, count, 5, -1, bytes > 0 ? offset : 0, bytes});
        first += count;
        offset += bytes;
    }
    std::shuffle(head.pieces.begin(), head.pieces.end(), random);
    return head;
}

constexpr std::int64_t large_file = std::int64_t(1) << 40;

TEST(CheckpointHeadBytes, AreReadAsTheyWereWritten) {
    Random random(4);
    for (int round = 0; round < 1000; ++round) {
        const CheckpointHead head = head_with_pieces(random);
        const std::string bytes = encode(head);
        ASSERT_TRUE(decodes(bytes, large_file));
        const CheckpointHead again = decode(std::as_bytes(std::span(bytes)), large_file);
        expect_same(again, head);
        ASSERT_EQ(again.pieces.size(), head.pieces.size());
        for (std::size_t k = 0; k < head.pieces.size(); ++k)
            EXPECT_EQ(std::memcmp(&again.pieces[k], &head.pieces[k], sizeof(PieceHead)), 0);
        ASSERT_FALSE(decodes(bytes + '\0', large_file));
        ASSERT_FALSE(decodes(bytes.substr(0, below(bytes.size(), random)), large_file));
    }
}

TEST(CheckpointHeadBytes, DoNoHarm) {
    Random random(5);
    constexpr std::int64_t extremes[] = {std::numeric_limits<std::int64_t>::min(),
                                         -1,
                                         0,
                                         1,
                                         1 << 20,
                                         large_file,
                                         std::numeric_limits<std::int64_t>::max() - 1,
                                         std::numeric_limits<std::int64_t>::max(),
                                         std::int64_t(1) << 61};
    for (int round = 0; round < 20000; ++round) {
        decodes(random_bytes(below(200, random), random), large_file);
        std::string bytes = encode(head_with_pieces(random));
        for (std::size_t count = 1 + below(3, random); count > 0; --count) {
            if (below(2, random) == 0) {
                flip_bit(bytes, random);
            } else { // any number, where the numbers are
                const std::int64_t number = extremes[below(std::size(extremes), random)];
                std::memcpy(bytes.data() + below(bytes.size() - 8, random) / 8 * 8, &number, 8);
            }
        }
        decodes(bytes, below(2, random) == 0 ? large_file : static_cast<std::int64_t>(below(1 << 24, random)));
    }
}

TEST(CheckpointHeadBytes, MayNotPlaceStatesJustAnywhere) {
    CheckpointHead head{.study = "x", .version = "1", .options = "", .extra = "", .sums = {}, .pieces = {}};
    auto accepts = [&](std::vector<PieceHead> pieces) {
        head.pieces = std::move(pieces);
        return decodes(encode(head), 1000);
    };
    EXPECT_TRUE(accepts({{0, 5, 1, -1, 500, 300}, {5, 5, 1, -1, 800, 200}, {10, 5, 0, -1, 0, 0}}));
    EXPECT_FALSE(accepts({{0, 5, 1, -1, 500, 301}, {5, 5, 1, -1, 800, 200}})); // overlap
    EXPECT_FALSE(accepts({{0, 5, 1, -1, 800, 201}}));                          // outside
    EXPECT_FALSE(accepts({{0, 5, 1, -1, 1, 10}}));                             // in the head
    EXPECT_FALSE(accepts({{0, 5, 1, -1, 500, -1}}));
    EXPECT_FALSE(accepts({{0, 5, 1, -1, 500, 0}}));
    EXPECT_FALSE(accepts({{0, 5, 1, -1, std::numeric_limits<std::int64_t>::max(), 10}}));
    EXPECT_FALSE(accepts({{0, 6, 1, -1, 500, 10}, {5, 5, 1, -1, 600, 10}})); // member 5 twice
    EXPECT_FALSE(accepts({{-1, 5, 1, -1, 500, 10}}));
    EXPECT_FALSE(accepts({{0, -5, 1, -1, 500, 10}}));
    EXPECT_FALSE(accepts({{std::numeric_limits<std::int64_t>::max(), 5, 1, -1, 500, 10}}));
    EXPECT_FALSE(accepts({{0, 5, -1, -1, 500, 10}}));
    EXPECT_FALSE(accepts({{0, 5, 1, -2, 500, 10}}));
}

} // namespace
} // namespace bandmill::test
