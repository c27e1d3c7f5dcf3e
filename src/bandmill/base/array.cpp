#include "bandmill/base/array.hpp"

#include "bandmill/version.hpp"

#include <cstdint>
#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bandmill {
namespace {

// The first touch of a page costs more than the arithmetic that fills it: factors of 100 MB are made in a third of the
// time on pages of 2 MB. Asking is all that one can do, so the answer does not matter.
void ask_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
    const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(memory), first = (from + page - 1) / page * page,
                         last = (from + bytes) / page * page;
    if (last > first) (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

} // namespace

const char* version() { return BANDMILL_VERSION; }

void* allocate(Host, std::size_t bytes) {
    constexpr std::size_t alignment = 64; // one cache line, one AVX-512 vector
    if (bytes == 0) return nullptr;
    void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory == nullptr)
        throw OutOfMemory("cannot allocate " + std::to_string(bytes) +
                          " bytes of host memory (the system has no more): use a smaller batch");
    ask_for_large_pages(memory, bytes);
    return memory;
}

void release(Host, void* memory) noexcept { std::free(memory); }

} // namespace bandmill
