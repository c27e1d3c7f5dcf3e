// Weighted sums are taken in one order with fused multiply-adds everywhere, so that a GPU gives the bits of the CPU.
#include "planes.hpp"

#include <array>
#include <string_view>

namespace bandmill::test {
namespace {

class CudaBits : public BackendTest {};

template <class T> void expect_bits_of_the_cpu(const Stencil& stencil, const PlaneBox& box, const PlaneEdges& edges) {
    Planes<T> in = noise<T>(box, 1), out = noise<T>(box, 2), same = out;
    apply_here(stencil, in, out, edges);
    apply(stencil, PlaneView<const T>(in.buffer.data() + box.origin, box.shape),
          PlaneView<T>(same.buffer.data() + box.origin, box.shape), edges);
    std::int64_t different = 0;
    for (std::size_t i = 0; i < out.buffer.size(); ++i) different += !same_bits(out.buffer[i], same.buffer[i]);
    EXPECT_EQ(different, 0) << describe(box.shape, edges);
}

TEST_F(CudaBits, AreThoseOfTheCpu) {
    if (std::string_view(cpu_isa()) == "v2") GTEST_SKIP() << "this CPU has no fused multiply-add";
    const Stencil stencils[] = {Stencil::along_x({.1, .2, .3, -.4, .5, .6, .7}),
                                Stencil::along_y({.3, -.7, .4}),
                                Stencil::patch(5, 5, std::vector<double>(25, 0.3)),
                                Stencil::patch(3, 3, {.1, 0, .2, -.3, .4, .5, 0, .6, .7}),
                                Stencil::patch(3, 3, {0, .1, 0, -.3, .4, .5, 0, .6, 0}),
                                Stencil::patch(9, 11, std::vector<double>(99, 0.1))};
    const PlaneEdges edges[] = {Edges::periodic(), {Edges::odd(0.3, 0.1), Edges::constant(0.7)}, {}};
    for_both_precisions([&]<class T>() {
        for (const Stencil& stencil : stencils)
            for (const PlaneEdges& rule : edges)
                for (const PlaneLayout layout : all_plane_layouts)
                    for (const std::int64_t columns : {333, 400}) // 400: rows may begin at multiples of 16 bytes
                        expect_bits_of_the_cpu<T>(stencil, make_box(layout, 75, columns, 2), rule);
    });
}

// Where there is enough to do, only the first and the last marches of a block down a plane are cut into pieces; the
// last one of a plane may be shorter than a piece.
TEST_F(CudaBits, OfManyMarches) {
    if (std::string_view(cpu_isa()) == "v2") GTEST_SKIP() << "this CPU has no fused multiply-add";
    std::vector<double> weights, cross(25);
    for (int k = 0; k < 25; ++k) {
        weights.push_back(0.1 * k - 0.7);
        if (k % 5 == 2 || k / 5 == 2) cross[k] = weights[k];
    }
    for_both_precisions([&]<class T>() {
        for (const Stencil& stencil : {Stencil::patch(5, 5, weights), Stencil::patch(5, 5, cross)})
            for (const PlaneEdges& rule : {PlaneEdges{Edges::periodic()}, PlaneEdges{Edges::odd(0.3), Edges::even()}})
                for (const auto& [rows, columns, planes] : {std::array{6530, 64, 1}, {100, 64, 70}, {2411, 256, 4}})
                    expect_bits_of_the_cpu<T>(stencil, make_box(PlaneLayout::aligned, rows, columns, planes), rule);
    });
}

// Kernels on one stream may begin while the one before drains. Each has to see what that one wrote, and must not
// overwrite what it still reads.
TEST_F(CudaBits, OfStencilsInARow) {
    if (std::string_view(cpu_isa()) == "v2") GTEST_SKIP() << "this CPU has no fused multiply-add";
    const Stencil across = Stencil::along_x({.25, .5, .25}), patch = Stencil::patch(5, 5, std::vector<double>(25, .04)),
                  down = Stencil::along_y({.1, .2, .4, .2, .1});
    Planes<double> one = noise<double>(make_box(PlaneLayout::aligned, 40, 400, 1), 1),
                   other = noise<double>(one.box, 2);
    Uploaded<double> a(one), b(other);
    const auto view = [](Planes<double>& planes) {
        return PlaneView<double>(planes.buffer.data() + planes.box.origin, planes.box.shape);
    };
    for (int k = 0; k < 50; ++k) {
        apply(across, a.view(), b.view(), Edges::periodic());
        apply(down, b.view(), a.view(), Edges::periodic(), Into::add);
        apply(patch, a.view(), b.view(), Edges::even());
        apply(down, b.view(), a.view(), Edges::odd(0.1));
        apply(across, view(one), view(other), Edges::periodic());
        apply(down, view(other), view(one), Edges::periodic(), Into::add);
        apply(patch, view(one), view(other), Edges::even());
        apply(down, view(other), view(one), Edges::odd(0.1));
    }
    const std::vector<double> found = download(a.array);
    std::int64_t different = 0;
    for (std::size_t i = 0; i < found.size(); ++i) different += !same_bits(found[i], one.buffer[i]);
    EXPECT_EQ(different, 0);
}

// One long line is cut into pieces on a GPU, which must not show.
TEST_F(CudaBits, OfALongLine) {
    for (const std::int64_t n : {4096, 100003})
        for (const Edges& rule : {Edges::periodic(), Edges::odd(0.3, 0.1), Edges::leave()}) {
            const Stencil stencil = Stencil::along_x({.1, .2, .3, -.4, .5, .6, .7}, 2);
            expect_bits_of_the_cpu<double>(stencil, make_box(PlaneLayout::contiguous, 1, n, 3), rule);
        }
}

} // namespace
} // namespace bandmill::test
