// The Stepper of planes on a GPU. All members lie side by side in every row, [y][member][x]: along y they are one
// interleaved batch, along x one contiguous batch, and a solve needs no other order of either.
#include "bandmill/cuda/plane.hpp"

#include "bandmill/band/solve.hpp"
#include "bandmill/base/array.hpp"
#include "bandmill/base/device.hpp"
#include "bandmill/cuda/plane_tuning.hpp"
#include "bandmill/cuda/solve_add.hpp"
#include "bandmill/ensemble/scheme.hpp"

#include <algorithm>
#include <optional>

namespace bandmill::cuda {
namespace {

using detail::PlaneSums;
using detail::SampleTarget;

template <class T> class CudaPlaneStepper final : public detail::Stepper<T> {
  public:
    CudaPlaneStepper(const detail::StepperSetup& setup, Device device)
        : setup_(setup), device_(device), n_(setup.grid.points()), rows_(setup.grid_y->points()) {
        require_device(device);
        DeviceScope scope(device);
        queue_.overlap = planes_may_overlap(device_limits(device).compute_major);
        std::visit([&](const auto& equation) { prepare(equation); }, setup.equation);
        capacity_ = room();
        for (Array<T, Cuda>* array : {&state_, &result_, corrected_ ? &correction_ : nullptr})
            if (array != nullptr) *array = Array<T, Cuda>(n_ * rows_ * capacity_, device);
    }

    std::string path() const override { return "planes by alternating directions"; }
    std::int64_t capacity() const override { return capacity_; }

    void load(std::int64_t, std::int64_t count, const T* states) override {
        count_ = count;
        copy_to_device(device_, result_.data(), states, bytes());
        DeviceScope scope(device_);
        reorder_planes(Order::row_first, n_, rows_, count_, result_.data(), state_.data(), queue_);
    }
    void store(T* states) override {
        DeviceScope scope(device_);
        reorder_planes(Order::member_first, n_, rows_, count_, state_.data(), result_.data(), queue_);
        copy_to_host(device_, states, result_.data(), bytes());
    }

    void advance(std::int64_t steps, const SampleTarget* target) override {
        DeviceScope scope(device_);
        const std::size_t requests = target != nullptr ? target->requests.size() : 0;
        for (std::int64_t s = 0; s < steps; ++s) {
            step();
            if (target == nullptr) continue;
            const auto at = static_cast<std::size_t>(s) * requests, held = static_cast<std::size_t>(count_);
            observe({target->requests, target->statistics.subspan(at, requests),
                     target->values.empty() ? target->values : target->values.subspan(at * held, requests * held)});
        }
        synchronize(device_);
    }

    void observe(const SampleTarget& target) override {
        if (target.requests.empty()) return;
        DeviceScope scope(device_);
        const bool wants_rate = std::any_of(target.requests.begin(), target.requests.end(),
                                            [](const auto& request) { return request.observable == Observable::rate; });
        if (wants_rate) {
            PlaneJob<T> job = job_of(nullptr);
            job.update = to_rate_;
            plane_rates(setup_.equation, job, 0, rows_, result_.data(), queue_);
        }
        if (totals_.size() < count_) {
            row_sums_ = Array<PlaneSums, Cuda>(capacity_ * rows_, device_);
            totals_ = Array<PlaneSums, Cuda>(capacity_, device_);
        }
        measure_planes(setup_.equation, job_of(nullptr), wants_rate ? result_.data() : nullptr, row_sums_.data(),
                       totals_.data(), queue_);
        std::vector<PlaneSums> totals(static_cast<std::size_t>(count_));
        copy_to_host(device_, totals.data(), totals_.data(), totals.size() * sizeof(PlaneSums));
        for (std::size_t member = 0; member < totals.size(); ++member) {
            double values[observable_count];
            totals[member].observables(setup_.grid, *setup_.grid_y, values);
            for (std::size_t r = 0; r < target.requests.size(); ++r) {
                const double value = values[static_cast<int>(target.requests[r].observable)];
                target.statistics[r].add(value, target.requests[r].histogram);
                if (!target.values.empty()) target.values[r * totals.size() + member] = value;
            }
        }
    }

  private:
    template <class E> void prepare(const E& equation) {
        if constexpr (PlaneEquation<E>) {
            const Grid &x = setup_.grid, &y = *setup_.grid_y;
            const double dt = setup_.time_step, scale = equation.template plane_rate<T>().scale;
            along_x_.emplace(factor<T>(detail::step_matrix(equation, x, dt), device_));
            along_y_.emplace(factor<T>(detail::step_matrix(equation, y, dt), device_));
            corrected_ = E::plane_corrections > 0;
            laplacian_ = plane_weights<T>(1, x, y);
            update_ = plane_weights<T>(dt * scale, x, y);
            to_rate_ = plane_weights<T>(scale, x, y);
        }
    }

    std::size_t bytes() const { return static_cast<std::size_t>(n_ * rows_ * count_) * sizeof(T); }

    // Members that fit beside each other.
    std::int64_t room() const {
        const double workspace =
            static_cast<double>(rows_) * static_cast<double>(along_x_->report().workspace_bytes_per_system) +
            static_cast<double>(n_) * static_cast<double>(along_y_->report().workspace_bytes_per_system);
        const double arrays = (corrected_ ? 3.0 : 2.0) * static_cast<double>(n_ * rows_) * sizeof(T);
        const double per_member = arrays + workspace + static_cast<double>(rows_ + 1) * sizeof(PlaneSums);
        const double free = 0.9 * static_cast<double>(free_memory(device_));
        std::int64_t most = std::max<std::int64_t>(1, static_cast<std::int64_t>(free / per_member));
        if (setup_.most_members > 0) most = std::min(most, setup_.most_members);
        return std::min(most, setup_.members);
    }

    PlaneJob<T> job_of(const T* increments) const {
        return {n_, rows_, count_, laplacian_, update_, state_.data(), increments};
    }

    void step() {
        solve_along_x(nullptr, result_.data());
        if (!corrected_) return solve_along_y_and_add(result_.data());
        solve(*along_y_, columns(result_.data()), queue_.stream);
        solve_along_x(result_.data(), correction_.data());
        solve(*along_y_, columns(correction_.data()), queue_.stream);
        add_increments<T>(state_.data(), result_.data(), correction_.data(), n_ * rows_ * count_, queue_);
    }

    // Right-hand sides of some rows, and at once their solutions along x.
    void solve_along_x(const T* increments, T* results) {
        const std::int64_t row = n_ * count_, row_bytes = row * static_cast<std::int64_t>(sizeof(T));
        const std::int64_t chunk =
            plane_chunk_bytes > 0 ? std::max<std::int64_t>(1, plane_chunk_bytes / row_bytes) : rows_;
        const std::int64_t chunks = (rows_ + chunk - 1) / chunk;
        for (std::int64_t c = 0; c < chunks; ++c) {
            const std::int64_t first = c * rows_ / chunks, last = (c + 1) * rows_ / chunks;
            plane_rates(setup_.equation, job_of(increments), first, last, results, queue_);
            solve(*along_x_, contiguous<Cuda>(results + first * row, n_, (last - first) * count_), queue_.stream);
        }
    }

    FieldView<T, Cuda> columns(T* data) const { return interleaved<Cuda>(data, rows_, n_ * count_); }

    void solve_along_y_and_add(T* right_hand_sides) {
        const FieldView<T, Cuda> b = columns(right_hand_sides);
        if (solve_and_add<T>(*along_y_, b, columns(state_.data()), queue_.stream)) return;
        solve(*along_y_, b, queue_.stream);
        add_increments<T>(state_.data(), right_hand_sides, nullptr, n_ * rows_ * count_, queue_);
    }

    detail::StepperSetup setup_;
    Device device_;
    PlaneQueue queue_{};
    std::int64_t n_, rows_, capacity_ = 0, count_ = 0;
    std::optional<Factor<T, Cuda>> along_x_, along_y_;
    bool corrected_ = false;
    PlaneWeights<T> laplacian_{}, update_{}, to_rate_{};
    Array<T, Cuda> state_, result_, correction_; // [y][member][x]
    Array<PlaneSums, Cuda> row_sums_, totals_;
};

} // namespace

template <class T>
std::unique_ptr<detail::Stepper<T>> make_plane_stepper(const detail::StepperSetup& setup, Device device) {
    return std::make_unique<CudaPlaneStepper<T>>(setup, device);
}
template std::unique_ptr<detail::Stepper<double>> make_plane_stepper<double>(const detail::StepperSetup&, Device);
template std::unique_ptr<detail::Stepper<float>> make_plane_stepper<float>(const detail::StepperSetup&, Device);

} // namespace bandmill::cuda
