// What the CUDA backend needs of the runtime, without its headers. Not installed.
#pragma once

#include "bandmill/base/error.hpp"
#include "bandmill/base/space.hpp"

#include <cstddef>
#include <string>

namespace bandmill {

// Throws DeviceError unless the cudaError_t `code` is cudaSuccess; `doing` completes "CUDA failed while ...".
void check_cuda(int code, const char* doing);
// Throws BackendUnavailable unless the device exists.
void require_device(Device device);
// Throws InvalidArgument if kernels on this device cannot reach the pointer: an illegal access would end the process's
// use of the GPU. Costs well under a microsecond and does not synchronise.
void require_device_pointer(Device device, const void* pointer, const char* what);

// Loads a kernel onto a device, so that its first launch neither waits nor disturbs a graph capture.
void load_kernel(Device device, const void* kernel);

// Makes a device current for a scope and puts the caller's back afterwards.
class DeviceScope {
  public:
    explicit DeviceScope(Device device);
    ~DeviceScope();
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;

  private:
    int previous_;
};

// Memory for the length of a solve, ordered by its stream: nothing waits, and several streams may solve at once. What
// is given back stays here for the next time, until the Workspace goes.
class Workspace {
  public:
    explicit Workspace(Device device);
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    void* take(std::size_t bytes, Stream stream) const;
    void give_back(void* memory, Stream stream) const noexcept;

  private:
    Device device_;
    void* pool_ = nullptr; // none on devices without pools: each solve then allocates, and waits for it
};

struct DeviceLimits {
    int compute_major;
    int multiprocessors;
    int shared_bytes_per_block; // with opt-in
    int shared_bytes_per_multiprocessor;
    int reserved_shared_bytes_per_block;
    int cache_bytes; // second level
};
DeviceLimits device_limits(Device device);

} // namespace bandmill
