// PlaneView itself, and a library without a GPU.
#include "expect_error.hpp"
#include "planes.hpp"

#include "bandmill/stencil/apply_function.hpp"

namespace bandmill::test {
namespace {

TEST(PlaneViews, FindTheirElements) {
    std::vector<float> data(2 * 3 * 4);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
    const auto view = plane(data.data(), 2, 3, 4);
    EXPECT_EQ(view(1, 2, 3), 23);
    EXPECT_EQ(view(0, 1), 1);
    const PlaneView<const float> reversed(&data.back(), {2, 3, 4, -3, -1, -6});
    EXPECT_EQ(reversed(1, 2, 3), 0);
    EXPECT_EQ(PlaneView<const float>(view).shape(), view.shape());
}

TEST(PlaneViews, RefuseWhatCannotBe) {
    std::vector<double> data(12);
    double* const null = nullptr;
    expect_error<InvalidArgument>([&] { (void)plane(data.data(), 0, 3); }, {"0 rows", "3 columns"});
    expect_error<InvalidArgument>([&] { (void)plane(data.data(), 3, -1); }, {"-1 columns"});
    expect_error<InvalidArgument>([&] { (void)plane(data.data(), 3, 3, -2); }, {"-2 planes"});
    expect_error<InvalidArgument>([&] { (void)plane(null, 3, 3); }, {"null"});
    EXPECT_NO_THROW((void)plane(null, 3, 3, 0));
    auto* const shifted = reinterpret_cast<double*>(reinterpret_cast<char*>(data.data()) + 4);
    expect_error<InvalidArgument>([&] { (void)plane(shifted, 1, 1); }, {"8 bytes"});
    const std::int64_t huge = std::int64_t{1} << 40;
    expect_error<InvalidArgument>([&] { (void)plane(data.data(), huge, huge); }, {"64-bit"});
    expect_error<InvalidArgument>([&] { (void)plane(data.data(), 8, huge, huge); }, {"64-bit"});
    expect_error<InvalidArgument>(
        [&] {
            (void)PlaneView<double>(data.data(), {huge, huge, huge, 0, 0, 0});
        },
        {"64-bit"});
    Array<double, Host> array(11);
    expect_error<InvalidArgument>([&] { (void)plane(array, 3, 4); }, {"11 elements", "3 rows by 4 columns"});
}

TEST(PlaneViews, TilesOfSeveralWidthsAreRefused) {
    std::vector<double> a(1000), b(1000);
    expect_error<InvalidArgument>(
        [&] { apply(Stencil::along_x({1.0}), tiled(a.data(), 10, 20, 4), tiled(b.data(), 10, 20, 5)); },
        {"tiles of 4", "5"});
}

TEST(PlaneViews, ThreadsAreChecked) {
    std::vector<double> a(100), b(100);
    auto in = plane(a.data(), 10, 10);
    auto out = plane(b.data(), 10, 10);
    expect_error<InvalidArgument>([&] { apply(Stencil::along_x({1.0}), in, out, {}, Into::replace, Threads{-1}); },
                                  {"-1 threads"});
    const auto one = [](const Neighbourhood<double>&) { return 1.0; };
    expect_error<InvalidArgument>([&] { apply_function(Reach{}, one, in, out, {}, Into::replace, Threads{-1}); },
                                  {"-1 threads"});
}

// The same bits by any number of threads, and what a function throws comes out.
TEST(PlaneViews, ThreadsDoNotMatter) {
    const Planes<double> in = noise<double>(make_box(PlaneLayout::contiguous, 150, 300, 2), 1);
    const PlaneView<const double> from(in.buffer.data() + in.box.origin, in.box.shape);
    const Stencil stencil = Stencil::patch(3, 5, std::vector<double>(15, 0.3));
    std::vector<std::vector<double>> results;
    for (const int threads : {1, 2, 3, 7}) {
        Planes<double> out = in;
        const PlaneView<double> to(out.buffer.data() + out.box.origin, out.box.shape);
        apply(stencil, from, to, Edges::odd(0.2), Into::replace, Threads{threads});
        results.push_back(out.buffer);
        const auto thrower = [](const Neighbourhood<double>& at) -> double {
            if (at.y() == 77) throw std::runtime_error("seventy-seven");
            return 0;
        };
        EXPECT_THROW(apply_function(Reach{}, thrower, from, to, {}, Into::replace, Threads{threads}),
                     std::runtime_error);
    }
    for (const auto& result : results)
        for (std::size_t i = 0; i < result.size(); ++i) ASSERT_TRUE(same_bits(result[i], results[0][i])) << i;
}

// Rows so long that they are taken in parts, and outputs so large that they are stored past the cache.
TEST(PlaneViews, LargePlanes) {
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{3, 100003}, {2100, 2100}}) {
        std::vector<double> a(rows * columns), b(rows * columns, -1.0);
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i * 7919 % 1009);
        apply(Stencil::patch(3, 3, {1, 2, 4, 8, 16, 32, 64, 128, 256}), plane(a.data(), rows, columns),
              plane(b.data(), rows, columns), Edges::periodic());
        std::int64_t wrong = 0; // integers: all sums are exact
        for (std::int64_t y = 0; y < rows; ++y)
            for (std::int64_t x = 0; x < columns; ++x) {
                double sum = 0, weight = 1;
                for (std::int64_t dy = -1; dy <= 1; ++dy)
                    for (std::int64_t dx = -1; dx <= 1; ++dx, weight *= 2)
                        sum += weight * a[(y + dy + rows) % rows * columns + (x + dx + columns) % columns];
                wrong += b[y * columns + x] != sum;
            }
        EXPECT_EQ(wrong, 0);
    }
}

TEST(MissingCuda, StencilsThrow) {
    if (!cuda_devices().empty()) GTEST_SKIP() << "there is a CUDA device";
    std::vector<double> a(4), b(4);
    auto in = plane<Cuda>(a.data(), 2, 2);
    auto out = plane<Cuda>(b.data(), 2, 2);
    expect_error<BackendUnavailable>([&] { apply(Stencil::along_x({1.0}), in, out); });
    expect_error<BackendUnavailable>([&] { advect({.x = in}, {.x = 1}, in, out); });
}

} // namespace
} // namespace bandmill::test
