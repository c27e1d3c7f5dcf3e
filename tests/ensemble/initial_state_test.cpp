// Initial states: the same for a member wherever it is made, and what their parameters say.
#include "../base/expect_error.hpp"

#include "bandmill/ensemble/initial_state.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace bandmill::test {
namespace {

const Grid grid(65, 2 * std::numbers::pi); // odd: the last random number stands alone

template <class T = double>
std::vector<T> states(const InitialState& initial, std::int64_t members, std::int64_t numbered_from = 0,
                      std::int64_t first = 0) {
    std::vector<T> made(static_cast<std::size_t>(members * grid.points()));
    detail::fill_initial_states(initial, grid, numbered_from, first, members, made.data());
    return made;
}

template <class T> std::vector<T> members_of(const std::vector<T>& all, std::int64_t first, std::int64_t count) {
    return {all.begin() + first * grid.points(), all.begin() + (first + count) * grid.points()};
}

double average(const std::vector<double>& values) {
    long double sum = 0;
    for (double value : values) sum += value;
    return static_cast<double>(sum / static_cast<long double>(values.size()));
}

TEST(UniformNoise, DependsOnTheNumberOfAMemberOnly) {
    const UniformNoise noise{.seed = 77};
    const auto all = states(noise, 40);
    EXPECT_EQ(states(noise, 7, 0, 11), members_of(all, 11, 7));                // a slice
    EXPECT_EQ(states(noise, 7, 11, 0), members_of(all, 11, 7));                // a process of its own
    EXPECT_EQ(states(noise, 3, 11, 4), members_of(all, 15, 3));                // a slice of that
    EXPECT_EQ(states(noise, 1, 39, 0), members_of(all, 39, 1));                // one alone
    EXPECT_NE(members_of(all, 0, 1), members_of(all, 1, 1));                   // others differ,
    EXPECT_NE(states(UniformNoise{.seed = 78}, 40), all);                      // other seeds too,
    EXPECT_NE(states(noise, 1, std::int64_t{1} << 32), members_of(all, 0, 1)); // and numbers beyond 32 bits
    EXPECT_NE(states(UniformNoise{.seed = 77 + (std::uint64_t{1} << 32)}, 40), all);
}

TEST(UniformNoise, IsTheSameInBothPrecisions) {
    const UniformNoise noise{.mean = {0.3}, .exact_mean = true, .seed = 5};
    const auto fine = states<double>(noise, 5);
    const auto coarse = states<float>(noise, 5);
    for (std::size_t at = 0; at < fine.size(); ++at) ASSERT_EQ(coarse[at], static_cast<float>(fine[at]));
}

TEST(UniformNoise, FillsItsRangeEvenly) {
    const auto all = states(UniformNoise{.amplitude = 0.25, .mean = {1}, .seed = 3}, 2000);
    long double squares = 0;
    double low = 2, high = 0;
    for (double value : all) {
        ASSERT_GE(value, 0.75);
        ASSERT_LT(value, 1.25);
        low = std::min(low, value);
        high = std::max(high, value);
        squares += static_cast<long double>(value - 1) * (value - 1);
    }
    const double deviation = 0.25 / std::sqrt(3.0), root = std::sqrt(static_cast<double>(all.size()));
    EXPECT_NEAR(average(all), 1, 4 * deviation / root);
    EXPECT_NEAR(static_cast<double>(squares) / root / root, deviation * deviation,
                4 * 0.9 * deviation * deviation / root);
    EXPECT_LT(low, 0.7501);
    EXPECT_GT(high, 1.2499);
    // Neighbours know nothing of each other: neither two of one counter, nor two of two, nor two members.
    for (const std::size_t apart : {1u, 2u, 65u}) {
        long double product = 0;
        for (std::size_t at = apart; at < all.size(); ++at) product += (all[at] - 1) * (all[at - apart] - 1);
        EXPECT_LT(std::abs(static_cast<double>(product)) / root, 4 * deviation * deviation);
    }
}

TEST(UniformNoise, ExactMeanHoldsForEachMember) {
    const UniformNoise plain{.mean = {-0.5, 0, 0.5}, .seed = 9};
    UniformNoise exact = plain;
    exact.exact_mean = true;
    const auto before = states(plain, 3), after = states(exact, 3);
    for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(average(members_of(after, k, 1)), (k - 1) * 0.5, 1e-16);
        EXPECT_GT(std::abs(average(members_of(before, k, 1)) - (k - 1) * 0.5), 1e-6);
        const double shift = before[static_cast<std::size_t>(k * 65)] - after[static_cast<std::size_t>(k * 65)];
        for (int i = 0; i < 65; ++i) {
            const auto at = static_cast<std::size_t>(k * 65 + i);
            EXPECT_NEAR(before[at] - after[at], shift, 1e-15); // nothing but a shift
        }
    }
}

TEST(InitialState, CosineConstantAndGiven) {
    const auto wave = states(Cosine{.amplitude = 0.5, .wavenumber = 3, .mean = 0.1}, 2);
    for (int i = 0; i < 65; ++i)
        EXPECT_EQ(wave[static_cast<std::size_t>(65 + i)], 0.1 + 0.5 * std::cos(3 * grid.position(i)));
    EXPECT_EQ(states(Constant{{0.25}}, 2), std::vector<double>(130, 0.25));
    EXPECT_EQ(states(Constant{{1, 2, 3}}, 1, 0, 2), std::vector<double>(65, 3));
    std::vector<double> given(195);
    for (std::size_t at = 0; at < given.size(); ++at) given[at] = 0.1 * static_cast<double>(at);
    EXPECT_EQ(states(GivenStates{given}, 2, 0, 1), members_of(given, 1, 2));
    EXPECT_EQ(states<float>(GivenStates{given}, 1)[1], 0.1f);
}

TEST(InitialState, RefusesWhatDoesNotSuit) {
    auto refuse = [](const InitialState& initial, std::initializer_list<std::string> words) {
        expect_error<InvalidArgument>([&] { detail::check_initial_state(initial, grid, 3); }, words);
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    refuse(UniformNoise{.amplitude = -1e-9}, {"amplitude", "-1e-09"});
    refuse(UniformNoise{.amplitude = nan}, {"amplitude", "nan"});
    refuse(UniformNoise{.mean = {1, 2}}, {"2 values", "the mean", "3 members"});
    refuse(UniformNoise{.mean = {}}, {"0 values", "the mean"});
    refuse(UniformNoise{.mean = {1, nan, 3}}, {"the mean", "member 1", "not finite"});
    refuse(Cosine{.amplitude = 1, .wavenumber = nan}, {"cosine", "not finite"});
    refuse(Constant{{1, 2, 3, 4}}, {"4 values", "the value", "3 members"});
    refuse(GivenStates{std::vector<double>(66)}, {"66 numbers", "65 points", "195"});
    GivenStates given{std::vector<double>(195)};
    given.states[65 + 2] = nan;
    refuse(given, {"member 1", "point 2", "not finite"});
    expect_error<InvalidArgument>(
        [] { detail::check_initial_state(UniformNoise{}, Grid((std::int64_t{1} << 33) + 1, 1), 1); }, {"2^33"});
    EXPECT_NO_THROW(detail::check_initial_state(UniformNoise{.mean = {1, 2, 3}}, grid, 3));
}

} // namespace
} // namespace bandmill::test
