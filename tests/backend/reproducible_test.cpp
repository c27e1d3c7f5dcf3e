// A system's solution is the same to the bit wherever it stands, whatever stands around it, however it is laid out and
// whoever computes it.
#include "limits.hpp"
#include "solving.hpp"

#include <thread>

namespace bandmill::test {
namespace {

struct Subject {
    MatrixKind kind;
    std::int64_t n;
    int half_bandwidth;
    Boundary boundary;
};

std::string describe(const Subject& s) {
    return name(s.kind) + ", n " + std::to_string(s.n) + ", W " + std::to_string(s.half_bandwidth) +
           (s.boundary == Boundary::open ? ", open" : ", periodic");
}

constexpr std::int64_t largest_batch = 150;

// Sizes on both sides of what a GPU holds on chip, and a matrix for each path.
std::vector<Subject> subjects() {
    std::vector<std::int64_t> sizes{1, 5, 64, 257, 1000};
    if (!limits().small) sizes.insert(sizes.end(), {2049, 4804, 6000, 9001});
    std::vector<Subject> list;
    for (std::int64_t n : sizes) {
        if (!limits().small && n * largest_batch > limits().max_elements) continue;
        for (const MatrixKind& kind :
             {MatrixKind{Family::dominant}, MatrixKind{Family::hyperdiffusion, 1e3}, MatrixKind{Family::zero_diagonal}})
            for (Boundary boundary : {Boundary::open, Boundary::periodic})
                for (int w = 1; w <= 2; ++w)
                    if (has_size(kind, n) && has_half_bandwidth(kind, w)) list.push_back({kind, n, w, boundary});
    }
    return list;
}

Bands bands_of(const Subject& s) { return make_bands(s.kind, s.n, s.half_bandwidth, s.boundary, 5); }

// Elements of `part`, whose system m is system place(m) of `whole`, that differ.
template <class T, class Place>
std::int64_t differences(const std::vector<T>& part, const std::vector<T>& whole, std::int64_t n, Place place) {
    std::int64_t count = 0;
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(part.size()); ++at)
        count += !same_bits(part[at], whole[place(at / n) * n + at % n]);
    return count;
}

using Reproducible = BackendTest;

template <class T> void expect_batch_does_not_matter(const Subject& s) {
    const Bands bands = bands_of(s);
    const auto factor = make_factor<T>(as_matrix(bands));
    const std::int64_t batch = limits().small || s.n > 1000 ? 130 : 1000;
    const RightHandSides<T> rhs(bands, 3);
    const auto whole = solve_batch(factor, batch, LayoutKind::interleaved, Placement::out_of_place, rhs);
    for (std::int64_t system : {0, 1, 7, 31, 32, 33, 64, 65, static_cast<int>(batch) - 1}) {
        const auto one = [&](auto row, auto) { return rhs(row, system); };
        const auto alone = solve_batch(factor, 1, LayoutKind::contiguous, Placement::in_place, one);
        EXPECT_EQ(differences(alone, whole, s.n, [&](auto) { return system; }), 0) << "system " << system << " alone";
    }
    for (std::int64_t fewer : {7, 64}) {
        const auto last = [&](auto m) { return batch - 1 - m; }; // other places in the batch, too
        const auto part = solve_batch(factor, fewer, LayoutKind::interleaved, Placement::in_place,
                                      [&](auto row, auto m) { return rhs(row, last(m)); });
        EXPECT_EQ(differences(part, whole, s.n, last), 0) << "the last " << fewer << " systems, backwards";
    }
}

TEST_F(Reproducible, WhateverTheBatchAndThePlaceInIt) {
    for (const Subject& s : subjects()) {
        SCOPED_TRACE(describe(s));
        for_both_precisions([&]<class T>() { expect_batch_does_not_matter<T>(s); });
    }
}

TEST_F(Reproducible, WhateverTheLayout) {
    for (const Subject& s : subjects()) {
        SCOPED_TRACE(describe(s));
        for_both_precisions([&]<class T>() {
            const Bands bands = bands_of(s);
            const auto factor = make_factor<T>(as_matrix(bands));
            const RightHandSides<T> rhs(bands, 3);
            const auto first = solve_batch(factor, 37, LayoutKind::interleaved, Placement::in_place, rhs);
            for (LayoutKind layout : all_layouts)
                for (Placement placement : {Placement::in_place, Placement::out_of_place, Placement::other_layout}) {
                    const auto other = solve_batch(factor, 37, layout, placement, rhs);
                    EXPECT_EQ(differences(other, first, s.n, [](auto m) { return m; }), 0) << name(layout);
                }
        });
    }
}

TEST_F(Reproducible, WhateverTheNumberOfThreads) {
    if (on_cuda) GTEST_SKIP() << "threads are the CPU's";
    for (const Subject& s : subjects()) {
        SCOPED_TRACE(describe(s));
        for_both_precisions([&]<class T>() {
            const Bands bands = bands_of(s);
            const auto factor = make_factor<T>(as_matrix(bands));
            const RightHandSides<T> rhs(bands, 3);
            for (LayoutKind layout : {LayoutKind::tiled, LayoutKind::contiguous}) {
                const auto all = solve_batch(factor, largest_batch, layout, Placement::out_of_place, rhs);
                for (int threads : {1, 2, 5}) {
                    const auto some =
                        solve_batch(factor, largest_batch, layout, Placement::out_of_place, rhs, Threads{threads});
                    EXPECT_EQ(differences(some, all, s.n, [](auto m) { return m; }), 0) << threads << " threads";
                }
            }
        });
    }
}

TEST_F(Reproducible, FactoringTwiceAndCopyingTheFactor) {
    for (const Subject& s : subjects()) {
        SCOPED_TRACE(describe(s));
        const Bands bands = bands_of(s);
        const BandMatrix matrix = as_matrix(bands);
        const RightHandSides<double> rhs(bands, 3);
        const auto factor = make_factor<double>(matrix);
        const auto copy = factor;
        const auto again = make_factor<double>(matrix); // the matrix is still what it was
        const auto x = solve_batch(factor, 5, LayoutKind::contiguous, Placement::in_place, rhs);
        for (const auto* other : {&copy, &again}) {
            const auto y = solve_batch(*other, 5, LayoutKind::contiguous, Placement::in_place, rhs);
            EXPECT_EQ(differences(y, x, s.n, [](auto m) { return m; }), 0);
            EXPECT_EQ(other->report().path, factor.report().path);
        }
    }
}

TEST_F(Reproducible, WhenSeveralThreadsUseOneFactor) {
    for (const Subject& s : subjects()) {
        if (s.n > 1000) continue;
        SCOPED_TRACE(describe(s));
        const Bands bands = bands_of(s);
        const auto factor = make_factor<double>(as_matrix(bands));
        const RightHandSides<double> rhs(bands, 3);
        const auto expected = solve_batch(factor, 40, LayoutKind::tiled, Placement::in_place, rhs);
        std::vector<std::vector<double>> found(4);
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                for (int repeat = 0; repeat < 3; ++repeat)
                    found[t] = solve_batch(factor, 40, LayoutKind::tiled, Placement::in_place, rhs, Threads{1 + t % 2});
            });
        for (std::thread& thread : threads) thread.join();
        for (const auto& x : found) EXPECT_EQ(differences(x, expected, s.n, [](auto m) { return m; }), 0);
    }
}

} // namespace
} // namespace bandmill::test
