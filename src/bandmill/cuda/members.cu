#include "bandmill/cuda/members.hpp"

#include "bandmill/base/device.hpp"
#include "bandmill/cuda/point_rate.cuh"

#include <cuda_runtime.h>

#include <algorithm>

namespace bandmill::cuda {
namespace {

constexpr int threads = 256;

unsigned blocks_for(std::int64_t work, std::int64_t per_block) {
    return static_cast<unsigned>(std::min<std::int64_t>((work + per_block - 1) / per_block, 1 << 20));
}

template <class T>
__device__ __forceinline__ Member<T> member_of(const MemberJob<T>& job, std::int64_t n, Ends ends, T value,
                                               std::int64_t member) {
    const T* increment = job.increments == nullptr ? nullptr : job.increments + member * n;
    return {job.states + member * n, increment, job.update, n, ends, value};
}

template <class E, class T>
__global__ void __launch_bounds__(threads)
    update_kernel(const MemberJob<T> job, const PointRate<E, T> rate, std::int64_t n, Ends ends, T value, T* new_states,
                  T* right_hand_sides) {
    const std::int64_t all = job.members * n, step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t k = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; k < all; k += step) {
        const std::int64_t member = k / n, i = k - member * n;
        const Member<T> c = member_of(job, n, ends, value, member);
        if (right_hand_sides != nullptr) {
            const MemberParameters<E, T> parameters(job.parameters, job.parameter_stride, member);
            right_hand_sides[k] = rate(c, i, parameters.values);
        }
        if (new_states != nullptr) new_states[k] = c.inside(i);
    }
}

struct Wanted {
    int place[observable_count]; // among the requests, or -1
};

template <class Value, class Combine>
__device__ __forceinline__ Value across_warp(Value value, const Combine& combine) {
    for (int distance = 16; distance >= 1; distance /= 2)
        value = combine(value, __shfl_down_sync(0xffffffffu, value, distance));
    return value;
}

// A warp per member. Sums in double, in an order that depends on n alone.
template <class E, class T>
__global__ void __launch_bounds__(threads)
    observe_kernel(const MemberJob<T> job, const PointRate<E, T> rate, std::int64_t n, Ends ends, T value,
                   double to_rate, const Wanted wanted, double* values) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * (threads / 32);
    auto place = [&](Observable o) { return wanted.place[static_cast<int>(o)]; };
    const auto plus = [](auto a, auto b) { return a + b; };
    for (std::int64_t member = blockIdx.x * std::int64_t{threads / 32} + threadIdx.x / 32; member < job.members;
         member += step) {
        const Member<T> c = member_of(job, n, ends, value, member);
        const MemberParameters<E, T> parameters(job.parameters, job.parameter_stride, member);
        double sum = 0, squares = 0, energy = 0, rates = 0, zero = 0;
        unsigned long long largest = 0; // magnitudes compare as integers, and NaN is above infinity
        long long changes = 0;
        for (std::int64_t i = lane; i < n; i += 32) {
            const T here = c[i];
            const double wide = here;
            sum += wide;
            squares += wide * wide;
            largest = max(largest, static_cast<unsigned long long>(__double_as_longlong(fabs(wide))));
            if (place(Observable::free_energy) >= 0) energy += rate.rate.energy(c[i - 1], here, c[i + 1]);
            if (place(Observable::rate) >= 0) {
                const double r = rate(c, i, parameters.values);
                rates += r * r;
            }
            zero += 0 * wide; // not a number if the state is not finite
            if (place(Observable::interfaces) >= 0 && (i + 1 < n || ends == Ends::periodic))
                changes += (here < T(0)) != (c[i + 1] < T(0));
        }
        auto put = [&](Observable o, double result) {
            if (lane == 0 && place(o) >= 0) values[place(o) * job.members + member] = result;
        };
        put(Observable::mean, across_warp(sum, plus) / n);
        const double mean_square = across_warp(squares, plus) / n;
        put(Observable::mean_square, mean_square);
        put(Observable::domain_size, detail::domain_size(mean_square));
        put(Observable::free_energy, across_warp(energy, plus) / n);
        put(Observable::largest, __longlong_as_double(static_cast<long long>(
                                     across_warp(largest, [](auto a, auto b) { return a > b ? a : b; }))));
        put(Observable::rate, to_rate * sqrt(across_warp(rates, plus) / n));
        put(Observable::interfaces, static_cast<double>(across_warp(changes, plus)) + across_warp(zero, plus));
    }
}

// detail::to_pieces for values from 0 up, without conversions: beside a large enough power of two, rounded down, only
// whole units stay, and the last 32 bits count them.
template <int bits> __device__ __forceinline__ detail::Pieces to_pieces_from_zero(double value) {
    constexpr double unit = bits == 64 ? 0x1p-64 : 0x1p-48;
    static_assert(bits == 64 || bits == 48);
    constexpr double large = unit * 0x1p116, middling = unit * 0x1p84, small = unit * 0x1p52;
    const double high = __dadd_rd(value, large), below_high = value - (high - large);
    const double middle = __dadd_rd(below_high, middling), below_middle = below_high - (middle - middling);
    const double low = __dadd_rd(below_middle, small);
    auto count = [](double sum) { return static_cast<std::int64_t>(static_cast<unsigned>(__double2loint(sum))); };
    return {count(high), count(middle), count(low)};
}
template <int bits> __device__ __forceinline__ detail::Pieces to_pieces(double value) {
    return value >= 0 ? to_pieces_from_zero<bits>(value) : detail::to_pieces(value, bits);
}

