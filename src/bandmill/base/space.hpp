// Where memory lives and where work runs. These types are usable without any CUDA header.
#pragma once

#include <string>
#include <vector>

struct CUstream_st; // cudaStream_t is a pointer to this

namespace bandmill {

// Memory spaces, as type tags: a host view cannot be handed to a GPU solve by mistake.
struct Host {};
struct Cuda {};

// One GPU, by its CUDA index.
struct Device {
    int index = 0;
};

// A CUDA stream that the caller owns; the default is the legacy default stream.
class Stream {
  public:
    Stream() = default;
    Stream(CUstream_st* handle) : handle_(handle) {}
    CUstream_st* handle() const { return handle_; }

  private:
    CUstream_st* handle_ = nullptr;
};

// How many CPU threads a call may use: 0 means all that OpenMP offers; requests beyond those and 64 are cut.
struct Threads {
    int count = 0;
};

struct DeviceInfo {
    int index;
    std::string name;
    int compute_major, compute_minor;
    int multiprocessors;
    std::size_t memory_bytes;
};

bool cuda_built();                      // was this library built with CUDA
std::vector<DeviceInfo> cuda_devices(); // empty without CUDA, driver or GPU; never throws for those

} // namespace bandmill
