// k-means: rows of numbers (the final states of many runs, say) sorted into clusters by Lloyd's iteration from
// k-means++ starts.
// The same rows give the same bits on any number of threads and ranks, on the CPU and on a GPU, however they are cut
// into blocks and in whichever order: distances are summed in one order, sums over rows are sums of integers, and a
// row's random numbers belong to its number.
#pragma once

#include "bandmill/base/where.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bandmill {

class Communicator;

struct KMeansOptions {
    int clusters = 3; // up to 127
    std::uint64_t seed = 1;
    int restarts = 8; // the one with the least inertia counts
    int most_iterations = 300;
};

// Some of a rank's rows.
template <class T> struct RowBlock {
    std::span<const T> values;             // [row][dimension]
    std::span<const std::int64_t> numbers; // [row]: its place in the whole set, on no other row of any rank
};

// The same on all ranks, but for labels and on_device.
struct KMeansResult {
    std::vector<double> centroids;   // [cluster][dimension]; NaN where there were not enough rows
    std::vector<std::int64_t> sizes; // rows of each cluster, 0 for clusters that are left over
    double inertia = 0;              // sum of squared distances to the nearest centroid
    int iterations = 0;              // of the restart that was kept
    std::vector<std::vector<signed char>>
        labels;             // [block][row] of this rank: the nearest centroid, the first of equals;
                            // -1 for a row with a number that is not finite, which counts nowhere
    bool on_device = false; // this rank's rows were on the GPU: false if they did not fit
};

// Collective. Throws InvalidArgument, on all ranks, if one rank's rows or options cannot be used.
// An empty cluster takes the row that is farthest from its centroid, as in scikit-learn (rows alone in their cluster
// stay). It ends when no label changes.
template <class T>
KMeansResult kmeans(std::span<const RowBlock<T>> rows, std::int64_t dimensions, const KMeansOptions& options,
                    const Where& where, Communicator& ranks);

// The same from a given start, [cluster][dimension]; no random numbers, no restarts.
template <class T>
KMeansResult kmeans_from(std::vector<double> start, std::span<const RowBlock<T>> rows, std::int64_t dimensions,
                         const KMeansOptions& options, const Where& where, Communicator& ranks);

} // namespace bandmill
