// The CPU stepper: each step against a dense oracle, and what must not change a member's bits.
#include "stepper_oracle.hpp"

#include "bandmill/base/error.hpp"
#include "bandmill/ensemble/stepper.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace {

using namespace bandmill;
using detail::SampleTarget, detail::StepperSetup;

constexpr double length_of_point = 0.25, time_step = 0.05;

Grid grid_of(int n, Ends ends) { return Grid(n, n * length_of_point, ends, ends == Ends::dirichlet ? 0.3 : 0.0); }

// Anything between -1 and 1, a member of its own for every number.
template <class T> std::vector<T> states_of(int first, int members, int n) {
    std::vector<T> states;
    for (int m = first; m < first + members; ++m)
        for (int i = 0; i < n; ++i) states.push_back(static_cast<T>(std::sin(7.3 * i * i + 1.9 * m * i + 0.7 * m)));
    return states;
}
double amplitude_of(int member) { return 0.2 + 0.1 * member; }

StepperSetup setup_of(const Equation& equation, const Grid& grid, int members) {
    StepperSetup setup{equation, grid, time_step, members, {}};
    if (std::holds_alternative<ForcedCahnHilliard>(equation))
        for (int m = 0; m < members; ++m) setup.parameters.push_back(amplitude_of(m));
    return setup;
}

template <class T>
std::vector<T> advanced(const StepperSetup& setup, std::vector<T> states, int steps, Threads threads = {1}) {
    const auto stepper = detail::make_stepper<T>(setup, threads);
    stepper->load(0, setup.members, states.data());
    stepper->advance(steps);
    stepper->store(states.data());
    return states;
}

template <class T> bool same_bits(const T* a, const T* b, std::size_t count) {
    return std::memcmp(a, b, count * sizeof(T)) == 0;
}
template <class T> bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && same_bits(a.data(), b.data(), a.size());
}

const std::vector<Equation> equations = {Diffusion{0.7}, Hyperdiffusion{0.2}, CahnHilliard{0.05},
                                         ForcedCahnHilliard{0.05, 2.0, 0.5}};
std::vector<Ends> ends_of(const Equation& equation) {
    if (std::holds_alternative<ForcedCahnHilliard>(equation)) return {Ends::periodic};
    return {Ends::periodic, Ends::neumann, Ends::dirichlet};
}
const char* name_of(const Equation& equation) {
    return std::visit([](const auto& e) { return e.name; }, equation);
}

template <class T> class CpuStepper : public testing::Test {};
using Precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(CpuStepper, Precisions);

TYPED_TEST(CpuStepper, StepsAsTheDenseOracle) {
    using T = TypeParam;
    const double tolerance = sizeof(T) == 8 ? 1e-12 : 1e-4;
    for (const Equation& equation : equations)
        for (Ends ends : ends_of(equation))
            for (int n : {5, 6, 7, 16, 33})
                for (int members : {1, 3, 9}) {
                    const Grid grid = grid_of(n, ends);
                    const std::vector<T> before = states_of<T>(0, members, n);
                    const std::vector<T> after = advanced(setup_of(equation, grid, members), before, 1);
                    double worst = 0, moved = 0;
                    for (int m = 0; m < members; ++m) {
                        const oracle::Points c(before.begin() + m * n, before.begin() + (m + 1) * n);
                        const oracle::Points expected = std::visit(
                            [&](const auto& e) { return oracle::step(e, c, grid, time_step, amplitude_of(m)); },
                            equation);
                        for (int i = 0; i < n; ++i) {
                            worst = std::fmax(worst, std::fabs(static_cast<double>(after[m * n + i] - expected[i])));
                            moved = std::fmax(moved, std::fabs(static_cast<double>(expected[i] - c[i])));
                        }
                    }
                    EXPECT_LT(worst, tolerance)
                        << name_of(equation) << ' ' << name(ends) << " n = " << n << ", members = " << members;
                    EXPECT_GT(moved, 0.01);
                }
}

