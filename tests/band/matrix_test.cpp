// BandMatrix: what goes in comes out, what is wrong is refused.
#include "../base/expect_error.hpp"

#include "bandmill/band/matrix.hpp"

#include <array>
#include <limits>
#include <vector>

namespace bandmill::test {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();
const double infinity = std::numeric_limits<double>::infinity();
using Values = std::vector<double>;

TEST(BandMatrix, KeepsDiagonalsByRow) {
    // [ 4 7 . ]
    // [ 2 5 8 ]
    // [ . 3 6 ]
    const auto a = BandMatrix::tridiagonal(Values{nan, 2, 3}, Values{4, 5, 6}, Values{7, 8, nan});
    EXPECT_EQ(a.size(), 3);
    EXPECT_EQ(a.half_bandwidth(), 1);
    EXPECT_EQ(a.boundary(), Boundary::open);
    EXPECT_FALSE(a.is_toeplitz());
    EXPECT_EQ(a.entry(0, 0), 4);
    EXPECT_EQ(a.entry(1, 0), 7);
    EXPECT_EQ(a.entry(-1, 1), 2);
    EXPECT_EQ(a.entry(0, 2), 6);
    EXPECT_EQ(a.entry(-1, 2), 3);
    // Outside an open matrix there is nothing, whatever was passed there.
    EXPECT_EQ(a.entry(-1, 0), 0);
    EXPECT_EQ(a.entry(1, 2), 0);
}

TEST(BandMatrix, KeepsWrappedEntriesOfAPeriodicMatrix) {
    const auto a = BandMatrix::pentadiagonal(Values{1, 2, 3, 4, 5, 6}, Values{11, 12, 13, 14, 15, 16},
                                             Values{21, 22, 23, 24, 25, 26}, Values{31, 32, 33, 34, 35, 36},
                                             Values{41, 42, 43, 44, 45, 46}, Boundary::periodic);
    EXPECT_EQ(a.half_bandwidth(), 2);
    EXPECT_EQ(a.boundary(), Boundary::periodic);
    for (int offset = -2; offset <= 2; ++offset)
        for (int row = 0; row < 6; ++row) EXPECT_EQ(a.entry(offset, row), 10 * (offset + 2) + row + 1);
}

TEST(BandMatrix, ConstantDiagonals) {
    for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
        const auto a = BandMatrix::toeplitz(1'000'000'000'000, Values{1, 2, 3, 4, 5}, boundary);
        EXPECT_TRUE(a.is_toeplitz());
        EXPECT_EQ(a.size(), 1'000'000'000'000);
        EXPECT_EQ(a.entry(-2, 500'000'000'000), 1);
        EXPECT_EQ(a.entry(2, 0), 5);
        EXPECT_EQ(a.entry(-2, 1), boundary == Boundary::open ? 0 : 1);
        EXPECT_EQ(a.entry(1, 999'999'999'999), boundary == Boundary::open ? 0 : 4);
    }
}

TEST(BandMatrix, TransposesEveryEntry) {
    for (Boundary boundary : {Boundary::open, Boundary::periodic})
        for (int n : {1, 2, 3, 4, 5, 9}) {
            SCOPED_TRACE(n);
            Values d[5];
            for (int k = 0; k < 5; ++k)
                for (int i = 0; i < n; ++i) d[k].push_back(100 * k + i);
            const auto a = BandMatrix::pentadiagonal(d[0], d[1], d[2], d[3], d[4], boundary);
            const auto t = a.transposed();
            const auto back = t.transposed();
            EXPECT_EQ(t.size(), n);
            EXPECT_EQ(t.boundary(), boundary);
            for (int offset = -2; offset <= 2; ++offset)
                for (int row = 0; row < n; ++row) {
                    EXPECT_EQ(back.entry(offset, row), a.entry(offset, row));
                    int column = row + offset;
                    if (boundary == Boundary::open && (column < 0 || column >= n)) continue;
                    EXPECT_EQ(t.entry(-offset, (column + 2 * n) % n), a.entry(offset, row));
                }
        }
}

TEST(BandMatrix, TransposesConstantDiagonals) {
    const auto t = BandMatrix::toeplitz(9, Values{1, 2, 3, 4, 5}, Boundary::periodic).transposed();
    EXPECT_TRUE(t.is_toeplitz());
    for (int offset = -2; offset <= 2; ++offset) EXPECT_EQ(t.entry(offset, 4), 3 - offset);
}

TEST(BandMatrixErrors, DiagonalsOfDifferentLengths) {
    const Values three(3, 1.0), four(4, 1.0), two(2, 1.0);
    expect_error<InvalidArgument>([&] { BandMatrix::tridiagonal(two, three, three); }, {"2", "3"});
    expect_error<InvalidArgument>([&] { BandMatrix::tridiagonal(three, three, four); }, {"4", "3"});
    expect_error<InvalidArgument>([&] { BandMatrix::tridiagonal(three, four, three); }, {"4", "3"});
    expect_error<InvalidArgument>([&] { BandMatrix::pentadiagonal(four, three, three, three, three); }, {"4", "3"});
    expect_error<InvalidArgument>([&] { BandMatrix::pentadiagonal(three, three, three, two, three); }, {"2", "3"});
}

TEST(BandMatrixErrors, NoRows) {
    const Values none;
    expect_error<InvalidArgument>([&] { BandMatrix::tridiagonal(none, none, none); }, {"0"});
    expect_error<InvalidArgument>([&] { BandMatrix::pentadiagonal(none, none, none, none, none); }, {"0"});
    expect_error<InvalidArgument>([&] { BandMatrix::toeplitz(0, Values{1, 2, 1}); }, {"0"});
    expect_error<InvalidArgument>([&] { BandMatrix::toeplitz(-7, Values{1, 2, 1}); }, {"-7"});
}

TEST(BandMatrixErrors, WeightsThatAreNotThreeOrFive) {
    for (std::size_t count : {0, 1, 2, 4, 6, 7})
        expect_error<InvalidArgument>([&] { BandMatrix::toeplitz(9, Values(count, 1.0)); }, {std::to_string(count)});
}

TEST(BandMatrixErrors, NanAndInfinity) {
    for (double bad : {nan, infinity, -infinity}) {
        const std::string word = bad != bad ? "nan" : "inf";
        const Values good(8, 1.0);
        Values one_bad = good;
        one_bad[5] = bad;
        EXPECT_EQ(expect_error<InvalidMatrix>([&] { BandMatrix::tridiagonal(one_bad, good, good); }, {"5", word}), 5);
        EXPECT_EQ(expect_error<InvalidMatrix>([&] { BandMatrix::tridiagonal(good, one_bad, good); }, {"5", word}), 5);
        EXPECT_EQ(expect_error<InvalidMatrix>([&] { BandMatrix::pentadiagonal(good, good, good, good, one_bad); },
                                              {"5", word}),
                  5);
        expect_error<InvalidMatrix>([&] { BandMatrix::toeplitz(8, Values{1, bad, 1}); }, {word});
        expect_error<InvalidMatrix>([&] { BandMatrix::toeplitz(8, Values{1, 2, bad}); }, {word});
        // The corners of a periodic matrix are entries like all others.
        Values corner = good;
        corner[0] = bad;
        EXPECT_NO_THROW(BandMatrix::tridiagonal(corner, good, good, Boundary::open));
        EXPECT_EQ(expect_error<InvalidMatrix>([&] { BandMatrix::tridiagonal(corner, good, good, Boundary::periodic); },
                                              {"0", word}),
                  0);
    }
}

TEST(BandMatrixErrors, EntriesThatDoNotExist) {
    const auto matrix = BandMatrix::toeplitz(4, std::array{-1.0, 3.0, -1.0});
    expect_error<InvalidArgument>([&] { matrix.entry(2, 0); }, {"diagonal 2"});
    expect_error<InvalidArgument>([&] { matrix.entry(0, 4); }, {"row 4"});
    expect_error<InvalidArgument>([&] { matrix.entry(0, -1); }, {"row -1"});
}

} // namespace
} // namespace bandmill::test
