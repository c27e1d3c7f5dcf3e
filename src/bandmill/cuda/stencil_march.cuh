// Weighted stencils of a few points on planes whose rows are packed, begin at multiples of 16 bytes and are as many
// long. A block marches down a strip of a plane. A warp of its own has the copy engine fetch rows, with what lies
// beside the strip, into a ring in shared memory; the others read each row once and add it to the results that look at
// it, 16 bytes of a row for each thread. Other rows: stencil_patch.cuh.
#pragma once

#include "bandmill/cuda/copy_engine.cuh"
#include "bandmill/cuda/stencil_patch.cuh"

#include <type_traits>

namespace bandmill::cuda {

// Strips are narrow and marches short: what is on its way at a time should lie close together in memory, and blocks
// should not all compute at once. On an H200, 4096 x 4096 points, f64 and f32: 3 points along x, marches of 8, 12 and
// 24 rows 68.2, 69.0, 70.9 us and 35.8, 36.3, 37.7 us; 3 x 3 points with 32 threads 69.2 and 36.5 us, with 128 69.7 and
// 36.6 us; 5 x 5 points, where what lies beside a strip counts, 79.5 and 46.9 us, with 128 71.8 and 40.2 us.
inline constexpr int march_most_threads = 128; // of a block that compute
template <int K, int R> constexpr int march_threads() { return K * R < 10 ? 32 : march_most_threads; }
// Results of a march below each other: with the rows around them they fill slots of the ring.
template <int R> inline constexpr int march_height = R == 1 ? 8 : R + 11;
// Blocks of so many threads on a multiprocessor, by registers: 64 for each thread, and more for large patches.
template <class T, int K, int R> constexpr int march_blocks() {
    if (K * R < 10) return 6;
    return sizeof(T) == 8 ? 4 : 5;
}
inline constexpr int march_rows = 4, march_slots = 4; // of a slot, of the ring
inline constexpr int march_barrier_bytes = 128;
static_assert(2 * march_slots * sizeof(Barrier) <= march_barrier_bytes);

// Weights that are not zero, known to the compiler: all, or those of a cross.
enum class MarchPattern { any, all, cross };

template <class T> struct MarchJob : PatchJob<T> {
    int strip, strips; // columns of a strip, strips of a plane
    int marches;       // of a strip
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// The ring through which rows come.
template <class T> class MarchRing : public SlotRing {
    T* slots_;
    int pitch_;

  public:
    __device__ __forceinline__ MarchRing(Barrier* full, Barrier* empty, T* slots, int pitch)
        : SlotRing(full, empty, march_slots), slots_(slots), pitch_(pitch) {}
    __device__ __forceinline__ T* row(int s) const { return slots_ + (slot() * march_rows + s) * pitch_; }
    // By every thread: with one for its warp racecheck does not see that the others have read as well.
    __device__ __forceinline__ void give_back() const { arrive(empty()); }
};

// What a march meets: none of the plane's edges, so that all results are whole pieces; ends of rows; or any of them,
// also results that are not aligned.
enum class MarchEdges { none, sides, any };

// Where a march goes.
struct MarchPlace {
    std::int64_t x, y, plane; // of its first result
    int width, height;        // of its results
    bool inside;              // all rows that it reads exist, or are others of the plane
    MarchEdges edges;
};
template <class T, int K, int R> __device__ __forceinline__ MarchPlace place_of(const MarchJob<T>& job, int march) {
    constexpr int most = march_height<R>;
    const int row = march / job.strips, plane = row / job.marches;
    const std::int64_t rows = job.out_shape.rows, columns = job.out_shape.columns;
    const std::int64_t x = std::int64_t(march - row * job.strips) * job.strip,
                       y = std::int64_t(row - plane * job.marches) * most;
    MarchPlace place{x, y, plane, job.strip, most, true, MarchEdges::any};
    if (columns - x < place.width) place.width = static_cast<int>(columns - x);
    if (rows - y < place.height) place.height = static_cast<int>(rows - y);
    place.inside =
        job.y_rule.kind == Edges::Kind::periodic || (y >= job.up && y - job.up + place.height + R - 1 <= rows);
    const bool all_rows = job.range.y_begin <= y && job.range.y_end >= y + place.height;
    const bool all_columns = (job.x_rule.kind == Edges::Kind::periodic || (x >= K && x + place.width + K <= columns)) &&
                             job.range.x_begin <= x && job.range.x_end >= x + place.width;
    if (place.inside && all_rows && job.out_pieces) place.edges = all_columns ? MarchEdges::none : MarchEdges::sides;
    return place;
}

template <class T, int K, int R>
__device__ __forceinline__ void fetch_march(const MarchJob<T>& job, const MarchPlace& place, MarchRing<T> ring) {
    constexpr int S = march_rows, beside = patch_beside<T, K>;
    // Columns of a row as they lie in the ring: the last ones of the plane, if it is periodic and the strip its first;
    // those of the strip and beside it; and the first ones of the plane.
    const std::int64_t columns = job.in_shape.columns, begin = place.x - beside, end = place.x + place.width + beside;
    const bool periodic = job.x_rule.kind == Edges::Kind::periodic;
    const int before = begin < 0 ? beside : 0, behind = end > columns ? static_cast<int>(end - columns) : 0,
              middle = place.width + 2 * beside - before - behind;
    const int fetched = periodic ? place.width + 2 * beside : middle;
    const T* const plane = job.in + place.plane * job.in_shape.batch_stride;
    const std::int64_t rows = job.in_shape.rows, stride = job.in_shape.row_stride;
    const int total = place.height + R - 1;
    for (int first = 0; first < total; first += S) {
        ring.wait_for_room();
        if (is_elected()) {
            std::int64_t source[S]; // -1: there is no row to be fetched
            int count = 0;
#pragma unroll
            for (int s = 0; s < S; ++s) {
                const std::int64_t y = place.y - job.up + first + s;
                source[s] = first + s >= total ? -1 : y >= 0 && y < rows ? y : job.y_rule.locate(y, rows).index;
                count += source[s] >= 0 ? 1 : 0;
            }
            Barrier* const full = ring.full();
            expect_bytes(full, static_cast<unsigned>(count * fetched) * sizeof(T));
#pragma unroll
            for (int s = 0; s < S; ++s) {
                if (source[s] < 0) continue;
                const T* const row = plane + source[s] * stride;
                T* const to = ring.row(s);
                fetch_bytes(to + before, row + begin + before, static_cast<unsigned>(middle) * sizeof(T), full);
                if (K > 0 && periodic && before > 0) fetch_bytes(to, row + columns - beside, beside * sizeof(T), full);
                if (K > 0 && periodic && behind > 0)
                    fetch_bytes(to + before + middle, row, static_cast<unsigned>(behind) * sizeof(T), full);
            }
        }
        __syncwarp();
        ring.next();
    }
}

// What a thread finds beyond the ends of its rows: at most K values, at the left or at the right.
template <class T, int K> class MarchEnds {
    static constexpr int V = patch_piece<T>;
    struct Value {
        int from; // counted from the thread's own place in a row; -1: the shift alone
        bool negative;
        T shift;
    } value_[K > 0 ? K : 1];
    bool left_, right_;

  public:
    __device__ __forceinline__ MarchEnds(const MarchJob<T>& job, std::int64_t x) {
        const bool fetched = job.x_rule.kind == Edges::Kind::periodic;
        left_ = !fetched && x < K, right_ = !fetched && x + V + K > job.in_shape.columns;
        if (!left_ && !right_) return;
#pragma unroll
        for (int k = 0; k < K; ++k) {
            const auto ghost = job.x_rule.locate(x - K + k + (left_ ? 0 : K + V), job.in_shape.columns);
            const int from = ghost.index < 0 ? -1 : static_cast<int>(ghost.index - x) + patch_beside<T, K>;
            value_[k] = {from, ghost.negative, ghost.shift};
        }
    }
    __device__ __forceinline__ void put(const T* from, T (&values)[V + 2 * K]) const {
        if (!left_ && !right_) return;
#pragma unroll
        for (int k = 0; k < K; ++k) {
            const detail::Ghost<T> ghost{value_[k].from, value_[k].negative, value_[k].shift};
            const T value = ghost.value(value_[k].from < 0 ? T(0) : from[value_[k].from]);
            if (left_)
                values[k] = value;
            else
                values[V + K + k] = value;
        }
    }
};

struct Nothing {
    template <class... Any> __device__ __forceinline__ explicit Nothing(const Any&...) {}
};

template <MarchEdges Met, MarchPattern Pattern, class T, int K, int R>
__device__ __forceinline__ void march(const MarchJob<T>& job, const PatchWeights<T, K, R>& weights,
                                      const MarchPlace& place, MarchRing<T> ring) {
    constexpr int V = patch_piece<T>, S = march_rows;
    const int column = static_cast<int>(threadIdx.x) * V;
    const std::int64_t x = place.x + column, stride = job.out_shape.row_stride;
    constexpr bool Plain = Met == MarchEdges::none, Any = Met == MarchEdges::any;
    const bool whole = Plain || ((!Any || job.out_pieces) && x >= job.range.x_begin && x + V <= job.range.x_end);
    // Results of the march that are written.
    int begin = 0, end = place.height;
    if constexpr (Any) {
        if (job.range.y_begin > place.y) begin = static_cast<int>(job.range.y_begin - place.y);
        if (job.range.y_end < place.y + end) end = static_cast<int>(job.range.y_end - place.y);
    }
    const int total = place.height + R - 1;
    T* out = job.out + place.plane * job.out_shape.batch_stride + (place.y - (R - 1)) * stride + x;
    const std::conditional_t<Plain, Nothing, MarchEnds<T, K>> ends(job, x);
    // Of the results that look at a row, from above. The first is then done.
    PatchPiece<T> sums[R];
#pragma unroll
    for (int k = 0; k < R; ++k) sums[k] = PatchPiece<T>{};
    const auto add_row = [&](int row, const T* from) {
        T values[V + 2 * K];
        read_row<T, K>(from, values);
        if constexpr (!Plain) ends.put(from, values);
        if (Any && !place.inside) {
            const detail::Ghost<T> ghost = job.y_rule.locate(place.y - job.up + row, job.in_shape.rows);
#pragma unroll
            for (int j = 0; j < V + 2 * K; ++j) values[j] = ghost.value(values[j]);
        }
#pragma unroll
        for (int k = 0; k < R; ++k) {
#pragma unroll
            for (int dx = 0; dx <= 2 * K; ++dx) {
                const int w = (R - 1 - k) * (2 * K + 1) + dx;
                if (Pattern == MarchPattern::cross && dx != K && 2 * k != R - 1) continue;
                if (Pattern == MarchPattern::any && (weights.used >> w & 1) == 0) continue;
#pragma unroll
                for (int v = 0; v < V; ++v)
                    sums[k].value[v] = detail::multiply_add(weights.weight[w], values[v + dx], sums[k].value[v]);
            }
        }
        const int done = row - (R - 1);
        if (done >= begin && (!Any || done < end)) {
            if (whole) {
                *reinterpret_cast<PatchPiece<T>*>(out) = sums[0];
            } else {
#pragma unroll
                for (int v = 0; v < V; ++v)
                    if (x + v >= job.range.x_begin && x + v < job.range.x_end) out[v] = sums[0].value[v];
            }
        }
        out += stride;
#pragma unroll
        for (int k = 0; k + 1 < R; ++k) sums[k] = sums[k + 1];
        sums[R - 1] = PatchPiece<T>{};
    };
    for (int first = 0; first < total; first += S) {
        ring.wait();
#pragma unroll(Any ? 1 : S)
        for (int s = 0; s < S; ++s)
            if (s == 0 || first + s < total) add_row(first + s, ring.row(s) + column);
        ring.give_back();
        ring.next();
    }
}

#endif

template <class T, int K, int R, MarchPattern Pattern>
__global__ void __launch_bounds__(march_most_threads + 32, march_blocks<T, K, R>())
    march_kernel(const __grid_constant__ MarchJob<T> job, const __grid_constant__ PatchWeights<T, K, R> weights) {
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) unsigned char march_memory[];
    Barrier* const full = reinterpret_cast<Barrier*>(march_memory);
    Barrier* const empty = full + march_slots;
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x) - 32;
    const MarchPlace place = place_of<T, K, R>(job, static_cast<int>(blockIdx.x));
    const int used = place.width / patch_piece<T>; // threads
    if (thread == 0) {
        for (int k = 0; k < march_slots; ++k) {
            initialise(full + k);
            initialise(empty + k, static_cast<unsigned>(used));
        }
        make_barriers_visible();
    }
    __syncthreads(); // the last for all: from here on threads go their own ways
    let_next_kernel_begin();
    const MarchRing<T> ring(full, empty, reinterpret_cast<T*>(march_memory + march_barrier_bytes),
                            job.strip + 2 * patch_beside<T, K>);
    if (__shfl_sync(0xffffffff, thread, 0) >= threads) { // the compiler sees that whole warps take this way
        wait_for_previous_kernel();                      // nothing is read or written before the first rows are here
        fetch_march<T, K, R>(job, place, ring);
        return;
    }
    if (thread >= used) return;
    if (place.edges == MarchEdges::none)
        march<MarchEdges::none, Pattern>(job, weights, place, ring);
    else if (K > 0 && place.edges == MarchEdges::sides) // without neighbours beside there are none
        march<MarchEdges::sides, Pattern>(job, weights, place, ring);
    else
        march<MarchEdges::any, Pattern>(job, weights, place, ring);
#endif
}

} // namespace bandmill::cuda
