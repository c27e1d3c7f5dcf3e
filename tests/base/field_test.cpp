// FieldView: where its elements stand, and which views are refused.
#include "expect_error.hpp"

#include "bandmill/base/field.hpp"

#include <vector>

namespace bandmill::test {
namespace {

TEST(FieldView, LayoutsPutElementsWhereTheySay) {
    std::vector<double> values(200);
    const auto rows_first = interleaved(values.data(), 4, 10);
    EXPECT_EQ(rows_first.offset(0, 0), 0);
    EXPECT_EQ(rows_first.offset(3, 7), 3 * 10 + 7);
    const auto systems_first = contiguous(values.data(), 4, 10);
    EXPECT_EQ(systems_first.offset(3, 7), 7 * 4 + 3);
    const auto in_tiles = tiled(values.data(), 4, 10, 3);
    EXPECT_EQ(in_tiles.offset(2, 0), 2 * 3);
    EXPECT_EQ(in_tiles.offset(0, 3), 12);
    EXPECT_EQ(in_tiles.offset(3, 7), 2 * 12 + 3 * 3 + 1);
    const auto any = strided(values.data() + 150, 4, 10, -20, -2);
    EXPECT_EQ(any.offset(3, 7), -74);
    any(3, 7) = 5;
    EXPECT_EQ(values[150 - 74], 5);
}

TEST(FieldView, OffsetsGoBeyond32Bits) {
    double one = 0;
    EXPECT_EQ(contiguous(&one, 1'000'000, 1'000'000).offset(999'999, 999'999), 999'999'999'999);
    EXPECT_EQ(interleaved(&one, 1'000'000, 1'000'000).offset(999'999, 999'999), 999'999'999'999);
    EXPECT_EQ(tiled(&one, 1'000'000, 1'000'000, 32).offset(999'999, 31), 999'999 * 32 + 31);
    EXPECT_EQ(tiled(&one, 1'000'000, 1'000'000, 32).offset(0, 999'999), std::int64_t{31'249} * 32'000'000 + 31);
}

TEST(FieldView, OfTypeToWriteServesAsOneToRead) {
    std::vector<float> values(12, 3.0f);
    const FieldView<float> writable = interleaved(values.data(), 3, 4);
    const FieldView<const float> readable = writable;
    EXPECT_EQ(readable.data(), values.data());
    EXPECT_EQ(readable.shape(), writable.shape());
    EXPECT_EQ(readable(2, 3), 3.0f);
    EXPECT_EQ(readable.rows(), 3);
    EXPECT_EQ(readable.batch(), 4);
}

TEST(FieldView, MayHoldNoSystems) {
    double* const nothing = nullptr;
    EXPECT_EQ(interleaved(nothing, 3, 0).batch(), 0);
    EXPECT_EQ(contiguous(nothing, 3, 0).batch(), 0);
    EXPECT_EQ(tiled(nothing, 3, 0, 32).batch(), 0);
    EXPECT_EQ(strided(nothing, 3, 0, 1, 1).batch(), 0);
}

TEST(FieldViewErrors, NegativeSizes) {
    double one = 0;
    expect_error<InvalidArgument>([&] { interleaved(&one, -3, 1); }, {"-3"});
    expect_error<InvalidArgument>([&] { contiguous(&one, 3, -8); }, {"-8"});
    expect_error<InvalidArgument>([&] { tiled(&one, 3, -8, 4); }, {"-8"});
    expect_error<InvalidArgument>([&] { tiled(&one, -3, 8, 4); }, {"-3"});
    expect_error<InvalidArgument>([&] { strided(&one, -3, 1, 1, 1); }, {"-3"});
    expect_error<InvalidArgument>([&] { FieldView<double>(&one, FieldShape{3, 4, 1, 3, -2, 0}); }, {"-2"});
    expect_error<InvalidArgument>([&] { tiled(&one, -5, 1, INT64_MAX); }, {"-5"});
}

TEST(FieldView, HasNoTilesUnlessItSaysSo) {
    double values[12] = {};
    const FieldView<double> view(values, FieldShape{3, 4, 1, 3});
    for (std::int64_t m = 0; m < 4; ++m)
        for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(view.offset(i, m), m * 3 + i);
}

TEST(FieldView, HugeTilesAreOneTile) {
    double values[5] = {};
    const auto view = tiled(values, 1, 5, INT64_MAX);
    EXPECT_EQ(view.offset(0, 4), 4);
    EXPECT_NO_THROW(detail::check_writable(view.shape()));
}

// The last tile may be cut short: what it does not hold must not count.
TEST(FieldView, PartialLastTile) {
    EXPECT_NO_THROW(detail::check_writable(FieldShape{4, 40, 40, 1, 32, 32})); // interleaved, written as tiles
    EXPECT_NO_THROW(detail::check_writable(FieldShape{4, 40, 40, 1, 30, 30}));
    EXPECT_THROW(detail::check_writable(FieldShape{4, 40, 39, 1, 32, 32}), InvalidArgument);
    EXPECT_NO_THROW(detail::check_writable(FieldShape{4, 40, 32, 1, 32, 128})); // tiled
    EXPECT_THROW(detail::check_writable(FieldShape{4, 40, 32, 1, 32, 127}), InvalidArgument);
    const FieldShape contiguous_tiles{4, 40, 1, 4, 32, 128};
    double values[320] = {};
    EXPECT_NO_THROW(detail::check_disjoint(contiguous_tiles, values, contiguous_tiles, values + 160, sizeof(double)));
    EXPECT_THROW(detail::check_disjoint(contiguous_tiles, values, contiguous_tiles, values + 159, sizeof(double)),
                 InvalidArgument);
}

TEST(FieldViewErrors, MisalignedPointer) {
    alignas(double) char bytes[64] = {};
    expect_error<InvalidArgument>([&] { interleaved(reinterpret_cast<double*>(bytes + 4), 2, 2); }, {"8 bytes"});
}

TEST(FieldView, OverAnArrayChecksItsSize) {
    Array<double, Host> array(12);
    EXPECT_EQ(interleaved(array, 3, 4).shape(), interleaved(array.data(), 3, 4).shape());
    EXPECT_EQ(contiguous(array, 3, 4).shape(), contiguous(array.data(), 3, 4).shape());
    expect_error<InvalidArgument>([&] { interleaved(array, 3, 5); }, {"12", "3", "5"});
    expect_error<InvalidArgument>([&] { contiguous(array, INT64_MAX, INT64_MAX); }, {"12"});
}

TEST(FieldViewErrors, NullPointer) {
    double* const nothing = nullptr;
    expect_error<InvalidArgument>([&] { interleaved(nothing, 3, 1); }, {"null"});
    expect_error<InvalidArgument>([&] { tiled(nothing, 3, 1, 4); }, {"null"});
}

TEST(FieldViewErrors, TileWidth) {
    double one = 0;
    expect_error<InvalidArgument>([&] { tiled(&one, 3, 1, 0); }, {"0"});
    expect_error<InvalidArgument>([&] { tiled(&one, 3, 1, -32); }, {"-32"});
    expect_error<InvalidArgument>([&] { tiled(&one, INT64_MAX / 2, 100, 32); });
}

TEST(FieldViewErrors, OffsetsBeyond64Bits) {
    double one = 0;
    const std::int64_t far = std::int64_t{1} << 61;
    for (std::int64_t stride : {far, -far, INT64_MAX, INT64_MIN})
        expect_error<InvalidArgument>([&] { strided(&one, 10, 10, stride, 1); }, {std::to_string(stride)});
    expect_error<InvalidArgument>([&] { strided(&one, 10, 10, 1, far); }, {std::to_string(far)});
    expect_error<InvalidArgument>([&] { interleaved(&one, far, far); }, {std::to_string(far)});
    expect_error<InvalidArgument>([&] { contiguous(&one, far, 100); }, {std::to_string(far)});
    expect_error<InvalidArgument>(
        [&] {
            FieldView<double>(&one, FieldShape{10, 10, 1, 10, 2, far});
        },
        {std::to_string(far)});
    // Sums of strides that fit one by one.
    expect_error<InvalidArgument>([&] { strided(&one, 2, 2, INT64_MAX / 16, INT64_MAX / 16); });
    // One row and one system: strides are never used.
    EXPECT_NO_THROW(strided(&one, 1, 1, far, far));
}

} // namespace
} // namespace bandmill::test
