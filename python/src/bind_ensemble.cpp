// What Python sees of ensembles: python/bandmill/_ensemble.py checks, names and wraps it.
#include "ensemble.hpp"
#include "equation.hpp"
#include "measured.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <tuple>

namespace bandmill::python {
namespace {

using namespace nb::literals;

template <class T> using HostArray = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
using Request = std::tuple<std::string, std::optional<std::tuple<double, double, int>>>; // name; low, high, bins

template <class T> std::vector<T> to_vector(const HostArray<T>& array) {
    return {array.data(), array.data() + array.size()};
}

Ends ends_named(const std::string& text) {
    for (const Ends ends : {Ends::periodic, Ends::neumann, Ends::dirichlet})
        if (text == name(ends)) return ends;
    throw InvalidArgument("there are no ends '" + text + "': give periodic, neumann or dirichlet");
}

Observable observable_named(const std::string& text) {
    std::string names;
    for (int which = 0; which < observable_count; ++which) {
        const auto observable = static_cast<Observable>(which);
        if (text == name(observable)) return observable;
        names += (which > 0 ? ", " : "") + std::string(name(observable));
    }
    throw InvalidArgument("there is no observable '" + text + "': give one of " + names);
}

std::vector<ObservableRequest> to_requests(const std::vector<Request>& list) {
    std::vector<ObservableRequest> requests;
    for (const auto& [what, bins] : list) {
        requests.push_back({observable_named(what), {}});
        if (bins) requests.back().histogram = HistogramBins{std::get<0>(*bins), std::get<1>(*bins), std::get<2>(*bins)};
    }
    return requests;
}

// Calls Python's functions with Python's lock. Taking it can wait for other threads, so where nobody asks for every
// chunk it is taken a few times per second: soon enough for Ctrl-C.
Listener listener_for(nb::handle progress, nb::handle warn, double interval) {
    using Clock = std::chrono::steady_clock;
    auto last = std::make_shared<Clock::time_point>(Clock::now());
    return {.progress =
                [=](const Progress& now) {
                    const bool is_last = now.step == now.steps;
                    if (!is_last && std::chrono::duration<double>(Clock::now() - *last).count() < interval) return true;
                    const nb::gil_scoped_acquire locked;
                    if (PyErr_CheckSignals() != 0) throw nb::python_error();
                    bool go_on = true;
                    if (!progress.is_none()) go_on = nb::cast<bool>(progress(now.step, now.steps, now.time));
                    *last = Clock::now();
                    return go_on;
                },
            .warn =
                [=](const std::string& text) {
                    const nb::gil_scoped_acquire locked;
                    warn(text);
                }};
}

// (step, last step that was sampled, states)
nb::tuple saved(SharedEnsemble& shared) {
    std::variant<SavedState<float>, SavedState<double>> all;
    std::size_t members = 0, points = 0;
    {
        const nb::gil_scoped_release unlocked;
        shared.look([&](auto& ensemble) {
            all = ensemble.save();
            members = static_cast<std::size_t>(ensemble.spec().members);
            points = static_cast<std::size_t>(ensemble.spec().grid.points());
        });
    }
    return std::visit(
        [&](auto& state) {
            return nb::make_tuple(state.step, state.sampled, to_numpy(std::move(state.states), {members, points}));
        },
        all);
}

template <class T> void set_states(SharedEnsemble& shared, const HostArray<T>& array) {
    const nb::gil_scoped_release unlocked;
    shared.change([&]<class Other>(Ensemble<Other>& ensemble) {
        if constexpr (std::is_same_v<T, Other>) ensemble.set_states({array.data(), array.size()});
    });
}

nb::object observe(SharedEnsemble& shared, const std::string& what) {
    const ObservableRequest request{observable_named(what), {}};
    std::vector<double> values;
    {
        const nb::gil_scoped_release unlocked;
        shared.look([&](auto& ensemble) { values = std::move(ensemble.sample({&request, 1}, true).values[0]); });
    }
    return to_numpy(std::move(values));
}

// A value of the ensemble, as it is now.
template <class Get> auto peek(SharedEnsemble& shared, const Get& get) {
    decltype(get(std::declval<Ensemble<double>&>())) value{};
    const nb::gil_scoped_release unlocked;
    shared.look([&](auto& ensemble) { value = get(ensemble); });
    return value;
}

void bind_starts(nb::module_& module) {
    nb::class_<Start>(module, "Start");
    module.def(
        "uniform_noise",
        [](double amplitude, std::vector<double> mean, bool exact_mean, std::uint64_t seed,
           std::vector<std::int64_t> numbers) {
            return Start(InitialState(UniformNoise{amplitude, std::move(mean), exact_mean, seed, std::move(numbers)}));
        },
        "amplitude"_a, "mean"_a, "exact_mean"_a, "seed"_a, "numbers"_a);
    module.def(
        "cosine",
        [](double amplitude, double wavenumber, double mean) {
            return Start(InitialState(Cosine{amplitude, wavenumber, mean}));
        },
        "amplitude"_a, "wavenumber"_a, "mean"_a);
    module.def(
        "constant", [](std::vector<double> value) { return Start(InitialState(Constant{std::move(value)})); },
        "value"_a);
    module.def(
        "given_states",
        [](const HostArray<double>& states) { return Start(InitialState(GivenStates{to_vector(states)})); },
        "states"_a);
    module.def(
        "saved_state",
        [](std::int64_t step, std::int64_t sampled, const HostArray<float>& states) {
            return Start(SavedState<float>{step, to_vector(states), sampled});
        },
        "step"_a, "sampled"_a, "states"_a);
    module.def(
        "saved_state",
        [](std::int64_t step, std::int64_t sampled, const HostArray<double>& states) {
            return Start(SavedState<double>{step, to_vector(states), sampled});
        },
        "step"_a, "sampled"_a, "states"_a);
}

void bind_spec(nb::module_& module) {
    nb::class_<EnsembleSpec>(module, "EnsembleSpec")
        .def(
            "__init__",
            [](EnsembleSpec* self, const std::string& equation, const std::vector<double>& fields,
               std::vector<std::vector<double>> parameters, std::int64_t points, double length, const std::string& ends,
               double end_value, std::int64_t members, double time_step, std::int64_t first_member,
               std::int64_t members_per_slice, bool latency) {
                new (self) EnsembleSpec{.equation = make_equation(equation, fields),
                                        .grid = Grid(points, length, ends_named(ends), end_value),
                                        .members = members,
                                        .time_step = time_step,
                                        .parameters = std::move(parameters),
                                        .first_member = first_member,
                                        .members_per_slice = members_per_slice,
                                        .shape = latency ? Shape::latency : Shape::throughput};
            },
            "equation"_a, "fields"_a, "parameters"_a, "points"_a, "length"_a, "ends"_a, "end_value"_a, "members"_a,
            "time_step"_a, "first_member"_a, "members_per_slice"_a, "latency"_a)
        .def_prop_ro("x", [](const EnsembleSpec& spec) {
            std::vector<double> x;
            for (std::int64_t i = 0; i < spec.grid.points(); ++i) x.push_back(spec.grid.position(i));
            return to_numpy(std::move(x));
        });
    module.def("equations", [] {
        nb::dict all; // name: the names of its member parameters
        for_each_equation([&]<class E>(std::type_identity<E>) {
            all[E::name] = std::vector<std::string>(E::member_parameters.begin(), E::member_parameters.end());
        });
        return all;
    });
    module.def("observables", [] {
        std::vector<std::string> names;
        for (int which = 0; which < observable_count; ++which) names.emplace_back(name(static_cast<Observable>(which)));
        return names;
    });
}

void run(SharedEnsemble& shared, Measured& measured, double end_time, std::vector<double> times, bool every_step,
         const std::vector<Request>& requests, bool keep_values, std::int64_t chunk, bool stop_when_lost,
         nb::handle progress, nb::handle warn, double interval) {
    measured.requests = to_requests(requests);
    const nb::gil_scoped_release unlocked;
    shared.look([&](auto& ensemble) { measured.members = ensemble.spec().members; });
    shared.run({.end_time = end_time,
                .times = std::move(times),
                .every_step = every_step,
                .observables = measured.requests,
                .keep_values = keep_values,
                .chunk = chunk,
                .stop_when_lost = stop_when_lost},
               listener_for(progress, warn, interval), measured.result);
}

} // namespace

void bind_ensemble(nb::module_& module) {
    bind_starts(module);
    bind_spec(module);
    nb::class_<Measured>(module, "Measured")
        .def(nb::init<>())
        .def_prop_ro("steps", &Measured::steps)
        .def_prop_ro("times", &Measured::times)
        .def_prop_ro("interrupted", [](const Measured& measured) { return measured.result.interrupted; })
        .def_prop_ro("lost", &Measured::lost)
        .def("statistic", &Measured::statistic, "which"_a)
        .def("histogram", &Measured::histogram, "which"_a)
        .def("values", &Measured::values, "which"_a);
    nb::class_<SharedEnsemble>(module, "Ensemble")
        .def(
            "__init__",
            [](SharedEnsemble* self, const EnsembleSpec& spec, const Start& start, int bits, int device, int threads) {
                const nb::gil_scoped_release unlocked;
                new (self) SharedEnsemble(spec, start, bits, device, Threads{threads});
            },
            "spec"_a, "start"_a, "bits"_a, "device"_a, "threads"_a)
        .def_prop_ro("step", [](SharedEnsemble& shared) { return peek(shared, [](auto& e) { return e.step(); }); })
        .def_prop_ro("time_step",
                     [](SharedEnsemble& shared) { return peek(shared, [](auto& e) { return e.time_step(); }); })
        .def_prop_ro("path", [](SharedEnsemble& shared) { return peek(shared, [](auto& e) { return e.path(); }); })
        .def_prop_ro("members_per_slice",
                     [](SharedEnsemble& shared) { return peek(shared, [](auto& e) { return e.members_per_slice(); }); })
        .def("saved", saved)
        .def("set_states", set_states<float>, "states"_a)
        .def("set_states", set_states<double>, "states"_a)
        .def("observe", observe, "what"_a)
        .def("run", run, "measured"_a, "end_time"_a, "times"_a, "every_step"_a, "observables"_a, "keep_values"_a,
             "chunk"_a, "stop_when_lost"_a, "progress"_a.none(), "warn"_a, "interval"_a);
}

} // namespace bandmill::python
