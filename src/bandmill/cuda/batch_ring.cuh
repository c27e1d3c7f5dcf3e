// Rows on their way to a thread: asynchronous copies into a ring in shared memory that is the thread's own. It reads
// only what it fetched itself, so nothing is ever synchronised between threads.
#pragma once

#include "bandmill/band/batch_sweeps.hpp"
#include "bandmill/cuda/tuning.hpp"

#include <cstdint>

namespace bandmill::cuda {

using detail::batch_tile;

// The second-level cache lets go first of what is read once.
__device__ __forceinline__ std::uint64_t read_once_policy() {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
__device__ __forceinline__ std::uint64_t usual_policy() {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
template <class T> __device__ __forceinline__ void copy_async(T* to, const T* from, std::uint64_t policy) {
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %2, %3;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "n"(sizeof(T)), "l"(policy)
                 : "memory");
}
template <int Pending> __device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

// A thread's ring of chunks of C rows. A row has `Tabled` values that stand batch_tile apart, rows one after the other,
// and `Single` values from places of their own. Chunks are fetched downwards (Step = 1) or upwards (-1).
template <class T, int Tabled, int Single, int C, int Step> class Ring {
    static constexpr int row = Tabled + Single, width = batch_width<T>, table_row = Tabled * batch_tile;
    T* column_;
    int chunks_, at_ = 0;      // the chunk to be read next; it is refilled once it has been read
    const T* table_ = nullptr; // the first row of the chunk to be fetched next
    const T* single_[Single];
    std::int64_t stride_[Single];

  public:
    __device__ __forceinline__ Ring(T* shared, int chunks) : column_(shared + threadIdx.x), chunks_(chunks) {}
    // Where the first row of the first chunk stands.
    __device__ __forceinline__ void set_table(const T* from) { table_ = from; }
    __device__ __forceinline__ void set_single(int k, const T* from, std::int64_t stride) {
        single_[k] = from;
        stride_[k] = stride;
    }
    // Fetches the next chunk into a slot: `rows` of it, C but for the last ones; none counts as a chunk all the same.
    __device__ __forceinline__ void fetch(int slot, int rows, std::uint64_t table_policy, std::uint64_t single_policy,
                                          bool with_single = true) {
        T* const to = column_ + slot * (C * row * width);
        if (rows == C) {
#pragma unroll
            for (int j = 0; j < C; ++j)
#pragma unroll
                for (int k = 0; k < Tabled; ++k)
                    copy_async(to + (j * row + k) * width, table_ + j * table_row + k * batch_tile, table_policy);
            if (with_single) {
#pragma unroll
                for (int k = 0; k < Single; ++k) {
                    const T* from = single_[k];
#pragma unroll
                    for (int j = 0; j < C; ++j) {
                        copy_async(to + (j * row + Tabled + k) * width, from, single_policy);
                        from += stride_[k];
                    }
                }
            }
        } else {
#pragma unroll 1
            for (int j = 0; j < rows; ++j) {
#pragma unroll
                for (int k = 0; k < Tabled; ++k)
                    copy_async(to + (j * row + k) * width, table_ + j * table_row + k * batch_tile, table_policy);
#pragma unroll
                for (int k = 0; k < Single; ++k)
                    if (with_single)
                        copy_async(to + (j * row + Tabled + k) * width, single_[k] + j * stride_[k], single_policy);
            }
        }
        table_ += Step * C * table_row;
#pragma unroll
        for (int k = 0; k < Single; ++k) single_[k] += Step * C * stride_[k];
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    __device__ __forceinline__ int slot() const { return at_; }
    // The chunk to be read has arrived.
    __device__ __forceinline__ void wait() const {
        switch (chunks_) {
        case 2: wait_for_copies<1>(); break;
        case 4: wait_for_copies<3>(); break;
        case 8: wait_for_copies<7>(); break;
        default: wait_for_copies<15>(); break;
        }
    }
    // All values of row j of the chunk.
    __device__ __forceinline__ void read(int j, T (&values)[row]) const {
        const T* const from = column_ + (at_ * C + j) * (row * width);
#pragma unroll
        for (int k = 0; k < row; ++k) values[k] = from[k * width];
    }
    __device__ __forceinline__ void next() { at_ = at_ + 1 == chunks_ ? 0 : at_ + 1; }
};

} // namespace bandmill::cuda
