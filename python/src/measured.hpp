// What a run has measured, as arrays of NumPy.
#pragma once

#include "bandmill/ensemble/ensemble.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace bandmill::python {

namespace nb = nanobind;

// A NumPy array that takes over the memory.
template <class T> nb::object to_numpy(std::vector<T> values, std::vector<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner));
}
template <class T> nb::object to_numpy(std::vector<T> values) {
    const std::size_t size = values.size();
    return to_numpy(std::move(values), {size});
}

// Kept until Python asks for it: arrays with one entry per sample, [sample][bin] and [sample][member].
struct Measured {
    std::vector<ObservableRequest> requests;
    std::int64_t members = 0;
    RunResult result;

    template <class T, class Of> nb::object of_samples(const Of& of) const {
        std::vector<T> values;
        values.reserve(result.samples.size());
        for (const Sample& sample : result.samples) values.push_back(of(sample));
        return to_numpy(std::move(values));
    }
    nb::object steps() const {
        return of_samples<std::int64_t>([](const Sample& sample) { return sample.step; });
    }
    nb::object times() const {
        return of_samples<double>([](const Sample& sample) { return sample.time; });
    }
    std::vector<std::tuple<std::int64_t, double, std::vector<double>>> lost() const {
        std::vector<std::tuple<std::int64_t, double, std::vector<double>>> list;
        for (const LostMember& member : result.lost) list.emplace_back(member.member, member.time, member.parameters);
        return list;
    }

    nb::tuple statistic(std::size_t which) const {
        auto numbers = [&](double (EnsembleStatistic::*of)() const) {
            return of_samples<double>([&](const Sample& sample) { return (sample.statistics.at(which).*of)(); });
        };
        auto counts = [&](std::int64_t EnsembleStatistic::*of) {
            return of_samples<std::int64_t>([&](const Sample& sample) { return sample.statistics.at(which).*of; });
        };
        return nb::make_tuple(numbers(&EnsembleStatistic::mean), numbers(&EnsembleStatistic::variance),
                              numbers(&EnsembleStatistic::standard_error), counts(&EnsembleStatistic::members),
                              counts(&EnsembleStatistic::left_out), counts(&EnsembleStatistic::below),
                              counts(&EnsembleStatistic::above));
    }
    nb::object histogram(std::size_t which) const {
        std::vector<std::int64_t> all;
        for (const Sample& sample : result.samples)
            all.insert(all.end(), sample.statistics.at(which).histogram.begin(),
                       sample.statistics.at(which).histogram.end());
        return to_numpy(std::move(all),
                        {result.samples.size(), static_cast<std::size_t>(requests.at(which).histogram->bins)});
    }
    nb::object values(std::size_t which) const {
        std::vector<double> all;
        all.reserve(result.samples.size() * static_cast<std::size_t>(members));
        for (const Sample& sample : result.samples)
            all.insert(all.end(), sample.values.at(which).begin(), sample.values.at(which).end());
        return to_numpy(std::move(all), {result.samples.size(), static_cast<std::size_t>(members)});
    }
};

} // namespace bandmill::python
