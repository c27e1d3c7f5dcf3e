// Runs the cases of `bandmill bench solve` on one backend.
#pragma once

#include "memory_survey.hpp"
#include "place.hpp"
#include "solve_case.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace app {

// In place, the CPU writes the lines it has just read; out of place it must also fetch the lines it writes (24 bytes
// per unknown instead of 16). A GPU writes whole lines, so there the two cost the same.
enum class Placement { in_place, out_of_place };

struct RunOptions {
    Backend backend; // cpu or cuda
    bandmill::Device device;
    bandmill::Threads threads;
    Placement placement;
    std::optional<double> sigma;
    int repetitions; // 0: as many as the time allows
    std::size_t max_bytes;
    std::vector<std::string> rivals; // by name
};

struct Result {
    std::string path;
    Timing time_us;
    double gbytes_per_s, share_of_ceiling;
    double backward_error; // largest of the sampled systems, in units of epsilon
    std::size_t held_bytes;
};

// A rival runs in the layout it is made for, in place, on the same systems, once for all records that differ in our
// layout only.
struct RivalResult {
    std::string name;
    Layout layout;
    std::variant<Result, std::string> outcome; // or why there is none
};

struct Record {
    SolveCase what;
    Placement placement;
    double sigma;
    std::size_t bytes;       // moved by one solve: each unknown read once and written once
    std::size_t field_bytes; // of one field
    bool cache_resident;
    double ceiling_gbytes_per_s;
    // A copy of this very field, timed like a solve: even that stays below the ceiling where launches count. NaN on the
    // CPU, whose ceiling has the field's size.
    double same_size_copy_us;
    Result ours;
    std::vector<RivalResult> rivals;
};

struct Skipped {
    SolveCase what;
    std::string reason;
};

class SolveRunner {
  public:
    virtual ~SolveRunner() = default;
    virtual std::string device_name() const = 0;
    virtual int threads() const = 0; // 0 on a GPU
    // The ceiling for a field of this size; measured when first asked for.
    virtual const Ceiling& ceiling(std::size_t field_bytes) = 0;
    virtual const std::vector<Ceiling>& ceilings() const = 0;
    virtual std::variant<Record, Skipped> run(const SolveCase& what) = 0;
    // Why this case cannot run: memory. Nothing if it can.
    virtual std::optional<std::string> obstacle(const SolveCase& what) const = 0;
    // What ours and the rivals hold, and the largest batch that fits.
    virtual MemorySurvey survey_memory() const = 0;
};

std::unique_ptr<SolveRunner> make_runner(const RunOptions& options);

} // namespace app
