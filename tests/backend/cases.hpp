// The cases of the accuracy tests: every pair of values of every two dimensions, and the extremes in full.
#pragma once

#include "layouts.hpp"
#include "matrices.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bandmill::test {

enum class Placement { in_place, out_of_place, other_layout }; // other_layout: out of place, from one layout to another
enum class Precision { f64, f32 };

struct Case {
    std::int64_t n;
    MatrixKind kind;
    int half_bandwidth;
    Storage storage;
    std::int64_t batch;
    LayoutKind layout;
    Placement placement;
    Precision precision;
    Boundary boundary;

    std::int64_t elements() const { return n * batch; }
};

std::string describe(const Case& c);

// Greedy all-pairs covering array: rows of value indices, such that every pair of values that `allowed` admits occurs
// in some row. Where several values are equally good, `frugal` rows take the first, others take turns.
using Row = std::vector<int>;
using PairRule = std::function<bool(int dimension_a, int a, int dimension_b, int b)>;
std::vector<Row> cover_pairs(const std::vector<int>& sizes, const PairRule& allowed,
                             const std::function<bool(const Row&)>& frugal);

const std::vector<Case>& pairwise_cases();
// kind x precision x boundary x W x storage in full: n = 1..6, 70, 257 with 33 systems; 4096, 100000 with 2.
const std::vector<Case>& extreme_cases();

} // namespace bandmill::test
