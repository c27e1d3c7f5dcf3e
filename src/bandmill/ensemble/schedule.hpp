// Schedule: which steps a run takes, in which chunks, and after which of them it samples.
#pragma once

#include "bandmill/ensemble/ensemble.hpp"

namespace bandmill::detail {

// The first step whose time reaches `time`. A ratio within 1e-9 of a whole number is one: 0.3 / 0.1 is 3 steps.
std::int64_t steps_to_reach(double time, double time_step);

class Schedule {
  public:
    // Throws InvalidArgument for a plan that makes no sense. `held` members are stepped at a time.
    Schedule(const RunPlan& plan, double time_step, std::int64_t held);

    std::int64_t steps() const { return steps_; }
    bool samples_every_step() const { return every_step_; }
    bool samples_at(std::int64_t step) const;
    // How many steps to take after `step`: up to a chunk, the next sample, or the end.
    std::int64_t chunk_after(std::int64_t step) const;

  private:
    std::int64_t steps_, chunk_;
    bool every_step_;
    std::vector<std::int64_t> samples_; // ascending, each once
};

} // namespace bandmill::detail
