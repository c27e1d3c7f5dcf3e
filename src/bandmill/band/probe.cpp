#include "bandmill/band/probe.hpp"

#include "bandmill/band/extended.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bandmill::detail {
namespace {

// A fixed stream of numbers in (-1, 1): factoring the same matrix twice must choose the same path.
class Noise {
  public:
    Extended operator()() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<Extended>(static_cast<std::int64_t>(state_)) / 9223372036854775808.0L;
    }

  private:
    std::uint64_t state_ = 20201;
};

// sum_j A[row, j] x_j
template <class T> Extended apply_row(const BandMatrix& matrix, std::int64_t row, const std::vector<T>& x) {
    Extended sum = 0;
    for_each_entry(matrix, row, [&](std::int64_t column, Extended value) { sum += value * x[column]; });
    return sum;
}

template <class T> struct HostRows {
    using Value = T;
    static constexpr int ahead = 1;
    T* x;
    T load(std::int64_t i) const { return x[i]; }
    void keep(std::int64_t i, T g) { x[i] = g; }
    T kept(std::int64_t i) const { return x[i]; }
    void store(std::int64_t i, T value) { x[i] = value; }
};

} // namespace

template <class T> Probe<T>::Probe(const BandMatrix& matrix) : matrix_(matrix) {
    const std::int64_t n = matrix.size();
    row_sum_.resize(n);
    for (std::int64_t i = 0; i < n; ++i) row_sum_[i] = detail::row_sum(matrix, i);

    Noise noise;
    std::vector<T> x(n), b(n);
    auto add_right_hand_side = [&](auto&& value) {
        for (std::int64_t i = 0; i < n; ++i) b[i] = static_cast<T>(value(i));
        const bool usable = std::all_of(b.begin(), b.end(), [](T v) { return std::isfinite(v); });
        if (usable) right_hand_sides_.push_back(b);
    };
    // Right-hand sides of the size of their rows: rough, constant, at one end only ...
    add_right_hand_side([&](std::int64_t i) { return row_sum_[i] * noise(); });
    add_right_hand_side([&](std::int64_t i) { return row_sum_[i]; });
    add_right_hand_side([&](std::int64_t i) { return i == 0 ? row_sum_[i] : 0; });
    add_right_hand_side([&](std::int64_t i) { return i == n - 1 ? row_sum_[i] : 0; });
    // ... and those whose solution is known to be rough, or smooth: the hard ones for a stiff matrix.
    for (auto& value : x) value = static_cast<T>(noise());
    add_right_hand_side([&](std::int64_t i) { return apply_row(matrix, i, x); });
    for (std::int64_t i = 0; i < n; ++i)
        x[i] = static_cast<T>(1 + std::sin(6.283185307179586L * (static_cast<Extended>(i) + 0.3L) / n));
    add_right_hand_side([&](std::int64_t i) { return apply_row(matrix, i, x); });
}

template <class T> double Probe<T>::backward_error(const std::function<void(T*)>& solve) const {
    const Extended epsilon = std::numeric_limits<T>::epsilon();
    Extended worst = 0;
    for (const std::vector<T>& b : right_hand_sides_) {
        std::vector<T> x = b;
        solve(x.data());
        Extended largest = 0;
        for (T value : x) {
            if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
            largest = std::max(largest, std::abs(Extended(value)));
        }
        for (std::int64_t i = 0; i < matrix_.size(); ++i) {
            const Extended size = row_sum_[i] * largest + std::abs(Extended(b[i]));
            const Extended residual = std::abs(Extended(b[i]) - apply_row(matrix_, i, x));
            if (residual > 0) worst = std::max(worst, residual / (epsilon * size));
        }
    }
    return static_cast<double>(worst);
}

template <class T> void solve_direct(const DirectView<T>& view, int width, bool periodic, T* x) {
    HostRows<T> rows{x};
    if (width == 1)
        periodic ? sweep_direct<1, true>(view, rows) : sweep_direct<1, false>(view, rows);
    else
        periodic ? sweep_direct<2, true>(view, rows) : sweep_direct<2, false>(view, rows);
}

template <class T> void solve_pivoted(const PivotedView<T>& view, int reach, T* x) {
    HostRows<T> rows{x};
    switch (reach) {
    case 1: return sweep_pivoted<1>(view, rows);
    case 2: return sweep_pivoted<2>(view, rows);
    default: return sweep_pivoted<4>(view, rows);
    }
}

