#include "planes.hpp"

namespace bandmill::test {
namespace {

class Layouts : public BackendTest {};

template <class T> std::vector<T> elements(const Planes<T>& planes) {
    std::vector<T> values;
    planes.for_each([&](auto y, auto x, auto m) { values.push_back(planes.at(y, x, m)); });
    return values;
}
template <class T> std::int64_t differences(const std::vector<T>& a, const std::vector<T>& b) {
    std::int64_t count = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) count += !same_bits(a[i], b[i]);
    return count;
}

const Stencil five_by_five =
    Stencil::patch(5, 5, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, .2, .3, .4, .5, .6, .7, 1, 2, 3, 4, 5, 6, 7, 8, 9});
const Stencil seven_x = Stencil::along_x({.1, .2, .3, -.4, .5, .6, .7}),
              seven_y = Stencil::along_y({.1, .2, .3, -.4, .5, .6, .7});

// From any layout to any other: the same bits, and nothing outside the elements is touched.
TEST_F(Layouts, SameBitsWhateverTheLayout) {
    const std::int64_t rows = 21, columns = 77, batch = 3;
    for_both_precisions([&]<class T>() {
        for (const Stencil& stencil : {five_by_five, seven_x, seven_y})
            for (const PlaneEdges& edges :
                 {PlaneEdges(Edges::odd(0.5, -1), Edges::constant(0.3)), PlaneEdges(Edges::periodic()), PlaneEdges()}) {
                auto result = [&](PlaneLayout from, PlaneLayout to) {
                    Planes<T> in(make_box(from, rows, columns, batch),
                                 [](auto y, auto x, auto m) { return std::sin(0.1 + y * y + 3. * x + m); });
                    Planes<T> out(make_box(to, rows, columns, batch), [](auto...) { return 0.25; });
                    const Planes<T> before = in;
                    apply_here(stencil, in, out, edges);
                    EXPECT_TRUE(out.padding_is_whole());
                    EXPECT_EQ(differences(in.buffer, before.buffer), 0);
                    return elements(out);
                };
                const auto expected = result(PlaneLayout::contiguous, PlaneLayout::contiguous);
                for (const PlaneLayout from : all_plane_layouts)
                    for (const PlaneLayout to : all_plane_layouts)
                        EXPECT_EQ(differences(result(from, to), expected), 0)
                            << static_cast<int>(from) << " to " << static_cast<int>(to);
            }
    });
}

// A plane among others is computed as it is alone.
TEST_F(Layouts, TheBatchDoesNotMatter) {
    for (const Stencil& stencil : {five_by_five, seven_x, seven_y}) {
        const Planes<float> in = noise<float>(make_box(PlaneLayout::contiguous, 50, 200, 9), 3);
        Planes<float> all = in;
        apply_here(stencil, in, all, Edges::periodic());
        for (std::int64_t m : {0, 4, 8}) {
            const Planes<float> one(make_box(PlaneLayout::contiguous, 50, 200, 1),
                                    [&](auto y, auto x, auto) { return in.at(y, x, m); });
            Planes<float> out = one;
            apply_here(stencil, one, out, Edges::periodic());
            std::int64_t different = 0;
            out.for_each([&](auto y, auto x, auto) { different += !same_bits(out.at(y, x, 0), all.at(y, x, m)); });
            EXPECT_EQ(different, 0);
        }
    }
}

// Along the systems of a field, in every layout a field can have.
TEST_F(Layouts, FieldsAreRows) {
    const Edges edges = Edges::odd(0.4, -0.2);
    for_both_precisions([&]<class T>() {
        for (const auto& [n, batch] : {std::pair<std::int64_t, std::int64_t>{1, 70}, {40, 1}, {300, 67}}) {
            const Planes<T> rows = noise<T>(make_box(PlaneLayout::contiguous, batch, n, 1), 5);
            Planes<T> expected = rows;
            apply_here(seven_x, rows, expected, edges);
            for (const LayoutKind kind : all_layouts)
                for (const LayoutKind to : {kind, LayoutKind::contiguous}) {
                    const Layout in = make_layout(kind, n, batch, 3), out = make_layout(to, n, batch, 16);
                    std::vector<T> b(in.size, poison<T>());
                    for_each_element(in.shape, [&](auto i, auto m) { b[in.index(i, m)] = rows.at(m, i, 0); });
                    auto from = make_array<T>(b), into = make_array<T>(std::vector<T>(out.size, poison<T>()));
                    apply(seven_x, FieldView<T, Space>(from.data() + in.origin, in.shape),
                          FieldView<T, Space>(into.data() + out.origin, out.shape), edges);
                    std::vector<T> x = download(into);
                    std::int64_t different = 0;
                    for_each_element(out.shape, [&](auto i, auto m) {
                        different += !same_bits(x[out.index(i, m)], expected.at(m, i, 0));
                        x[out.index(i, m)] = poison<T>();
                    });
                    for (const T value : x) different += !same_bits(value, poison<T>());
                    EXPECT_EQ(different, 0) << name(kind) << " to " << name(to) << ", n " << n;
                }
        }
    });
}

// One row that stands for all: a stride of 0 in what is read.
TEST_F(Layouts, StrideZeroRepeats) {
    auto from = make_array<double>(std::vector<double>{1, 2, 4, 8, 16});
    auto to = make_array<double>(std::vector<double>(15, -1.0));
    apply(Stencil::along_x({-1, 1}, 0), PlaneView<double, Space>(from.data(), {3, 5, 1, 0, 1, 0}), plane(to, 3, 5),
          Edges::periodic());
    EXPECT_EQ(download(to), (std::vector<double>{1, 2, 4, 8, -15, 1, 2, 4, 8, -15, 1, 2, 4, 8, -15}));
}

TEST_F(Layouts, StridesOfOneElementSayNothing) {
    auto from = make_array<double>(std::vector<double>{1, 2, 4, 8, 16});
    auto to = make_array<double>(std::vector<double>(5, -1.0));
    for (const std::int64_t any : {INT64_MIN, INT64_MAX}) {
        const PlaneShape line{5, 1, 1, 1, any, any}, point{1, 1, 1, any, any, any};
        apply(Stencil::along_x({1, 1, 1}), PlaneView<const double, Space>(from.data(), line),
              PlaneView<double, Space>(to.data(), line), Edges::periodic());
        EXPECT_EQ(download(to), (std::vector<double>{3, 6, 12, 24, 48}));
        apply(Stencil::along_x({1, 1, 1}), PlaneView<const double, Space>(from.data(), point),
              PlaneView<double, Space>(to.data(), point), Edges::even());
        EXPECT_EQ(download(to), (std::vector<double>{3, 6, 12, 24, 48}));
    }
}

} // namespace
} // namespace bandmill::test
