// The Stepper of the CUDA backend: members in device memory, stepped in registers if they fit, by streaming otherwise.
#include "bandmill/band/factor.hpp"
#include "bandmill/band/solve.hpp"
#include "bandmill/base/array.hpp"
#include "bandmill/base/device.hpp"
#include "bandmill/cuda/members.hpp"
#include "bandmill/cuda/plane.hpp"
#include "bandmill/cuda/resident.hpp"
#include "bandmill/ensemble/scheme.hpp"
#include "bandmill/ensemble/stepper.hpp"

#include <algorithm>
#include <optional>

namespace bandmill {
namespace {

using detail::SampleTarget;
using detail::StepperSetup;

// Of the squares of steps that wait for their statistics: the more steps at a time, the less members go to memory and
// back.
constexpr std::int64_t trace_bytes = std::int64_t{1} << 30;

template <class T> class CudaStepper : public detail::Stepper<T> {
  public:
    CudaStepper(const StepperSetup& setup, Device device) : setup_(setup), device_(device), n_(setup.grid.points()) {
        require_device(device);
        DeviceScope scope(device);
        std::vector<T> profile;
        for (const double value : detail::profile(setup.equation, setup.grid)) profile.push_back(static_cast<T>(value));
        profile_ = Array<T, Cuda>(std::span<const T>(profile), device);
        update_ = std::visit(
            [&](const auto& equation) { return detail::update_factor(equation, setup.grid, setup.time_step); },
            setup.equation);
        choose_path();
        capacity_ = room();
        states_ = Array<T, Cuda>(n_ * capacity_, device);
        if (factor_) {
            spare_states_ = Array<T, Cuda>(n_ * capacity_, device);
            for (auto& array : increments_) array = Array<T, Cuda>(n_ * capacity_, device);
        }
        const std::int64_t parameters = static_cast<std::int64_t>(setup.parameters.size()) / setup.members;
        parameters_ = Array<T, Cuda>(std::max<std::int64_t>(1, parameters * capacity_), device);
    }

    std::string path() const override {
        if (factor_) return "streaming";
        return "resident, " + std::to_string(spread_->slots) + " points per thread, " + std::to_string(spread_->lanes) +
               (spread_->lanes > 1 ? " threads" : " thread") + " per member";
    }
    std::int64_t capacity() const override { return capacity_; }

    void load(std::int64_t first, std::int64_t count, const T* states) override {
        copy_to_device(device_, states_.data(), states, bytes(count));
        const std::int64_t parameters = static_cast<std::int64_t>(setup_.parameters.size()) / setup_.members;
        std::vector<T> own;
        for (std::int64_t p = 0; p < parameters; ++p)
            for (std::int64_t m = 0; m < count; ++m)
                own.push_back(static_cast<T>(setup_.parameters[p * setup_.members + first + m]));
        if (!own.empty()) copy_to_device(device_, parameters_.data(), own.data(), own.size() * sizeof(T));
        count_ = count;
    }
    void store(T* states) override { copy_to_host(device_, states, states_.data(), bytes(count_)); }

    void advance(std::int64_t steps, const SampleTarget* target) override {
        DeviceScope scope(device_);
        if (target == nullptr) {
            step(steps, nullptr);
            synchronize(device_);
        } else if (is_traceable(*target)) {
            advance_traced(steps, *target);
        } else {
            const auto requests = target->requests.size();
            for (std::int64_t s = 0; s < steps; ++s) {
                step(1, nullptr);
                observe({target->requests, target->statistics.subspan(s * requests, requests),
                         target->values.empty() ? target->values
                                                : target->values.subspan(s * requests * count_, requests * count_)});
            }
        }
    }

    void observe(const SampleTarget& target) override {
        DeviceScope scope(device_);
        const std::int64_t requests = static_cast<std::int64_t>(target.requests.size());
        if (requests == 0) return;
        std::vector<ObservableRequest> distinct; // one may be asked for twice, with other bins
        std::vector<std::int64_t> row;           // of each request among them
        for (const ObservableRequest& request : target.requests) {
            const auto known = std::find_if(distinct.begin(), distinct.end(), [&](const ObservableRequest& other) {
                return other.observable == request.observable;
            });
            row.push_back(known - distinct.begin());
            if (known == distinct.end()) distinct.push_back(request);
        }
        reserve(values_, static_cast<std::int64_t>(distinct.size()) * count_);
        cuda::observe_members<T>(setup_.equation, setup_.grid, member_job(nullptr), distinct, values_.data(), Stream{});
        for (std::int64_t r = 0; r < requests; ++r) {
            const double* const values = values_.data() + row[r] * count_;
            add(target.requests[r], cuda::Stored::value, values, 1, 0, target.statistics, r, requests);
            if (!target.values.empty())
                copy_to_host(device_, target.values.data() + r * count_, values, count_ * sizeof(double));
        }
    }

  private:
    std::size_t bytes(std::int64_t members) const { return static_cast<std::size_t>(n_ * members) * sizeof(T); }

    void choose_path() {
        const LinearOperator linear = std::visit([](const auto& e) { return e.implicit(); }, setup_.equation);
        const auto [half_bandwidth, weight] = std::visit(
            []<class E>(const E&) { return std::pair(E::half_bandwidth, E::implicitness); }, setup_.equation);
        spread_ = cuda::choose_spread<T>(setup_.equation, n_, setup_.shape);
        std::vector<cuda::CarryMap<T>> positions;
        if (spread_ && cuda::circulant_tables<T>(linear, setup_.grid, half_bandwidth, weight * setup_.time_step,
                                                 update_, *spread_, job_, positions)) {
            positions_ = Array<cuda::CarryMap<T>, Cuda>(std::span<const cuda::CarryMap<T>>(positions), device_);
            return;
        }
        spread_.reset();
        factor_.emplace(factor<T>(
            detail::implicit_matrix(linear, setup_.grid, half_bandwidth, weight * setup_.time_step), device_));
    }

    // Members that fit beside each other.
    std::int64_t room() const {
        const std::int64_t arrays = factor_ ? 4 : 1;
        const double per_member = static_cast<double>(bytes(arrays)) + 8.0 * observable_count +
                                  (factor_ ? static_cast<double>(factor_->report().workspace_bytes_per_system) : 0);
        const double free = 0.9 * static_cast<double>(free_memory(device_)) - 2.0 * trace_bytes;
        std::int64_t most = std::max<std::int64_t>(1, static_cast<std::int64_t>(free / per_member));
        most = std::min<std::int64_t>(most, std::int64_t{1} << 30); // what statistics and grids are made for
        if (setup_.most_members > 0) most = std::min(most, setup_.most_members);
        return std::min(most, setup_.members);
    }

    cuda::MemberJob<T> member_job(const T* increments) const {
        return {count_,          states_.data(),     increments, static_cast<T>(update_),
                profile_.data(), parameters_.data(), count_};
    }

    void step(std::int64_t steps, double* square_sums) {
        if (factor_) return stream(steps);
        job_.states = states_.data();
        job_.members = count_;
        job_.points = static_cast<int>(n_);
        job_.lanes = spread_->lanes;
        job_.positions = positions_.data();
        job_.profile = profile_.data();
        job_.parameters = parameters_.data();
        job_.parameter_stride = count_;
        job_.square_sums = square_sums;
        while (steps > 0) { // the kernel counts in int
            job_.steps = static_cast<int>(std::min<std::int64_t>(steps, 1 << 30));
            cuda::step_resident<T>(setup_.equation, setup_.grid, *spread_, job_, Stream{});
            steps -= job_.steps;
        }
    }

    // One kernel adds the last increment and computes the next right-hand side, then the solve.
    void stream(std::int64_t steps) {
        const T* increment = nullptr;
        for (std::int64_t s = 0; s < steps; ++s) {
            T* const next = increments_[s % 2].data();
            cuda::update_and_rate<T>(setup_.equation, setup_.grid, member_job(increment),
                                     increment == nullptr ? nullptr : spare_states_.data(), next, Stream{});
            if (increment != nullptr) std::swap(states_, spare_states_);
            solve(*factor_, contiguous<Cuda>(next, n_, count_), Stream{});
            increment = next;
        }
        if (increment == nullptr) return;
        cuda::update_and_rate<T>(setup_.equation, setup_.grid, member_job(increment), spare_states_.data(), nullptr,
                                 Stream{});
        std::swap(states_, spare_states_);
    }

    // Squares are summed while stepping; everything else takes a look at the states.
    bool is_traceable(const SampleTarget& target) const {
        return spread_ && std::all_of(target.requests.begin(), target.requests.end(), [](const auto& request) {
                   return request.observable == Observable::mean_square ||
                          request.observable == Observable::domain_size;
               });
    }

    void advance_traced(std::int64_t steps, const SampleTarget& target) {
        const std::int64_t requests = static_cast<std::int64_t>(target.requests.size());
        const std::int64_t most = std::max<std::int64_t>(1, trace_bytes / 8 / count_),
                           times = (steps + most - 1) / most;
        const std::int64_t at_once = std::max<std::int64_t>(1, (steps + times - 1) / times);
        reserve(values_, at_once * count_);
        std::vector<double> squares(target.values.empty() ? 0 : static_cast<std::size_t>(at_once * count_));
        for (std::int64_t first = 0; first < steps; first += at_once) {
            const std::int64_t some = std::min(at_once, steps - first);
            step(some, values_.data());
            for (std::int64_t r = 0; r < requests; ++r)
                add(target.requests[r],
                    target.requests[r].observable == Observable::mean_square ? cuda::Stored::square_sum_as_mean
                                                                             : cuda::Stored::square_sum_as_domain_size,
                    values_.data(), some, count_, target.statistics, first * requests + r, requests);
            if (target.values.empty()) continue;
            copy_to_host(device_, squares.data(), values_.data(), static_cast<std::size_t>(some * count_) * 8);
            for (std::int64_t s = 0; s < some; ++s)
                for (std::int64_t r = 0; r < requests; ++r)
                    for (std::int64_t m = 0; m < count_; ++m) {
                        const double mean = squares[s * count_ + m] / static_cast<double>(n_);
                        target.values[((first + s) * requests + r) * count_ + m] =
                            target.requests[r].observable == Observable::mean_square ? mean : detail::domain_size(mean);
                    }
        }
        synchronize(device_);
    }

    // Adds `samples` samples of one request, values[sample * sample_stride + member], to every `every`-th statistic
    // from `first` on.
    void add(const ObservableRequest& request, cuda::Stored stored, const double* values, std::int64_t samples,
             std::int64_t sample_stride, std::span<EnsembleStatistic> statistics, std::int64_t first,
             std::int64_t every) {
        const HistogramBins bins = request.histogram.value_or(HistogramBins{0, 0, 0});
        const std::int64_t entries = cuda::statistic_pieces + 2 + bins.bins;
        std::vector<std::int64_t> totals(static_cast<std::size_t>(samples * entries));
        reserve(totals_, samples * entries);
        copy_to_device(device_, totals_.data(), totals.data(), totals.size() * 8);
        const double points = static_cast<double>(n_), inverse = (n_ & (n_ - 1)) == 0 ? 1 / points : 0;
        cuda::add_statistics(
            {values, count_, samples, sample_stride, stored, points, inverse, bins.low, bins.high, bins.bins},
            totals_.data(), Stream{});
        copy_to_host(device_, totals.data(), totals_.data(), totals.size() * 8);
        for (std::int64_t s = 0; s < samples; ++s) {
            const std::int64_t* t = totals.data() + s * entries;
            EnsembleStatistic part;
            part.members = t[0];
            part.left_out = t[1];
            part.sum.add(detail::Pieces{t[2], t[3], t[4]});
            part.squares.add(detail::Pieces{t[5], t[6], t[7]});
            part.below = t[8];
            part.above = t[9];
            part.histogram.assign(t + 10, t + entries);
            statistics[first + s * every].add(part);
        }
    }

    template <class Element> void reserve(Array<Element, Cuda>& array, std::int64_t size) {
        if (array.size() < size) {
            array = Array<Element, Cuda>(); // the old one goes first
            array = Array<Element, Cuda>(size, device_);
        }
    }

    StepperSetup setup_;
    Device device_;
    std::int64_t n_, capacity_ = 0, count_ = 0;
    double update_;
    std::optional<cuda::Spread> spread_; // resident
    cuda::ResidentJob<T> job_{};
    Array<cuda::CarryMap<T>, Cuda> positions_;
    std::optional<Factor<T, Cuda>> factor_; // streaming
    Array<T, Cuda> states_, spare_states_, increments_[2], profile_, parameters_;
    Array<double, Cuda> values_;
    Array<std::int64_t, Cuda> totals_;
};

} // namespace

namespace detail {
template <class T> std::unique_ptr<Stepper<T>> make_stepper(const StepperSetup& setup, Device device) {
    if (setup.grid_y) return cuda::make_plane_stepper<T>(setup, device);
    return std::make_unique<CudaStepper<T>>(setup, device);
}
template std::unique_ptr<Stepper<double>> make_stepper<double>(const StepperSetup&, Device);
template std::unique_ptr<Stepper<float>> make_stepper<float>(const StepperSetup&, Device);
} // namespace detail

} // namespace bandmill
