// Event: a moment in a CUDA stream, for timing work on the device.
#pragma once

#include "bandmill/base/space.hpp"

#include <memory>

namespace bandmill {

class Event {
  public:
    explicit Event(Device device = {}); // throws BackendUnavailable without CUDA
    void record(Stream stream = {});

    struct Handle;
    const Handle& handle() const { return *handle_; }

  private:
    std::shared_ptr<Handle> handle_;
};

// Milliseconds of device time between two recorded events; waits for the second.
double elapsed_ms(const Event& start, const Event& end);

} // namespace bandmill
