// What the tests of k-means have in common: sets of rows, ranks that are threads, and what any result must be.
#pragma once

#include "bandmill/cluster/kmeans.hpp"

#include "../backend/limits.hpp"
#include "../base/expect_error.hpp"

#include "bandmill/dist/communicator.hpp"

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

namespace bandmill::test {

#if defined(BANDMILL_TEST_CUDA)
inline constexpr bool on_cuda = true;
inline const Where here = Device{};
#else
inline constexpr bool on_cuda = false;
inline const Where here = Threads{1};
#endif

class KMeans : public testing::Test {
  protected:
    void SetUp() override {
        if (on_cuda && cuda_devices().empty()) GTEST_SKIP() << "no CUDA device";
    }
};

// Ranks that are threads of this process.
class Ring {
  public:
    explicit Ring(int size) : texts_(static_cast<std::size_t>(size)), barrier_(size) {}
    // body(communicator) on every rank; what it throws ends the test.
    template <class Body> void run(const Body& body) {
        std::vector<std::thread> team;
        for (int rank = 0; rank < std::ssize(texts_); ++rank)
            team.emplace_back([this, rank, &body] {
                Member member(*this, rank);
                body(static_cast<Communicator&>(member));
            });
        for (std::thread& thread : team) thread.join();
    }

  private:
    class Member final : public Communicator {
      public:
        Member(Ring& ring, int rank) : ring_(ring), rank_(rank) {}
        int rank() const override { return rank_; }
        int size() const override { return static_cast<int>(ring_.texts_.size()); }
        int local_rank() const override { return 0; }
        std::vector<std::string> gather(const std::string& bytes) override {
            ring_.texts_[static_cast<std::size_t>(rank_)] = bytes;
            ring_.barrier_.arrive_and_wait();
            std::vector<std::string> all;
            if (is_root()) all = ring_.texts_;
            ring_.barrier_.arrive_and_wait();
            return all;
        }
        void sum(std::span<std::int64_t> numbers) override {
            const auto all = gather({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
            for (std::size_t rank = 1; rank < all.size(); ++rank)
                for (std::size_t i = 0; i < numbers.size(); ++i) {
                    std::int64_t number = 0;
                    std::memcpy(&number, all[rank].data() + i * sizeof number, sizeof number);
                    numbers[i] += number;
                }
        }
        std::string broadcast(const std::string& bytes) override {
            if (is_root()) ring_.texts_[0] = bytes;
            ring_.barrier_.arrive_and_wait();
            const std::string text = ring_.texts_[0];
            ring_.barrier_.arrive_and_wait();
            return text;
        }
        bool any(bool) override { std::abort(); } // not for k-means
        void call() override { std::abort(); }
        bool called() override { std::abort(); }
        void meet(const std::function<void()>&) override { std::abort(); }
        [[noreturn]] void abort(int) override { std::abort(); }

      private:
        Ring& ring_;
        int rank_;
    };
    std::vector<std::string> texts_;
    std::barrier<> barrier_;
};

template <class T> struct Set {
    std::int64_t dimensions;
    std::vector<T> values;
    std::int64_t rows() const { return std::ssize(values) / dimensions; }
    const T* row(std::int64_t i) const { return values.data() + i * dimensions; }
};

// Rows about some centres, far apart or not.
template <class T>
Set<T> make_set(std::int64_t rows, std::int64_t dimensions, int centres, double apart, unsigned seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> middle(static_cast<std::size_t>(centres * dimensions));
    for (double& value : middle) value = apart * normal(random);
    Set<T> set{dimensions, {}};
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < dimensions; ++j)
            set.values.push_back(
                static_cast<T>(middle[static_cast<std::size_t>(i % centres * dimensions + j)] + normal(random)));
    return set;
}

// Some rows of a set in blocks, in an order of their own.
template <class T> class Dealt {
  public:
    // Row numbers in `order`, cut into blocks of random sizes (0 too) from 0 to `most`.
    Dealt(const Set<T>& set, std::vector<std::int64_t> order, std::int64_t most, unsigned seed) : order_(order) {
        std::mt19937_64 random(seed);
        for (const std::int64_t i : order_) values_.insert(values_.end(), set.row(i), set.row(i) + set.dimensions);
        const std::span<const T> values(values_);
        const std::span<const std::int64_t> numbers(order_);
        for (std::size_t begin = 0; begin < numbers.size();) {
            const std::size_t size = std::min(numbers.size() - begin, random() % (static_cast<std::size_t>(most) + 1));
            const auto width = static_cast<std::size_t>(set.dimensions);
            blocks_.push_back({values.subspan(begin * width, size * width), numbers.subspan(begin, size)});
            begin += size;
        }
    }
    std::span<const RowBlock<T>> blocks() const { return blocks_; }
    void collect(const KMeansResult& result, std::vector<int>& labels) const {
        ASSERT_EQ(result.labels.size(), blocks_.size());
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            ASSERT_EQ(result.labels[b].size(), blocks_[b].numbers.size());
            for (std::size_t i = 0; i < result.labels[b].size(); ++i)
                labels[static_cast<std::size_t>(blocks_[b].numbers[i])] = result.labels[b][i];
        }
    }

