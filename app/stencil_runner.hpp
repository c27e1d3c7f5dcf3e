// Runs the cases of `bandmill bench stencil` on one backend.
#pragma once

#include "rival_names.hpp"
#include "stencil_case.hpp"
#include "timing.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace app {

inline constexpr RivalName stencil_rival_names[] = {
    {"naive", "one point after the other, or a GPU thread for each: neighbours fetched from memory"}};

struct StencilOptions {
    Backend backend; // cpu or cuda
    bandmill::Device device;
    bandmill::Threads threads;
    int repetitions; // 0: as many as the time allows
    std::vector<std::string> rivals;
};

struct StencilResult {
    Timing time_us;
    double gbytes_per_s, share_of_ceiling;
    double
        error; // largest of sampled points, in epsilons of the magnitudes summed; of a slope where there is advection
    bool wrong;
};

struct StencilRecord {
    StencilCase what;
    int threads;
    double ceiling_gbytes_per_s; // GPU: a large copy; CPU: a copy of this very field
    double same_size_copy_us;    // a copy of this very field, timed like a stencil
    StencilResult ours;
    std::optional<StencilResult> naive;
};

struct StencilSkipped {
    StencilCase what;
    std::string reason;
};

class StencilRunner {
  public:
    virtual ~StencilRunner() = default;
    virtual std::string device_name() const = 0;
    virtual std::variant<StencilRecord, StencilSkipped> run(const StencilCase& what) = 0;
};

std::unique_ptr<StencilRunner> make_stencil_runner(const StencilOptions& options);

} // namespace app
