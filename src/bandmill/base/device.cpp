// The only host source that sees the CUDA API: devices, memory, copies, events. cuda/missing.cpp stands in without
// CUDA.
#include "bandmill/base/device.hpp"

#include "bandmill/base/array.hpp"
#include "bandmill/base/event.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace bandmill {

void check_cuda(int code, const char* doing) {
    if (code == cudaSuccess) return;
    const auto error = static_cast<cudaError_t>(code);
    (void)cudaGetLastError(); // a failed call must not be reported again by the next launch
    throw DeviceError(std::string("CUDA failed while ") + doing + ": " + cudaGetErrorName(error) + " (" +
                      cudaGetErrorString(error) + ")");
}

namespace {

int device_count() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0; // no driver or no device: the same to a caller
    }
    return count;
}

int attribute(cudaDeviceAttr which, int device) {
    int value = 0;
    check_cuda(cudaDeviceGetAttribute(&value, which, device), "reading a device attribute");
    return value;
}

} // namespace

void require_device(Device device) {
    const int count = device_count();
    if (count == 0)
        throw BackendUnavailable(
            "no GPU is available (no NVIDIA driver or no device on this machine): use the CPU backend");
    if (device.index < 0 || device.index >= count)
        throw BackendUnavailable("there is no GPU " + std::to_string(device.index) + " (this machine has " +
                                 std::to_string(count) + ", counted from 0): choose another device index");
}

DeviceScope::DeviceScope(Device device) : previous_(-1) {
    int current = 0;
    cudaError_t code = cudaGetDevice(&current);
    if (code == cudaSuccess && current == device.index) return;
    if (code == cudaSuccess) code = cudaSetDevice(device.index);
    if (code != cudaSuccess) {
        (void)cudaGetLastError();
        require_device(device); // the usual reason, and the better text
        check_cuda(code, "choosing the device");
    }
    previous_ = current;
}

DeviceScope::~DeviceScope() {
    if (previous_ >= 0) (void)cudaSetDevice(previous_);
}

bool cuda_built() { return true; }

std::vector<DeviceInfo> cuda_devices() {
    std::vector<DeviceInfo> devices;
    const int count = device_count();
    for (int index = 0; index < count; ++index) {
        cudaDeviceProp properties;
        if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) {
            (void)cudaGetLastError();
            continue;
        }
        devices.push_back({index, properties.name, properties.major, properties.minor, properties.multiProcessorCount,
                           properties.totalGlobalMem});
    }
    return devices;
}

DeviceLimits device_limits(Device device) {
    require_device(device);
    return {attribute(cudaDevAttrComputeCapabilityMajor, device.index),
            attribute(cudaDevAttrMultiProcessorCount, device.index),
            attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device.index),
            attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device.index),
            attribute(cudaDevAttrReservedSharedMemoryPerBlock, device.index),
            attribute(cudaDevAttrL2CacheSize, device.index)};
}

void require_device_pointer(Device device, const void* pointer, const char* what) {
    cudaPointerAttributes attributes;
    check_cuda(cudaPointerGetAttributes(&attributes, pointer), "inspecting a pointer");
    const bool reachable = attributes.type == cudaMemoryTypeManaged || attributes.type == cudaMemoryTypeHost ||
                           (attributes.type == cudaMemoryTypeDevice && attributes.device == device.index);
    if (reachable) return;
    if (attributes.type == cudaMemoryTypeDevice)
        throw InvalidArgument(std::string("the ") + what + " is memory of GPU " + std::to_string(attributes.device) +
                              ", but the factor is on GPU " + std::to_string(device.index) +
                              ": factor the matrix on the GPU that holds the data");
    // Where the GPU can read the host's page tables, ordinary host memory is fine too.
    if (attribute(cudaDevAttrPageableMemoryAccess, device.index)) return;
    throw InvalidArgument(std::string("the ") + what +
                          " is host memory that the GPU cannot reach: copy it to a bandmill::Array<T, Cuda> (or any "
                          "cudaMalloc memory), or factor the matrix for the CPU");
}

void load_kernel(Device device, const void* kernel) {
    DeviceScope scope(device);
    cudaFuncAttributes attributes;
    check_cuda(cudaFuncGetAttributes(&attributes, kernel), "loading a kernel");
}

