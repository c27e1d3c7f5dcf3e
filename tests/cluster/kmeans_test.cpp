// k-means: it finds what is there, its result is what it says it is, and it has the same bits however the rows are
// dealt out. (kmeans_oracle_test.py compares it with scikit-learn, and runs it by mpirun.)
#include "kmeans_tools.hpp"

namespace bandmill::test {
namespace {

TEST_F(KMeans, FindsClustersThatAreThere) {
    for_both_precisions([]<class T>() {
        for (const std::int64_t dimensions : {1, 5, 32, 100}) {
            Set<T> set = make_set<T>(300, dimensions, 3, 0, 1);
            for (std::int64_t i = 0; i < 300; ++i)
                for (std::int64_t j = 0; j < dimensions; ++j)
                    set.values[static_cast<std::size_t>(i * dimensions + j)] += static_cast<T>(30 * (i % 3));
            const Found found = clustered(set, {.clusters = 3});
            for (std::size_t i = 3; i < 300; ++i) EXPECT_EQ(found.labels[i], found.labels[i % 3]);
            EXPECT_EQ(found.result.sizes, std::vector<std::int64_t>(3, 100));
            expect_consistent(set, found);
        }
    });
}

TEST_F(KMeans, OneClusterIsTheMean) {
    for_both_precisions([]<class T>() {
        const Set<T> set = make_set<T>(1000, 37, 4, 2, 2);
        const Found found = clustered(set, {.clusters = 1});
        for (std::int64_t j = 0; j < 37; ++j) {
            long double sum = 0;
            for (std::int64_t i = 0; i < 1000; ++i) sum += set.row(i)[j];
            EXPECT_NEAR(found.result.centroids[static_cast<std::size_t>(j)], static_cast<double>(sum / 1000), 1e-13);
        }
        EXPECT_EQ(found.result.sizes[0], 1000);
        EXPECT_EQ(found.result.iterations, 2);
        expect_consistent(set, found);
    });
}

TEST_F(KMeans, IsWhatItSaysForAnySize) {
    for_both_precisions([]<class T>() {
        const std::int64_t shapes[][3] = {{1, 1, 1},     {2, 1, 2},     {50, 2, 7},    {200, 31, 4},
                                          {200, 32, 5},  {200, 33, 8},  {500, 64, 9},  {90, 511, 3},
                                          {40, 5000, 3}, {400, 3, 127}, {60, 2000, 12}};
        for (const auto& [rows, dimensions, clusters] : shapes) {
            if (limits().small && clusters > 12) continue; // each takes many labellings
            SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(dimensions) + ", " + std::to_string(clusters));
            const Set<T> set = make_set<T>(rows, dimensions, 3, 1, 3);
            const Found found = clustered(set, {.clusters = static_cast<int>(clusters), .restarts = 2});
            expect_consistent(set, found);
            EXPECT_LT(found.result.iterations, 300);
            EXPECT_GT(*std::min_element(found.result.sizes.begin(), found.result.sizes.end()), 0);
        }
    });
}

TEST_F(KMeans, InertiaNeverGrows) {
    const Set<double> set = make_set<double>(limits().small ? 200 : 700, 10, 9, 0.7, 4);
    std::vector<double> start(set.values.begin(), set.values.begin() + 90);
    double before = std::numeric_limits<double>::infinity();
    const int needed = clustered(set, {.clusters = 9}, start).result.iterations;
    ASSERT_GT(needed, 3);
    for (int most = 1; most <= needed + 1; ++most) {
        const Found found = clustered(set, {.clusters = 9, .most_iterations = most}, start);
        expect_consistent(set, found);
        EXPECT_LE(found.result.inertia, before * (1 + 1e-14));
        EXPECT_EQ(found.result.iterations, std::min(most, needed));
        before = found.result.inertia;
    }
}

TEST_F(KMeans, MoreRestartsAreNoWorse) {
    const Set<double> set = make_set<double>(300, 2, 10, 1, 5);
    double before = std::numeric_limits<double>::infinity();
    for (const int restarts : {1, 2, 5, 10}) {
        const double inertia = clustered(set, {.clusters = 10, .seed = 7, .restarts = restarts}).result.inertia;
        EXPECT_LE(inertia, before);
        before = inertia;
    }
}

TEST_F(KMeans, FewerDistinctRowsThanClusters) {
    for (const int distinct : {1, 2, 3})
        for (const int clusters : {2, 3, 5, 20}) {
            Set<double> set{4, {}};
            for (int i = 0; i < 12; ++i)
                for (int j = 0; j < 4; ++j) set.values.push_back(0.1 + i % distinct + 0.3 * j);
            const Found found = clustered(set, {.clusters = clusters});
            expect_consistent(set, found);
            if (clusters < distinct) continue;
            EXPECT_LT(found.result.inertia, 1e-24);
            EXPECT_EQ(std::count(found.result.sizes.begin(), found.result.sizes.end(), 12 / distinct), distinct);
            // Every row but the twelve there are is a centroid once.
            EXPECT_EQ(std::count_if(found.result.centroids.begin(), found.result.centroids.end(),
                                    [](double value) { return std::isnan(value); }),
                      4 * std::max(0, clusters - 12));
        }
}

TEST_F(KMeans, FewerRowsThanClusters) {
    const Set<double> set = make_set<double>(2, 3, 2, 1, 6);
    const Found found = clustered(set, {.clusters = 4});
    EXPECT_EQ(found.result.sizes, (std::vector<std::int64_t>{1, 1, 0, 0}));
    EXPECT_LT(found.result.inertia, 1e-24); // a centroid is rounded to its sum's last digit
    for (std::size_t j = 0; j < 12; ++j) EXPECT_EQ(std::isnan(found.result.centroids[j]), j >= 6);
}

TEST_F(KMeans, EmptyClustersTakeTheFarthestRow) {
    // 0 1 2 ... 9 and 100: the second centroid is beyond all, and has to end with 100.
    Set<double> set{1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100}};
    const Found found = clustered(set, {.clusters = 2}, {4.0, 1e6});
    EXPECT_EQ(found.result.centroids, (std::vector<double>{4.5, 100}));
    EXPECT_EQ(found.result.sizes, (std::vector<std::int64_t>{10, 1}));
    // After one move the farthest row is out of the sums of its old cluster. Of rows as far, the lowest is taken.
    const Found once = clustered(Set<double>{1, {-2, 2, 0, 2, -2}}, {.clusters = 2, .most_iterations = 1}, {0.0, 1e6});
    EXPECT_EQ(once.result.centroids, (std::vector<double>{0.5, -2}));
    // 100 is alone in its cluster and stays there; 0 is the next.
    const Found alone = clustered(Set<double>{1, {0, 1, 100}}, {.clusters = 3, .most_iterations = 1}, {0.5, 200, 1000});
    EXPECT_EQ(alone.result.centroids, (std::vector<double>{1, 100, 0}));
    // Several at once.
    const Set<double> many = make_set<double>(400, 6, 5, 2, 7);
    std::vector<double> start(6 * 6, 1e5);
    std::copy_n(many.values.begin(), 6, start.begin());
    const Found several = clustered(many, {.clusters = 6}, start);
    expect_consistent(many, several);
    EXPECT_GT(*std::min_element(several.result.sizes.begin(), several.result.sizes.end()), 0);
    // Nowhere to take a row from: it stays.
    const Found nothing = clustered(Set<double>{1, {3, 3, 3}}, {.clusters = 2}, {3.0, 50.0});
    EXPECT_EQ(nothing.result.centroids, (std::vector<double>{3, 50}));
    EXPECT_EQ(nothing.result.sizes, (std::vector<std::int64_t>{3, 0}));
}

