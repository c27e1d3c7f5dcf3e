// A rival's way of taking time steps, as an ensemble does: from states to states. Ready to step when constructed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace app {

template <class T> class RivalStepper {
  public:
    virtual ~RivalStepper() = default;
    virtual std::string path() const = 0;
    virtual std::size_t held_bytes() const = 0; // all it keeps: states, right-hand sides, matrices or factor, workspace
    virtual void advance(std::int64_t steps) = 0;                                    // returns when they are done
    virtual std::vector<T> states(std::int64_t first, std::int64_t count) const = 0; // [member][point]
};

} // namespace app