Workspace::Workspace(Device device) : device_(device) {
    if (attribute(cudaDevAttrMemoryPoolsSupported, device.index) == 0) return;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device.index;
    cudaMemPool_t pool = nullptr;
    check_cuda(cudaMemPoolCreate(&pool, &properties), "creating a pool of workspace");
    std::uint64_t keep = UINT64_MAX;
    pool_ = pool;
    if (cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep) != cudaSuccess)
        (void)cudaGetLastError(); // then memory is given back to the system sooner
}

Workspace::~Workspace() {
    if (pool_ != nullptr && cudaMemPoolDestroy(static_cast<cudaMemPool_t>(pool_)) != cudaSuccess)
        (void)cudaGetLastError(); // not the next caller's error
}

void* Workspace::take(std::size_t bytes, Stream stream) const {
    void* memory = nullptr;
    const cudaError_t code =
        pool_ != nullptr ? cudaMallocFromPoolAsync(&memory, bytes, static_cast<cudaMemPool_t>(pool_), stream.handle())
                         : cudaMalloc(&memory, bytes);
    if (code == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        throw DeviceError("cannot allocate " + std::to_string(bytes) + " bytes of workspace on GPU " +
                          std::to_string(device_.index) + " (its memory is full): solve a smaller batch at a time");
    }
    check_cuda(code, "allocating workspace");
    return memory;
}

void Workspace::give_back(void* memory, Stream stream) const noexcept {
    const cudaError_t code = pool_ != nullptr ? cudaFreeAsync(memory, stream.handle()) : cudaFree(memory);
    if (code != cudaSuccess) (void)cudaGetLastError(); // an earlier failure of the stream, which its user will meet
}

void* allocate(Cuda, Device device, std::size_t bytes) {
    require_device(device);
    if (bytes == 0) return nullptr;
    DeviceScope scope(device);
    void* memory = nullptr;
    const cudaError_t code = cudaMalloc(&memory, bytes);
    if (code == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        throw DeviceError("cannot allocate " + std::to_string(bytes) + " bytes on GPU " + std::to_string(device.index) +
                          " (its memory is full): use a smaller batch, or solve it in slices");
    }
    check_cuda(code, "allocating device memory");
    return memory;
}

void release(Cuda, Device device, void* memory) noexcept {
    if (memory == nullptr) return;
    int current = 0; // a destructor must not throw, so no DeviceScope
    (void)cudaGetDevice(&current);
    (void)cudaSetDevice(device.index);
    if (cudaFree(memory) != cudaSuccess) (void)cudaGetLastError(); // not the next caller's error
    (void)cudaSetDevice(current);
}

void copy_to_device(Device device, void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    DeviceScope scope(device);
    check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying to the device");
    check_cuda(cudaStreamSynchronize(nullptr), "copying to the device"); // pageable copies may return early
}

void copy_to_host(Device device, void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    DeviceScope scope(device);
    check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying to the host");
}

void copy_on_device(Device device, void* to, const void* from, std::size_t bytes, Stream stream) {
    if (bytes == 0) return;
    DeviceScope scope(device);
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream.handle()), "copying on the device");
}

void synchronize(Device device, Stream stream) {
    require_device(device);
    DeviceScope scope(device);
    check_cuda(cudaStreamSynchronize(stream.handle()), "waiting for a stream");
}

std::size_t free_memory(Device device) {
    require_device(device);
    DeviceScope scope(device);
    std::size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "asking for free memory");
    return free;
}

struct Event::Handle {
    Device device;
    cudaEvent_t event = nullptr;
    explicit Handle(Device where) : device(where) {
        require_device(device);
        DeviceScope scope(device);
        check_cuda(cudaEventCreate(&event), "creating an event");
    }
    ~Handle() { (void)cudaEventDestroy(event); }
};

Event::Event(Device device) : handle_(std::make_shared<Handle>(device)) {}

void Event::record(Stream stream) {
    DeviceScope scope(handle_->device);
    check_cuda(cudaEventRecord(handle_->event, stream.handle()), "recording an event");
}

double elapsed_ms(const Event& start, const Event& end) {
    check_cuda(cudaEventSynchronize(end.handle().event), "waiting for an event");
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, start.handle().event, end.handle().event),
               "reading an event's time");
    return milliseconds;
}

} // namespace bandmill
