// FieldView: where its elements stand, and which views are refused.
#include "expect_error.hpp"

#include "bandmill/base/field.hpp"

#include <algorithm>
#include <random>
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
    expect_error<InvalidArgument>([&] { FieldView<double>(&one, FieldShape{3, 4, 1, 3, -2, 0}); }, {"per tile"});
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

// In place is what has the same elements, however it is said.
TEST(FieldView, TheSameSystemsInTilesOfOne) {
    double values[20] = {};
    const FieldShape tiles = tiled(values, 5, 4, 1).shape(), apart = contiguous(values, 5, 4).shape();
    EXPECT_NO_THROW(detail::check_disjoint(tiles, values, apart, values, sizeof(double)));
    EXPECT_NO_THROW(detail::check_disjoint(apart, values, tiles, values, sizeof(double)));
    EXPECT_THROW(detail::check_disjoint(tiles, values, interleaved(values, 5, 4).shape(), values, sizeof(double)),
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

// Offsets of all elements in bytes, by the formula at the top of field.hpp.
std::vector<std::int64_t> addresses(const FieldShape& shape, std::int64_t at, std::int64_t element_bytes) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < shape.rows; ++i)
        for (std::int64_t m = 0; m < shape.batch; ++m)
            all.push_back(at + element_bytes * (i * shape.row_stride + m % shape.tile * shape.batch_stride +
                                                m / shape.tile * shape.tile_stride));
    std::sort(all.begin(), all.end());
    return all;
}

class RandomShapes {
  public:
    FieldShape next() {
        const std::int64_t batch = pick(1, 7), tile = pick(1, 8);
        return {pick(1, 4), batch, pick(-16, 16), pick(-16, 16), std::min(tile, batch), pick(-24, 24)};
    }
    std::int64_t pick(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(bits_);
    }

  private:
    std::mt19937 bits_{7};
};

// Against all addresses, for shapes of every kind: nested, crossing, reversed, with a last tile that is not full.
TEST(FieldOverlap, ElementsThatShareAnAddressAreFound) {
    RandomShapes random;
    int fine = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        const FieldShape shape = random.next();
        const auto all = addresses(shape, 0, 1);
        bool refused = false;
        try {
            detail::check_writable(shape);
        } catch (const InvalidArgument&) {
            refused = true;
        }
        ASSERT_EQ(refused, std::adjacent_find(all.begin(), all.end()) != all.end())
            << shape.rows << " x " << shape.batch << ", strides " << shape.row_stride << ", " << shape.batch_stride
            << ", tiles " << shape.tile << ", " << shape.tile_stride;
        fine += !refused;
    }
    EXPECT_GT(fine, 4000);
}

TEST(FieldOverlap, ViewsThatShareBytesAreFound) {
    RandomShapes random;
    std::vector<char> memory(8192);
    char* const middle = memory.data() + 4096;
    int apart = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        const FieldShape one = random.next(), other = trial % 2 == 0 ? one : random.next();
        const std::int64_t at = trial % 5 == 0 ? random.pick(-400, 400) : 8 * random.pick(-50, 50);
        const std::int64_t size = trial % 3 == 0 ? 4 : 8, other_size = 8; // as values of f32 beside 64-bit integers
        const auto read = addresses(one, 0, size), written = addresses(other, at, other_size);
        bool shared = false;
        for (const std::int64_t a : read)
            for (const std::int64_t b : written) shared = shared || (a < b + other_size && b < a + size);
        const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count); };
        ASSERT_EQ(detail::overlap({one, middle, bytes(size)}, {other, middle + at, bytes(other_size)}), shared)
            << one.rows << " x " << one.batch << ", strides " << one.row_stride << ", " << one.batch_stride
            << ", tiles " << one.tile << ", " << one.tile_stride << "; at " << at;
        apart += !shared;
    }
    EXPECT_GT(apart, 4000);
    EXPECT_LT(apart, 16000);
}

// Large ones must not be taken for overlapping because there are many elements.
TEST(FieldOverlap, FieldsSideBySideInOneBuffer) {
    char* const at = reinterpret_cast<char*>(4096); // never looked at
    const std::int64_t n = 1000000, batch = 1000003;
    const FieldShape tiles{n, batch, 32, 1, 32, 2 * n * 32}, rows{n, batch, 2 * batch, 1, batch, 0},
        points{n, batch, 2 * batch, 2, batch, 0};
    const auto shared = [&](const FieldShape& shape, char* other) {
        return detail::overlap({shape, at, 8}, {shape, other, 8});
    };
    EXPECT_FALSE(shared(tiles, at + 8 * n * 32)); // [tile][field][row][lane]
    EXPECT_TRUE(shared(tiles, at + 8 * (n * 32 - 1)));
    EXPECT_FALSE(shared(rows, at + 8 * batch)); // [row][field][system]
    EXPECT_TRUE(shared(rows, at + 8 * (batch - 1)));
    EXPECT_FALSE(shared(points, at + 8));                                        // [row][system][field]
    EXPECT_NO_THROW(detail::check_disjoint(tiles, at, tiles, at, 8));            // in place
    const std::int64_t count = (batch + 3) / 4;                                  // of tiles
    EXPECT_NO_THROW(detail::check_writable({n, batch, count, n * count, 4, 1})); // [lane][row][tile]
}

} // namespace
} // namespace bandmill::test
