// A GPU as a place to benchmark. No CUDA header: the library's own calls and the benchmark's kernels are enough.
#pragma once

#include "contestant.hpp"
#include "rivals_cuda.hpp"

#include "bandmill/base/event.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace app {

template <> class Place<bandmill::Cuda> {
  public:
    explicit Place(bandmill::Device device)
        : device_(device), busy_{bandmill::Array<char, bandmill::Cuda>(busy_bytes, device),
                                 bandmill::Array<char, bandmill::Cuda>(busy_bytes, device)} {
        for (auto& array : busy_) fill<char>(array, std::vector<char>(4096, 1));
    }

    std::string name() const {
        for (const bandmill::DeviceInfo& gpu : bandmill::cuda_devices())
            if (gpu.index == device_.index) return gpu.name;
        return "unknown GPU";
    }
    bandmill::Device device() const { return device_; }
    int threads() const { return 0; }
    std::size_t free_bytes() const { return bandmill::free_memory(device_); }
    std::size_t cache() const { return std::size_t{64} << 20; } // level 2 of the H200: 50 MB
    static constexpr int fields_in_place = 2;                   // x is refreshed from b, on the device

    template <class T> bandmill::Array<T, bandmill::Cuda> allocate(std::int64_t size) const {
        allocated_ += static_cast<double>(size) * sizeof(T);
        return bandmill::Array<T, bandmill::Cuda>(size, device_);
    }

    // The driver clears freed memory in the background, some 0.4 TB/s on an H200, and what runs meanwhile is up to 9 %
    // slower. Freed was at most what was allocated since the measurement before the last one, and perhaps as much again
    // by the contestants themselves (fields of stencils live longer, but are small).
    void wait_until_cleared() const {
        std::this_thread::sleep_for(std::chrono::duration<double>((allocated_before_ + allocated_) / 125e9));
        allocated_before_ = std::exchange(allocated_, 0);
    }

    template <class T> void fill(bandmill::Array<T, bandmill::Cuda>& array, std::span<const T> block) const {
        const std::int64_t size = array.size();
        std::int64_t done = std::min(size, static_cast<std::int64_t>(block.size()));
        bandmill::copy_to_device(device_, array.data(), block.data(), static_cast<std::size_t>(done) * sizeof(T));
        while (done < size) { // doubling, so `done` stays a multiple of the block
            const std::int64_t count = std::min(done, size - done);
            bandmill::copy_on_device(device_, array.data() + done, array.data(),
                                     static_cast<std::size_t>(count) * sizeof(T));
            done += count;
        }
        bandmill::synchronize(device_);
    }
    template <class T>
    void refresh(bandmill::Array<T, bandmill::Cuda>& x, const bandmill::Array<T, bandmill::Cuda>* b,
                 std::span<const T>) const {
        bandmill::copy_on_device(device_, x.data(), b->data(), static_cast<std::size_t>(x.size()) * sizeof(T));
    }

    template <class T>
    std::vector<T> gather(const bandmill::Array<T, bandmill::Cuda>& array, std::span<const std::int64_t> where) const {
        std::vector<T> values(where.size());
        const bandmill::Array<std::int64_t, bandmill::Cuda> positions(where, device_);
        bandmill::Array<T, bandmill::Cuda> gathered(positions.size(), device_);
        gather_cuda(device_, array.data(), positions.data(), positions.size(), gathered.data());
        gathered.copy_to(values);
        return values;
    }

    // An event pair costs 1.3 us and an empty kernel 2.7 us, so short solves are timed in groups: about 200 us each.
    static constexpr int most_solves_per_timing = 64;
    static constexpr double repetitions_us = 1e5; // time spent on repetitions, if that is enough of them

    // Microseconds of groups of `group` solves, back to back between two events. before(first, group) readies the
    // solves from number `first` on; it is not timed.
    template <class Before, class Solve>
    std::vector<double> times_us(int repetitions, int group, Before&& before, Solve&& solve) const {
        std::vector<std::pair<bandmill::Event, bandmill::Event>> marks;
        for (int r = 0; r < repetitions; ++r) marks.emplace_back(bandmill::Event(device_), bandmill::Event(device_));
        // Launches must wait in the queue for the device, never the other way round, and the queue holds about a
        // thousand of them.
        const int most_queued = 256;
        int queued = most_queued;
        for (int r = 0; r < repetitions; ++r, queued += group) {
            if (queued >= most_queued) {
                keep_busy();
                queued = 0;
            }
            auto& [start, end] = marks[static_cast<std::size_t>(r)];
            before(r * group, group);
            start.record();
            for (int k = 0; k < group; ++k) solve(r * group + k);
            end.record();
        }
        std::vector<double> times;
        for (const auto& [start, end] : marks) times.push_back(1e3 * bandmill::elapsed_ms(start, end));
        return times;
    }

    template <class T> auto factor(const bandmill::BandMatrix& matrix) const {
        return bandmill::factor<T>(matrix, device_);
    }
    template <class T>
    void solve(const bandmill::Factor<T, bandmill::Cuda>& factor, bandmill::FieldView<const T, bandmill::Cuda> b,
               bandmill::FieldView<T, bandmill::Cuda> x) const {
        bandmill::solve(factor, b, x);
    }

    // One ceiling for all cases: a large copy, the bytes read and the bytes written counted.
    std::size_t ceiling_bytes(std::size_t) const {
        if (ceiling_bytes_ == 0) ceiling_bytes_ = std::min(std::size_t{2} << 30, free_bytes() / 4 / 256 * 256);
        return ceiling_bytes_;
    }
    const char* ceiling_operation() const { return "device-to-device copy"; }
    void prepare_ceiling(std::size_t bytes) {
        for (int i = 0; i < 2; ++i) {
            ceiling_arrays_.push_back(allocate<double>(static_cast<std::int64_t>(bytes / 8)));
            fill<double>(ceiling_arrays_.back(), random_block<double>());
        }
    }
    void run_ceiling(int) {
        bandmill::copy_on_device(device_, ceiling_arrays_[1].data(), ceiling_arrays_[0].data(),
                                 static_cast<std::size_t>(ceiling_arrays_[0].size()) * 8);
    }
    void end_ceiling() { ceiling_arrays_.clear(); }

  private:
    // Two milliseconds of copies: the launches queue up behind them, so that no event waits for the host and a solve of
    // a few microseconds is timed without its launch.
    void keep_busy() const {
        for (int i = 0; i < 64; ++i) bandmill::copy_on_device(device_, busy_[1].data(), busy_[0].data(), busy_bytes);
    }

    static constexpr std::int64_t busy_bytes = 64 << 20;
    bandmill::Device device_;
    mutable bandmill::Array<char, bandmill::Cuda> busy_[2];
    mutable std::size_t ceiling_bytes_ = 0;
    mutable double allocated_ = 0, allocated_before_ = 0; // bytes: since the last measurement, and until then
    std::vector<bandmill::Array<double, bandmill::Cuda>> ceiling_arrays_;
};

} // namespace app
