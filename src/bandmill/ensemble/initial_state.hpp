// Initial states. Random ones are counter-based (Philox): member k starts the same on every backend, slice and rank.
#pragma once

#include "bandmill/pde/grid.hpp"

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace bandmill {

// mean + uniform noise in [-amplitude, amplitude) at every point.
struct UniformNoise {
    double amplitude = 0.1;
    std::vector<double> mean = {0}; // one for all, or one per member
    bool exact_mean = false;        // subtract the noise's own average from each member
    std::uint64_t seed = 0;
    // Whose noise each member gets; empty: that of its own number, which counts from the ensemble's first_member on.
    std::vector<std::int64_t> numbers = {};
};
// mean + amplitude cos(wavenumber x); the same in every row of a plane
struct Cosine {
    double amplitude, wavenumber;
    double mean = 0;
};
struct Constant {
    std::vector<double> value; // one for all, or one per member
};
// [member][point]; rounded to the ensemble's precision
struct GivenStates {
    std::vector<double> states;
};

using InitialState = std::variant<UniformNoise, Cosine, Constant, GivenStates>;

namespace detail {
// Throws InvalidArgument if it does not suit so many members and points. A member has `rows` rows of the grid's points.
void check_initial_state(const InitialState& initial, const Grid& grid, std::int64_t members, std::int64_t rows = 1);
// Members first .. first + count - 1, [member][point]. `numbered_from` is added to a member's place for its random
// numbers.
template <class T>
void fill_initial_states(const InitialState& initial, const Grid& grid, std::int64_t numbered_from, std::int64_t first,
                         std::int64_t count, T* states, std::int64_t rows = 1);
} // namespace detail

} // namespace bandmill
