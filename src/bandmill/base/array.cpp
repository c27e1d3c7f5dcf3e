#include "bandmill/base/array.hpp"

#include "bandmill/version.hpp"

#include <cstdlib>

namespace bandmill {

const char* version() { return BANDMILL_VERSION; }

void* allocate(Host, std::size_t bytes) {
    constexpr std::size_t alignment = 64; // one cache line, one AVX-512 vector
    if (bytes == 0) return nullptr;
    void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory == nullptr)
        throw OutOfMemory("cannot allocate " + std::to_string(bytes) +
                          " bytes of host memory (the system has no more): use a smaller batch");
    return memory;
}

void release(Host, void* memory) noexcept { std::free(memory); }

} // namespace bandmill