TEST_F(KMeans, RowsThatAreNotFiniteCountNowhere) {
    for_both_precisions([]<class T>() {
        const Set<T> clean = make_set<T>(120, 40, 3, 2, 8);
        std::vector<double> start(clean.values.begin(), clean.values.begin() + 3 * 40);
        const Found expected = clustered(clean, {}, start);
        Set<T> dirty{40, {}};
        std::vector<int> labels;
        for (std::int64_t i = 0; i < 120; ++i) {
            dirty.values.insert(dirty.values.end(), clean.row(i), clean.row(i) + 40);
            labels.push_back(expected.labels[static_cast<std::size_t>(i)]);
            if (i % 7 != 0) continue;
            dirty.values.insert(dirty.values.end(), clean.row(i), clean.row(i) + 40);
            const T bad[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                             -std::numeric_limits<T>::infinity()};
            (dirty.values.end() - 40)[i % 40] = bad[i % 3];
            labels.push_back(-1);
        }
        const Found found = clustered(dirty, {}, start);
        EXPECT_EQ(found.labels, labels);
        EXPECT_EQ(bits_of(found.result), bits_of(expected.result));
        expect_consistent(dirty, clustered(dirty, {}));
    });
}

TEST_F(KMeans, NoFiniteRows) {
    for (const Set<double>& set : {Set<double>{2, {}}, Set<double>{2, {nan, 1, 2, nan}}}) {
        for (const std::vector<double>& start : {std::vector<double>{}, std::vector<double>{1, 2, 3, 4, 5, 6}}) {
            const Found found = clustered(set, {}, start);
            EXPECT_EQ(found.labels, std::vector<int>(static_cast<std::size_t>(set.rows()), -1));
            EXPECT_EQ(found.result.inertia, 0);
            EXPECT_EQ(found.result.sizes, std::vector<std::int64_t>(3));
        }
    }
    const auto ranks = connect();
    EXPECT_TRUE(kmeans<double>({}, 3, {}, here, *ranks).labels.empty());
}

