#include "bandmill/cluster/kmeans.hpp"

#include "bandmill/base/error.hpp"
#include "bandmill/base/text.hpp"
#include "bandmill/cluster/nearest.hpp"
#include "bandmill/cluster/rows.hpp"
#include "bandmill/dist/communicator.hpp"
#include "bandmill/ensemble/sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

namespace bandmill {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int most_clusters = 127; // a label is a signed char
constexpr int most_restarts = 1 << 20;
// Squares of what lies between, and sums of them, are far from the ends of a double's range.
constexpr double largest_value = 0x1p400, smallest_value = 0x1p-400;

// What ranks find out together.
class Together {
  public:
    explicit Together(Communicator& ranks) : ranks_(ranks) {}

    void add(std::span<std::int64_t> numbers) {
        if (ranks_.size() == 1) return;
        ranks_.sum(numbers);
        std::string bytes;
        if (ranks_.is_root()) bytes.assign(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
        bytes = ranks_.broadcast(bytes);
        std::memcpy(numbers.data(), bytes.data(), numbers.size_bytes());
    }
    // One of all ranks' texts: is_better(a, b) says that a is to be preferred to b; the first rank's among equals.
    template <class IsBetter> std::string best(const std::string& own, const IsBetter& is_better) {
        if (ranks_.size() == 1) return own;
        const std::vector<std::string> all = ranks_.gather(own);
        std::string chosen;
        if (ranks_.is_root()) {
            chosen = all[0];
            for (const std::string& other : all)
                if (is_better(other, chosen)) chosen = other;
        }
        return ranks_.broadcast(chosen);
    }
    double largest(double own) {
        auto number_in = [](const std::string& bytes) {
            double number = 0;
            std::memcpy(&number, bytes.data(), sizeof number);
            return number;
        };
        const std::string bytes(reinterpret_cast<const char*>(&own), sizeof own);
        return number_in(best(bytes, [&](const auto& a, const auto& b) { return number_in(a) > number_in(b); }));
    }
    // Throws on all ranks if one has something to complain about.
    void require(const std::string& complaint) {
        const std::string first = best(complaint, [](const auto& a, const auto& b) { return b.empty() && !a.empty(); });
        if (!first.empty()) throw InvalidArgument(first);
    }

  private:
    Communicator& ranks_;
};

std::string check(const KMeansOptions& options, std::int64_t dimensions) {
    if (options.clusters < 1 || options.clusters > most_clusters)
        return "cannot sort rows into " + std::to_string(options.clusters) + " clusters (a label has 1 to " +
               std::to_string(most_clusters) + "): ask for a number of clusters in between";
    if (dimensions < 1)
        return "rows of " + std::to_string(dimensions) +
               " numbers cannot be clustered (there is no distance between them): give 1 dimension or more";
    if (options.restarts < 1 || options.restarts > most_restarts)
        return "k-means cannot be started " + std::to_string(options.restarts) + " times (the best of 1 to " +
               std::to_string(most_restarts) + " is kept): give a number of restarts in between";
    if (options.most_iterations < 1)
        return "k-means cannot end after " + std::to_string(options.most_iterations) +
               " iterations (the first one makes the clusters): allow 1 or more";
    return {};
}

template <class T> std::string check(std::span<const RowBlock<T>> blocks, std::int64_t dimensions) {
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const std::size_t values = blocks[b].values.size(), rows = blocks[b].numbers.size();
        const auto width = static_cast<std::size_t>(dimensions);
        if (values % width != 0 || values / width != rows)
            return "block " + std::to_string(b) + " of the rows has " + std::to_string(values) + " values for " +
                   std::to_string(rows) + " row numbers (a row has " + std::to_string(dimensions) +
                   " values): give [row][dimension] values and a number for each row";
        for (const std::int64_t number : blocks[b].numbers)
            if (number < 0)
                return "a row of block " + std::to_string(b) + " has the number " + std::to_string(number) +
                       " (a number is a row's place in the whole set, from 0): give one of 0 or more";
    }
    return {};
}

std::string check_start(const std::vector<double>& start, std::int64_t dimensions, int clusters) {
    const auto expected = static_cast<std::uint64_t>(dimensions) * static_cast<std::uint64_t>(clusters);
    if (start.size() != expected)
        return "k-means is to start from " + std::to_string(start.size()) + " numbers, but " +
               std::to_string(clusters) + " centroids of " + std::to_string(dimensions) + " dimensions have " +
               std::to_string(expected) + ": give [cluster][dimension]";
    for (const double value : start)
        if (!(std::abs(value) <= largest_value))
            return "k-means is to start from a centroid with a " + detail::text(value) +
                   " in it (squares of distances to it are no numbers): give finite numbers below 1e120";
    return {};
}

// A power of two: values times it are integers that, summed over all rows, stay below 2^62, and are below 2^50 each
// (detail::quantised). A mean over 600,000 rows is good to 1e-13 of the largest value.
double scale_for(std::int64_t rows, double largest) {
    if (largest == 0) return 1;
    int bits_for_rows = 0, exponent = 0;
    while ((std::int64_t{1} << bits_for_rows) < rows) ++bits_for_rows;
    std::frexp(largest, &exponent); // largest < 2^exponent
    return std::ldexp(1.0, std::min(50, 62 - bits_for_rows) - exponent);
}

// A row that one rank proposes to all: the least key is taken, and of equal ones the least number.
struct Candidate {
    detail::RaceWinner place;
    std::int64_t label = 0;
    std::vector<double> values;