TYPED_TEST(CpuStepper, AMemberDoesNotDependOnTheOthersOrOnThreads) {
    using T = TypeParam;
    const int n = 33, members = 41, steps = 20;
    for (const Equation& equation : equations) {
        const Grid grid = grid_of(n, Ends::periodic);
        const StepperSetup all = setup_of(equation, grid, members);
        const std::vector<T> together = advanced(all, states_of<T>(0, members, n), steps);
        EXPECT_TRUE(same_bits(together, advanced(all, states_of<T>(0, members, n), steps, {4}))) << name_of(equation);

        // Slices of the ensemble, at other places of a block.
        const auto stepper = detail::make_stepper<T>(all, Threads{1});
        for (auto [first, count] : {std::pair{0, 1}, {7, 3}, {40, 1}, {13, 28}}) {
            std::vector<T> some = states_of<T>(first, count, n);
            stepper->load(first, count, some.data());
            stepper->advance(steps);
            stepper->store(some.data());
            EXPECT_TRUE(same_bits(some.data(), together.data() + first * n, some.size()))
                << name_of(equation) << ' ' << first;
        }
    }
}

TYPED_TEST(CpuStepper, GoesOnWhereItStopped) {
    using T = TypeParam;
    const int n = 16, members = 5;
    for (const Equation& equation : equations) {
        const StepperSetup setup = setup_of(equation, grid_of(n, Ends::periodic), members);
        const std::vector<T> at_once = advanced(setup, states_of<T>(0, members, n), 6);

        const auto stepper = detail::make_stepper<T>(setup, Threads{2});
        std::vector<T> states = states_of<T>(0, members, n);
        stepper->load(0, members, states.data());
        stepper->advance(3);
        std::vector<ObservableRequest> requests;
        for (int k = 0; k < observable_count; ++k) requests.push_back({static_cast<Observable>(k), {}});
        std::vector<EnsembleStatistic> statistics(3 * requests.size());
        const SampleTarget target{requests, statistics, {}};
        stepper->advance(3, &target);
        stepper->store(states.data());
        EXPECT_TRUE(same_bits(states, at_once)) << name_of(equation);
    }
}

TYPED_TEST(CpuStepper, ANaNStaysWithItsMember) {
    using T = TypeParam;
    const int n = 33, members = 9, lost = 4;
    for (const Equation& equation : equations) {
        const StepperSetup setup = setup_of(equation, grid_of(n, Ends::periodic), members);
        const std::vector<T> expected = advanced(setup, states_of<T>(0, members, n), 5);
        std::vector<T> states = states_of<T>(0, members, n);
        states[lost * n + 3] = std::numeric_limits<T>::quiet_NaN();
        states = advanced(setup, states, 5);
        for (int m = 0; m < members; ++m)
            EXPECT_EQ(same_bits(states.data() + m * n, expected.data() + m * n, n), m != lost) << name_of(equation);
        EXPECT_TRUE(std::isnan(states[lost * n + n - 1]));
    }
}

// One member's observables, by plain loops.
std::vector<double> observables_of(const CahnHilliard& equation, const oracle::Points& c, const Grid& grid) {
    const int n = static_cast<int>(c.size());
    const oracle::Points c_t = oracle::rate(equation, c, grid, 0);
    oracle::Real mean = 0, square = 0, energy = 0, largest = 0, rate = 0, interfaces = 0;
    for (int i = 0; i < n; ++i) {
        const oracle::Real up = (oracle::at(c, grid, i + 1, grid.value()) - c[i]) / grid.spacing();
        const oracle::Real down = (c[i] - oracle::at(c, grid, i - 1, grid.value())) / grid.spacing();
        mean += c[i] / n;
        square += c[i] * c[i] / n;
        energy += ((c[i] * c[i] - 1) * (c[i] * c[i] - 1) / 4 + equation.gamma / 4 * (up * up + down * down)) / n;
        largest = std::fmax(largest, std::fabs(c[i]));
        rate += c_t[i] * c_t[i] / n;
        if (i + 1 < n || grid.ends() == Ends::periodic) interfaces += (c[i] < 0) != (c[(i + 1) % n] < 0);
    }
    std::vector<double> result;
    for (oracle::Real value : {mean, square, 1 / (1 - square), energy, largest, std::sqrt(rate), interfaces})
        result.push_back(static_cast<double>(value));
    return result;
}

