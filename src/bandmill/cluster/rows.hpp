// Rows: a rank's rows where they are held, in the CPU's memory (cluster/rows.cpp) or a GPU's (cuda/kmeans.cu), and what
// k-means asks of them. Both give the same bits.
#pragma once

#include "bandmill/cluster/kmeans.hpp"

#include <memory>

namespace bandmill::detail {

struct RowsExtent {
    std::int64_t finite; // rows
    double largest;      // magnitude in them
};

template <class T> class Rows {
  public:
    virtual ~Rows() = default;

    virtual RowsExtent extent() const = 0;

    // distances() = squared distances to the nearest of the points measured since the first.
    virtual void measure(std::span<const double> point, bool is_first) = 0;

    // No row has a label any more, and the sums are 0. Values times `scale` will be summed as integers.
    virtual void start_over(double scale) = 0;
    // Labels every row and returns how many labels changed. distances() are those to the label's centroid;
    // `sums` gets [cluster][dimension] of quantised values, then [cluster] of rows.
    virtual std::int64_t label(std::span<const double> centroids, std::span<std::int64_t> sums) = 0;

    // [row], in the order of the blocks. Labels are `not_finite` where a row is not, `no_label` before there is one;
    // distances mean nothing where a row is not finite.
    virtual std::span<const double> distances() = 0;
    virtual std::span<const signed char> labels() = 0;
};

// The rows stay where they are.
template <class T>
std::unique_ptr<Rows<T>> make_rows(std::span<const RowBlock<T>> blocks, std::int64_t dimensions, int clusters,
                                   Threads threads);
// The rows are copied. Null if they do not fit into the GPU's free memory.
template <class T>
std::unique_ptr<Rows<T>> make_rows(std::span<const RowBlock<T>> blocks, std::int64_t dimensions, int clusters,
                                   Device device);

struct RaceWinner {
    double key = 0;
    std::int64_t number = INT64_MAX, row = -1; // as they are where nobody ran
};
// Draws one of the finite rows with a chance in proportion to its weight: row i arrives at -log(u_i) / weight_i, with
// u_i a function of `seed`, `round` and the row's number, and the first one wins. So ranks draw together by comparing
// their winners, and the order of rows is of no account. Without weights all rows have the same; rows of weight 0 come
// last (key infinite), by their numbers, except those already `chosen`.
RaceWinner race(std::span<const double> weights, std::span<const signed char> labels,
                std::span<const std::int64_t> numbers, std::span<const std::int64_t> chosen, std::uint64_t seed,
                std::uint32_t round, Threads threads);
inline bool is_before(const RaceWinner& one, const RaceWinner& other) {
    return one.key < other.key || (one.key == other.key && one.number < other.number);
}

} // namespace bandmill::detail
