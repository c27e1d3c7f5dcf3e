#include "bandmill/cluster/rows.hpp"

#include "bandmill/base/array.hpp"
#include "bandmill/base/philox.hpp"
#include "bandmill/base/threads.hpp"
#include "bandmill/cluster/nearest.hpp"
#include "bandmill/cpu/level.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bandmill::detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T> const cpu::NearestFunctions<T>& functions() {
    auto of_level = [](const auto& f64, const auto& f32) -> const cpu::NearestFunctions<T>& {
        if constexpr (std::is_same_v<T, double>)
            return f64;
        else
            return f32;
    };
    switch (cpu::level()) {
#if defined(__x86_64__)
    case cpu::Level::v4: return of_level(cpu::v4::nearest_f64, cpu::v4::nearest_f32);
    case cpu::Level::v3: return of_level(cpu::v3::nearest_f64, cpu::v3::nearest_f32);
    default: return of_level(cpu::v2::nearest_f64, cpu::v2::nearest_f32);
#else
    default: return of_level(cpu::generic::nearest_f64, cpu::generic::nearest_f32);
#endif
    }
}

template <class T> class HostRows final : public Rows<T> {
  public:
    HostRows(std::span<const RowBlock<T>> blocks, std::int64_t dimensions, int clusters, Threads threads)
        : dimensions_(dimensions), clusters_(clusters), width_(clusters * (dimensions + 1)),
          functions_(functions<T>()) {
        for (const RowBlock<T>& block : blocks)
            for (std::size_t row = 0; row < block.numbers.size(); ++row)
                rows_.push_back(block.values.data() + static_cast<std::int64_t>(row) * dimensions);
        labels_.resize(rows_.size());
        distances_.resize(rows_.size());
        // Each thread has sums of its own: a GiB of them is enough.
        const std::int64_t most = std::max<std::int64_t>(1, (std::int64_t{1} << 27) / width_);
        workers_ = static_cast<int>(std::min<std::int64_t>(thread_count(threads), most));
        totals_.resize(static_cast<std::size_t>(width_));
        differences_.resize(static_cast<std::size_t>(workers_ * width_));
        if (!std::is_same_v<T, double>) scratch_ = Array<double, Host>(workers_ * dimensions);

        std::vector<double> largest(static_cast<std::size_t>(workers_));
        for_each_worker([&](int worker, std::int64_t first, std::int64_t last) {
            largest[static_cast<std::size_t>(worker)] = functions_.inspect(job_of(worker, nullptr, 0), first, last);
        });
        extent_.largest = *std::max_element(largest.begin(), largest.end());
        extent_.finite = std::count(labels_.begin(), labels_.end(), no_label);
    }

    RowsExtent extent() const override { return extent_; }

    void measure(std::span<const double> point, bool is_first) override {
        if (is_first) std::fill(distances_.begin(), distances_.end(), infinity);
        for_each_worker([&](int worker, std::int64_t first, std::int64_t last) {
            functions_.measure(job_of(worker, point.data(), 1), first, last);
        });
    }

    void start_over(double scale) override {
        scale_ = scale;
        for (signed char& label : labels_)
            if (label != not_finite) label = no_label;
        std::fill(totals_.begin(), totals_.end(), 0);
    }

    std::int64_t label(std::span<const double> centroids, std::span<std::int64_t> sums) override {
        std::vector<std::int64_t> changed(static_cast<std::size_t>(workers_));
        for_each_worker([&](int worker, std::int64_t first, std::int64_t last) {
            changed[static_cast<std::size_t>(worker)] =
                functions_.label(job_of(worker, centroids.data(), clusters_), first, last, differences_of(worker));
        });
        std::int64_t all = 0;
        for (int worker = 0; worker < workers_; ++worker) {
            const std::int64_t some = changed[static_cast<std::size_t>(worker)];
            if (some == 0) continue;
            all += some;
            std::int64_t* const differences = differences_of(worker);
            for (std::int64_t i = 0; i < width_; ++i) totals_[static_cast<std::size_t>(i)] += differences[i];
            std::fill_n(differences, width_, 0);
        }
        std::copy(totals_.begin(), totals_.end(), sums.begin());
        return all;
    }

    std::span<const double> distances() override { return distances_; }
    std::span<const signed char> labels() override { return labels_; }

  private:
    cpu::NearestJob<T> job_of(int worker, const double* centroids, int clusters) {
        double* const scratch = scratch_.size() == 0 ? nullptr : scratch_.data() + worker * dimensions_;
        return {rows_.data(), dimensions_, centroids, clusters, scale_, labels_.data(), distances_.data(), scratch};
    }
    std::int64_t* differences_of(int worker) { return differences_.data() + worker * width_; }

    // body(worker, first, last), with a share of the rows for every worker
    template <class Body> void for_each_worker(const Body& body) {
        const auto rows = static_cast<std::int64_t>(rows_.size());
        const std::int64_t share = (rows + workers_ - 1) / workers_;
        for_each_share(workers_, workers_, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t worker = begin; worker < end; ++worker)
                body(static_cast<int>(worker), std::min(rows, worker * share), std::min(rows, (worker + 1) * share));
        });
    }

    std::int64_t dimensions_;
    int clusters_, workers_ = 1;
    std::int64_t width_; // of a set of sums
    const cpu::NearestFunctions<T>& functions_;
    std::vector<const T*> rows_;
    std::vector<signed char> labels_;
    std::vector<double> distances_;
    std::vector<std::int64_t> totals_, differences_; // [width], [worker][width]
    Array<double, Host> scratch_;
    double scale_ = 1;
    RowsExtent extent_{};
};