__global__ void __launch_bounds__(threads) statistics_kernel(const StatisticJob job, std::int64_t* totals) {
    const double* const values = job.values + blockIdx.y * job.sample_stride;
    auto* const total = reinterpret_cast<unsigned long long*>(totals) +
                        blockIdx.y * static_cast<std::int64_t>(statistic_pieces + 2 + job.bins);
    std::int64_t pieces[statistic_pieces] = {};
    auto add = [&](double value) {
        if (job.stored != Stored::value)
            value = job.inverse_points != 0 ? value * job.inverse_points : value / job.points;
        if (job.stored == Stored::square_sum_as_domain_size) value = detail::domain_size(value);
        if (!detail::fits_sums(value)) {
            ++pieces[1];
            return;
        }
        ++pieces[0];
        const detail::Pieces sum = to_pieces<detail::value_fraction_bits>(value);
        const detail::Pieces square = to_pieces<detail::square_fraction_bits>(value * value);
        pieces[2] += sum.high, pieces[3] += sum.middle, pieces[4] += sum.low;
        pieces[5] += square.high, pieces[6] += square.middle, pieces[7] += square.low;
        if (job.bins > 0) {
            const int bin = detail::bin_of(value, job.low, job.high, job.bins);
            const int at = bin < 0           ? statistic_pieces
                           : bin == job.bins ? statistic_pieces + 1
                                             : statistic_pieces + 2 + bin;
            atomicAdd(total + at, 1ull);
        }
    };
    constexpr int ahead = 4; // values on their way
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t m = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x; m < job.members;
         m += ahead * step) {
        double some[ahead];
#pragma unroll
        for (int i = 0; i < ahead; ++i) some[i] = m + i * step < job.members ? values[m + i * step] : 0;
#pragma unroll
        for (int i = 0; i < ahead; ++i)
            if (m + i * step < job.members) add(some[i]);
    }
#pragma unroll
    for (int i = 0; i < statistic_pieces; ++i) {
        const std::int64_t sum = across_warp(pieces[i], [](auto a, auto b) { return a + b; });
        if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(total + i, static_cast<unsigned long long>(sum));
    }
}

} // namespace

template <class T>
void update_and_rate(const Equation& equation, const Grid& grid, const MemberJob<T>& job, T* new_states,
                     T* right_hand_sides, Stream stream) {
    std::visit(
        [&]<class E>(const E& chosen) {
            const PointRate<E, T> rate{chosen.template rate<T>(grid), job.profile};
            update_kernel<E, T><<<blocks_for(job.members * grid.points(), threads), threads, 0, stream.handle()>>>(
                job, rate, grid.points(), grid.ends(), static_cast<T>(grid.value()), new_states, right_hand_sides);
        },
        equation);
    check_cuda(cudaGetLastError(), "launching a streaming step");
}

template <class T>
void observe_members(const Equation& equation, const Grid& grid, const MemberJob<T>& job,
                     std::span<const ObservableRequest> requests, double* values, Stream stream) {
    Wanted wanted;
    std::fill(std::begin(wanted.place), std::end(wanted.place), -1);
    for (std::size_t r = 0; r < requests.size(); ++r)
        wanted.place[static_cast<int>(requests[r].observable)] = static_cast<int>(r);
    std::visit(
        [&]<class E>(const E& chosen) {
            const PointRate<E, T> rate{chosen.template rate<T>(grid), job.profile};
            const double to_rate =
                std::abs(chosen.template rate<double>(grid).scale) / (grid.spacing() * grid.spacing());
            observe_kernel<E, T><<<blocks_for(job.members, threads / 32), threads, 0, stream.handle()>>>(
                job, rate, grid.points(), grid.ends(), static_cast<T>(grid.value()), to_rate, wanted, values);
        },
        equation);
    check_cuda(cudaGetLastError(), "launching observables");
}

void add_statistics(const StatisticJob& job, std::int64_t* totals, Stream stream) {
    // Many values to a thread: all warps add to the same few numbers. With 4 it took 7 us for 262,144 members.
    const unsigned blocks = std::min(blocks_for(job.members, threads * 64), 1024u);
    for (std::int64_t first = 0; first < job.samples; first += 65535) { // as many as a grid is high
        StatisticJob part = job;
        part.values += first * job.sample_stride;
        part.samples = std::min<std::int64_t>(job.samples - first, 65535);
        statistics_kernel<<<dim3(blocks, static_cast<unsigned>(part.samples)), threads, 0, stream.handle()>>>(
            part, totals + first * (statistic_pieces + 2 + job.bins));
        check_cuda(cudaGetLastError(), "launching statistics");
    }
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template void update_and_rate<T>(const Equation&, const Grid&, const MemberJob<T>&, T*, T*, Stream);               \
    template void observe_members<T>(const Equation&, const Grid&, const MemberJob<T>&,                                \
                                     std::span<const ObservableRequest>, double*, Stream);
BANDMILL_INSTANTIATE(double)
BANDMILL_INSTANTIATE(float)

} // namespace bandmill::cuda
