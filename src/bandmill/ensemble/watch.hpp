// Watch: looks at max |C| of every member before a run and after each of its chunks, for members that are lost and for
// a time step that is too long.
#pragma once

#include "bandmill/ensemble/ensemble.hpp"

namespace bandmill::detail {

class Watch {
  public:
    // `marks`, one per member, outlives the run: a member is listed as lost once.
    // `epsilon` is that of the precision.
    Watch(const EnsembleSpec& spec, double time_step, double epsilon, const RunPlan& plan, std::span<char> marks)
        : spec_(spec), time_step_(time_step), epsilon_(epsilon), plan_(plan), marks_(marks) {}

    // Separated states overshoot +-1 by up to this much, so a run from small noise is judged by it from the start.
    // Where no member of a slice passes it, nothing more need be known of them.
    static constexpr double usual_largest = 1.05;
    // The members from `first` on: lists those that are not finite.
    void look_at(std::int64_t first, std::span<const double> largest, double time);
    // After all slices of which something has to be known: throws Unstable where the plan asks for it, or if no member
    // is left. Warns if the time step is too long for the others: once, and again when it is twice as bad.
    void judge(double time);
    std::vector<LostMember> take_lost() { return std::move(lost_); }

  private:
    void warn_of_time_step(double time);
    void warn_of_round_off();
    void warn(const std::string& warning) const;
    std::string describe(std::int64_t member) const; // counted from 0

    const EnsembleSpec& spec_;
    double time_step_, epsilon_;
    const RunPlan& plan_;
    std::span<char> marks_;
    std::vector<LostMember> lost_;
    double largest_ = usual_largest; // of those that are not lost
    double warned_excess_ = 1;       // time step over its limit, when it was warned of
    bool looked_ = false;
};

} // namespace bandmill::detail
