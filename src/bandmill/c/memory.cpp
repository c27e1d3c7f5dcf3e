// The C interface to places, their memory, and the shapes of batches.
#include "bandmill/base/array.hpp"
#include "bandmill/c/guard.hpp"
#include "bandmill/version.hpp"

#include <cstring>

namespace bandmill::c {
namespace {

std::size_t byte_count(std::int64_t bytes) {
    if (bytes < 0)
        throw InvalidArgument("there is no memory of " + std::to_string(bytes) + " bytes: give zero or more");
    return static_cast<std::size_t>(bytes);
}

std::size_t copied_bytes(const void* to, const void* from, std::int64_t bytes) {
    const std::size_t count = byte_count(bytes);
    if (count > 0) {
        require(to, "destination of a copy");
        require(from, "source of a copy");
    }
    return count;
}

} // namespace
} // namespace bandmill::c

using namespace bandmill::c;

extern "C" {

const char* bandmill_version(void) { return bandmill::version(); }
int bandmill_cuda_built(void) { return bandmill::cuda_built() ? 1 : 0; }

int bandmill_device_count(void) {
    int count = 0;
    guarded([&] { count = static_cast<int>(bandmill::cuda_devices().size()); });
    return count;
}

int bandmill_allocate(int place, int64_t bytes, void** memory) {
    return guarded([&] {
        *require(memory, "pointer that is to take the memory") = nullptr;
        const std::size_t count = byte_count(bytes);
        *memory = on_cpu(place) ? bandmill::allocate(bandmill::Host{}, count)
                                : bandmill::allocate(bandmill::Cuda{}, bandmill::Device{place}, count);
    });
}

void bandmill_release(int place, void* memory) {
    if (place == BANDMILL_CPU)
        bandmill::release(bandmill::Host{}, memory);
    else if (place >= 0)
        bandmill::release(bandmill::Cuda{}, bandmill::Device{place}, memory);
}

int bandmill_copy_to(int place, void* to, const void* from_host, int64_t bytes) {
    return guarded([&] {
        const std::size_t count = copied_bytes(to, from_host, bytes);
        if (!on_cpu(place))
            bandmill::copy_to_device(bandmill::Device{place}, to, from_host, count);
        else if (count > 0)
            std::memmove(to, from_host, count);
    });
}

int bandmill_copy_from(int place, void* to_host, const void* from, int64_t bytes) {
    return guarded([&] {
        const std::size_t count = copied_bytes(to_host, from, bytes);
        if (!on_cpu(place))
            bandmill::copy_to_host(bandmill::Device{place}, to_host, from, count);
        else if (count > 0)
            std::memmove(to_host, from, count);
    });
}

int bandmill_synchronize(int place, void* stream) {
    return guarded([&] {
        if (on_cpu(place))
            refuse_stream(stream);
        else
            bandmill::synchronize(bandmill::Device{place}, as_stream(stream));
    });
}

bandmill_shape bandmill_interleaved(int64_t rows, int64_t batch) { return {rows, batch, batch, 1, 0, 0}; }
bandmill_shape bandmill_contiguous(int64_t rows, int64_t batch) { return {rows, batch, 1, rows, 0, 0}; }
bandmill_shape bandmill_strided(int64_t rows, int64_t batch, int64_t row_stride, int64_t batch_stride) {
    return {rows, batch, row_stride, batch_stride, 0, 0};
}

// Whatever is wrong with the sizes is said by the function that is given the shape: it has no tiles of -1 systems, and
// none that far apart.
bandmill_shape bandmill_tiled(int64_t rows, int64_t batch, int64_t width) {
    if (width < 1) return {rows, batch, 1, 1, -1, 0};
    const bool fits = rows < 1 || width <= INT64_MAX / rows;
    return {rows, batch, width, 1, width, fits ? rows * width : INT64_MAX};
}
}