// Units do not matter: powers of two change nothing but exponents.
TEST_F(KMeans, AnyScale) {
    const Set<double> set = make_set<double>(200, 20, 4, 1, 9);
    const Found expected = clustered(set, {.clusters = 4});
    for (const int exponent : {-390, -100, 300}) {
        Set<double> scaled = set;
        for (double& value : scaled.values) value = std::ldexp(value, exponent);
        const Found found = clustered(scaled, {.clusters = 4});
        EXPECT_EQ(found.labels, expected.labels);
        EXPECT_EQ(found.result.inertia, std::ldexp(expected.result.inertia, 2 * exponent));
    }
    Set<double> huge = set;
    huge.values[5] = 1e200;
    expect_error<InvalidArgument>([&] { clustered(huge, {}); }, {"1e+200", "scale"});
    for (double& value : huge.values) value = 1e-200;
    expect_error<InvalidArgument>([&] { clustered(huge, {}); }, {"1e-200", "scale"});
}

TEST_F(KMeans, SameBitsHoweverTheRowsAreDealt) {
    for_both_precisions([]<class T>() {
        Set<T> set = make_set<T>(331, 45, 4, 0.3, 10);
        set.values[45 * 17 + 3] = static_cast<T>(nan);
        for (std::int64_t i = 0; i < 30; ++i) // some rows twice
            std::copy_n(set.row(i + 100), 45, set.values.begin() + (i + 200) * 45);
        std::vector<double> far_start(3 * 45, 1e4);
        std::copy_n(set.values.begin(), 45, far_start.begin());
        for (const std::vector<double>& start : {std::vector<double>{}, far_start}) {
            const KMeansOptions options{.clusters = 3, .seed = 5, .restarts = 3};
            const Found expected = clustered(set, options, start);
            std::mt19937_64 random(3);
            for (const int size : {1, 2, 3, 5}) {
                if (limits().small && size > 1) continue; // compute-sanitizer hangs with several threads
                for (const std::int64_t most : {1, 20, 400}) {
                    std::vector<std::int64_t> order = everything(set);
                    if (most > 1) std::shuffle(order.begin(), order.end(), random);
                    std::vector<std::vector<std::int64_t>> parts(static_cast<std::size_t>(size));
                    for (const std::int64_t i : order) // the last of five has none
                        parts[random() % static_cast<std::size_t>(std::min(size, 4))].push_back(i);
                    Found found;
                    found.labels.resize(order.size(), 99);
                    std::vector<KMeansResult> results(parts.size());
                    Ring(size).run([&](Communicator& ranks) {
                        const auto rank = static_cast<std::size_t>(ranks.rank());
                        const Dealt<T> own(set, parts[rank], most, static_cast<unsigned>(rank));
                        results[rank] = start.empty() ? kmeans<T>(own.blocks(), 45, options, here, ranks)
                                                      : kmeans_from<T>(start, own.blocks(), 45, options, here, ranks);
                        own.collect(results[rank], found.labels); // places of its own
                    });
                    for (const KMeansResult& result : results) {
                        found.result = result;
                        expect_same(found, expected);
                    }
                }
            }
        }
    });
}

TEST_F(KMeans, AnErrorOfOneRankIsThrownOnAll) {
    std::vector<std::string> texts(3);
    Ring(3).run([&](Communicator& ranks) {
        const std::vector<double> values(10);
        const std::vector<std::int64_t> numbers{0, 1};
        const RowBlock<double> block{std::span(values).first(ranks.rank() == 1 ? 9 : 10), numbers};
        try {
            kmeans<double>(std::span(&block, 1), 5, {}, here, ranks);
        } catch (const InvalidArgument& error) {
            texts[static_cast<std::size_t>(ranks.rank())] = error.what();
        }
    });
    EXPECT_NE(texts[0].find("9 values for 2 row numbers"), std::string::npos) << texts[0];
    EXPECT_EQ(texts[0], texts[1]);
    EXPECT_EQ(texts[0], texts[2]);
}