    bool is_there() const { return place.row >= 0; }
    std::string bytes() const {
        std::string all(reinterpret_cast<const char*>(&place), sizeof place);
        all.append(reinterpret_cast<const char*>(&label), sizeof label);
        return all.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    }
    static Candidate from_bytes(const std::string& bytes) {
        Candidate candidate;
        const std::size_t head = sizeof place + sizeof label;
        std::memcpy(&candidate.place, bytes.data(), sizeof place);
        std::memcpy(&candidate.label, bytes.data() + sizeof place, sizeof label);
        candidate.values.resize((bytes.size() - head) / sizeof(double));
        if (bytes.size() > head) std::memcpy(candidate.values.data(), bytes.data() + head, bytes.size() - head);
        return candidate;
    }
};

struct Outcome {
    std::vector<double> centroids;
    std::vector<std::int64_t> sizes;
    double inertia;
    int iterations;
};

template <class T> class Clustering {
  public:
    Clustering(std::span<const RowBlock<T>> blocks, std::int64_t dimensions, const KMeansOptions& options,
               const Where& where, Communicator& ranks)
        : blocks_(blocks), dimensions_(dimensions), options_(options), together_(ranks) {
        std::string complaint = check(options, dimensions);
        if (complaint.empty()) complaint = check(blocks, dimensions);
        together_.require(complaint);
        for (const RowBlock<T>& block : blocks)
            numbers_.insert(numbers_.end(), block.numbers.begin(), block.numbers.end());

        if (const Device* device = std::get_if<Device>(&where))
            rows_ = detail::make_rows<T>(blocks, dimensions, options.clusters, *device);
        on_device_ = rows_ != nullptr;
        threads_ = on_device_ || std::holds_alternative<Device>(where) ? Threads{} : std::get<Threads>(where);
        if (!on_device_) rows_ = detail::make_rows<T>(blocks, dimensions, options.clusters, threads_);

        finite_ = rows_->extent().finite;
        together_.add({&finite_, 1});
        const double largest = together_.largest(rows_->extent().largest);
        if (largest > largest_value || (largest > 0 && largest < smallest_value))
            throw InvalidArgument("the largest value of the rows is " + detail::text(largest) +
                                  " (squares of distances would leave the range of a double): scale the rows to "
                                  "between 1e-120 and 1e120");
        scale_ = scale_for(finite_, largest);
    }

    void require_start(const std::vector<double>& start) {
        together_.require(check_start(start, dimensions_, options_.clusters));
    }

    // k-means++: each centroid is a row, drawn in proportion to the square of its distance to those that are there.
    std::vector<double> seeds(int restart) {
        std::vector<double> centroids(width(), std::numeric_limits<double>::quiet_NaN());
        std::vector<std::int64_t> chosen;
        for (int cluster = 0; cluster < options_.clusters; ++cluster) {
            std::span<const double> weights;
            if (cluster > 0) {
                rows_->measure(centroid(centroids, cluster - 1), cluster == 1);
                weights = rows_->distances();
            }
            const auto round = static_cast<std::uint32_t>(restart) << 8 | static_cast<std::uint32_t>(cluster);
            const Candidate next =
                first_of_all(detail::race(weights, rows_->labels(), numbers_, chosen, options_.seed, round, threads_));
            if (!next.is_there()) break; // more clusters than rows
            chosen.push_back(next.place.number);
            std::copy(next.values.begin(), next.values.end(), centroid(centroids, cluster).begin());
        }
        return centroids;
    }

    Outcome iterate(std::vector<double> centroids) {
        rows_->start_over(scale_);
        std::vector<std::int64_t> sums(width() + static_cast<std::size_t>(options_.clusters) + 1);
        int iterations = 0;
        for (;;) {
            sums.back() = rows_->label(centroids, std::span(sums).first(sums.size() - 1));
            together_.add(sums);
            const bool is_done = sums.back() == 0;
            if (is_done || iterations == options_.most_iterations) {
                iterations = std::min(iterations + (is_done ? 1 : 0), options_.most_iterations);
                break;
            }
            move(centroids, sums);
            ++iterations;
        }
        const auto sizes = std::span(sums).subspan(width(), static_cast<std::size_t>(options_.clusters));
        return {std::move(centroids), {sizes.begin(), sizes.end()}, inertia(), iterations};
    }

    KMeansResult result(const Outcome& outcome, const std::vector<signed char>& labels) const {
        KMeansResult result{outcome.centroids, outcome.sizes, outcome.inertia, outcome.iterations, {}, on_device_};
        auto next = labels.begin();
        for (const RowBlock<T>& block : blocks_) {
            const auto end = next + static_cast<std::ptrdiff_t>(block.numbers.size());
            result.labels.emplace_back(next, end);
            next = end;
        }
        return result;
    }
    KMeansResult result_of_nothing() {
        const auto clusters = static_cast<std::size_t>(options_.clusters);
        return result({std::vector<double>(width(), std::numeric_limits<double>::quiet_NaN()),
                       std::vector<std::int64_t>(clusters), 0, 0},
                      labels());
    }

    std::vector<signed char> labels() {
        const auto labels = rows_->labels();
        return {labels.begin(), labels.end()};
    }
    std::int64_t finite_rows() const { return finite_; }

  private:
    std::size_t width() const { return static_cast<std::size_t>(options_.clusters * dimensions_); }
    template <class Numbers> auto centroid(Numbers& numbers, std::int64_t cluster) const {
        return std::span(numbers).subspan(static_cast<std::size_t>(cluster * dimensions_),
                                          static_cast<std::size_t>(dimensions_));
    }
    std::vector<double> values_of(std::int64_t row) const {
        std::size_t block = 0;
        for (; row >= std::ssize(blocks_[block].numbers); ++block) row -= std::ssize(blocks_[block].numbers);
        const auto values = centroid(blocks_[block].values, row); // a row has as many numbers
        return {values.begin(), values.end()};
    }

    Candidate first_of_all(const detail::RaceWinner& own) {
        Candidate candidate{own, 0, {}};
        if (candidate.is_there()) {
            candidate.values = values_of(own.row);
            candidate.label = rows_->labels()[static_cast<std::size_t>(own.row)];
        }
        return Candidate::from_bytes(together_.best(candidate.bytes(), [](const auto& a, const auto& b) {
            return is_before(Candidate::from_bytes(a).place, Candidate::from_bytes(b).place);
        }));
    }

    // Centroids become the means of their rows.
    void move(std::vector<double>& centroids, std::vector<std::int64_t>& sums) {
        const std::span<std::int64_t> sizes = std::span(sums).subspan(width());
        fill_empty_clusters(sums, sizes);
        for (int cluster = 0; cluster < options_.clusters; ++cluster) {
            const std::int64_t size = sizes[static_cast<std::size_t>(cluster)];
            if (size == 0) continue; // it stays where it was
            const auto from = centroid(sums, cluster);
            const auto to = centroid(centroids, cluster);
            for (std::size_t j = 0; j < to.size(); ++j)
                to[j] = static_cast<double>(from[j]) / scale_ / static_cast<double>(size);
        }
    }

    void fill_empty_clusters(std::vector<std::int64_t>& sums, std::span<std::int64_t> sizes) {
        std::vector<std::int64_t> taken;
        for (int empty = 0; empty < options_.clusters; ++empty) {
            if (sizes[static_cast<std::size_t>(empty)] > 0) continue;
            const Candidate farthest = first_of_all(farthest_row(sizes, taken));
            if (!farthest.is_there()) return;
            taken.push_back(farthest.place.number);
            const auto from = centroid(sums, farthest.label), to = centroid(sums, empty);
            for (std::size_t j = 0; j < to.size(); ++j) {
                const std::int64_t value = detail::quantised(farthest.values[j], scale_);
                from[j] -= value;
                to[j] = value;
            }
            --sizes[static_cast<std::size_t>(farthest.label)];
            sizes[static_cast<std::size_t>(empty)] = 1;
        }
    }
    // A row that is alone in its cluster would only leave another one empty; a row on its centroid gains nothing.
    detail::RaceWinner farthest_row(std::span<const std::int64_t> sizes, const std::vector<std::int64_t>& taken) {
        detail::RaceWinner best{infinity};
        const auto distances = rows_->distances();
        const auto labels = rows_->labels();
        for (std::size_t row = 0; row < labels.size(); ++row) {
            if (labels[row] < 0 || !(distances[row] > 0) || sizes[static_cast<std::size_t>(labels[row])] < 2) continue;
            const detail::RaceWinner other{-distances[row], numbers_[row], static_cast<std::int64_t>(row)};
            if (is_before(other, best) && std::find(taken.begin(), taken.end(), other.number) == taken.end())
                best = other;
        }
        return best;
    }

    // The sum of integers, in units of 2^-88 of the largest distance: it does not depend on the order, and is good to
    // the last bit of a double.
    double inertia() {
        constexpr int bits = 88;
        const auto distances = rows_->distances();
        const auto labels = rows_->labels();
        double largest = 0;
        for (std::size_t row = 0; row < labels.size(); ++row)
            if (labels[row] >= 0) largest = std::max(largest, distances[row]);
        largest = together_.largest(largest);
        if (largest == 0) return 0;
        int exponent = 0;
        std::frexp(largest, &exponent);
        FixedSum sum;
        for (std::size_t row = 0; row < labels.size(); ++row)
            if (labels[row] >= 0) sum.add(detail::to_pieces(std::ldexp(distances[row], -exponent), bits));
        const __int128 own = sum.raw();
        std::int64_t pieces[] = {static_cast<std::int64_t>(own >> 64),
                                 static_cast<std::int64_t>((own >> 32) & 0xffffffff),
                                 static_cast<std::int64_t>(own & 0xffffffff)};
        together_.add(pieces);
        FixedSum all;
        all.add(detail::Pieces{pieces[0], pieces[1], pieces[2]});
        return std::ldexp(all.value(bits), exponent);
    }

    std::span<const RowBlock<T>> blocks_;
    std::int64_t dimensions_;
    KMeansOptions options_;
    Together together_;
    Threads threads_;
    std::vector<std::int64_t> numbers_; // of all blocks
    std::unique_ptr<detail::Rows<T>> rows_;
    bool on_device_ = false;
    std::int64_t finite_ = 0; // rows, on all ranks
    double scale_ = 1;
};

} // namespace