namespace {

template <class T, int W> struct Edge {
    T value[W] = {};
};

// The ends of groups, as solve_ends wants them.
template <class T, int W> struct HostEnds {
    const PartitionView<T>& view;
    std::vector<Edge<T, W>>& edge; // of all separators
    const std::vector<Edge<T, W>>& spill;
    int worker = 0, workers = 1;

    void load(int c, T (&value)[W]) const { std::copy_n(edge[view.end_of(c)].value, W, value); }
    void load_spill(int c, T (&value)[W]) const { std::copy_n(spill[c * view.group].value, W, value); }
    void keep(int c, const T (&value)[W]) { std::copy_n(value, W, edge[view.end_of(c)].value); }
    void store(int c, const T (&value)[W]) { keep(c, value); }
    const T* table(int c) const { return view.separators + std::int64_t(view.end_of(c)) * SeparatorLayout<W>::entries; }
    void wait() const {}
};

template <class T, int W, int K> void run_segments(const PartitionView<T>& view, T* x) {
    using Layout = SeparatorLayout<W>;
    const int count = view.segments, group = view.group, root = count - 1;
    std::vector<Segment<T, W, K>> segments(count);
    std::vector<Edge<T, W>> spill(count), edge(count), from_right(count);
    auto block = [&](std::int64_t p, int part) { return view.separators + p * Layout::entries + part; };
    auto is_end = [&](int p) { return p % group == group - 1; };
    auto level_of = [&](int p) { return std::min(separator_level(p % group), view.levels); };

    for (int p = 0; p < count; ++p) {
        const std::int64_t begin = segment_start<std::int64_t>(p, count, view.n),
                           end = segment_start<std::int64_t>(p + 1, count, view.n);
        segments[p].table = view.rows + static_cast<std::int64_t>(p) * SegmentLayout<W>::columns * K;
        for (int j = 0; j < K; ++j) segments[p].g[j] = end - K + j >= begin ? x[end - K + j] : T(0);
        segments[p].sweep_down(spill[p].value);
        for (int w = 0; w < W; ++w) edge[p].value[w] = segments[p].g[K - W + w];
    }
    for (int p = 0; p < count; ++p)
        if (!is_end(p)) from_right[p] = spill[p + 1];
    auto close = [&](int p) {
        for (int w = 0; w < W; ++w) edge[p].value[w] += from_right[p].value[w];
        solve_lower<W>(block(p, 0), edge[p].value);
    };
    for (int level = 0; level < view.levels; ++level) {
        for (int p = 0; p < count; ++p)
            if (!is_end(p) && level_of(p) == level) close(p);
        for (int p = 0; p < count; ++p) {
            const int q = p % group, first = p - q;
            if (q == 0 && (1 << level) < group) { // what the group spills to the left
                const int sender = first + (1 << level) - 1;
                add_product<W>(spill[p].value, block(sender, Layout::to_left), edge[sender].value);
            }
            if (!is_end(p) && level_of(p) <= level) continue;
            const int left = sender_from_left(q, level, group), right = sender_from_right(q, level, group);
            if (left >= 0)
                add_product<W>(edge[p].value, block(first + left, Layout::to_right), edge[first + left].value);
            if (right >= 0)
                add_product<W>(from_right[p].value, block(first + right, Layout::to_left), edge[first + right].value);
        }
    }
    HostEnds<T, W> ends{view, edge, spill};
    solve_ends<W, T>(view, ends);
    for (int level = view.levels; level >= 0; --level)
        for (int p = 0; p < count; ++p) {
            if (is_end(p) || level_of(p) != level) continue;
            const int q = p % group, first = p - q;
            if (level == view.levels) {
                close(p);
            } else {
                const int left = first + left_neighbour(q, level), right = first + right_neighbour(q, level, group);
                if (left >= 0 || view.periodic)
                    add_product<W>(edge[p].value, block(p, Layout::from_left), edge[left >= 0 ? left : root].value);
                add_product<W>(edge[p].value, block(p, Layout::from_right), edge[right].value);
            }
            solve_upper<W>(block(p, 0), edge[p].value);
        }
    for (int p = 0; p < count; ++p) {
        const std::int64_t begin = segment_start<std::int64_t>(p, count, view.n),
                           end = segment_start<std::int64_t>(p + 1, count, view.n);
        for (int w = 0; w < W; ++w) segments[p].g[K - W + w] = edge[p].value[w];
        const Edge<T, W> left = p > 0 ? edge[p - 1] : view.periodic ? edge[root] : Edge<T, W>{};
        segments[p].sweep_up(left.value);
        for (int j = 0; j < K; ++j)
            if (end - K + j >= begin) x[end - K + j] = segments[p].g[j];
    }
}

template <class T, int W> void run_slots(const PartitionTables<T>& tables, T* x) {
    tables.partition.slots == 16 ? run_segments<T, W, 16>(tables.view(), x) : run_segments<T, W, 32>(tables.view(), x);
}

} // namespace

template <class T> void solve_partitioned(const PartitionTables<T>& tables, int width, T* x) {
    width == 1 ? run_slots<T, 1>(tables, x) : run_slots<T, 2>(tables, x);
}

template class Probe<double>;
template class Probe<float>;
template void solve_partitioned<double>(const PartitionTables<double>&, int, double*);
template void solve_partitioned<float>(const PartitionTables<float>&, int, float*);
template void solve_direct<double>(const DirectView<double>&, int, bool, double*);
template void solve_direct<float>(const DirectView<float>&, int, bool, float*);
template void solve_pivoted<double>(const PivotedView<double>&, int, double*);
template void solve_pivoted<float>(const PivotedView<float>&, int, float*);

} // namespace bandmill::detail
