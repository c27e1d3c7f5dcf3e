// Runs the cases of `bandmill bench diffusion` and `hyperdiffusion` on one backend: how long do the paper's thousand
// steps take, by an ensemble and by the other ways (step_ways.hpp)?
#pragma once

#include "step_runner.hpp"

#include <memory>

namespace app {

struct PaperOptions {
    Backend backend; // cpu or cuda
    bandmill::Device device;
    int threads;
    std::int64_t steps;
    int repetitions;                 // 0: as many as take 0.3 s, up to 5
    double most_seconds;             // a way that would take longer takes fewer steps, and its time is scaled
    std::vector<std::string> rivals; // by name
};

struct PaperTiming {
    double median, min, max; // milliseconds of all steps
    int repetitions;
    std::int64_t timed_steps; // fewer than all: the times are scaled
};

struct PaperResult {
    std::string path;
    PaperTiming time_ms;
    double held_bytes;
    // The largest in C from a small ensemble, over the largest C of that: for the first and the last members, after the
    // warm-up and the first repetition.
    double difference;
    bool wrong;
};

struct PaperRecord {
    using Outcome = std::variant<PaperResult, std::string>; // or why there is no result

    StepCase what;
    double length, time_step, sigma; // sigma: of the differences in a step
    std::int64_t steps, members_per_slice;
    PaperResult ours;
    std::vector<std::pair<std::string, Outcome>> rivals;

    const PaperResult* result(const std::string& rival) const; // null if there is none
    // How many times as fast `way` is as `rival`; "resident" is the ensemble. Nothing if either is missing or wrong.
    std::optional<double> speedup(const std::string& way, const std::string& rival) const;
    bool any_wrong() const;
};

struct PaperSkipped {
    StepCase what;
    std::string reason;
};

class PaperRunner {
  public:
    virtual ~PaperRunner() = default;
    virtual std::string device_name() const = 0;
    virtual std::variant<PaperRecord, PaperSkipped> run(const StepCase& what) = 0;
};

std::unique_ptr<PaperRunner> make_paper_runner(const PaperOptions& options);

} // namespace app