  private:
    std::vector<std::int64_t> order_;
    std::vector<T> values_;
    std::vector<RowBlock<T>> blocks_;
};

inline std::vector<std::int64_t> in_order(std::int64_t rows) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

struct Found {
    KMeansResult result;
    std::vector<int> labels; // by the number of the row
};

template <class T> std::vector<std::int64_t> everything(const Set<T>& set) { return in_order(set.rows()); }

// One block, one process.
template <class T>
Found clustered(const Set<T>& set, const KMeansOptions& options, const std::vector<double>& start = {},
                Where where = here) {
    const auto ranks = connect();
    const auto numbers = everything(set);
    const RowBlock<T> block{set.values, numbers};
    Found found;
    found.result = start.empty() ? kmeans<T>(std::span(&block, 1), set.dimensions, options, where, *ranks)
                                 : kmeans_from<T>(start, std::span(&block, 1), set.dimensions, options, where, *ranks);
    EXPECT_EQ(found.result.on_device, std::holds_alternative<Device>(where));
    found.labels.assign(found.result.labels[0].begin(), found.result.labels[0].end());
    return found;
}

// Numbers as bits: NaN is equal to itself.
inline std::vector<std::uint64_t> bits_of(const KMeansResult& result) {
    std::vector<double> numbers = result.centroids;
    numbers.push_back(result.inertia);
    std::vector<std::uint64_t> bits(numbers.size());
    std::memcpy(bits.data(), numbers.data(), numbers.size() * sizeof(double));
    return bits;
}
inline void expect_same(const Found& one, const Found& other) {
    EXPECT_EQ(one.labels, other.labels);
    EXPECT_EQ(one.result.sizes, other.result.sizes);
    EXPECT_EQ(one.result.iterations, other.result.iterations);
    EXPECT_EQ(bits_of(one.result), bits_of(other.result));
}

// Labels, sizes and inertia are those of the centroids, in long double.
template <class T> void expect_consistent(const Set<T>& set, const Found& found) {
    const auto clusters = static_cast<std::int64_t>(found.result.sizes.size());
    std::vector<std::int64_t> sizes(found.result.sizes.size());
    long double inertia = 0;
    for (std::int64_t i = 0; i < set.rows(); ++i) {
        const int label = found.labels[static_cast<std::size_t>(i)];
        bool finite = true;
        for (std::int64_t j = 0; j < set.dimensions; ++j) finite = finite && std::isfinite(set.row(i)[j]);
        if (!finite) {
            EXPECT_EQ(label, -1);
            continue;
        }
        ASSERT_GE(label, 0);
        ASSERT_LT(label, clusters);
        ++sizes[static_cast<std::size_t>(label)];
        auto distance = [&](std::int64_t cluster) {
            long double sum = 0;
            for (std::int64_t j = 0; j < set.dimensions; ++j) {
                const long double d = static_cast<long double>(set.row(i)[j]) -
                                      found.result.centroids[static_cast<std::size_t>(cluster * set.dimensions + j)];
                sum += d * d;
            }
            return sum;
        };
        const long double own = distance(label);
        inertia += own;
        for (std::int64_t other = 0; other < clusters; ++other) {
            const long double theirs = distance(other);
            EXPECT_FALSE(theirs < own * (1 - 1e-13L)) << "row " << i; // false for a centroid that is not there
        }
    }
    EXPECT_EQ(found.result.sizes, sizes);
    EXPECT_NEAR(found.result.inertia, static_cast<double>(inertia), 1e-13 * static_cast<double>(inertia));
}

template <class Check> void for_both_precisions(const Check& check) {
    {
        SCOPED_TRACE("f64");
        check.template operator()<double>();
    }
    SCOPED_TRACE("f32");
    check.template operator()<float>();
}

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

} // namespace bandmill::test
