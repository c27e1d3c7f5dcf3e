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

    // Lists members that are not finite; throws Unstable where the plan asks for it, or if none is left. Warns if the
    // time step is too long for the others: once, and again when it is twice as bad.
    void look(std::span<const double> largest, double time);
    std::vector<LostMember> take_lost() { return std::move(lost_); }

  private:
    void list_lost(std::span<const double> largest, double time);
    void warn_of_time_step(double largest, double time);
    void warn_of_round_off();
    void warn(const std::string& warning) const;
    std::string describe(std::int64_t member) const; // counted from 0

    const EnsembleSpec& spec_;
    double time_step_, epsilon_;
    const RunPlan& plan_;
    std::span<char> marks_;
    std::vector<LostMember> lost_;
    double warned_excess_ = 1; // time step over its limit, when it was warned of
    bool looked_ = false;
};

} // namespace bandmill::detail
