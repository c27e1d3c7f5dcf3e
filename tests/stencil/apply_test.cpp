#include "planes.hpp"

#include <numbers>

namespace bandmill::test {
namespace {

class Apply : public BackendTest {};

Stencil random_patch(std::int64_t rows, std::int64_t columns, std::int64_t up, std::int64_t left, double zeros = 0) {
    Random random(static_cast<std::uint64_t>(100 * rows + columns));
    std::vector<double> weights;
    for (std::int64_t k = 0; k < rows * columns; ++k)
        weights.push_back(random.chance(zeros) ? 0 : random.signed_uniform(0.1, 1));
    return Stencil::patch(rows, columns, weights, up, left);
}

Stencil cross_of_five() {
    std::vector<double> weights(25, 0);
    for (std::size_t k = 0; k < 5; ++k) weights[10 + k] = weights[2 + 5 * k] = 0.1 + 0.2 * static_cast<double>(k);
    return Stencil::patch(5, 5, weights);
}

const std::vector<Stencil>& stencils() {
    static const std::vector<Stencil> all = {
        Stencil::along_x({2.5}),
        Stencil::along_x({1, -2, 1}),
        Stencil::along_x({-1, 1}, 0),
        random_patch(1, 4, 0, 3),
        random_patch(1, 5, 0, 2),
        random_patch(1, 7, 0, 3),
        random_patch(1, 41, 0, 30),
        Stencil::along_y({1, -2, 1}),
        Stencil::along_y({-1, 1}, 1),
        random_patch(4, 1, 0, 0),
        random_patch(5, 1, 2, 0),
        random_patch(6, 1, 5, 0),
        random_patch(7, 1, 3, 0),
        random_patch(19, 1, 4, 0),
        random_patch(3, 3, 1, 1),
        Stencil::patch(3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}),
        random_patch(5, 5, 2, 2),
        random_patch(5, 5, 2, 2, 0.5),
        random_patch(2, 3, 0, 2),
        random_patch(7, 7, 3, 3, 0.3),
        random_patch(7, 7, 3, 3),
        random_patch(5, 3, 2, 1),
        random_patch(9, 12, 8, 1),
        Stencil::patch(3, 1, {0, 0, 0}),
        cross_of_five(),
    };
    return all;
}

const std::vector<Edges>& edge_rules() {
    static const std::vector<Edges> all = {
        Edges::leave(),        Edges::periodic(),      Edges::constant(0.7, -0.4),    Edges::even(),
        Edges::odd(0.3, -0.6), Edges::even_at_point(), Edges::odd_at_point(-0.2, 0.9)};
    return all;
}

// Every element against the oracle; those that are not written, and the padding, to the bit.
template <class T>
void check(const Stencil& stencil, const PlaneBox& in_box, const PlaneBox& out_box, const PlaneEdges& edges,
           Into into = Into::replace) {
    SCOPED_TRACE(describe(in_box.shape, edges) + ", stencil " + std::to_string(stencil.rows()) + " x " +
                 std::to_string(stencil.columns()));
    const Planes<T> in = noise<T>(in_box, 1), before = noise<T>(out_box, 2);
    Planes<T> out = before;
    apply_here(stencil, in, out, edges, into);
    const PointReach reach{stencil.left(), stencil.right(), stencil.up(), stencil.down()};
    const auto terms = static_cast<long double>(stencil.rows() * stencil.columns());
    std::int64_t wrong = 0, touched = 0;
    out.for_each([&](auto y, auto x, auto m) {
        if (!is_written(in_box.shape, edges, reach, y, x)) {
            touched += !same_bits(out.at(y, x, m), before.at(y, x, m));
            return;
        }
        Sized expected = summed(stencil, in, edges, y, x, m);
        if (into == Into::add) {
            expected.value += before.at(y, x, m);
            expected.size += std::fabs(before.at(y, x, m));
        }
        // A rounding for every sum, one for a weight and two for a value beyond an edge.
        const long double allowed = (terms + 4) * std::numeric_limits<T>::epsilon() * expected.size;
        wrong += !(std::fabs(out.at(y, x, m) - expected.value) <= allowed);
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(touched, 0) << "points that should have been left alone";
    EXPECT_TRUE(out.padding_is_whole());
}

// Every stencil with every rule, on a plane that is larger than it and one that is smaller.
TEST_F(Apply, EveryStencilWithEveryEdge) {
    for_both_precisions([]<class T>() {
        for (const Stencil& stencil : stencils())
            for (const Edges& edges : edge_rules())
                for (const auto& [rows, columns] : {std::pair{11, 37}, {2, 3}}) {
                    const PlaneBox box = make_box(PlaneLayout::padded, rows, columns, 2);
                    check<T>(stencil, box, box, edges);
                }
    });
}

// Rows that begin at multiples of 16 bytes, on planes of several tiles: some have their neighbours all inside.
TEST_F(Apply, EveryStencilOnAlignedRows) {
    for_both_precisions([]<class T>() {
        for (const Stencil& stencil : stencils())
            for (const Edges& edges : {Edges::periodic(), Edges::leave(), Edges::odd(0.3, -0.6)}) {
                const PlaneBox box = make_box(PlaneLayout::aligned, 101, 264, 1);
                check<T>(stencil, box, box, edges);
            }
    });
}

// Sizes that leave strips and marches of any width and height, with any two rules.
TEST_F(Apply, AlignedRowsOfAnySize) {
    for_both_precisions([]<class T>() {
        Random random(7);
        const auto pick = [&](const auto& all) {
            return all[static_cast<std::size_t>(random.integer(0, std::ssize(all) - 1))];
        };
        const std::vector<PlaneLayout> layouts = {PlaneLayout::aligned, PlaneLayout::aligned, PlaneLayout::contiguous};
        for (int k = 0; k < 150; ++k) {
            const std::int64_t rows = random.integer(1, 60), columns = 2 * random.integer(30, 350),
                               batch = random.integer(1, 2);
            const PlaneEdges edges{pick(edge_rules()), pick(edge_rules())};
            if (rows == 1 && edges.y.kind() == Edges::Kind::odd_at_point) continue; // refused
            check<T>(pick(stencils()), make_box(PlaneLayout::aligned, rows, columns, batch),
                     make_box(pick(layouts), rows, columns, batch), edges);
        }
    });
}

TEST_F(Apply, EveryPairOfEdges) {
    const PlaneBox box = make_box(PlaneLayout::contiguous, 6, 9, 1);
    for (const Edges& x : edge_rules())
        for (const Edges& y : edge_rules())
            for (const Stencil& stencil : {random_patch(3, 5, 1, 2), random_patch(9, 8, 1, 7)})
                check<double>(stencil, box, box, {x, y});
}

// Around the widths of vectors, tiles and blocks.
TEST_F(Apply, EverySize) {
    for_both_precisions([]<class T>() {
        const std::int64_t sizes[] = {1, 2, 3, 5, 8, 16, 31, 32, 33, 63, 65, 127, 128, 130, 257, 300};
        for (const std::int64_t size : sizes) {
            const std::int64_t other = 2 + size % 9;
            for (const auto& [rows, columns] : {std::pair{size, other}, {other, size}, {1, size}, {size, 1}}) {
                const PlaneBox box = make_box(PlaneLayout::contiguous, rows, columns, 3);
                check<T>(Stencil::along_x({1, -4, 6, -4, 1}), box, box, Edges::periodic());
                check<T>(Stencil::along_y({1, -4, 6, -4, 1}), box, box, Edges::even());
                check<T>(random_patch(5, 3, 2, 1), box, box, {Edges::leave(), Edges::periodic()});
            }
        }
    });
}

TEST_F(Apply, AddsToWhatIsThere) {
    for_both_precisions([&]<class T>() {
        for (const PlaneLayout layout : {PlaneLayout::padded, PlaneLayout::aligned}) {
            const PlaneBox box = make_box(layout, 40, 72, 2);
            for (const Stencil& stencil : stencils()) check<T>(stencil, box, box, Edges::periodic(), Into::add);
        }
    });
}

TEST_F(Apply, ManySmallPlanes) {
    const PlaneBox box = make_box(PlaneLayout::contiguous, 3, 2, 70001); // more than a grid has blocks along z
    check<float>(random_patch(3, 3, 1, 1), box, box, Edges::periodic());
    check<float>(Stencil::along_y({1, -2, 1}), box, box, Edges::periodic());
    check<float>(Stencil::along_x({1, -2, 1}), box, box, Edges::periodic());
}

TEST_F(Apply, NothingInAnEmptyBatch) {
    auto array = make_array<double>(std::vector<double>(4, 1.0));
    apply(Stencil::along_x({1, -2, 1}), PlaneView<double, Space>(array.data(), {2, 2, 0, 2, 1, 4}),
          PlaneView<double, Space>(array.data(), {2, 2, 0, 2, 1, 4}));
    EXPECT_EQ(download(array), std::vector<double>(4, 1.0));
}

// What is not finite shows where it is looked at, and nowhere else.
TEST_F(Apply, NanStaysAmongItsNeighbours) {
    const Stencil cross = Stencil::patch(3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}), full = random_patch(5, 5, 2, 2),
                  five = cross_of_five(), holes = random_patch(5, 5, 2, 2, 0.5);
    for (const Stencil* stencil : {&cross, &full, &five, &holes}) {
        Planes<double> in = noise<double>(make_box(PlaneLayout::aligned, 41, 150, 2), 1), out = in;
        in.at(17, 130, 1) = std::numeric_limits<double>::quiet_NaN();
        in.at(30, 3, 0) = std::numeric_limits<double>::infinity();
        apply_here(*stencil, in, out, Edges::periodic());
        out.for_each([&](auto y, auto x, auto m) {
            const auto looks_at = [&](std::int64_t row, std::int64_t column, std::int64_t plane) {
                const std::int64_t dy = row - y, dx = column - x;
                return m == plane && std::abs(dy) <= stencil->up() && std::abs(dx) <= stencil->left() &&
                       stencil->weight(dy, dx) != 0;
            };
            EXPECT_EQ(std::isfinite(out.at(y, x, m)), !looks_at(17, 130, 1) && !looks_at(30, 3, 0)) << y << " " << x;
        });
    }
}

// Largest error of a derivative of sin(x + 2y), or an even power of cos at non-periodic ends, on n x n points.
template <class Exact> double derivative_error(const Stencil& stencil, std::int64_t n, const Exact& exact) {
    const double h = 2 * std::numbers::pi / static_cast<double>(n);
    auto position = [&](std::int64_t i) { return h * static_cast<double>(i); };
    const Planes<double> in(make_box(PlaneLayout::contiguous, n, n, 1),
                            [&](auto y, auto x, auto) { return std::sin(position(x) + 2 * position(y)); });
    Planes<double> out = in;
    apply_here(stencil, in, out, Edges::periodic());
    double largest = 0;
    out.for_each([&](auto y, auto x, auto m) {
        largest = std::max(largest, std::fabs(out.at(y, x, m) - exact(position(x) + 2 * position(y))));
    });
    return largest;
}

TEST_F(Apply, DerivativesConvergeAtTheirOrder) {
    auto order = [&](auto make, const auto& exact) {
        auto h = [](std::int64_t n) { return 2 * std::numbers::pi / static_cast<double>(n); };
        return std::log2(derivative_error(make(h(32)), 32, exact) / derivative_error(make(h(64)), 64, exact));
    };
    const auto second_x = [](double p) { return -std::sin(p); };
    const auto second_y = [](double p) { return -4 * std::sin(p); };
    const auto mixed = [](double p) { return -2 * std::sin(p); };
    EXPECT_NEAR(order([](double h) { return Stencil::along_x({1, -2, 1}).times(1 / (h * h)); }, second_x), 2, 0.1);
    EXPECT_NEAR(order(
                    [](double h) {
                        return Stencil::along_y({-1, 16, -30, 16, -1}).times(1 / (12 * h * h));
                    },
                    second_y),
                4, 0.1);
    EXPECT_NEAR(order(
                    [](double h) {
                        return Stencil::patch(3, 3, {1, 0, -1, 0, 0, 0, -1, 0, 1}).times(1 / (4 * h * h));
                    },
                    mixed),
                2, 0.1);
}

} // namespace
} // namespace bandmill::test
