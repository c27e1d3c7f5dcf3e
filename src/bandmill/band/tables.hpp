// What a factor holds before it goes to a backend: the chosen path's tables, rounded to one precision, on the host.
#pragma once

#include "bandmill/band/factor.hpp"
#include "bandmill/band/partition.hpp"
#include "bandmill/band/sweeps.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace bandmill::detail {

template <class T> struct PartitionTables {
    Partition partition;
    std::int64_t n;
    int levels, end_levels;
    bool periodic;
    std::vector<T> rows, separators;

    PartitionView<T> view() const {
        return {n, partition.segments, partition.group, levels, end_levels, periodic, rows.data(), separators.data()};
    }
    std::size_t bytes() const { return (rows.size() + separators.size()) * sizeof(T); }
};

template <class T> struct DirectTables {
    std::int64_t n;
    std::vector<T> forward, backward, corner;

    DirectView<T> view() const { return {n, forward.data(), backward.data(), corner.data()}; }
    std::size_t bytes() const { return (forward.size() + backward.size() + corner.size()) * sizeof(T); }
};

template <class T> struct PivotedTables {
    std::int64_t n;
    int reach;
    bool folded;
    std::vector<T> forward, backward;
    std::vector<std::int8_t> pivot;

    PivotedView<T> view() const { return {n, folded, forward.data(), backward.data(), pivot.data()}; }
    std::size_t bytes() const { return (forward.size() + backward.size()) * sizeof(T) + pivot.size(); }
};

// Exactly one of the three is there: the one that report.path names.
template <class T> struct SolveTables {
    FactorReport report;
    std::optional<PartitionTables<T>> partitioned;
    std::optional<DirectTables<T>> direct;
    std::optional<PivotedTables<T>> pivoted;
};

// Chooses the fastest path that keeps its accuracy on probe systems. `partition` says how the backend would cut a
// system of this size; empty if it has no partitioned kernel for it.
template <class T>
SolveTables<T> prepare(const BandMatrix& matrix, const std::optional<Partition>& partition = std::nullopt);

// The CPU factor is the tables themselves.
template <class T> struct FactorData<T, Host> { SolveTables<T> tables; };

} // namespace bandmill::detail