template <class T>
KMeansResult kmeans(std::span<const RowBlock<T>> rows, std::int64_t dimensions, const KMeansOptions& options,
                    const Where& where, Communicator& ranks) {
    Clustering<T> clustering(rows, dimensions, options, where, ranks);
    if (clustering.finite_rows() == 0) return clustering.result_of_nothing();
    Outcome best{{}, {}, infinity, 0};
    std::vector<signed char> labels;
    for (int restart = 0; restart < options.restarts; ++restart) {
        Outcome outcome = clustering.iterate(clustering.seeds(restart));
        if (!(outcome.inertia < best.inertia)) continue;
        best = std::move(outcome);
        labels = clustering.labels();
    }
    return clustering.result(best, labels);
}

template <class T>
KMeansResult kmeans_from(std::vector<double> start, std::span<const RowBlock<T>> rows, std::int64_t dimensions,
                         const KMeansOptions& options, const Where& where, Communicator& ranks) {
    Clustering<T> clustering(rows, dimensions, options, where, ranks);
    clustering.require_start(start);
    if (clustering.finite_rows() == 0) return clustering.result_of_nothing();
    const Outcome outcome = clustering.iterate(std::move(start));
    return clustering.result(outcome, clustering.labels());
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template KMeansResult kmeans<T>(std::span<const RowBlock<T>>, std::int64_t, const KMeansOptions&, const Where&,    \
                                    Communicator&);                                                                    \
    template KMeansResult kmeans_from<T>(std::vector<double>, std::span<const RowBlock<T>>, std::int64_t,              \
                                         const KMeansOptions&, const Where&, Communicator&);
BANDMILL_INSTANTIATE(double)
BANDMILL_INSTANTIATE(float)

} // namespace bandmill
