#include "expect_error.hpp"
#include "functions.hpp"
#include "planes.hpp"

namespace bandmill::test {
namespace {

class Functions : public BackendTest {};

template <class T, class Function>
void apply_here(const Function& function, const Planes<T>& in, Planes<T>& out, const PlaneEdges& edges, Into into) {
    Uploaded<T> from(in), to(out);
    apply_example<T, Space>(function, from.view(), to.view(), edges, into);
    out.buffer = download(to.array);
}

// The function in long double, on values that are rounded to T where the library has rounded them: beyond odd edges.
template <class T>
long double skewed(const Planes<T>& in, const PlaneEdges& edges, T factor, std::int64_t y, std::int64_t x,
                   std::int64_t m) {
    auto at = [&](std::int64_t dx, std::int64_t dy) { return continued(in, edges, y + dy, x + dx, m).value; };
    return factor * at(-2, 0) * at(1, 3) + at(-1, 1) * at(0, 2) + static_cast<long double>(x + 2 * y - 3 * m);
}

template <class T> void check(const PlaneBox& box, const PlaneEdges& edges, Into into) {
    SCOPED_TRACE(describe(box.shape, edges));
    const Planes<T> in = noise<T>(box, 1), before = noise<T>(box, 2);
    Planes<T> out = before;
    const T factor = T(0.75);
    apply_here(Skewed<T>{factor}, in, out, edges, into);
    std::int64_t wrong = 0, touched = 0;
    out.for_each([&](auto y, auto x, auto m) {
        if (!is_written(box.shape, edges, {2, 1, 0, 3}, y, x)) {
            touched += !same_bits(out.at(y, x, m), before.at(y, x, m));
            return;
        }
        const long double expected =
            skewed(in, edges, factor, y, x, m) + (into == Into::add ? before.at(y, x, m) : T(0));
        // Products of values up to 3, and an index.
        const long double allowed = 4 * std::numeric_limits<T>::epsilon() * (20 + x + 2 * y + 3 * m);
        wrong += !(std::fabs(out.at(y, x, m) - expected) <= allowed);
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(touched, 0);
    EXPECT_TRUE(out.padding_is_whole());
}

TEST_F(Functions, OfAnyNeighbours) {
    const Edges rules[] = {Edges::leave(),        Edges::periodic(),         Edges::even(),
                           Edges::odd(0.2, -0.1), Edges::constant(0.1, 0.3), Edges::odd_at_point(0.2)};
    for_both_precisions([&]<class T>() {
        for (const Edges& x : rules)
            for (const Edges& y : rules) {
                check<T>(make_box(PlaneLayout::padded, 7, 150, 2), {x, y}, Into::replace);
                check<T>(make_box(PlaneLayout::padded, 2, 3, 2), {x, y}, Into::add);
            }
        for (const PlaneLayout layout : all_plane_layouts)
            for (const auto& [rows, columns] : {std::pair{1, 1}, {90, 40}, {33, 200}})
                check<T>(make_box(layout, rows, columns, 3), {Edges::periodic(), Edges::even()}, Into::replace);
    });
}

TEST_F(Functions, OfWeightsAreStencils) {
    const double centre = -4, side = 0.5; // powers of two: all roundings are those of the sums
    const Planes<double> in = noise<double>(make_box(PlaneLayout::contiguous, 130, 260, 2), 1);
    Planes<double> one = in, other = in;
    apply_here(Cross<double>{centre, side}, in, one, Edges::periodic(), Into::replace);
    apply_here(Stencil::patch(3, 3, {0, side, 0, side, centre, side, 0, side, 0}), in, other, Edges::periodic());
    double largest = 0;
    one.for_each(
        [&](auto y, auto x, auto m) { largest = std::max(largest, std::fabs(one.at(y, x, m) - other.at(y, x, m))); });
    EXPECT_LE(largest, 4 * std::numeric_limits<double>::epsilon() * 6); // four sums of magnitudes up to 6
}

TEST_F(Functions, AlongTheSystemsOfAField) {
    const std::int64_t n = 40, batch = 37;
    const Planes<double> c = noise<double>(make_box(PlaneLayout::contiguous, batch, n, 1), 1);
    for (const LayoutKind kind : all_layouts) {
        const Layout layout = make_layout(kind, n, batch, 3);
        std::vector<double> field(layout.size, poison<double>());
        for_each_element(layout.shape, [&](auto i, auto m) { field[layout.index(i, m)] = c.at(m, i, 0); });
        auto in = make_array<double>(field), out = make_array<double>(field);
        apply_example<double, Space>(
            Flux<double>{0.5}, FieldView<double, Space>(in.data() + layout.origin, layout.shape),
            FieldView<double, Space>(out.data() + layout.origin, layout.shape), Edges::periodic());
        const auto found = download(out);
        double largest = 0;
        for_each_element(layout.shape, [&](auto i, auto m) {
            auto at = [&](std::int64_t d) { return c.at(m, (i + d + n) % n, 0); };
            const double expected = 0.5 * (at(2) * at(-1) - at(0) * at(1)) + static_cast<double>(i + 100 * m);
            largest = std::max(largest, std::fabs(found[layout.index(i, m)] - expected));
        });
        EXPECT_LE(largest, 100 * batch * std::numeric_limits<double>::epsilon()) << name(kind);
    }
}

TEST_F(Functions, ReachIsChecked) {
    auto a = make_array<double>(std::vector<double>(100, 1.0)), b = make_array<double>(std::vector<double>(100, 2.0));
    auto run = [&](const Reach& reach) { apply_wide<Space>(reach, plane(a, 10, 10), plane(b, 10, 10)); };
    expect_error<InvalidArgument>([&] { run({-1, 0, 0, 0}); }, {"-1"});
    if (on_cuda) expect_error<InvalidArgument>([&] { run({1000, 0, 1000, 0}); }, {"1001 rows", "shared memory"});
    EXPECT_EQ(download(b), std::vector<double>(100, 2.0));
    EXPECT_NO_THROW(run({40, 9, 30, 1}));
}

} // namespace
} // namespace bandmill::test
