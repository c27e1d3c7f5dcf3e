// Recording: samples of consecutive steps while they are taken, one slice of the members after another.
#pragma once

#include "bandmill/ensemble/ensemble.hpp"

#include <algorithm>
#include <iterator>

namespace bandmill::detail {

class Recording {
  public:
    Recording(std::span<const ObservableRequest> requests, std::int64_t samples, std::int64_t members, bool keep_values)
        : requests_(requests), members_(members), keep_values_(keep_values),
          statistics_(static_cast<std::size_t>(samples) * requests.size()),
          samples_(static_cast<std::size_t>(samples)) {
        for (std::size_t at = 0; at < statistics_.size(); ++at)
            if (const auto& bins = requests_[at % requests_.size()].histogram)
                statistics_[at].histogram.resize(static_cast<std::size_t>(bins->bins));
        if (!keep_values_) return;
        for (Sample& sample : samples_)
            sample.values.assign(requests_.size(), std::vector<double>(static_cast<std::size_t>(members_)));
    }

    // Members first .. first + count - 1: take(target) makes the stepper fill the target.
    template <class Take> void add_slice(std::int64_t first, std::int64_t count, const Take& take) {
        if (keep_values_) scratch_.resize(statistics_.size() * static_cast<std::size_t>(count));
        take(SampleTarget{requests_, statistics_, scratch_});
        if (!keep_values_) return;
        const double* from = scratch_.data(); // [sample][request][member held]
        for (Sample& sample : samples_)
            for (std::vector<double>& values : sample.values) {
                std::copy_n(from, count, values.begin() + first);
                from += count;
            }
    }

    // After the last slice. The first sample is that of `step`.
    void move_to(std::vector<Sample>& all, std::int64_t step, double time_step) {
        auto from = std::make_move_iterator(statistics_.begin());
        for (Sample& sample : samples_) {
            sample.step = step++;
            sample.time = static_cast<double>(sample.step) * time_step;
            sample.statistics.assign(from, from + static_cast<std::ptrdiff_t>(requests_.size()));
            from += static_cast<std::ptrdiff_t>(requests_.size());
            all.push_back(std::move(sample));
        }
    }

  private:
    std::span<const ObservableRequest> requests_;
    std::int64_t members_;
    bool keep_values_;
    std::vector<EnsembleStatistic> statistics_; // [sample][request]
    std::vector<Sample> samples_;
    std::vector<double> scratch_;
};

} // namespace bandmill::detail