// Last word of the counter: initial states use 1 (ensemble/initial_state.cpp).
constexpr std::uint32_t seeding = 2;

double arrival(double weight, std::int64_t number, std::uint64_t seed, std::uint32_t round) {
    if (!(weight > 0)) return infinity;
    const auto bits = static_cast<std::uint64_t>(number);
    const auto [word] =
        philox({{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32), round, seeding}}, seed);
    const double u = 1 - uniform(word[0], word[1]);                             // in (0, 1]
    return std::min(-std::log(u) / weight, std::numeric_limits<double>::max()); // before those of weight 0
}

} // namespace

template <class T>
std::unique_ptr<Rows<T>> make_rows(std::span<const RowBlock<T>> blocks, std::int64_t dimensions, int clusters,
                                   Threads threads) {
    return std::make_unique<HostRows<T>>(blocks, dimensions, clusters, threads);
}
template std::unique_ptr<Rows<double>> make_rows<double>(std::span<const RowBlock<double>>, std::int64_t, int, Threads);
template std::unique_ptr<Rows<float>> make_rows<float>(std::span<const RowBlock<float>>, std::int64_t, int, Threads);

RaceWinner race(std::span<const double> weights, std::span<const signed char> labels,
                std::span<const std::int64_t> numbers, std::span<const std::int64_t> chosen, std::uint64_t seed,
                std::uint32_t round, Threads threads) {
    const auto rows = static_cast<std::int64_t>(numbers.size());
    const int workers = thread_count(threads);
    std::vector<RaceWinner> winners(static_cast<std::size_t>(workers), RaceWinner{infinity});
    for_each_share(workers, workers, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t worker = begin; worker < end; ++worker) {
            RaceWinner best{infinity};
            const std::int64_t share = (rows + workers - 1) / workers;
            for (std::int64_t row = worker * share; row < std::min(rows, (worker + 1) * share); ++row) {
                const auto at = static_cast<std::size_t>(row);
                if (labels[at] == not_finite) continue;
                const RaceWinner runner{arrival(weights.empty() ? 1 : weights[at], numbers[at], seed, round),
                                        numbers[at], row};
                if (is_before(runner, best) && std::find(chosen.begin(), chosen.end(), runner.number) == chosen.end())
                    best = runner;
            }
            winners[static_cast<std::size_t>(worker)] = best;
        }
    });
    return *std::min_element(winners.begin(), winners.end(), is_before);
}

} // namespace bandmill::detail
