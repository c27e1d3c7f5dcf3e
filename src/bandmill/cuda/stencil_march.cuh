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
// 36.6 us. With 5 x 5 points what lies beside a strip counts: as above 79.5 and 46.9 us, with 128 71.8 and 40.2 us.
inline constexpr int march_most_threads = 128; // of a block that compute
template <int K, int R> inline constexpr bool march_is_wide = K* R >= 10;
template <int K, int R> constexpr int march_threads() { return march_is_wide<K, R> ? march_most_threads : 32; }
// With 5 x 5 points blocks compute for about as long as they wait for memory. If all begin at once they do either at
// the same time, and at the end some multiprocessors are done long before others. So the first and the last marches
// are cut into pieces, one march for four multiprocessors at either end. In f32 39.4 us without, 38.0 us cut at the
// end, 37.1 us at both; pieces of 8 rows and twice as many marches 37.4 us, 12 rows 37.6 us.
template <int K, int R> inline constexpr bool march_is_cut = K == 2 && R == 5;
template <int K, int R> constexpr int march_cuts() { return march_is_cut<K, R> ? 6 : 1; }
// Results of a march below each other: with the rows around them they fill slots of the ring. 7 x 7 points, 18 and 26
// rows: f64 91 and 87 us, f32 52 and 50 us.
template <int K, int R> constexpr int march_height() {
    if (march_is_wide<K, R>) return march_is_cut<K, R> ? 24 : R + 19;
    return R == 1 ? 8 : R + 11;
}
// Blocks of so many threads on a multiprocessor, by registers: 64 for each thread, and more for large patches. With
// 5 x 5 points also by shared memory; f32, with 3, 4 and 5 of them: 37.2, 38.3 and 38.3 us.
template <class T, int K, int R> constexpr int march_blocks() {
    if (!march_is_wide<K, R>) return 6;
    return march_is_cut<K, R> ? 3 : sizeof(T) == 8 ? 4 : 5;
}
inline constexpr int march_rows = 4, march_slots = 4; // of a slot, of the ring
inline constexpr int march_barrier_bytes = 128;
static_assert(2 * march_slots * sizeof(Barrier) <= march_barrier_bytes);

// Weights that are not zero, known to the compiler: all, or those of a cross.
enum class MarchPattern { any, all, cross };

template <class T> struct MarchJob : PatchJob<T> {
    int strip, strips; // columns of a strip, strips of a plane
    int marches;       // of a strip
    int cut, uncut;    // marches that are cut into pieces at first, then those that are not; the last are cut again
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
    int width, height;        // of its results; a piece of the last march may have none
    bool inside;              // all rows that it reads exist, or are others of the plane
    MarchEdges edges;
};
template <class T, int K, int R> __device__ __forceinline__ MarchPlace place_of(const MarchJob<T>& job, int block) {
    constexpr int cuts = march_cuts<K, R>();
    int most = march_height<K, R>(), march = block, piece = 0;
    if constexpr (march_is_cut<K, R>) {
        static_assert(march_height<K, R>() % cuts == 0);
        const int begin = job.cut * cuts, end = begin + job.uncut;
        march = block - begin + job.cut;
        if (block < begin || block >= end) {
            const int number = block < begin ? block : block - end;
            march = number / cuts;
            piece = number - march * cuts;
            if (block >= end) march += job.cut + job.uncut;
            most /= cuts;
        }
    }
    const int row = march / job.strips, plane = row / job.marches;
    const std::int64_t rows = job.out_shape.rows, columns = job.out_shape.columns;
    const std::int64_t x = std::int64_t(march - row * job.strips) * job.strip,
                       y = std::int64_t(row - plane * job.marches) * march_height<K, R>() + piece * most;
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
    const unsigned bytes = static_cast<unsigned>(fetched) * sizeof(T);
    const auto fetch = [&](T* to, const T* row, Barrier* full) {
        fetch_bytes(to + before, row + begin + before, static_cast<unsigned>(middle) * sizeof(T), full);
        if (K > 0 && periodic && before > 0) fetch_bytes(to, row + columns - beside, beside * sizeof(T), full);
        if (K > 0 && periodic && behind > 0)
            fetch_bytes(to + before + middle, row, static_cast<unsigned>(behind) * sizeof(T), full);
    };
    if (total % S == 0 && place.y >= job.up && place.y - job.up + total <= rows) { // nothing has to be asked
        const T* row = plane + (place.y - job.up) * stride;
#pragma unroll 1
        for (int first = 0; first < total; first += S) {
            ring.wait_for_room();
            if (is_elected()) {
                Barrier* const full = ring.full();
                expect_bytes(full, S * bytes);
#pragma unroll
                for (int s = 0; s < S; ++s) fetch(ring.row(s), row + s * stride, full);
            }
            __syncwarp();
            row += S * stride;
            ring.next();
        }
        return;
    }
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
            expect_bytes(full, static_cast<unsigned>(count) * bytes);
#pragma unroll
            for (int s = 0; s < S; ++s)
                if (source[s] >= 0) fetch(ring.row(s), plane + source[s] * stride, full);
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
    // `above` and `below`: rows of the march above and below this one, or more. What is not of the march is left out.
    const auto add_row = [&](int row, const T* from, int above, int below) {
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
            if (k < R - 1 - above || k > below) continue;
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
    constexpr int all = R - 1;
    // S rows from `first` on, of which `above` and `below` are known to the compiler.
    const auto add_slot = [&](int first, int above, int below) {
        ring.wait();
#pragma unroll
        for (int s = 0; s < S; ++s) add_row(first + s, ring.row(s) + column, above + s, below - s);
        ring.give_back();
        ring.next();
    };
    constexpr int at_ends = (R - 1 + S - 1) / S * S; // rows at either end, of which some lack others around them
    // Larger patches would be so much code that it has to be fetched again for every block.
    if (march_is_cut<K, R> && !Any && Pattern != MarchPattern::any && total % S == 0 && total >= 2 * at_ends) {
#pragma unroll
        for (int row = 0; row < at_ends; row += S) add_slot(row, row, all + S);
#pragma unroll 1
        for (int row = at_ends; row < total - at_ends; row += S) add_slot(row, all, all + S);
#pragma unroll
        for (int left = at_ends; left > 0; left -= S) add_slot(total - left, all, left - 1);
        return;
    }
    for (int first = 0; first < total; first += S) {
        ring.wait();
#pragma unroll(Any ? 1 : S)
        for (int s = 0; s < S; ++s)
            if (s == 0 || first + s < total) add_row(first + s, ring.row(s) + column, all, all);
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
    if (march_is_cut<K, R> && place.height <= 0) return;
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
