// Wrong input to the solver for matrices of their own: a typed error that names the values, and nothing written.
#include "../base/expect_error.hpp"
#include "own_matrices.hpp"

namespace bandmill::test {
namespace {

using OwnErrors = BackendTest;

constexpr std::int64_t n = 20, batch = 6, size = n * batch;

struct Subject {
    std::vector<double> ones = std::vector<double>(8 * size, 1.0);
    Array<double, Space> room = make_array<double>(ones);
    Array<std::int64_t, Space> status = make_array<std::int64_t>(std::vector<std::int64_t>(batch, -7));

    double* at(int which) { return room.data() + which * size; }
    FieldView<double, Space> field(int which) { return interleaved<Space>(at(which), n, batch); }
    FieldView<std::int64_t, Space> states() { return interleaved<Space>(status.data(), 1, batch); }
    BandBatch<double, Space> matrices() { return {{field(0), field(1), field(2)}}; }
    ~Subject() {
        EXPECT_EQ(differences(download(room), ones), 0) << "something was written";
        for (std::int64_t value : download(status)) EXPECT_EQ(value, -7) << "the status was written";
    }
};

TEST_F(OwnErrors, DiagonalsThatMakeNoMatrix) {
    Subject s;
    using Batch = BandBatch<double, Space>;
    const auto d = s.field(0);
    expect_error<InvalidArgument>([&] { Batch{{d, d}}; }, {"2 diagonals"});
    expect_error<InvalidArgument>([&] { Batch{{d, d, d, d}}; }, {"4 diagonals"});
    expect_error<InvalidArgument>([&] { Batch{{d, d, d, d, d, d, d}}; }, {"7 diagonals"});
    expect_error<InvalidArgument>([&] { Batch{{d, interleaved<Space>(s.at(1), n - 1, batch), d}}; }, {"19", "20"});
    expect_error<InvalidArgument>([&] { Batch{{d, d, interleaved<Space>(s.at(1), n, batch - 1)}}; }, {"5", "6"});
    expect_error<InvalidArgument>([&] { Batch{{d, d, d}, static_cast<Boundary>(7)}; }, {"7"});
    for (const BatchShape& shape : {BatchShape{n, batch, 3}, BatchShape{0, batch, 1}, BatchShape{n, -1, 1},
                                    BatchShape{INT64_MAX / 4, batch, 1}}) {
        expect_error<InvalidArgument>([&] { make_workspace<double>(shape); });
        expect_error<InvalidArgument>([&] { interleaved_bands<Space>(s.at(0), shape); });
    }
}

TEST_F(OwnErrors, SystemsThatDoNotFitTheMatrices) {
    Subject s;
    const auto factor = factor_own<double>(s.matrices());
    expect_error<InvalidArgument>([&] { solve(factor, interleaved<Space>(s.at(3), n - 1, batch)); }, {"19", "20"});
    expect_error<InvalidArgument>([&] { solve(factor, interleaved<Space>(s.at(3), n, batch - 1)); }, {"5", "6"});
    expect_error<InvalidArgument>([&] { solve(factor, s.field(3), interleaved<Space>(s.at(4), n, batch - 1)); });
    expect_error<InvalidArgument>([&] { solve(factor, interleaved<Space>(s.at(3) + 1, n, batch), s.field(3)); });
    auto workspace = make_workspace<double>(s.matrices().shape());
    const auto combined = [&](auto b, auto x) { solve(s.matrices(), b, x, s.states(), workspace); };
    expect_error<InvalidArgument>([&] { combined(s.field(3), interleaved<Space>(s.at(4), n, batch + 1)); }, {"7", "6"});
    expect_error<InvalidArgument>([&] { combined(contiguous<Space>(s.at(3), n, batch), s.field(3)); }, {"overlap"});
    for (int d = 0; d < 3; ++d) // the matrices are to be left alone
        expect_error<InvalidArgument>([&] { combined(s.field(3), s.field(d)); }, {"diagonal " + std::to_string(d)});
    expect_error<InvalidArgument>([&] { combined(s.field(5), interleaved<Space>(s.at(2) + 3, n, batch)); },
                                  {"diagonal 2"});
}

TEST_F(OwnErrors, StatusAndWorkspaceOfOtherShapes) {
    Subject s;
    auto workspace = make_workspace<double>(s.matrices().shape());
    const auto with_status = [&](auto view) { solve(s.matrices(), s.field(3), s.field(4), view, workspace); };
    expect_error<InvalidArgument>([&] { with_status(interleaved<Space>(s.status.data(), 2, batch)); }, {"status"});
    expect_error<InvalidArgument>([&] { with_status(interleaved<Space>(s.status.data(), 1, batch - 1)); }, {"status"});
    expect_error<InvalidArgument>([&] { with_status(strided<Space>(s.status.data(), 1, batch, 1, 0)); });
    // Neither may what is to be read or is written otherwise be where the status goes: f64, or f32 and half of it.
    const auto over = [&](double* place) {
        return interleaved<Space>(reinterpret_cast<std::int64_t*>(place), 1, batch);
    };
    for (int d = 0; d < 3; ++d)
        expect_error<InvalidArgument>([&] { with_status(over(s.at(d) + size - 1)); },
                                      {"status", "diagonal " + std::to_string(d)});
    expect_error<InvalidArgument>([&] { with_status(over(s.at(3))); }, {"status", "right-hand side"});
    expect_error<InvalidArgument>([&] { with_status(over(s.at(5) - 1)); }, {"status", "solution"});
    auto narrow = make_workspace<float>(s.matrices().shape());
    const auto floats = [&](int which) { return interleaved<Space>(reinterpret_cast<float*>(s.at(which)), n, batch); };
    const BandBatch<float, Space> bands{{floats(0), floats(1), floats(2)}};
    expect_error<InvalidArgument>([&] { solve(bands, floats(3), floats(4), over(s.at(4) + size / 2 - 1), narrow); },
                                  {"status", "solution"});

    for (const BatchShape& shape : {BatchShape{n, batch + 1}, BatchShape{n - 1, batch}, BatchShape{n, batch, 2},
                                    BatchShape{n, batch, 1, Boundary::periodic}}) {
        auto other = make_workspace<double>(shape);
        expect_error<InvalidArgument>([&] { solve(s.matrices(), s.field(3), s.field(4), s.states(), other); },
                                      {"workspace"});
    }
}

#if !defined(BANDMILL_TEST_CUDA)
// Room for the threads that can have work, not for all that there are.
TEST_F(OwnErrors, WorkspaceOfFewSystems) {
    const BatchShape few{100000, 3, 2, Boundary::periodic}, many{100, 4096, 2, Boundary::periodic};
    const auto bytes = [](const BatchShape& shape, int threads) {
        return BatchWorkspace<double, Host>(shape, Threads{threads}).bytes();
    };
    EXPECT_EQ(bytes(few, 64), bytes(few, 1));
    EXPECT_EQ(bytes(many, 4), 4 * bytes(many, 1));
}
TEST_F(OwnErrors, NegativeNumberOfThreads) {
    Subject s;
    expect_error<InvalidArgument>([&] { factor(s.matrices(), Threads{-2}); }, {"-2"});
    expect_error<InvalidArgument>([&] { BatchWorkspace<double, Host>(s.matrices().shape(), Threads{-2}); }, {"-2"});
}
#endif

// The form of one array, and what it means.
TEST_F(OwnErrors, AllDiagonalsInOneArray) {
    const OwnBatch own{{make_bands({Family::dominant}, n, 2, Boundary::periodic, 1)}, batch};
    std::vector<double> values;
    for (const auto& diagonal : own.matrices[0].diagonals)
        for (double value : diagonal) values.insert(values.end(), batch, value);
    const auto array = make_array<double>(values);
    const auto rhs = [](std::int64_t row, std::int64_t system) { return own_rhs<double>(row, system, n); };
    std::vector<double> b(size);
    for (std::int64_t k = 0; k < size; ++k) b[k] = rhs(k / batch, k % batch);
    auto x = make_array<double>(b);
    solve(factor_own<double>(interleaved_bands<Space>(array.data(), own.shape())), interleaved(x, n, batch));
    const auto expected = solve_own_batch<double>(own, Way::factored, {}, rhs);
    const auto found = download(x);
    std::int64_t different = 0;
    for (std::int64_t k = 0; k < size; ++k) different += !same_bits(found[k], expected.x[k % batch * n + k / batch]);
    EXPECT_EQ(different, 0);
}

} // namespace
} // namespace bandmill::test
