#include "expect_error.hpp"
#include "planes.hpp"

namespace bandmill::test {
namespace {

class StencilErrors : public BackendTest {
  protected:
    const Stencil second = Stencil::along_x({1, -2, 1});
    Array<double, Space> a, b;

    void SetUp() override {
        BackendTest::SetUp();
        if (IsSkipped()) return; // there is no GPU to allocate on
        a = make_array<double>(std::vector<double>(100, 1.0));
        b = make_array<double>(std::vector<double>(100, 2.0));
    }
    template <class Action> void expect_refused(Action action, std::initializer_list<std::string> words) {
        expect_error<InvalidArgument>(action, words);
        EXPECT_EQ(download(b), std::vector<double>(100, 2.0)) << "something was written";
    }
};

TEST_F(StencilErrors, SizesThatDiffer) {
    expect_refused([&] { apply(second, plane(a, 5, 10), plane(b, 10, 5)); }, {"5 rows", "10"});
    expect_refused([&] { apply(second, plane(a, 5, 9), plane(b, 5, 10)); }, {"9 columns", "10"});
    expect_refused([&] { apply(second, plane(a, 5, 10, 1), plane(b, 5, 10, 2)); }, {"1 planes", "2"});
    expect_refused([&] { apply(second, interleaved(a, 5, 10), interleaved(b, 5, 11)); }, {"10 systems", "11"});
}

TEST_F(StencilErrors, InputAndOutputOverlap) {
    auto view = [&](std::int64_t at, const PlaneShape& shape) {
        return PlaneView<double, Space>(b.data() + at, shape);
    };
    expect_refused([&] { apply(second, plane(b, 5, 10), plane(b, 5, 10)); }, {"overlap", "separate"});
    const PlaneShape half{5, 5, 1, 10, 1, 0};
    expect_refused([&] { apply(second, view(0, half), view(4, half)); }, {"overlap"});
    expect_refused([&] { apply(second, view(0, half), view(10, half)); }, {"overlap"});
    expect_refused([&] { apply(second, view(0, {5, 5, 1, 10, 2, 0}), view(4, {5, 5, 1, 10, 2, 0})); }, {"overlap"});
}

// Apart in one buffer, although their ranges overlap: halves of rows, every second element, every second plane.
TEST_F(StencilErrors, ApartInOneBufferIsFine) {
    auto view = [&](std::int64_t at, const PlaneShape& shape) {
        return PlaneView<double, Space>(b.data() + at, shape);
    };
    EXPECT_NO_THROW(apply(second, view(0, {5, 5, 1, 10, 1, 0}), view(5, {5, 5, 1, 10, 1, 0})));
    EXPECT_NO_THROW(apply(second, view(0, {5, 5, 1, 10, 2, 0}), view(1, {5, 5, 1, 10, 2, 0})));
    EXPECT_NO_THROW(apply(second, view(0, {2, 5, 4, 5, 1, 20}), view(10, {2, 5, 4, 5, 1, 20})));
    EXPECT_NO_THROW(apply(second, view(49, {5, 10, 1, -10, -1, 0}), view(50, {5, 10, 1, 10, 1, 0})));
}

TEST_F(StencilErrors, OutputElementsThatMeet) {
    auto out = [&](const PlaneShape& shape) {
        apply(second, PlaneView<double, Space>(a.data(), shape), PlaneView<double, Space>(b.data(), shape));
    };
    expect_refused([&] { out({5, 10, 1, 0, 1, 0}); }, {"one address", "stride 0"});
    expect_refused([&] { out({5, 10, 1, 9, 1, 0}); }, {"one address"});
    expect_refused([&] { out({3, 3, 1, 4, 4, 0}); }, {"one address"});
    expect_refused([&] { out({2, 3, 3, 10, 4, 2}); }, {"one address"});
    EXPECT_NO_THROW(out({3, 4, 1, 5, 4, 0})); // 0 4 8 12, 5 9 13 17, 10 14 18 22
}

// A last tile that is not full is computed by itself. What it and the others read and write is looked at before.
TEST_F(StencilErrors, TilesThatMeetThoseOfAnotherPiece) {
    const auto at = [&](std::int64_t offset, const FieldShape& shape) {
        return FieldView<double, Space>(b.data() + offset, shape);
    };
    const FieldShape six{8, 6, 4, 1, 4, 32};
    const auto tell = [&](const FieldView<double, Space>& in, const FieldView<double, Space>& out) {
        expect_refused([&] { apply(second, in, out, Edges::periodic()); }, {"input", "overlap"});
        expect_refused([&] { advect(in, 1.0, FieldView<double, Space>(a.data(), six), out); }, {"velocity", "overlap"});
    };
    tell(at(0, six), at(32, six));                // out's first piece is in's last tile
    tell(at(32, six), at(0, six));                // out's last tile is in's first piece
    tell(at(0, six), at(0, {8, 6, 4, 1, 4, 62})); // only the last tiles meet, 62 on 32
    expect_refused(
        [&] {
            apply(second, FieldView<double, Space>(a.data(), six), at(0, {8, 6, 4, 1, 4, 0}));
        },
        {"one address", "stride 0"});
}

TEST_F(StencilErrors, EdgesThatCannotBe) {
    expect_refused([&] { apply(second, plane(a, 5, 1), plane(b, 5, 1), Edges::odd_at_point()); }, {"one point", "x"});
    expect_error<InvalidArgument>([] { (void)Edges::constant(NAN); }, {"not finite"});
    Array<float, Space> from = make_array<float>(std::vector<float>(4)), to = make_array<float>(std::vector<float>(4));
    expect_error<InvalidArgument>([&] { apply(second, plane(from, 2, 2), plane(to, 2, 2), Edges::odd(1e200)); },
                                  {"too large", "f64"});
    expect_error<InvalidArgument>([&] { apply(second.times(1e200), plane(from, 2, 2), plane(to, 2, 2)); },
                                  {"1e+200", "f64"});
}

TEST_F(StencilErrors, StencilsThatCannotBe) {
    expect_error<InvalidArgument>([] { (void)Stencil::along_x({}); }, {"0 points"});
    expect_error<InvalidArgument>([] { (void)Stencil::along_x({}, 0); }, {"0 columns"});
    expect_error<InvalidArgument>([] { (void)Stencil::along_x({1, 2}); }, {"no point in the middle"});
    expect_error<InvalidArgument>([] { (void)Stencil::along_y({1, 2}, 2); }, {"2 points up", "0 to 1"});
    expect_error<InvalidArgument>([] { (void)Stencil::along_x({1, 2}, -1); }, {"-1"});
    expect_error<InvalidArgument>([] { (void)Stencil::patch(3, 3, {1, 2, 3}); }, {"3 by 3", "3 weights"});
    expect_error<InvalidArgument>([] { (void)Stencil::along_x({1, INFINITY, 1}); }, {"weight 1", "inf"});
    expect_refused(
        [&] {
            apply(Stencil::along_y({1, -2, 1}), interleaved(a, 5, 10), interleaved(b, 5, 10));
        },
        {"3 rows", "one row of weights"});
}

TEST_F(StencilErrors, Velocities) {
    Array<double, Space> u = make_array<double>(std::vector<double>(100, 1.0));
    auto velocity = [&] { return PlaneView<const double, Space>(plane(u, 10, 10)); };
    expect_refused([&] { advect({}, {1, 1}, plane(a, 10, 10), plane(b, 10, 10)); }, {"no velocity"});
    expect_refused(
        [&] {
            advect({velocity(), {}}, {0, 1}, plane(a, 10, 10), plane(b, 10, 10));
        },
        {"spacing along x", "0"});
    expect_refused([&] { advect({{}, velocity()}, {1, -2}, plane(a, 10, 10), plane(b, 10, 10)); }, {"along y", "-2"});
    for (const double spacing : {1e-21, 1e31})
        expect_refused(
            [&] {
                advect({{}, velocity()}, {1, spacing}, plane(a, 10, 10), plane(b, 10, 10));
            },
            {"along y", "1e-20"});
    expect_refused([&] { advect({velocity(), {}}, {1, 1}, plane(a, 5, 20), plane(b, 5, 20)); }, {"velocity along x"});
    expect_refused(
        [&] {
            advect({PlaneView<const double, Space>(plane(b, 10, 10)), {}}, {1, 1}, plane(a, 10, 10), plane(b, 10, 10));
        },
        {"velocity along x", "overlap"});
}

} // namespace
} // namespace bandmill::test
