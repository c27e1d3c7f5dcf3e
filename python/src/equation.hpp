// An equation by its name, with its fields as numbers in the order of their declaration: all that can be known here of
// one that a build has added (docs/equations.md).
#pragma once

#include "bandmill/base/error.hpp"
#include "bandmill/pde/equations.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace bandmill::python {

namespace aggregate {

template <class E, std::size_t... k> constexpr bool takes(std::index_sequence<k...>) {
    return requires(double value) { E{(static_cast<void>(k), value)...}; };
}

// How many numbers E can be made from.
template <class E, std::size_t N = 0> constexpr std::size_t field_count() {
    if constexpr (N < 16 && takes<E>(std::make_index_sequence<N + 1>{})) return field_count<E, N + 1>();
    return N;
}

template <class E, std::size_t... k> E from_fields(const std::vector<double>& values, std::index_sequence<k...>) {
    return E{values[k]...};
}

// Fields that were left out keep their defaults.
template <class E, std::size_t N = field_count<E>()> E from_fields(const std::vector<double>& values) {
    if (values.size() == N) return from_fields<E>(values, std::make_index_sequence<N>{});
    if constexpr (N > 0) return from_fields<E, N - 1>(values);
    throw InvalidArgument(std::to_string(values.size()) + " numbers were given for " + E::name + ", which has " +
                          std::to_string(field_count<E>()) + ": leave out some");
}

} // namespace aggregate

// Calls visit(type) with a std::type_identity of every equation.
template <class Visit> void for_each_equation(const Visit& visit) {
    [&]<class... E>(std::type_identity<std::variant<E...>>) {
        (visit(std::type_identity<E>{}), ...);
    }(std::type_identity<Equation>{});
}

inline Equation make_equation(const std::string& name, const std::vector<double>& values) {
    Equation equation;
    std::string names;
    bool found = false;
    for_each_equation([&]<class E>(std::type_identity<E>) {
        names += (names.empty() ? "" : ", ") + std::string(E::name);
        if (name != E::name) return;
        equation = aggregate::from_fields<E>(values);
        found = true;
    });
    if (!found) throw InvalidArgument("there is no equation '" + name + "' in this build: give one of " + names);
    return equation;
}

} // namespace bandmill::python
