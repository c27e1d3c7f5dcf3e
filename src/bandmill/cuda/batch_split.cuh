// Solves of long open tridiagonal systems with a factor: the rows of a tile of systems are split over the threads of a
// team, a cluster of blocks, so that all of y stays on chip and nothing is moved twice. A thread holds a piece, some
// consecutive rows of one system, in registers. It sweeps its piece as if nothing came before it, which gives what
// leaves the piece as a function of what enters it; warps and blocks put these functions together, and with what really
// enters every thread sweeps again. So both sweeps, down and up. Meanwhile the copy engine fetches what comes next.
//
// Which rows form a piece, and which pieces are put together in which order, depends on the number of rows and on the
// GPU (choose_split), so that neither the batch nor the layout shows in a solution.
//
// Other matrices are not split. What enters a piece is known but for rounding, and the piece before ends with a value
// that is rounded otherwise; with W = 2 and a stiff matrix (sigma = 1e6) such steps between neighbours are a backward
// error of more than 32 epsilons. Periodic systems fetch so much for a row that little could be fetched ahead (n =
// 4,096: 0.63).
#pragma once

#include "bandmill/cuda/batch_kernels.cuh"
#include "bandmill/cuda/copy_engine.cuh"

namespace bandmill::cuda {

template <class T> struct BatchSplitArguments {
    int n;
    BatchSplit split;
    const T* b;
    FieldShape b_shape;
    bool has_boxes; // the copy engine can fetch b
    T* x;
    FieldShape x_shape;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// What leaves some rows as a function of what enters them: v + p in. Where unknowns grow without measure from row to
// row p may be infinite; zeros stay zeros all the same.
template <class T> struct Transfer {
    T v = 0, p = 1;
    __device__ __forceinline__ T operator()(const T& in) const { return in == 0 ? v : detail::multiply_add(p, in, v); }
};
// First some rows, then a piece, or several of a warp.
template <class T> __device__ __forceinline__ Transfer<T> chain(const Transfer<T>& first, const Transfer<T>& second) {
    return {detail::multiply_add(second.p, first.v, second.v), second.p == 0 ? T(0) : second.p * first.p};
}

// A thread's place in its team.
template <int Width> struct SplitPlace {
    int warp, warps;  // of the block, those that compute
    int system, part; // 32 / Width parts of a warp work on the same systems
    int rank, team;   // blocks
};

// Where functions meet: a sweep's of the block's warps, and of the blocks before. `arrived` tells that those are there.
template <class T, int Width> struct SplitExchange {
    Transfer<T> (*near)[Width];
    Transfer<T> (*far)[Width];
    Barrier* arrived;
};

// What enters the thread's piece, from what its piece does.
template <bool Down, class T, int Width>
__device__ __forceinline__ T entering(const SplitPlace<Width>& place, Transfer<T> own,
                                      const SplitExchange<T, Width>& exchange, unsigned parity) {
    constexpr int parts = 32 / Width;
    const int order = Down ? place.warp : place.warps - 1 - place.warp,
              rank = Down ? place.rank : place.team - 1 - place.rank, part = Down ? place.part : parts - 1 - place.part;
    const auto lanes_before = [](const Transfer<T>& from, int lanes) -> Transfer<T> {
        if constexpr (Down)
            return {__shfl_up_sync(0xffffffff, from.v, lanes), __shfl_up_sync(0xffffffff, from.p, lanes)};
        else
            return {__shfl_down_sync(0xffffffff, from.v, lanes), __shfl_down_sync(0xffffffff, from.p, lanes)};
    };
    Transfer<T> parts_before;
#pragma unroll
    for (int step = 1; step < parts; step *= 2) {
        const Transfer<T> other = lanes_before(own, step * Width);
        if (part >= step) own = chain(other, own);
    }
    if constexpr (parts > 1) {
        const Transfer<T> other = lanes_before(own, Width);
        if (part > 0) parts_before = other;
    }
    if (part == parts - 1) exchange.near[order][place.system] = own;
    __syncwarp();
    asm volatile("bar.sync 1, %0;" ::"r"(place.warps * 32) : "memory"); // all that compute
    Transfer<T> warps_before;
#pragma unroll 2
    for (int k = 0; k < order; ++k) warps_before = chain(warps_before, exchange.near[k][place.system]);
    if (order == place.warps - 1 && place.part == 0) {
        const Transfer<T> block = chain(warps_before, exchange.near[order][place.system]);
        Transfer<T>* const there = &exchange.far[rank][place.system];
        for (int other = rank + 1; other < place.team; ++other) {
            const int to = Down ? other : place.team - 1 - other;
            send(&there->v, block.v, exchange.arrived, to);
            send(&there->p, block.p, exchange.arrived, to);
        }
    }
    T in = 0;
    if (rank > 0) {
        if (order == 0 && threadIdx.x % 32 == 0)
            expect_bytes(exchange.arrived, rank * static_cast<unsigned>(Width * sizeof(Transfer<T>)));
        wait_for(exchange.arrived, parity);
#pragma unroll 2
        for (int k = 0; k < rank; ++k) in = exchange.far[k][place.system](in);
    }
    return parts_before(warps_before(in));
}

// Slots that are filled in the order in which warps read them, one warp each: the k-th of all is slot k % slots, and
// its barriers are those of warp k % warps. This is the side that fills.
class SplitFiller {
    Barrier *full_, *empty_;
    int slots_, warps_, slot_ = 0, order_ = 0, filled_ = 0, oldest_ = 0;
    unsigned oldest_parity_ = 0;

  public:
    __device__ __forceinline__ SplitFiller(Barrier* full, Barrier* empty, int slots, int warps)
        : full_(full), empty_(empty), slots_(slots), warps_(warps) {}
    __device__ __forceinline__ int slot() const { return slot_; }
    __device__ __forceinline__ Barrier* full() const { return full_ + order_; }
    __device__ __forceinline__ void wait_for_room() {
        if (filled_ < slots_) {
            ++filled_;
            return;
        }
        wait_in_block(empty_ + oldest_, oldest_parity_);
        if (++oldest_ == warps_) {
            oldest_ = 0;
            oldest_parity_ ^= 1;
        }
    }
    __device__ __forceinline__ void next() {
        if (++slot_ == slots_) slot_ = 0;
        if (++order_ == warps_) order_ = 0;
    }
};

// Where b stands otherwise than in whole rows: thread by thread.
template <int Width, class T>
__device__ __forceinline__ void fetch_pieces(const BatchSplitArguments<T>& a, T* to, std::int64_t first, int row,
                                             int rows, Barrier* full) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t system = first + lane % Width;
    if (system < a.b_shape.batch) {
        const T* const b = a.b + system_offset(a.b_shape, system);
        for (int i = lane / Width; i < rows && row + i < a.n; i += 32 / Width)
            asm volatile(
                "cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to + i * Width + lane % Width)),
                "l"(b + (row + i) * a.b_shape.row_stride), "n"(sizeof(T))
                : "memory");
    }
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(full)) : "memory");
}

