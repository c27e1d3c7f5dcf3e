#include "bandmill/ensemble/ensemble.hpp"

#include "bandmill/ensemble/check.hpp"
#include "bandmill/ensemble/data.hpp"
#include "bandmill/ensemble/recording.hpp"

#include <algorithm>
#include <utility>

namespace bandmill {
namespace {

template <class T> std::vector<T> first_states(const EnsembleSpec& spec, const InitialState& initial) {
    detail::check_initial_state(initial, spec.grid, spec.members, spec.rows());
    std::vector<T> states(static_cast<std::size_t>(spec.members * spec.points()));
    detail::fill_initial_states(initial, spec.grid, spec.first_member, 0, spec.members, states.data(), spec.rows());
    return states;
}

template <class T> std::vector<T> first_states(const EnsembleSpec& spec, const SavedState<T>& saved) {
    detail::check_saved(saved.step, saved.states.size(), spec);
    return saved.states;
}

std::int64_t last_sampled(const InitialState&) { return -1; }
template <class T> std::int64_t last_sampled(const SavedState<T>& saved) { return saved.sampled; }
std::int64_t first_step(const InitialState&) { return 0; }
template <class T> std::int64_t first_step(const SavedState<T>& saved) { return saved.step; }

// `Data` is private to Ensemble, so it comes as a parameter.
template <class Data, class T, class Start, class Where>
std::unique_ptr<Data> make_data(const EnsembleSpec& spec, const Start& start, Where where) {
    const detail::StepperSetup setup = detail::checked_setup(spec);
    std::vector<T> states = first_states<T>(spec, start);
    auto data = std::make_unique<Data>(Data{spec, setup.time_step, detail::make_stepper<T>(setup, where)});
    data->slice = std::min(spec.members, data->stepper->capacity());
    if (spec.members_per_slice > 0) data->slice = std::min(data->slice, spec.members_per_slice);
    if (data->resident())
        data->stepper->load(0, spec.members, states.data());
    else
        data->states = std::move(states);
    data->step = first_step(start);
    data->sampled = last_sampled(start);
    data->lost.resize(static_cast<std::size_t>(spec.members));
    return data;
}

} // namespace

template <class T>
Ensemble<T>::Ensemble(const EnsembleSpec& spec, const InitialState& initial, Threads threads)
    : data_(make_data<Data, T>(spec, initial, threads)) {}
template <class T>
Ensemble<T>::Ensemble(const EnsembleSpec& spec, const InitialState& initial, Device device)
    : data_(make_data<Data, T>(spec, initial, device)) {}
template <class T>
Ensemble<T>::Ensemble(const EnsembleSpec& spec, const SavedState<T>& saved, Threads threads)
    : data_(make_data<Data, T>(spec, saved, threads)) {}
template <class T>
Ensemble<T>::Ensemble(const EnsembleSpec& spec, const SavedState<T>& saved, Device device)
    : data_(make_data<Data, T>(spec, saved, device)) {}
template <class T> Ensemble<T>::Ensemble(Ensemble&&) noexcept = default;
template <class T> Ensemble<T>& Ensemble<T>::operator=(Ensemble&&) noexcept = default;
template <class T> Ensemble<T>::~Ensemble() = default;

template <class T> typename Ensemble<T>::Data& Ensemble<T>::data() const {
    if (!data_) throw InvalidArgument("this ensemble was moved from, and holds nothing: use the one it was moved to");
    if (data_->torn)
        throw InvalidArgument(
            "an error has ended a chunk half-way, so that members of this ensemble stand at different "
            "times: make a new one from a saved state");
    return *data_;
}

template <class T> const EnsembleSpec& Ensemble<T>::spec() const { return data().spec; }
template <class T> double Ensemble<T>::time_step() const { return data().time_step; }
template <class T> std::int64_t Ensemble<T>::step() const { return data().step; }
template <class T> std::string Ensemble<T>::path() const { return data().stepper->path(); }
template <class T> std::int64_t Ensemble<T>::members_per_slice() const { return data().slice; }

template <class T> void Ensemble<T>::advance(std::int64_t steps) {
    if (steps < 0)
        throw InvalidArgument("cannot advance by " + std::to_string(steps) +
                              " steps (time does not run backwards): give 0 or more");
    Data& data = this->data();
    if (steps == 0) return;
    data.for_each_slice(Data::Use::write, [&](std::int64_t, std::int64_t) { data.stepper->advance(steps); });
    data.step += steps;
}

template <class T> Sample Ensemble<T>::sample(std::span<const ObservableRequest> observables, bool keep_values) {
    detail::check_requests(observables);
    detail::Recording recording(observables, 1, data().spec.members, keep_values);
    if (!observables.empty())
        data().for_each_slice(Data::Use::read, [&](std::int64_t first, std::int64_t count) {
            recording.add_slice(first, count, [&](const auto& target) { data().stepper->observe(target); });
        });
    std::vector<Sample> samples;
    recording.move_to(samples, data().step, data().time_step);
    return std::move(samples.front());
}

template <class T> std::vector<T> Ensemble<T>::states(std::int64_t first, std::int64_t count) {
    const std::int64_t members = data().spec.members, points = data().spec.points();
    if (count == -1) count = members - first;
    if (first < 0 || count < 0 || first > members || count > members - first)
        throw InvalidArgument("the states of " + (count < 0 ? "the" : std::to_string(count)) + " members from number " +
                              std::to_string(first) + " on were asked for, but there are " + std::to_string(members) +
                              ": ask for some of these (counted without first_member)");
    std::vector<T> all;
    if (data().resident()) {
        all.resize(static_cast<std::size_t>(members * points));
        data().stepper->store(all.data());
        if (count == members) return all;
    }
    const T* from = (data().resident() ? all.data() : data().states.data()) + first * points;
    return std::vector<T>(from, from + count * points);
}

template <class T> void Ensemble<T>::set_states(std::span<const T> states) {
    Data& data = this->data();
    detail::check_saved(data.step, states.size(), data.spec);
    if (data.resident())
        data.stepper->load(0, data.spec.members, states.data());
    else
        std::copy(states.begin(), states.end(), data.states.begin());
    std::fill(data.lost.begin(), data.lost.end(), char{0});
    data.sampled = -1; // what was sampled here is no longer so
}

template <class T> SavedState<T> Ensemble<T>::save() { return {data().step, states(), data().sampled}; }

template class Ensemble<double>;
template class Ensemble<float>;

} // namespace bandmill
