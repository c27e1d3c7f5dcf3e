// The CPU as a place to benchmark.
#pragma once

#include "contestant.hpp"
#include "environment.hpp"
#include "parallel.hpp"

#include <chrono>
#include <cstring>

namespace app {

namespace detail {

// x *= a, at the widest vectors the CPU has: the ceiling must not be lower than what the solver's own ISA level allows.
__attribute__((always_inline)) inline void scale_loop(double* x, std::int64_t size, double a) {
    for (std::int64_t i = 0; i < size; ++i) x[i] *= a;
}
#if defined(__x86_64__)
__attribute__((target("avx512f,prefer-vector-width=512"))) inline void scale_v4(double* x, std::int64_t n, double a) {
    scale_loop(x, n, a);
}
__attribute__((target("avx2"))) inline void scale_v3(double* x, std::int64_t n, double a) { scale_loop(x, n, a); }
inline void scale(double* x, std::int64_t n, double a) {
    if (__builtin_cpu_supports("avx512f")) return scale_v4(x, n, a);
    if (__builtin_cpu_supports("avx2")) return scale_v3(x, n, a);
    scale_loop(x, n, a);
}
#else
inline void scale(double* x, std::int64_t n, double a) { scale_loop(x, n, a); }
#endif

} // namespace detail

template <> class Place<bandmill::Host> {
  public:
    explicit Place(bandmill::Threads threads) : threads_(threads.count > 0 ? threads.count : default_threads()) {}

    std::string name() const { return cpu_model(); }
    int threads() const { return threads_; }
    // As the solver does: for little work, waking threads would cost more than it saves.
    int threads_for(std::int64_t elements) const { return elements < 16384 ? 1 : threads_; }
    std::size_t free_bytes() const { return available_memory(); }
    std::size_t cache() const { return cache_bytes(); }
    // In place, x is refilled from the block: no array for b.
    static constexpr int fields_in_place = 1;

    template <class T> bandmill::Array<T, bandmill::Host> allocate(std::int64_t size) const {
        return bandmill::Array<T, bandmill::Host>(size);
    }
    void wait_until_cleared() const {} // what is freed is cleared when it is allocated again

    template <class T> void fill(bandmill::Array<T, bandmill::Host>& array, std::span<const T> block) const {
        const auto period = static_cast<std::int64_t>(block.size());
        parallel_ranges(threads_, array.size(), [&](std::int64_t begin, std::int64_t end) {
            while (begin < end) {
                const std::int64_t at = begin % period, count = std::min(period - at, end - begin);
                std::memcpy(array.data() + begin, block.data() + at, static_cast<std::size_t>(count) * sizeof(T));
                begin += count;
            }
        });
    }
    template <class T>
    void refresh(bandmill::Array<T, bandmill::Host>& x, const bandmill::Array<T, bandmill::Host>*,
                 std::span<const T> block) const {
        fill(x, block);
    }

    template <class T>
    std::vector<T> gather(const bandmill::Array<T, bandmill::Host>& array, std::span<const std::int64_t> where) const {
        std::vector<T> values;
        for (const std::int64_t k : where) values.push_back(array[k]);
        return values;
    }

    // The clock costs nothing beside a solve, so each solve is timed by itself.
    static constexpr int most_solves_per_timing = 1;
    static constexpr double repetitions_us = 2e5; // time spent on repetitions, if that is enough of them

    // Microseconds of groups of `group` solves. before(first, group) readies the solves from number `first` on; it is
    // not timed.
    template <class Before, class Solve>
    std::vector<double> times_us(int repetitions, int group, Before&& before, Solve&& solve) const {
        using Clock = std::chrono::steady_clock;
        std::vector<double> times;
        for (int r = 0; r < repetitions; ++r) {
            before(r * group, group);
            const auto start = Clock::now();
            for (int k = 0; k < group; ++k) solve(r * group + k);
            times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
        }
        return times;
    }

    template <class T> auto factor(const bandmill::BandMatrix& matrix) const { return bandmill::factor<T>(matrix); }
    template <class T>
    void solve(const bandmill::Factor<T, bandmill::Host>& factor, bandmill::FieldView<const T, bandmill::Host> b,
               bandmill::FieldView<T, bandmill::Host> x) const {
        bandmill::solve(factor, b, x, bandmill::Threads{threads_});
    }

    // What a scale of one array of the case's own size reaches: a cache-resident case has a cache-resident ceiling.
    std::size_t ceiling_bytes(std::size_t field_bytes) const { return (field_bytes + 7) / 8 * 8; }
    const char* ceiling_operation() const { return "in-place scale"; }
    void prepare_ceiling(std::size_t bytes) {
        const int count = turns(bytes, cache(), free_bytes() / 2);
        for (int i = 0; i < count; ++i) {
            ceiling_arrays_.push_back(allocate<double>(static_cast<std::int64_t>(bytes / 8)));
            fill<double>(ceiling_arrays_.back(), random_block<double>());
        }
    }
    void run_ceiling(int repetition) {
        auto& x = ceiling_arrays_[static_cast<std::size_t>(repetition) % ceiling_arrays_.size()];
        const double a = 1 + 1e-9; // the values hardly change over the repetitions
        parallel_ranges(threads_for(x.size()), x.size(),
                        [&](std::int64_t begin, std::int64_t end) { detail::scale(x.data() + begin, end - begin, a); });
    }
    void end_ceiling() { ceiling_arrays_.clear(); }

  private:
    int threads_;
    std::vector<bandmill::Array<double, bandmill::Host>> ceiling_arrays_;
};

} // namespace app
