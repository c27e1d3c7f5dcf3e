// Array<T, Host>: ownership, alignment, sizes that cannot be.
#include "expect_error.hpp"

#include "bandmill/base/array.hpp"
#include "bandmill/version.hpp"

#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace bandmill::test {
namespace {

TEST(Array, OwnsAlignedMemory) {
    for (std::int64_t size : {1, 7, 1000}) {
        Array<double, Host> array(size);
        EXPECT_EQ(array.size(), size);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0u);
        std::iota(array.begin(), array.end(), 1.0);
        EXPECT_EQ(array[size - 1], static_cast<double>(size));
    }
}

TEST(Array, MayBeEmpty) {
    const Array<float, Host> nothing, zero(0);
    EXPECT_EQ(nothing.size(), 0);
    EXPECT_EQ(zero.size(), 0);
    EXPECT_EQ(zero.begin(), zero.end());
}

TEST(Array, CopiesASpanAndMovesItself) {
    static_assert(!std::is_copy_constructible_v<Array<double, Host>>);
    static_assert(!std::is_copy_constructible_v<Array<double, Cuda>>);
    const std::vector<double> values{1, 2, 3};
    Array<double, Host> first{std::span<const double>(values)};
    const double* const where = first.data();
    Array<double, Host> second = std::move(first);
    EXPECT_EQ(second.data(), where);
    EXPECT_EQ(second.size(), 3);
    EXPECT_EQ(second[2], 3);
    Array<double, Host> third(5);
    third = std::move(second);
    EXPECT_EQ(third.data(), where);
    EXPECT_EQ(third.size(), 3);
}

TEST(ArrayErrors, SizesThatCannotBe) {
    expect_error<InvalidArgument>([] { Array<double, Host>(-5); }, {"-5"});
    expect_error<InvalidArgument>([] { Array<float, Host>(INT64_MIN); }, {std::to_string(INT64_MIN)});
    expect_error<InvalidArgument>([] { Array<double, Host>(INT64_MAX); }, {std::to_string(INT64_MAX)});
    expect_error<InvalidArgument>([] { Array<double, Cuda>(-5); }, {"-5"});
}

TEST(ArrayErrors, MoreThanThereIs) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers end the program when memory runs out";
#endif
    // 2^60 bytes: addressable, but nobody has them.
    expect_error<Error>([] { Array<double, Host>(std::int64_t{1} << 57); }, {std::to_string(std::int64_t{1} << 60)});
}

TEST(Errors, AreAllOfOneKind) {
    static_assert(std::is_base_of_v<std::runtime_error, Error>);
    static_assert(std::is_base_of_v<Error, InvalidArgument>);
    static_assert(std::is_base_of_v<Error, InvalidMatrix>);
    static_assert(std::is_base_of_v<Error, SingularMatrix>);
    static_assert(std::is_base_of_v<Error, BackendUnavailable>);
    static_assert(std::is_base_of_v<Error, DeviceError>);
    EXPECT_EQ(SingularMatrix("row 7", 7).row(), 7);
    EXPECT_EQ(InvalidMatrix("row 8", 8).row(), 8);
}

TEST(Version, LibraryAndHeadersAgree) { EXPECT_STREQ(version(), BANDMILL_VERSION); }

} // namespace
} // namespace bandmill::test
