// Runs the cases of `bandmill bench step` on one backend.
#pragma once

#include "rival_names.hpp"
#include "step_case.hpp"
#include "step_timing.hpp"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace app {

struct StepOptions {
    Backend backend; // cpu or cuda
    bandmill::Device device;
    StepPatience patience;
    std::vector<std::string> rivals; // by name
};

inline constexpr RivalName step_rival_names[] = {
    {"paper", "the paper's way: a pass over memory for the right-hand sides, then its periodic solver; no forcing"}};

struct StepResult {
    std::string path;
    StepTiming time_us;
    double gpoint_steps_per_s;
};

struct StepRivalResult {
    StepResult result;
    double difference; // largest in C from ours after a few steps from the same states
    bool wrong;
};

struct StepRecord {
    StepCase what;
    double length, time_step;
    std::int64_t members_per_slice;
    StepResult ours;
    std::int64_t lost;                                                        // members that were not finite in the end
    double largest;                                                           // |C| in the end
    std::map<std::string, std::variant<StepRivalResult, std::string>> rivals; // or why there is no result

    bool wrong() const { return lost > 0; }
    std::optional<double> speedup(const std::string& rival) const;
};

struct StepSkipped {
    StepCase what;
    std::string reason;
};

// Why the host cannot hold an ensemble. A GPU takes slices of what it cannot hold; the host has all states, and once
// more while they are made or fetched.
std::optional<std::string> host_obstacle(const StepCase& what);

class StepRunner {
  public:
    explicit StepRunner(StepOptions options) : options_(std::move(options)) {}
    std::string device_name() const;
    std::variant<StepRecord, StepSkipped> run(const StepCase& what);

  private:
    template <class T> StepRecord run_in(const StepCase& what);
    template <class T> std::variant<StepRivalResult, std::string> run_paper(const StepCase& what);

    StepOptions options_;
};

} // namespace app
