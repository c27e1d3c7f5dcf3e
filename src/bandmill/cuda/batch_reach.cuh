// Long open systems are swept down in pieces. With most matrices a row is soon forgotten: what y was some rows above
// makes no difference any more. A piece is then swept from a few rows above it on, beginning with nothing, and not from
// the first row on. So it can be solved when its turn comes on the way up, and y never leaves the chip. How many rows
// are felt (the reach of a system) is measured when it is factored; where that is too many, y goes through memory.
//
// Which rows form a piece depends on the number of rows and the GPU, and a system's reach on its matrix. Kernels that
// cannot work in pieces begin anew at the same rows, so that neither the batch nor the layout shows in a solution.
#pragma once

#include "bandmill/cuda/batch_ring.cuh"

namespace bandmill::cuda {

struct BatchPieces {
    int rows = 0;               // of a piece, a multiple of the chunks; 0: there is but one
    const int* reach = nullptr; // of every system, a multiple of the chunks: at most longest_reach, or felt_throughout

    __device__ __forceinline__ int reach_of(std::int64_t system) const {
        return rows > 0 ? reach[system] : felt_throughout;
    }
};

// The longest reach of some systems; the same in all threads of a warp.
__device__ __forceinline__ int longest_reach_of(const BatchPieces& pieces, std::int64_t first, int systems) {
    int longest = 0;
    for (int k = static_cast<int>(threadIdx.x) % 32; k < systems; k += 32)
        longest = max(longest, pieces.reach_of(first + k));
    for (int lanes = 16; lanes > 0; lanes /= 2) longest = max(longest, __shfl_xor_sync(0xffffffff, longest, lanes));
    return longest;
}

// For a sweep over all rows: sweeps the last rows of every piece a second time, beginning with nothing, and goes on
// from that in the next one, if the system's reach allows it. Which chunks are given to it is the same for all systems.
template <int W, class T> class Restarts {
    int piece_, reach_, next_; // next: the row where a piece begins
    detail::ForwardSweep<W, false, T> ahead_;

  public:
    __device__ __forceinline__ Restarts(int piece, int reach) : piece_(piece), reach_(reach), next_(piece) {}
    // Before the chunk that begins with this row; whether its rows have to be given to `ahead` too.
    __device__ __forceinline__ bool begin_chunk(int row, detail::ForwardSweep<W, false, T>& sweep) {
        if (row == next_) {
            if (reach_ != felt_throughout) sweep = ahead_;
            next_ += piece_;
        }
        if (row == next_ - reach_) ahead_ = {};
        return row >= next_ - longest_reach;
    }
    template <class Forward> __device__ __forceinline__ void ahead(const Forward& forward, const T& b) {
        ahead_.row(forward, b);
    }
};

// A thread per system and piece. `reach` holds zeros before. The measure of errors is relative to the largest unknown,
// so what is left out of y has to be small beside that: |y| <= (1 + sum |U|) max |x| in the rows where it is cut.
template <class T, int W>
__global__ void measure_reach(const T* values, int n, std::int64_t batch, int piece, int* reach) {
    constexpr int C = batch_stream_chunk, F = detail::BatchLayout<W, false>::forward,
                  B = detail::BatchLayout<W, false>::backward;
    const std::int64_t system = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (system >= batch) return;
    const T* const forward = values + system / batch_tile * detail::tile_values<W, false>(n) + system % batch_tile;
    const T* const backward = forward + std::int64_t(n) * (F * batch_tile);
    int longest = 0;
    for (std::int64_t begin = std::int64_t(1 + blockIdx.y) * piece; begin < n;
         begin += std::int64_t(gridDim.y) * piece) {
        // What the W values before a row do to those before `begin`: product[to][from], the nearest first.
        T product[W][W] = {};
        for (int k = 0; k < W; ++k) product[k][k] = 1;
        bool is_felt = true;
        int rows = 0;
        while (is_felt && rows < longest_reach) {
            for (int j = 0; j < C; ++j) {
                const T* const row = forward + (begin - 1 - rows - j) * (F * batch_tile);
                for (int to = 0; to < W; ++to) {
                    const T nearest = product[to][0];
                    for (int from = 0; from < W; ++from)
                        product[to][from] = (from + 1 < W ? product[to][from + 1 < W ? from + 1 : from] : T(0)) +
                                            nearest * row[(1 + from) * batch_tile];
                }
            }
            rows += C;
            is_felt = false;
            for (int from = 0; from < W; ++from) {
                const std::int64_t cut = begin - 1 - rows - from;
                if (cut < 0) continue; // there is nothing
                T size = 1;
                for (int k = 0; k < B; ++k) size += fabs(backward[(cut * B + k) * batch_tile]);
                for (int to = 0; to < W; ++to)
                    is_felt = is_felt || !(fabs(product[to][from]) * size < unfelt<T>); // NaN is
            }
        }
        longest = max(longest, is_felt ? felt_throughout : rows);
    }
    atomicMax(reach + system, longest);
}

} // namespace bandmill::cuda
