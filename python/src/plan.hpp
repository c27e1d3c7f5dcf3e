// Plan: one matrix and its factors, one for each precision and device that was asked for.
#pragma once

#include "bandmill/band/factor.hpp"
#include "bandmill/band/matrix.hpp"
#include "bandmill/base/space.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <tuple>

namespace bandmill::python {

inline constexpr int cpu = -1;        // in place of a GPU's index
inline constexpr int any_device = -2; // wherever the right-hand sides are

struct PlanOptions {
    int bits = 0; // of the precision: 32, 64, or 0 for that of the right-hand sides
    int device = any_device;
    Threads threads;
};

class Plan {
  public:
    Plan(BandMatrix matrix, PlanOptions options) : matrix_(std::move(matrix)), options_(options) {}

    const BandMatrix& matrix() const { return matrix_; }
    const PlanOptions& options() const { return options_; }

    // Made when first asked for. Safe from several threads; call these without Python's lock, since factoring takes
    // time and a thread that waits for it must not stop the others.
    template <class T> Factor<T, Host> on_host() {
        const std::lock_guard lock(mutex_);
        auto& kept = std::get<std::optional<Factor<T, Host>>>(host_);
        if (!kept) kept.emplace(bandmill::factor<T>(matrix_));
        return *kept;
    }
    template <class T> Factor<T, Cuda> on_gpu(int device) {
        const std::lock_guard lock(mutex_);
        auto& kept = std::get<std::map<int, Factor<T, Cuda>>>(gpu_);
        auto found = kept.find(device);
        if (found == kept.end()) found = kept.emplace(device, bandmill::factor<T>(matrix_, Device{device})).first;
        return found->second;
    }
    template <class T> FactorReport report(int device) {
        return device == cpu ? on_host<T>().report() : on_gpu<T>(device).report();
    }

  private:
    BandMatrix matrix_;
    PlanOptions options_;
    std::mutex mutex_;
    std::tuple<std::optional<Factor<float, Host>>, std::optional<Factor<double, Host>>> host_;
    std::tuple<std::map<int, Factor<float, Cuda>>, std::map<int, Factor<double, Cuda>>> gpu_;
};

} // namespace bandmill::python
