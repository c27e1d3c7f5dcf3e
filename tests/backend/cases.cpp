#include "cases.hpp"

#include <array>
#include <cstddef>

namespace bandmill::test {
namespace {

enum Dimension { of_n, of_kind, of_width, of_storage, of_batch, of_layout, of_placement, of_precision, of_boundary };

const std::vector<std::int64_t>& sizes_of_n() {
    static const std::vector<std::int64_t> sizes = [] {
        std::vector<std::int64_t> list;
        for (std::int64_t n = 1; n <= 70; ++n) list.push_back(n);
        for (std::int64_t n : {127, 128, 129, 255, 256, 257, 1000, 1023, 1024, 1025, 4096, 16384, 100000})
            list.push_back(n);
        return list;
    }();
    return sizes;
}
constexpr std::array<std::int64_t, 6> batches{1, 2, 31, 32, 33, 1000};
constexpr std::array<Storage, 2> storages{Storage::toeplitz, Storage::general};
constexpr std::array<Placement, 3> placements{Placement::in_place, Placement::out_of_place, Placement::other_layout};
constexpr std::array<Precision, 2> precisions{Precision::f64, Precision::f32};
constexpr std::array<Boundary, 2> boundaries{Boundary::open, Boundary::periodic};
// Cases from here on take the smallest batch that still covers all pairs.
constexpr std::int64_t large_n = 4096;

bool allowed(int dimension_a, int a, int dimension_b, int b) {
    if (dimension_a > dimension_b) return allowed(dimension_b, b, dimension_a, a);
    if (dimension_a == of_n && dimension_b == of_kind) return has_size(matrix_kinds()[b], sizes_of_n()[a]);
    if (dimension_a == of_kind && dimension_b == of_width) return has_half_bandwidth(matrix_kinds()[a], b + 1);
    if (dimension_a == of_kind && dimension_b == of_storage)
        return storages[b] == Storage::general || has_constant_diagonals(matrix_kinds()[a]);
    return true;
}

// Which pairs of values have occurred.
class PairTable {
  public:
    explicit PairTable(const std::vector<int>& sizes) : sizes_(sizes), first_(sizes.size() + 1, 0) {
        for (std::size_t d = 0; d < sizes.size(); ++d) first_[d + 1] = first_[d] + sizes[d];
        seen_.assign(static_cast<std::size_t>(first_.back()) * first_.back(), false);
    }
    bool seen(int dimension_a, int a, int dimension_b, int b) const {
        return seen_[index(dimension_a, a, dimension_b, b)];
    }
    void see(const Row& row) {
        for (std::size_t d = 0; d < row.size(); ++d)
            for (std::size_t e = 0; e < row.size(); ++e) seen_[index(d, row[d], e, row[e])] = true;
    }

  private:
    std::size_t index(int dimension_a, int a, int dimension_b, int b) const {
        return static_cast<std::size_t>(first_[dimension_a] + a) * first_.back() + first_[dimension_b] + b;
    }
    std::vector<int> sizes_, first_;
    std::vector<bool> seen_;
};

// Gives every dimension that is still -1 the value that brings the most new pairs.
void complete(Row& row, const std::vector<int>& sizes, const PairRule& rule, const PairTable& table, int turn) {
    const int dimensions = static_cast<int>(sizes.size());
    for (int d = 0; d < dimensions; ++d) {
        if (row[d] >= 0) continue;
        int best = -1, best_gain = -1;
        for (int step = 0; step < sizes[d]; ++step) {
            const int value = (step + turn) % sizes[d];
            int gain = 0;
            for (int e = 0; e < dimensions && gain >= 0; ++e) {
                if (e == d || row[e] < 0) continue;
                if (!rule(d, value, e, row[e]))
                    gain = -1;
                else if (!table.seen(d, value, e, row[e]))
                    ++gain;
            }
            if (gain > best_gain) {
                best = value;
                best_gain = gain;
            }
        }
        row[d] = best;
    }
}

Case make_case(const Row& row) {
    return {sizes_of_n()[row[of_n]],       matrix_kinds()[row[of_kind]],  row[of_width] + 1,
            storages[row[of_storage]],     batches[row[of_batch]],        all_layouts[row[of_layout]],
            placements[row[of_placement]], precisions[row[of_precision]], boundaries[row[of_boundary]]};
}

std::vector<Case> make_extreme_cases() {
    std::vector<Case> cases;
    for (std::int64_t n : {1, 2, 3, 4, 5, 6, 70, 257, 4096, 100000})
        for (const MatrixKind& kind : matrix_kinds())
            for (int w = 1; w <= 2; ++w)
                for (Storage storage : storages)
                    for (Precision precision : precisions)
                        for (Boundary boundary : boundaries) {
                            if (!has_size(kind, n) || !has_half_bandwidth(kind, w)) continue;
                            if (storage == Storage::toeplitz && !has_constant_diagonals(kind)) continue;
                            const std::size_t turn = cases.size();
                            cases.push_back({n, kind, w, storage, n < large_n ? 33 : 2,
                                             all_layouts[turn % std::size(all_layouts)], placements[turn % 3],
                                             precision, boundary});
                        }
    return cases;
}

} // namespace

std::vector<Row> cover_pairs(const std::vector<int>& sizes, const PairRule& rule,
                             const std::function<bool(const Row&)>& frugal) {
    const int dimensions = static_cast<int>(sizes.size());
    PairTable table(sizes);
    std::vector<Row> rows;
    for (int d = 0; d < dimensions; ++d)
        for (int e = d + 1; e < dimensions; ++e)
            for (int a = 0; a < sizes[d]; ++a)
                for (int b = 0; b < sizes[e]; ++b) {
                    if (table.seen(d, a, e, b) || !rule(d, a, e, b)) continue;
                    Row row(dimensions, -1);
                    row[d] = a;
                    row[e] = b;
                    complete(row, sizes, rule, table, frugal(row) ? 0 : static_cast<int>(rows.size()));
                    table.see(row);
                    rows.push_back(std::move(row));
                }
    return rows;
}

std::string describe(const Case& c) {
    static const char* const placement_names[] = {"in place", "out of place", "to another layout"};
    return name(c.kind) + ", n = " + std::to_string(c.n) + ", W = " + std::to_string(c.half_bandwidth) +
           (c.boundary == Boundary::open ? ", open" : ", periodic") +
           (c.storage == Storage::toeplitz ? ", toeplitz" : ", general") +
           (c.precision == Precision::f64 ? ", f64" : ", f32") + ", batch = " + std::to_string(c.batch) + ", " +
           name(c.layout) + ", " + placement_names[static_cast<int>(c.placement)];
}

const std::vector<Case>& pairwise_cases() {
    static const std::vector<Case> cases = [] {
        const std::vector<int> sizes{static_cast<int>(sizes_of_n().size()),
                                     static_cast<int>(matrix_kinds().size()),
                                     2,
                                     2,
                                     static_cast<int>(batches.size()),
                                     static_cast<int>(std::size(all_layouts)),
                                     3,
                                     2,
                                     2};
        const auto frugal = [](const Row& row) { return row[of_n] >= 0 && sizes_of_n()[row[of_n]] >= large_n; };
        std::vector<Case> list;
        for (const Row& row : cover_pairs(sizes, allowed, frugal)) list.push_back(make_case(row));
        return list;
    }();
    return cases;
}

const std::vector<Case>& extreme_cases() {
    static const std::vector<Case> cases = make_extreme_cases();
    return cases;
}

} // namespace bandmill::test
