// The checkpoint file, byte by byte: blocks, then the trailer. Numbers are written as they lie in memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace bandmill::detail {

static_assert(std::endian::native == std::endian::little, "checkpoints hold the numbers' bytes, lowest first");

constexpr std::int64_t checkpoint_block = 65536;
constexpr std::int64_t checkpoint_format = 1;
// The file starts with it (in the head) and ends with it, so that one whose end is lost is still known.
constexpr std::string_view checkpoint_magic = "bandmill checkpoint\n\n\n\n\n";

// Later formats may put more in front of `format`, which stays where it is.
struct CheckpointTrailer {
    std::int64_t head_bytes;
    std::int64_t file_bytes; // with this trailer
    std::uint64_t checksum;  // of everything but the magic
    std::int64_t format;
    char magic[24];
};
static_assert(sizeof(CheckpointTrailer) == 56 && checkpoint_magic.size() == sizeof(CheckpointTrailer::magic));

// Each step is a bijection of the value before it, and of the word: one changed word is always noticed, other
// damage is missed about once in 2^64. Against accidents, not against forgers.
class Checksum {
  public:
    void add(std::uint64_t word) {
        value_ = (value_ ^ word) * 0x9e3779b97f4a7c15u;
        value_ ^= value_ >> 32;
    }
    std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0x62616e646d696c6cu;
};

inline std::uint64_t block_checksum(std::span<const std::byte, checkpoint_block> block) {
    Checksum sum;
    for (std::size_t at = 0; at < block.size(); at += 8) {
        std::uint64_t word;
        std::memcpy(&word, block.data() + at, 8);
        sum.add(word);
    }
    return sum.value();
}

inline std::uint64_t file_checksum(std::span<const std::uint64_t> blocks, const CheckpointTrailer& trailer) {
    Checksum sum;
    for (const std::uint64_t block : blocks) sum.add(block);
    for (const std::int64_t number : {trailer.head_bytes, trailer.file_bytes, trailer.format})
        sum.add(static_cast<std::uint64_t>(number));
    return sum.value();
}

} // namespace bandmill::detail