#if defined(BANDMILL_TEST_CUDA)
TEST_F(KMeans, SameBitsOnCpuAndGpu) {
    for_both_precisions([]<class T>() {
        const std::int64_t shapes[][3] = {{1, 1, 1},       {1000, 2, 5},   {5000, 64, 3},  {3000, 100, 17},
                                          {20000, 512, 3}, {300, 4000, 3}, {200, 4100, 3}, {100, 2000, 127},
                                          {5, 100000, 2},  {700, 33, 8}};
        for (const auto& [rows, dimensions, clusters] : shapes) {
            if (limits().small && rows * dimensions * clusters > 1'000'000) continue;
            SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(dimensions) + ", " + std::to_string(clusters));
            Set<T> set = make_set<T>(rows, dimensions, 3, 0.2, 11);
            if (rows > 100) set.values[static_cast<std::size_t>(50 * dimensions)] = static_cast<T>(nan);
            const KMeansOptions options{.clusters = static_cast<int>(clusters), .restarts = 2};
            expect_same(clustered(set, options), clustered(set, options, {}, Threads{0}));
            std::vector<double> far_start(static_cast<std::size_t>(clusters * dimensions), 1e4);
            far_start[0] = 0;
            expect_same(clustered(set, options, far_start), clustered(set, options, far_start, Threads{0}));
        }
    });
}

// Every device is as good as the first.
TEST_F(KMeans, SameBitsOnEveryDevice) {
    const Set<double> set = make_set<double>(500, 70, 3, 0.5, 12);
    const Found expected = clustered(set, {});
    for (const DeviceInfo& device : cuda_devices()) expect_same(clustered(set, {}, {}, Device{device.index}), expected);
    expect_error<BackendUnavailable>([&] { clustered(set, {}, {}, Device{1000}); });
}
#else
TEST_F(KMeans, SameBitsOnAnyNumberOfThreads) {
    for_both_precisions([]<class T>() {
        for (const std::int64_t rows : {1, 2, 5, 1000}) {
            const Set<T> set = make_set<T>(rows, 50, 3, 0.3, 11);
            const Found expected = clustered(set, {.clusters = 5, .restarts = 2});
            for (const int threads : {0, 2, 3})
                expect_same(clustered(set, {.clusters = 5, .restarts = 2}, {}, Threads{threads}), expected);
        }
    });
}

TEST_F(KMeans, WithoutAGpuItSaysSo) {
    if (!cuda_devices().empty()) GTEST_SKIP() << "there is a CUDA device";
    const Set<double> set = make_set<double>(5, 5, 3, 1, 1);
    expect_error<BackendUnavailable>([&] { clustered(set, {}, {}, Device{}); });
}
#endif

TEST_F(KMeans, WhatCannotBeUsedThrows) {
    const Set<double> set = make_set<double>(4, 3, 2, 1, 13);
    expect_error<InvalidArgument>([&] { clustered(set, {.clusters = 0}); }, {"0 clusters"});
    expect_error<InvalidArgument>([&] { clustered(set, {.clusters = 128}); }, {"128 clusters", "127"});
    expect_error<InvalidArgument>([&] { clustered(set, {.restarts = 0}); }, {"0 times"});
    expect_error<InvalidArgument>([&] { clustered(set, {.most_iterations = 0}); }, {"0 iterations"});
    expect_error<InvalidArgument>([&] { clustered(set, {}, {1, 2, 3}); }, {"3 numbers", "9"});
    expect_error<InvalidArgument>([&] { clustered(set, {.clusters = 1}, {1, nan, 3}); }, {"nan"});
    expect_error<InvalidArgument>([&] { clustered(set, {.clusters = 1}, {1, 1e300, 3}); }, {"1e+300"});
    const auto ranks = connect();
    const std::vector<std::int64_t> numbers{0, 1, 2, 3}, negative{0, 1, -2, 3};
    const RowBlock<double> right{set.values, numbers}, wrong{set.values, negative};
    auto run = [&](const RowBlock<double>& block, std::int64_t dimensions) {
        kmeans<double>(std::span(&block, 1), dimensions, {}, here, *ranks);
    };
    expect_error<InvalidArgument>([&] { run(right, 0); }, {"rows of 0 numbers"});
    expect_error<InvalidArgument>([&] { run(right, -3); }, {"rows of -3 numbers"});
    expect_error<InvalidArgument>([&] { run(right, 4); }, {"12 values for 4 row numbers"});
    expect_error<InvalidArgument>([&] { run(right, std::numeric_limits<std::int64_t>::max()); }, {"12 values"});
    expect_error<InvalidArgument>([&] { run(wrong, 3); }, {"-2"});
}

} // namespace
} // namespace bandmill::test
