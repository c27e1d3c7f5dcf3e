// Runs the cases of `bandmill bench own` on one backend: a matrix for every system, factored and solved in one call,
// and solved with a factor made before.
#pragma once

#include "solve_runner.hpp"

namespace app {

struct OwnCase : SolveCase {
    int blocks = 0, chunks = 0; // of the GPU's launches; 0: as the library chooses
};

struct OwnRecord {
    OwnCase what;
    double sigma;
    bool cache_resident;
    double ceiling_gbytes_per_s;
    // What has to be moved: the diagonals (combined) or the factor (solve), the right-hand side and the solution.
    std::size_t combined_bytes, solve_bytes;
    // Of y between the two sweeps of a solve, there and back: what all of a multiprocessor's shared memory could
    // not keep.
    std::size_t spilled_bytes;
    Result combined, solve;
    std::vector<RivalResult> rivals; // they factor and solve
};

struct OwnSkipped {
    OwnCase what;
    std::string reason;
};

class OwnRunner {
  public:
    virtual ~OwnRunner() = default;
    virtual std::string device_name() const = 0;
    virtual int threads() const = 0;
    virtual std::variant<OwnRecord, OwnSkipped> run(const OwnCase& what) = 0;
};

std::unique_ptr<OwnRunner> make_own_runner(const RunOptions& options);

// The standard set of a backend: that of `bench solve` where it is interleaved, and without the largest batches.
std::vector<OwnCase> make_own_cases(const CaseLists& lists, Backend backend);

} // namespace app