#endif

template <class T, int Width>
__global__ void __launch_bounds__((most_split_warps<T> + 2) * 32, split_blocks<T>)
    solve_split(const __grid_constant__ BatchSplitArguments<T> a, const __grid_constant__ CUtensorMap b_map,
                const __grid_constant__ CUtensorMap down_map, const __grid_constant__ CUtensorMap up_map) {
#if __CUDA_ARCH__ >= 900
    // Of a row: its inverse pivot and what comes from the row before, then b; what comes from the row after.
    constexpr int F = 2, R = split_rows<T>, parts = 32 / Width, most_warps = most_split_warps<T>;
    static_assert(F == BatchLayout<1, false>::forward && BatchLayout<1, false>::backward == 1);
    const BatchSplit& split = a.split;
    const int warps = split.warps, r = split.rows, team = split.team, piece = r * 32, n = a.n;
    extern __shared__ __align__(128) unsigned char split_shared[];
    Barrier* const down_full = reinterpret_cast<Barrier*>(split_shared);
    Barrier* const down_empty = down_full + most_warps;
    Barrier* const up_full = down_empty + most_warps;
    Barrier* const up_empty = up_full + most_warps;
    Barrier* const arrived = up_empty + most_warps; // down, up
    static_assert((4 * most_warps + 2) * sizeof(Barrier) <= split_barrier_bytes);
    auto* const exchanged = reinterpret_cast<Transfer<T>(*)[Width]>(split_shared + split_barrier_bytes);
    const SplitExchange<T, Width> exchange_down{exchanged, exchanged + warps, arrived},
        exchange_up{exchanged + warps + team, exchanged + 2 * warps + team, arrived + 1};
    T* const down_slots = reinterpret_cast<T*>(exchanged + 2 * (warps + team));
    T* const up_slots = down_slots + split.down_slots * ((F + 1) * piece);
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    const int warp = __shfl_sync(0xffffffff, thread / 32, 0); // the compiler sees that whole warps go their ways
    if (thread == 0) {
        for (int w = 0; w < warps; ++w) {
            initialise(down_full + w, a.has_boxes ? 1 : 33);
            initialise(down_empty + w, 32);
            initialise(up_full + w);
            initialise(up_empty + w, 32);
        }
        for (int k = 0; k < 2; ++k) initialise(arrived + k);
        make_barriers_visible();
    }
    __syncthreads();
    cluster_arrive();
    cluster_wait();
    const int rank = static_cast<int>(blockIdx.x) % team, warp_rows = parts * r, first_row = rank * warps * warp_rows;
    const std::int64_t batch = a.x_shape.batch, step = std::int64_t(gridDim.x / team) * Width,
                       begin = std::int64_t(blockIdx.x / team) * Width;
    if (warp == warps) { // fetches what the sweep down needs
        SplitFiller filler(down_full, down_empty, split.down_slots, warps);
        const int b_tile = static_cast<int>(min(a.b_shape.tile, batch)); // as in describe_field
        for (std::int64_t first = begin; first < batch; first += step)
            for (int w = 0; w < warps; ++w) {
                const int row = first_row + w * warp_rows, system = static_cast<int>(first);
                filler.wait_for_room();
                T* const to = down_slots + filler.slot() * ((F + 1) * piece);
                if (is_elected()) {
                    Barrier* const full = filler.full();
                    expect_bytes(full, static_cast<unsigned>((F + (a.has_boxes ? 1 : 0)) * piece * sizeof(T)));
                    if (a.has_boxes) fetch_box(to, &b_map, system % b_tile, row, system / b_tile, full);
                    fetch_box(to + piece, &down_map, system % batch_tile, system / batch_tile * (n * (F + 1)) + row * F,
                              full);
                }
                __syncwarp();
                if (!a.has_boxes) fetch_pieces<Width>(a, to, first, row, warp_rows, filler.full());
                filler.next();
            }
    } else if (warp == warps + 1) { // and the sweep up
        SplitFiller filler(up_full, up_empty, split.up_slots, warps);
        for (std::int64_t first = begin; first < batch; first += step)
            for (int w = warps - 1; w >= 0; --w) {
                const int row = first_row + w * warp_rows, system = static_cast<int>(first);
                filler.wait_for_room();
                if (is_elected()) {
                    expect_bytes(filler.full(), static_cast<unsigned>(piece * sizeof(T)));
                    fetch_box(up_slots + filler.slot() * piece, &up_map, system % batch_tile,
                              system / batch_tile * (n * (F + 1)) + n * F + row, filler.full());
                }
                __syncwarp();
                filler.next();
            }
    } else {
        const SplitPlace<Width> place{warp, warps, lane % Width, lane / Width, rank, team};
        const int row = first_row + warp * warp_rows + place.part * r, rows_left = n - row;
        const int up_order = warps - 1 - warp; // the last warp comes first
        int down_slot = warp % split.down_slots, up_slot = up_order % split.up_slots;
        unsigned parity = 0;
        for (std::int64_t first = begin; first < batch; first += step, parity ^= 1) {
            // A row is constant + coefficient x its neighbour. Those beyond the last are zeros.
            T constant[R], coefficient[R];
            const T* const b = down_slots + down_slot * ((F + 1) * piece) + place.part * (r * Width) + place.system;
            const T* const table =
                down_slots + down_slot * ((F + 1) * piece) + piece + place.part * (r * F * Width) + place.system;
            wait_in_block(down_full + warp, parity);
#pragma unroll
            for (int j = 0; j < R; ++j)
                if (j < r) {
                    const T inverse = table[j * F * Width], before = table[(j * F + 1) * Width], own = b[j * Width];
                    constant[j] = j < rows_left ? inverse * own : T(0);
                    coefficient[j] = j < rows_left ? before : T(0);
                }
            arrive(down_empty + warp);
            down_slot = (down_slot + warps) % split.down_slots;
            Transfer<T> own;
#pragma unroll
            for (int j = 0; j < R; ++j)
                if (j < r) {
                    own.v = detail::multiply_add(coefficient[j], own.v, constant[j]);
                    own.p *= coefficient[j];
                }
            T y = entering<true>(place, own, exchange_down, parity);
#pragma unroll
            for (int j = 0; j < R; ++j)
                if (j < r) {
                    y = detail::multiply_add(coefficient[j], y, constant[j]);
                    constant[j] = y;
                }
            const T* const up_table = up_slots + up_slot * piece + place.part * (r * Width) + place.system;
            wait_in_block(up_full + up_order, parity);
#pragma unroll
            for (int j = 0; j < R; ++j)
                if (j < r) {
                    const T after = up_table[j * Width];
                    coefficient[j] = j < rows_left ? after : T(0);
                }
            arrive(up_empty + up_order);
            up_slot = (up_slot + warps) % split.up_slots;
            own = {};
#pragma unroll
            for (int j = R - 1; j >= 0; --j)
                if (j < r) {
                    own.v = detail::multiply_add(coefficient[j], own.v, constant[j]);
                    own.p *= coefficient[j];
                }
            T x = entering<false>(place, own, exchange_up, parity);
            const std::int64_t system = first + place.system;
            if (system < batch) {
                T* const to = a.x + system_offset(a.x_shape, system) + row * a.x_shape.row_stride;
#pragma unroll
                for (int j = R - 1; j >= 0; --j)
                    if (j < r && j < rows_left) {
                        x = detail::multiply_add(coefficient[j], x, constant[j]);
                        __stcs(to + j * a.x_shape.row_stride, x);
                    }
            }
        }
    }
    // No block goes while others may still write to its shared memory.
    cluster_arrive();
    cluster_wait();
#endif
}

} // namespace bandmill::cuda
