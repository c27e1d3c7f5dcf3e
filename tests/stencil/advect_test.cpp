#include "planes.hpp"

#include <numbers>

namespace bandmill::test {
namespace {

class Advect : public BackendTest {};

// The textbook's formula, from five divided differences in the order from upstream to downstream.
long double weno(const long double* v) {
    auto square = [](long double a) { return a * a; };
    const long double third[] = {v[0] / 3 - 7 * v[1] / 6 + 11 * v[2] / 6, -v[1] / 6 + 5 * v[2] / 6 + v[3] / 3,
                                 v[2] / 3 + 5 * v[3] / 6 - v[4] / 6};
    const long double rough[] = {13 * square(v[0] - 2 * v[1] + v[2]) / 12 + square(v[0] - 4 * v[1] + 3 * v[2]) / 4,
                                 13 * square(v[1] - 2 * v[2] + v[3]) / 12 + square(v[1] - v[3]) / 4,
                                 13 * square(v[2] - 2 * v[3] + v[4]) / 12 + square(3 * v[2] - 4 * v[3] + v[4]) / 4};
    const long double ideal[] = {0.1L, 0.6L, 0.3L};
    long double sum = 0, weights = 0;
    for (int k = 0; k < 3; ++k) {
        const long double weight = ideal[k] / square(1e-6L + rough[k]);
        sum += weight * third[k];
        weights += weight;
    }
    return sum / weights;
}

// C' where the velocity has the given sign.
template <class Value> long double upwind(const Value& value, long double spacing, bool positive) {
    long double differences[5];
    for (int k = 0; k < 5; ++k)
        differences[k] = positive ? (value(k - 2) - value(k - 3)) / spacing : (value(3 - k) - value(2 - k)) / spacing;
    return weno(differences);
}

template <class T> void check(const PlaneBox& box, const PlaneEdges& edges, bool along_x, bool along_y, Into into) {
    SCOPED_TRACE(describe(box.shape, edges));
    const Spacing spacing{0.05, 0.08};
    const Planes<T> in(box, [](auto y, auto x, auto m) { return std::sin(0.21 * x + 0.4 * m) * std::cos(0.3 * y); });
    const Planes<T> u = noise<T>(box, 7), v = noise<T>(box, 8), before = noise<T>(box, 9);
    Planes<T> out = before;
    advect_here(along_x ? &u : nullptr, along_y ? &v : nullptr, spacing, in, out, edges, into);
    const PointReach reach{3 * along_x, 3 * along_x, 3 * along_y, 3 * along_y};
    std::int64_t wrong = 0, touched = 0;
    out.for_each([&](auto y, auto x, auto m) {
        if (!is_written(box.shape, edges, reach, y, x)) {
            touched += !same_bits(out.at(y, x, m), before.at(y, x, m));
            return;
        }
        long double rate = into == Into::add ? before.at(y, x, m) : 0;
        if (along_x)
            rate -= u.at(y, x, m) * upwind([&](int k) { return continued(in, edges, y, x + k, m).value; }, spacing.x,
                                           u.at(y, x, m) > 0);
        if (along_y)
            rate -= v.at(y, x, m) * upwind([&](int k) { return continued(in, edges, y + k, x, m).value; }, spacing.y,
                                           v.at(y, x, m) > 0);
        // Values of 1 are divided by the spacing, and edges may make them jump. 64: differences of differences, whose
        // rounding the weights amplify where the field is smooth.
        const long double allowed = 64 * std::numeric_limits<T>::epsilon() * (1 / spacing.x + 1 / spacing.y + 1);
        wrong += !(std::fabs(out.at(y, x, m) - rate) <= allowed);
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(touched, 0);
    EXPECT_TRUE(out.padding_is_whole());
}

TEST_F(Advect, MatchesTheTextbook) {
    const Edges rules[] = {Edges::leave(),        Edges::periodic(),    Edges::even(),
                           Edges::odd(0.2, -0.1), Edges::constant(0.1), Edges::odd_at_point(0.2)};
    for_both_precisions([&]<class T>() {
        for (const PlaneLayout layout : all_plane_layouts)
            for (const Into into : {Into::replace, Into::add})
                for (const Edges& edges : rules)
                    for (const auto& [along_x, along_y] : {std::pair{true, true}, {true, false}, {false, true}})
                        check<T>(make_box(layout, 13, 45, 2), edges, along_x, along_y, into);
    });
    for (const auto& [rows, columns] : {std::pair{2, 2}, {1, 200}, {150, 3}, {70, 260}})
        check<double>(make_box(PlaneLayout::contiguous, rows, columns, 1), {Edges::periodic(), Edges::even()}, true,
                      true, Into::replace);
}

// -(u C_x + v C_y) of a smooth field; the velocity has both signs.
double smooth_error(std::int64_t n) {
    const double h = 2 * std::numbers::pi / static_cast<double>(n);
    auto at = [&](std::int64_t i) { return h * static_cast<double>(i); };
    const PlaneBox box = make_box(PlaneLayout::contiguous, n, n, 1);
    const Planes<double> in(box, [&](auto y, auto x, auto) { return std::sin(at(x)) + std::cos(at(y)); });
    const Planes<double> u(box, [&](auto y, auto, auto) { return std::sin(at(y)) + 0.3; });
    const Planes<double> v(box, [&](auto, auto x, auto) { return std::cos(at(x)) - 0.2; });
    Planes<double> out = in;
    advect_here(&u, &v, {h, h}, in, out, Edges::periodic());
    double sum = 0;
    out.for_each([&](auto y, auto x, auto) {
        const double exact = -((std::sin(at(y)) + 0.3) * std::cos(at(x)) - (std::cos(at(x)) - 0.2) * std::sin(at(y)));
        sum += std::fabs(out.at(y, x, 0) - exact);
    });
    return sum / static_cast<double>(n * n);
}

TEST_F(Advect, IsOfFifthOrder) { EXPECT_NEAR(std::log2(smooth_error(64) / smooth_error(128)), 5, 0.3); }

// A step carried once across a periodic interval: it arrives where the velocity takes it, without overshooting.
TEST_F(Advect, CarriesAStepAlong) {
    const std::int64_t n = 100;
    const double h = 1.0 / n, dt = 0.4 * h;
    auto step = [&](auto, auto x, auto) { return x >= 20 && x < 50 ? 1.0 : 0.0; };
    const PlaneBox box = make_box(PlaneLayout::contiguous, 2, n, 1);
    const Planes<double> start(box, step), u(box, [](auto y, auto, auto) { return y == 0 ? 1.0 : -1.0; });
    Planes<double> c = start, rate = start;
    auto stage = [&](double keep, double take) { // c = keep * start of the step + take * (c + dt rate)
        advect_here<double>(&u, nullptr, {h, 0}, c, rate, Edges::periodic());
        return [&, keep, take](const Planes<double>& old) {
            c.for_each([&](auto y, auto x, auto m) {
                c.at(y, x, m) = keep * old.at(y, x, m) + take * (c.at(y, x, m) + dt * rate.at(y, x, m));
            });
        };
    };
    for (int k = 0; k < 50; ++k) { // a shift by 20 points
        const Planes<double> old = c;
        stage(0, 1)(old);
        stage(0.75, 0.25)(old);
        stage(1.0 / 3, 2.0 / 3)(old);
    }
    double distance = 0, lowest = 0, highest = 1;
    c.for_each([&](auto y, auto x, auto m) {
        const std::int64_t from = y == 0 ? (x + n - 20) % n : (x + 20) % n;
        distance += std::fabs(c.at(y, x, m) - step(y, from, m)) / (2 * n);
        lowest = std::min(lowest, c.at(y, x, m)), highest = std::max(highest, c.at(y, x, m));
    });
    EXPECT_LT(distance, 0.03); // two steps, smeared over three points each
    EXPECT_GT(lowest, -0.01);
    EXPECT_LT(highest, 1.01);
}

// Weights are made of eighth powers, which must neither overflow nor vanish, in f32 either.
TEST_F(Advect, StepsOfAnyHeight) {
    const std::int64_t n = 1024;
    for_both_precisions([&]<class T>() {
        for (const double height : {1.0, 10.0, 300.0, 1e4, -1e6, 1e9, 5e12, 5e31}) {
            if (sizeof(T) == 4 && height > 1e13) continue; // docs/stencils.md
            const PlaneBox box = make_box(PlaneLayout::contiguous, 4, n, 1);
            const double h = 1.0 / n;
            const Planes<T> in(box, [&](auto y, auto x, auto) {
                const double wave = y < 2 ? 0.0 : std::sin(0.1 * static_cast<double>(x));
                return wave + (x < 300 ? 0.0 : x < 303 ? 0.4 * height : x < 700 ? height : -height);
            });
            const Planes<T> u(box, [](auto y, auto, auto) { return y % 2 == 0 ? 1.0 : -1.0; });
            Planes<T> out = in;
            advect_here<T>(&u, nullptr, {h, 0}, in, out, Edges::periodic());
            std::int64_t wrong = 0;
            out.for_each([&](auto y, auto x, auto m) {
                long double largest = 1e-3L;
                const auto value = [&](int k) { return in.at(y, (x + k + n) % n, m); };
                for (int k = -3; k <= 3; ++k)
                    largest = std::max(largest, std::fabs(static_cast<long double>(value(k))));
                const bool positive = u.at(y, x, m) > 0;
                const long double rate =
                    (positive ? -1 : 1) * upwind([&](int k) { return static_cast<long double>(value(k)); },
                                                 static_cast<long double>(h), positive);
                wrong += !(std::fabs(out.at(y, x, m) - rate) <= 64 * std::numeric_limits<T>::epsilon() * largest / h);
            });
            EXPECT_EQ(wrong, 0) << "height " << height << ", " << sizeof(T) << " bytes";
        }
    });
}

TEST_F(Advect, AlongTheSystemsOfAField) {
    const std::int64_t n = 40, batch = 37;
    const Planes<double> c = noise<double>(make_box(PlaneLayout::contiguous, batch, n, 1), 1),
                         u = noise<double>(c.box, 2);
    Planes<double> expected = c;
    advect_here<double>(&u, nullptr, {0.1, 0}, c, expected, Edges::periodic());
    for (const LayoutKind kind : all_layouts) {
        const Layout layout = make_layout(kind, n, batch, 3);
        std::vector<double> field(layout.size, poison<double>()), speed = field;
        for_each_element(layout.shape, [&](auto i, auto m) {
            field[layout.index(i, m)] = c.at(m, i, 0);
            speed[layout.index(i, m)] = u.at(m, i, 0);
        });
        auto in = make_array<double>(field), velocity = make_array<double>(speed), out = make_array<double>(field);
        auto view = [&](Array<double, Space>& array) {
            return FieldView<double, Space>(array.data() + layout.origin, layout.shape);
        };
        advect(view(velocity), 0.1, view(in), view(out), Edges::periodic());
        const auto found = download(out);
        std::int64_t different = 0;
        for_each_element(layout.shape, [&](auto i, auto m) {
            different += !same_bits(found[layout.index(i, m)], expected.at(m, i, 0));
        });
        EXPECT_EQ(different, 0) << name(kind);
    }
}

// One velocity for all points: strides of 0.
TEST_F(Advect, VelocityMayRepeat) {
    const Planes<double> c = noise<double>(make_box(PlaneLayout::contiguous, 9, 33, 2), 1);
    const Planes<double> u(c.box, [](auto...) { return -0.7; });
    Planes<double> expected = c;
    advect_here<double>(&u, nullptr, {0.1, 0}, c, expected, Edges::even());
    auto one = make_array<double>(std::vector<double>{-0.7});
    Uploaded<double> in(c), out(c);
    PlaneShape repeated = c.box.shape;
    repeated.row_stride = repeated.column_stride = repeated.batch_stride = 0;
    advect({PlaneView<const double, Space>(one.data(), repeated), {}}, {0.1, 0}, in.view(), out.view(), Edges::even());
    const auto found = download(out.array);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(same_bits(found[i], expected.buffer[i]));
}

} // namespace
} // namespace bandmill::test
