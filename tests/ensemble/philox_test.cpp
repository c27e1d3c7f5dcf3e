// Philox4x32-10 against the known answers that Random123 publishes, and the numbers made from it.
#include "bandmill/base/philox.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace bandmill::test {
namespace {

using Words = std::vector<std::uint32_t>;

Words philox_of(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d, std::uint32_t key0,
                std::uint32_t key1) {
    const auto [word] = detail::philox({{a, b, c, d}}, std::uint64_t{key1} << 32 | key0);
    return {word[0], word[1], word[2], word[3]};
}

TEST(Philox, KnownAnswers) {
    constexpr std::uint32_t ones = 0xffffffff;
    EXPECT_EQ(philox_of(0, 0, 0, 0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    EXPECT_EQ(philox_of(ones, ones, ones, ones, ones, ones), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    // Digits of pi.
    EXPECT_EQ(philox_of(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0),
              (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformNumbersLieBelowOne) {
    EXPECT_EQ(detail::uniform(0, 0), 0);
    EXPECT_EQ(detail::uniform(0, 1u << 11), 0x1p-53);
    EXPECT_EQ(detail::uniform(0x80000000, 0), 0.5);
    EXPECT_EQ(detail::uniform(0xffffffff, 0xffffffff), 1 - 0x1p-53);
}

} // namespace
} // namespace bandmill::test
