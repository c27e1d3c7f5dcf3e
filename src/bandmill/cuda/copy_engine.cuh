// The hardware that staged and streamed kernels and marching stencils are built on, as functions: barriers in shared
// memory, the bulk tensor copy engine, clusters of blocks, launches that overlap. Compute capability 9.0 and later.
#pragma once

#include "bandmill/base/macros.hpp"

#include <cuda.h>

#include <cstdint>

namespace bandmill::cuda {

// The copy engine signals a barrier in shared memory when data has arrived.
using Barrier = unsigned long long;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ __forceinline__ void initialise(Barrier* barrier, unsigned arrivals = 1) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals));
}
__device__ __forceinline__ void make_barriers_visible() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void expect_bytes(Barrier* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void arrive(Barrier* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ __forceinline__ void wait_for(Barrier* barrier, unsigned parity) {
    unsigned done = 0;
    while (done == 0)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
}
// The same where only copies and threads of this block are waited for: it leaves the first-level cache alone.
__device__ __forceinline__ void wait_in_block(Barrier* barrier, unsigned parity) {
    unsigned done = 0;
    while (done == 0)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
}
// One thread of a whole warp. The compiler knows this one: copies then need no loop over threads.
__device__ __forceinline__ bool is_elected() {
    unsigned elected;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(elected));
    return elected != 0;
}
// Rows and columns outside the tensor arrive as zeros.
__device__ __forceinline__ void fetch_box(void* to, const CUtensorMap* map, int x, int y, Barrier* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
            shared_address(to)),
        "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y)
        : "memory");
}
__device__ __forceinline__ void fetch_box(void* to, const CUtensorMap* map, int x, int y, int z, Barrier* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
        "[%2];" ::"r"(shared_address(to)),
        "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
        : "memory");
}
__device__ __forceinline__ void fetch_bytes(void* to, const void* from, unsigned bytes, Barrier* barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}
__device__ __forceinline__ void fetch_bytes(void* to, const void* from, unsigned bytes, Barrier* barrier,
                                            std::uint64_t cache_policy) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], "
        "%4;" ::"r"(shared_address(to)),
        "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier)), "l"(cache_policy)
        : "memory");
}
// A ring of slots in shared memory, as one side sees it. A slot's barrier `full` tells that all has arrived, `empty`
// that all have read it.
class SlotRing {
    Barrier *full_, *empty_;
    int count_, slot_ = 0;
    unsigned parity_ = 0; // of the times that the ring was gone round

  public:
    __device__ __forceinline__ SlotRing(Barrier* full, Barrier* empty, int count)
        : full_(full), empty_(empty), count_(count) {}
    __device__ __forceinline__ int slot() const { return slot_; }
    __device__ __forceinline__ Barrier* full() const { return full_ + slot_; }
    __device__ __forceinline__ Barrier* empty() const { return empty_ + slot_; }
    // Waits until the slot may be filled; a new barrier passes for one that the round before has completed.
    __device__ __forceinline__ void wait_for_room() const { wait_in_block(empty(), parity_ ^ 1); }
    __device__ __forceinline__ void wait() const { wait_in_block(full(), parity_); }
    __device__ __forceinline__ void next() {
        ++slot_;
        if (slot_ == count_) {
            slot_ = 0;
            parity_ ^= 1;
        }
    }
};
// The copy engine sees what threads wrote to global memory before this. They are two ways to memory that do not wait
// for each other by themselves.
__device__ __forceinline__ void order_before_copies() { asm volatile("fence.proxy.async.global;" ::: "memory"); }
// Writes a value to the same place in another block of the cluster, and tells its barrier.
template <class Value>
__device__ __forceinline__ void send(Value* place, const Value& value, const Barrier* barrier, int rank) {
    static_assert(sizeof(Value) == 8 || sizeof(Value) == 4);
    if constexpr (sizeof(Value) == 8)
        asm volatile("{\n.reg .u32 there, signal;\n"
                     "mapa.shared::cluster.u32 there, %0, %2;\n"
                     "mapa.shared::cluster.u32 signal, %3, %2;\n"
                     "st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [there], %1, [signal];\n}" ::"r"(
                         shared_address(place)),
                     "l"(*reinterpret_cast<const long long*>(&value)), "r"(rank), "r"(shared_address(barrier))
                     : "memory");
    else
        asm volatile("{\n.reg .u32 there, signal;\n"
                     "mapa.shared::cluster.u32 there, %0, %2;\n"
                     "mapa.shared::cluster.u32 signal, %3, %2;\n"
                     "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [there], %1, [signal];\n}" ::"r"(
                         shared_address(place)),
                     "r"(*reinterpret_cast<const int*>(&value)), "r"(rank), "r"(shared_address(barrier))
                     : "memory");
}
// Relaxed: it only tells that this block has read its shared memory. With release semantics every block would wait
// until its writes to global memory have arrived, a quarter of the time.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
// The kernel before this one in the stream has ended and its writes can be seen. Until then only our own tables may be
// read. (See the launch: it lets a solve begin while the one before drains.)
__device__ __forceinline__ void wait_for_previous_kernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ __forceinline__ void let_next_kernel_begin() { asm volatile("griddepcontrol.launch_dependents;"); }

#endif

// Byte offset of a 16-byte chunk in lines of `Bytes`, as the copy engine swizzles them: eight threads that read the
// same chunk of eight lines touch different banks.
template <int Bytes> BANDMILL_HD int swizzled(int line, int chunk) {
    static_assert(Bytes == 128 || Bytes == 64);
    constexpr int shift = Bytes == 128 ? 0 : 1, mask = Bytes / 16 - 1;
    return line * Bytes + ((chunk ^ ((line >> shift) & mask)) * 16);
}

} // namespace bandmill::cuda
