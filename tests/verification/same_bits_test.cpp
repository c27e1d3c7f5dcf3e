// A member's bits depend on its own number, parameters and seed, and on nothing about the run around it.
#include "verifying.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace bandmill::test {
namespace {

using SameBits = VerificationTest;

// Under a sanitizer every launch takes its time, and a step without registers to stay in is several.
const std::int64_t steps = limits().small ? 6 : 12;

std::vector<std::int64_t> points() {
    if (limits().small) return {37, 1100}; // 1100: several warps to a member
    if (on_cuda) return {5, 37, 64, 300, 1024, 2100};
    return {5, 37, 64};
}

EnsembleSpec spec_of(const Equation& equation, const Grid& grid, std::int64_t members) {
    EnsembleSpec spec{.equation = equation, .grid = grid, .members = members, .time_step = 0.01};
    if (std::holds_alternative<ForcedCahnHilliard>(equation)) {
        spec.parameters.resize(1);
        for (std::int64_t k = 0; k < members; ++k) spec.parameters[0].push_back(0.3 + 0.0001 * static_cast<double>(k));
    }
    return spec;
}
template <class T> Ensemble<T> begun(const EnsembleSpec& spec, Place place = {}) {
    return start<T>(spec, UniformNoise{.amplitude = 0.4, .seed = 11}, place);
}
template <class T> std::vector<T> stepped(const EnsembleSpec& spec, Place place = {}) {
    Ensemble<T> ensemble = begun<T>(spec, place);
    ensemble.advance(steps);
    return ensemble.states();
}

// No tolerance, and no pages of numbers where it fails; all states are finite, so equal numbers are equal bits but for
// the sign of zero.
template <class T> void expect_begins_with(const std::vector<T>& all, const std::vector<T>& some) {
    ASSERT_GE(all.size(), some.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < some.size(); ++i) different += !(all[i] == some[i] && std::isfinite(some[i]));
    EXPECT_EQ(different, 0u) << "of " << some.size() << " numbers";
}
template <class T> void expect_same(const std::vector<T>& a, const std::vector<T>& b) {
    ASSERT_EQ(a.size(), b.size());
    expect_begins_with(a, b);
}

// check.operator()<T>(equation, grid)
template <class Check> void for_all(const Check& check, const std::vector<std::int64_t>& sizes = points()) {
    for (const Equation& equation : every_equation())
        for (const Ends ends : ends_of(equation))
            for (const std::int64_t n : sizes) {
                // Under a sanitizer a source and no source, a ring and ends are enough.
                const bool linear =
                    std::holds_alternative<Diffusion>(equation) || std::holds_alternative<Hyperdiffusion>(equation);
                if (limits().small && (linear || (ends != Ends::periodic && n != 37))) continue;
                SCOPED_TRACE(std::string(name_of(equation)) + ", " + name(ends) + ", " + std::to_string(n) + " points");
                const Grid grid(n, 2 * pi, ends, ends == Ends::dirichlet ? 0.2 : 0);
                check.template operator()<double>(equation, grid);
                if (!limits().small || ends == Ends::periodic) check.template operator()<float>(equation, grid);
            }
}

TEST_F(SameBits, HoweverManyMembers) {
    for_all([]<class T>(const Equation& equation, const Grid& grid) {
        const std::int64_t most = limits().small ? 70 : slow_build ? 500 : 4096;
        const std::vector<T> all = stepped<T>(spec_of(equation, grid, most));
        for (const std::int64_t members : {1, 7, 64})
            if (!limits().small || members == 7) expect_begins_with(all, stepped<T>(spec_of(equation, grid, members)));
    });
}

TEST_F(SameBits, WhateverTheSlice) {
    for_all([]<class T>(const Equation& equation, const Grid& grid) {
        EnsembleSpec spec = spec_of(equation, grid, 23);
        const std::vector<T> expected = stepped<T>(spec);
        for (const std::int64_t slice : {1, 5, 23}) {
            if (limits().small && slice != 5) continue;
            spec.members_per_slice = slice;
            expect_same(stepped<T>(spec), expected);
        }
    });
}

TEST_F(SameBits, WithAndWithoutStatistics) {
    std::vector<ObservableRequest> requests;
    for (int o = 0; o < observable_count; ++o) requests.push_back({static_cast<Observable>(o), HistogramBins{0, 2, 8}});
    for_all([&]<class T>(const Equation& equation, const Grid& grid) {
        const EnsembleSpec spec = spec_of(equation, grid, 19);
        const std::vector<T> expected = stepped<T>(spec);
        const double end = static_cast<double>(steps) * spec.time_step;
        const auto ignore = [](const std::string&) {}; // of stability: 5 points resolve nothing
        for (const bool every_step : {true, false}) {
            Ensemble<T> ensemble = begun<T>(spec);
            RunPlan plan{.end_time = end, .every_step = every_step, .observables = requests, .warn = ignore};
            if (!every_step) plan.times = linear_times(0, end, 4);
            EXPECT_EQ(std::ssize(ensemble.run(plan).samples), every_step ? steps : 4);
            expect_same(ensemble.states(), expected);
        }
        Ensemble<T> in_chunks = begun<T>(spec);
        in_chunks.run({.end_time = end, .chunk = 5, .warn = ignore});
        expect_same(in_chunks.states(), expected);
    });
}

// A GPU sums squares while it steps, some steps at a time, and adds the members up in its own way.
TEST_F(SameBits, WithSquaresAtEveryStep) {
    const std::vector<ObservableRequest> requests = {{Observable::mean_square}, {Observable::domain_size}};
    const std::vector<std::int64_t> few = {37, 64}; // 64: all threads of a member have as many points
    const std::int64_t some = limits().small ? 18 : 3 * steps + 1;
    for (const Shape shape : {Shape::throughput, Shape::latency})
        for_all(
            [&]<class T>(const Equation& equation, const Grid& grid) {
                if (grid.ends() != Ends::periodic) return;
                EnsembleSpec spec = spec_of(equation, grid, 19);
                spec.shape = shape;
                Ensemble<T> plain = begun<T>(spec), traced = begun<T>(spec);
                plain.advance(some);
                const RunResult result = traced.run({.end_time = (static_cast<double>(some) - 0.5) * spec.time_step,
                                                     .every_step = true,
                                                     .observables = requests,
                                                     .keep_values = true,
                                                     .warn = [](const std::string&) {}});
                expect_same(traced.states(), plain.states());
                ASSERT_EQ(result.samples.size(), static_cast<std::size_t>(some));
                for (const Sample& sample : result.samples)
                    for (std::size_t r = 0; r < requests.size(); ++r) {
                        EnsembleStatistic expected;
                        for (const double value : sample.values[r]) expected.add(value, {});
                        EXPECT_EQ(sample.statistics[r].members, expected.members);
                        EXPECT_TRUE(sample.statistics[r].sum == expected.sum) << "step " << sample.step;
                        EXPECT_TRUE(sample.statistics[r].squares == expected.squares) << "step " << sample.step;
                    }
                const std::vector<double> now = plain.sample(requests, true).values[0];
                for (std::size_t k = 0; k < now.size(); ++k)
                    EXPECT_NEAR(result.samples.back().values[0][k], now[k],
                                100 * std::numeric_limits<T>::epsilon() * now[k]);
            },
            limits().small ? few : points());
}

TEST_F(SameBits, StoppedAndRestarted) {
    for_all([]<class T>(const Equation& equation, const Grid& grid) {
        EnsembleSpec spec = spec_of(equation, grid, 21);
        const std::vector<T> expected = stepped<T>(spec);
        Ensemble<T> first = begun<T>(spec);
        first.advance(5);
        const SavedState<T> saved = first.save();
        for (const std::int64_t slice : {0, 4}) {
            spec.members_per_slice = slice;
            Ensemble<T> second(spec, saved, Place{});
            EXPECT_EQ(second.step(), 5);
            second.advance(steps - 5);
            expect_same(second.states(), expected);
        }
    });
}

#if !defined(BANDMILL_TEST_CUDA)
TEST_F(SameBits, HoweverManyThreads) {
    for_all([]<class T>(const Equation& equation, const Grid& grid) {
        const EnsembleSpec spec = spec_of(equation, grid, 64);
        const std::vector<T> expected = stepped<T>(spec, Threads{1});
        for (const int threads : {2, 3}) expect_same(stepped<T>(spec, Threads{threads}), expected);
    });
}
#endif

} // namespace
} // namespace bandmill::test