TYPED_TEST(CpuStepper, MeasuresAsPlainLoops) {
    using T = TypeParam;
    const double tolerance = sizeof(T) == 8 ? 1e-12 : 1e-5;
    const int n = 37, members = 11, samples = 3;
    const CahnHilliard equation{0.05};
    std::vector<ObservableRequest> requests;
    for (int k = 0; k < observable_count; ++k) requests.push_back({static_cast<Observable>(k), {{-100, 100, 10}}});

    for (Ends ends : ends_of(equation)) {
        const Grid grid = grid_of(n, ends);
        const StepperSetup setup = setup_of(equation, grid, members);
        const auto stepper = detail::make_stepper<T>(setup, Threads{1});
        std::vector<T> states = states_of<T>(0, members, n);
        states[0] = static_cast<T>(-0.0); // counts as positive
        std::vector<EnsembleStatistic> statistics(samples * requests.size());
        std::vector<double> values(statistics.size() * members);
        const SampleTarget target{requests, statistics, values};
        stepper->load(0, members, states.data());
        stepper->advance(samples, &target);

        for (int s = 0; s < samples; ++s) {
            states = advanced(setup, states, 1);
            for (int m = 0; m < members; ++m) {
                const oracle::Points c(states.begin() + m * n, states.begin() + (m + 1) * n);
                const std::vector<double> expected = observables_of(equation, c, grid);
                for (int k = 0; k < observable_count; ++k) {
                    const double value = values[(s * observable_count + k) * members + m];
                    EXPECT_NEAR(value, expected[k], tolerance * (1 + std::fabs(expected[k])))
                        << name(static_cast<Observable>(k)) << ' ' << name(ends) << " member " << m;
                }
            }
            for (int k = 0; k < observable_count; ++k) {
                const EnsembleStatistic& statistic = statistics[s * observable_count + k];
                EXPECT_EQ(statistic.members, members);
                EXPECT_EQ(statistic.left_out, 0);
                std::int64_t counted = statistic.below + statistic.above;
                for (std::int64_t count : statistic.histogram) counted += count;
                EXPECT_EQ(counted, members);
            }
        }

        // The last of them, asked for by itself, adds to what is there.
        std::vector<double> again(requests.size() * members);
        std::vector<EnsembleStatistic> twice(statistics.end() - observable_count, statistics.end());
        stepper->observe({requests, twice, again});
        EXPECT_TRUE(same_bits(again.data(), values.data() + values.size() - again.size(), again.size()));
        EXPECT_EQ(twice[0].members, 2 * members);
    }
}

TYPED_TEST(CpuStepper, ALostMemberIsLeftOutOfEveryStatistic) {
    using T = TypeParam;
    const int n = 20, members = 3;
    const auto stepper =
        detail::make_stepper<T>(setup_of(CahnHilliard{}, grid_of(n, Ends::neumann), members), Threads{1});
    for (T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
        std::vector<T> states = states_of<T>(0, members, n);
        states[n + 2] = bad;
        stepper->load(0, members, states.data());
        std::vector<ObservableRequest> requests;
        for (int k = 0; k < observable_count; ++k) requests.push_back({static_cast<Observable>(k), {}});
        std::vector<EnsembleStatistic> statistics(requests.size());
        stepper->observe({requests, statistics, {}});
        for (int k = 0; k < observable_count; ++k) {
            EXPECT_EQ(statistics[k].members, members - 1) << name(static_cast<Observable>(k));
            EXPECT_EQ(statistics[k].left_out, 1) << name(static_cast<Observable>(k));
        }
    }
}

TYPED_TEST(CpuStepper, HoldsWhatItIsAskedTo) {
    StepperSetup setup = setup_of(CahnHilliard{}, grid_of(16, Ends::periodic), 100);
    EXPECT_EQ(detail::make_stepper<TypeParam>(setup, Threads{1})->capacity(), 100);
    setup.most_members = 7;
    EXPECT_EQ(detail::make_stepper<TypeParam>(setup, Threads{1})->capacity(), 7);
    EXPECT_THROW(detail::make_stepper<TypeParam>(setup, Threads{-1}), InvalidArgument);
}

TYPED_TEST(CpuStepper, RefusesAStepWhoseMatrixIsSingular) {
    // 1 - dt/2 D D2 with D < 0 has the eigenvalue 1 + dt D 2 / dx^2 = 0 for the mode of wavelength 2 dx.
    StepperSetup setup{Diffusion{-1}, Grid(8, 8), 0.5, 1, {}};
    EXPECT_THROW(detail::make_stepper<TypeParam>(setup, Threads{1}), InvalidArgument);
}

} // namespace
