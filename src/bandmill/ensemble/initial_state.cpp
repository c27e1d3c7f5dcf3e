#include "bandmill/ensemble/initial_state.hpp"

#include "bandmill/base/philox.hpp"
#include "bandmill/base/text.hpp"
#include "bandmill/base/threads.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace bandmill::detail {
namespace {

// Last word of the counter: other uses of the same seed must take another one.
constexpr std::uint32_t initial_noise = 1;
constexpr std::int64_t most_random_points = std::int64_t{1} << 33; // two per value of a 32-bit word of the counter

void check_per_member(const std::vector<double>& values, std::int64_t members, const std::string& what) {
    if (values.size() != 1 && static_cast<std::int64_t>(values.size()) != members)
        throw InvalidArgument("the initial state has " + std::to_string(values.size()) + " values for " + what +
                              ", but there are " + std::to_string(members) +
                              " members: give one for all, or one for each");
    for (std::size_t k = 0; k < values.size(); ++k)
        if (!std::isfinite(values[k]))
            throw InvalidArgument(what + " of the initial state of member " + std::to_string(k) +
                                  " is not finite (no run can start from it): give a finite number");
}

void check(const UniformNoise& noise, std::int64_t points, std::int64_t members) {
    if (!(noise.amplitude >= 0) || !std::isfinite(noise.amplitude))
        throw InvalidArgument("the amplitude of the noise is " + text(noise.amplitude) +
                              " (values lie between -amplitude and amplitude): give a finite number of 0 or more");
    if (points > most_random_points)
        throw InvalidArgument(
            "noise on " + std::to_string(points) +
            " points is not possible (there are 2^33 random numbers for a member): take fewer points, or give states");
    check_per_member(noise.mean, members, "the mean");
    if (!noise.numbers.empty() && static_cast<std::int64_t>(noise.numbers.size()) != members)
        throw InvalidArgument("the noise has " + std::to_string(noise.numbers.size()) + " numbers for " +
                              std::to_string(members) + " members: give one for each, or none");
}

void check(const Cosine& cosine, std::int64_t, std::int64_t) {
    if (!std::isfinite(cosine.amplitude) || !std::isfinite(cosine.wavenumber) || !std::isfinite(cosine.mean))
        throw InvalidArgument("the amplitude, wavenumber or mean of the initial cosine is not finite: give finite "
                              "numbers");
}

void check(const Constant& constant, std::int64_t, std::int64_t members) {
    check_per_member(constant.value, members, "the value");
}

void check(const GivenStates& given, std::int64_t points, std::int64_t members) {
    if (static_cast<std::int64_t>(given.states.size()) != members * points)
        throw InvalidArgument(std::to_string(given.states.size()) + " numbers were given as initial states, but " +
                              std::to_string(members) + " members of " + std::to_string(points) + " points have " +
                              std::to_string(members * points) + ": give [member][point]");
    for (std::size_t at = 0; at < given.states.size(); ++at)
        if (!std::isfinite(given.states[at]))
            throw InvalidArgument("the initial state of member " +
                                  std::to_string(static_cast<std::int64_t>(at) / points) + " is not finite at point " +
                                  std::to_string(static_cast<std::int64_t>(at) % points) +
                                  " (no run can start from it): give finite numbers");
}

double of_member(const std::vector<double>& values, std::int64_t member) {
    return values.size() == 1 ? values[0] : values[static_cast<std::size_t>(member)];
}

// Calls body(i, noise) for every point of a member. Points 2 i and 2 i + 1 share a counter.
template <class Body>
void for_each_point(const UniformNoise& noise, std::int64_t points, std::uint64_t number, const Body& body) {
    auto spread = [&](std::uint32_t high, std::uint32_t low) { return noise.amplitude * (2 * uniform(high, low) - 1); };
    for (std::int64_t i = 0; i < points; i += 2) {
        const auto [word] = philox({{static_cast<std::uint32_t>(i / 2), static_cast<std::uint32_t>(number),
                                     static_cast<std::uint32_t>(number >> 32), initial_noise}},
                                   noise.seed);
        body(i, spread(word[0], word[1]));
        if (i + 1 < points) body(i + 1, spread(word[2], word[3]));
    }
}

// All of it in double, rounded at the end: both precisions start alike.
template <class T>
void write_noise(const UniformNoise& noise, std::int64_t points, std::uint64_t number, double mean, T* state) {
    double average = 0;
    if (noise.exact_mean) {
        for_each_point(noise, points, number, [&](std::int64_t, double value) { average += value; });
        average /= static_cast<double>(points);
    }
    for_each_point(noise, points, number,
                   [&](std::int64_t i, double value) { state[i] = static_cast<T>(mean + (value - average)); });
}

template <class T> struct Filler {
    const Grid& grid;
    std::int64_t points; // of a member
    std::int64_t numbered_from, first, count;
    T* states;

    T* state(std::int64_t k) const { return states + k * points; }
    std::int64_t number(const UniformNoise& noise, std::int64_t member) const {
        return noise.numbers.empty() ? numbered_from + member : noise.numbers[static_cast<std::size_t>(member)];
    }

    void operator()(const UniformNoise& noise) const {
        for_each_share(count, thread_count({}), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k)
                write_noise(noise, points, static_cast<std::uint64_t>(number(noise, first + k)),
                            of_member(noise.mean, first + k), state(k));
        });
    }
    void operator()(const Cosine& cosine) const {
        if (count == 0) return;
        const std::int64_t n = grid.points();
        for (std::int64_t i = 0; i < n; ++i)
            states[i] = static_cast<T>(cosine.mean + cosine.amplitude * std::cos(cosine.wavenumber * grid.position(i)));
        for (std::int64_t at = n; at < count * points; at += n) std::copy_n(states, n, states + at);
    }
    void operator()(const Constant& constant) const {
        for (std::int64_t k = 0; k < count; ++k)
            std::fill_n(state(k), points, static_cast<T>(of_member(constant.value, first + k)));
    }
    void operator()(const GivenStates& given) const {
        const double* from = given.states.data() + first * points;
        std::transform(from, from + count * points, states, [](double value) { return static_cast<T>(value); });
    }
};

} // namespace

void check_initial_state(const InitialState& initial, const Grid& grid, std::int64_t members, std::int64_t rows) {
    std::visit([&](const auto& kind) { check(kind, grid.points() * rows, members); }, initial);
}

template <class T>
void fill_initial_states(const InitialState& initial, const Grid& grid, std::int64_t numbered_from, std::int64_t first,
                         std::int64_t count, T* states, std::int64_t rows) {
    std::visit(Filler<T>{grid, grid.points() * rows, numbered_from, first, count, states}, initial);
}
template void fill_initial_states<double>(const InitialState&, const Grid&, std::int64_t, std::int64_t, std::int64_t,
                                          double*, std::int64_t);
template void fill_initial_states<float>(const InitialState&, const Grid&, std::int64_t, std::int64_t, std::int64_t,
                                         float*, std::int64_t);

} // namespace bandmill::detail
