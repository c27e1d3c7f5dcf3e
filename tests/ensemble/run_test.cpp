// The run loop: which steps are taken and sampled, and that nothing else about a run changes its bits.
#include "ensembles.hpp"

#include "../base/expect_error.hpp"

#include <cmath>

namespace bandmill::test {
namespace {

using Steps = std::vector<std::int64_t>;

TEST(Run, TakesTheStepsThatReachTheEnd) {
    const std::pair<double, std::int64_t> cases[] = {{0, 0},      {0.1, 10},        {0.3, 30},
                                                     {0.301, 31}, {0.29999999, 30}, {1e-9, 1}};
    for (const auto& [end, steps] : cases) {
        Ensemble<> ensemble(small_spec(1), UniformNoise{});
        ensemble.run({.end_time = end});
        EXPECT_EQ(ensemble.step(), steps) << end;
        EXPECT_EQ(ensemble.time(), static_cast<double>(steps) * 0.01);
    }
    EnsembleSpec spec = small_spec(1);
    spec.equation = Diffusion{};
    spec.time_step = 0.1; // 0.3 / 0.1 is 2.9999999999999996 or 3.0000000000000004 in floating point, but 3 steps
    Ensemble<> ensemble(spec, Constant{{0}});
    ensemble.run({.end_time = 0.1 + 0.2});
    EXPECT_EQ(ensemble.step(), 3);
    spec.time_step = 0;
    EXPECT_EQ(Ensemble<>(spec, Constant{{0}}).time_step(), 0.1 * (2 * std::numbers::pi / 32)); // the paper's
}

TEST(Run, SamplesAtTheFirstStepThatReachesATime) {
    Ensemble<> ensemble(small_spec(3), UniformNoise{});
    RunPlan plan{
        .end_time = 0.95, .times = {0.5, 0, 0.251, 0.0001, 0.255, 0.95, 0.3}, .observables = {{Observable::mean}}};
    const RunResult result = ensemble.run(plan);
    EXPECT_EQ(steps_of(result), (Steps{0, 1, 26, 30, 50, 95})); // one for 0.251 and 0.255
    EXPECT_EQ(result.samples[2].time, 26 * 0.01);
    EXPECT_EQ(result.samples[2].statistics[0].members, 3);
    EXPECT_TRUE(result.samples[2].values.empty());
    EXPECT_FALSE(result.interrupted);
    EXPECT_TRUE(result.lost.empty());
}

TEST(Run, SamplesAreThoseOfTheStatesThen) {
    Ensemble<> ensemble(small_spec(5), UniformNoise{}), other(small_spec(5), UniformNoise{});
    const RunResult result = ensemble.run(small_plan());
    ASSERT_EQ(steps_of(result), (Steps{0, 7, 100, 250}));
    for (const Sample& sample : result.samples) {
        other.advance(sample.step - other.step());
        expect_same({other.sample(small_plan().observables, true)}, {sample});
        const std::vector<double> states = other.states();
        for (std::size_t k = 0; k < 5; ++k) {
            double square = 0;
            for (std::size_t i = 0; i < 32; ++i) square += states[k * 32 + i] * states[k * 32 + i] / 32;
            EXPECT_NEAR(sample.values[0][k], 1 / (1 - square), 1e-12);
        }
        EXPECT_EQ(sample.statistics[0].members, 5);
    }
    EXPECT_EQ(ensemble.states(), other.states());
}

TEST(Run, EveryStepGivesTheSameSamples) {
    RunPlan plan = small_plan();
    plan.times.clear();
    plan.every_step = true;
    plan.end_time = 0.3;
    Ensemble<> ensemble(small_spec(), UniformNoise{});
    const RunResult all = ensemble.run(plan);
    ASSERT_EQ(all.samples.size(), 30u);
    EXPECT_EQ(all.samples[0].step, 1);
    plan.every_step = false;
    for (int step = 1; step <= 30; ++step) plan.times.push_back(step * 0.01);
    Ensemble<> one_by_one(small_spec(), UniformNoise{});
    expect_same(all.samples, one_by_one.run(plan).samples);
    EXPECT_EQ(ensemble.states(), one_by_one.states());
    plan.times.clear();
    plan.every_step = true;
    plan.chunk = 7;
    EnsembleSpec sliced = small_spec();
    sliced.members_per_slice = 3;
    expect_same(all.samples, Ensemble<>(sliced, UniformNoise{}).run(plan).samples);
}

template <class T> void expect_slices_agree() {
    EnsembleSpec spec = small_spec();
    Ensemble<T> whole(spec, UniformNoise{});
    EXPECT_EQ(whole.members_per_slice(), 20);
    const RunResult expected = whole.run(small_plan());
    for (const std::int64_t slice : {1, 7, 20, 1000}) {
        spec.members_per_slice = slice;
        Ensemble<T> sliced(spec, UniformNoise{}, Threads{1});
        EXPECT_EQ(sliced.members_per_slice(), std::min<std::int64_t>(slice, 20));
        RunPlan plan = small_plan();
        plan.chunk = 33;
        expect_same(sliced.run(plan).samples, expected.samples);
        EXPECT_EQ(sliced.states(), whole.states());
        EXPECT_EQ(sliced.states(4, 9), whole.states(4, 9));
    }
}
TEST(Run, SlicesDoNotChangeABit) {
    expect_slices_agree<double>();
    expect_slices_agree<float>();
}

TEST(Run, MembersOfASplitEnsembleAreThoseOfTheWhole) {
    EnsembleSpec spec = small_spec(20);
    spec.equation = ForcedCahnHilliard{};
    spec.parameters.resize(1);
    for (int k = 0; k < 20; ++k) spec.parameters[0].push_back(0.02 * k);
    Ensemble<> whole(spec, UniformNoise{.seed = 4});
    whole.run({.end_time = 1});
    EnsembleSpec part = spec;
    part.members = 8;
    part.first_member = 12;
    part.parameters[0] = {spec.parameters[0].begin() + 12, spec.parameters[0].end()};
    Ensemble<> second(part, UniformNoise{.seed = 4});
    second.run({.end_time = 1});
    EXPECT_EQ(second.states(), whole.states(12));
}

TEST(Run, GoesOnAfterAnInterruption) {
    Ensemble<> straight(small_spec(), UniformNoise{});
    const RunResult expected = straight.run(small_plan());
    for (const std::int64_t slice : {0, 6}) {
        EnsembleSpec spec = small_spec();
        spec.members_per_slice = slice;
        Ensemble<> ensemble(spec, UniformNoise{});
        RunPlan plan = small_plan();
        plan.chunk = 40;
        plan.progress = [](const Progress&) { return false; };
        std::vector<Sample> samples;
        Steps stops;
        for (bool interrupted = true; interrupted;) {
            RunResult result = ensemble.run(plan);
            interrupted = result.interrupted;
            std::move(result.samples.begin(), result.samples.end(), std::back_inserter(samples));
            stops.push_back(ensemble.step());
        }
        EXPECT_EQ(stops, (Steps{7, 47, 87, 100, 140, 180, 220, 250})); // a sample ends a chunk
        expect_same(samples, expected.samples);
        EXPECT_EQ(ensemble.states(), straight.states());
        EXPECT_TRUE(ensemble.run(plan).samples.empty()); // there is nothing left to do
    }
}

TEST(Run, RestartsFromASavedStateWithTheSameBits) {
    Ensemble<float> straight(small_spec(), UniformNoise{});
    const RunResult expected = straight.run(small_plan());
    for (const std::int64_t stop : {0, 7, 47}) { // a state saved at a sample has been sampled; one at step 0 has not
        Ensemble<float> first(small_spec(), UniformNoise{});
        RunPlan plan = small_plan();
        plan.chunk = 40;
        plan.progress = [&](const Progress& progress) { return progress.step < stop; };
        std::vector<Sample> samples;
        if (stop > 0) samples = first.run(plan).samples;
        const SavedState<float> saved = first.save();
        EXPECT_EQ(saved.step, stop);
        EnsembleSpec spec = small_spec();
        spec.members_per_slice = 9;
        Ensemble<float> second(spec, saved, Threads{1});
        EXPECT_EQ(second.step(), stop);
        const RunResult rest = second.run(small_plan());
        samples.insert(samples.end(), rest.samples.begin(), rest.samples.end());
        expect_same(samples, expected.samples);
        EXPECT_EQ(second.states(), straight.states());
    }
}

TEST(Run, SavedBeforeItsSampleTakesItAfterwards) {
    const RunPlan plan{.end_time = 1, .times = {0.5, 1}, .observables = {{Observable::mean}}};
    Ensemble<> first(small_spec(2), UniformNoise{});
    first.advance(50);
    Ensemble<> second(small_spec(2), first.save());
    EXPECT_EQ(steps_of(second.run(plan)), (Steps{50, 100}));
    Ensemble<> third(small_spec(2), second.save());
    EXPECT_EQ(steps_of(third.run(plan)), Steps{});
}

TEST(Run, LosesNoSampleToAnException) {
    RunPlan plan{.end_time = 1, .times = {0.5, 1}, .observables = {{Observable::mean}}};
    Ensemble<> ensemble(small_spec(2), UniformNoise{});
    plan.progress = [](const Progress&) -> bool { throw std::runtime_error("no paper in the printer"); };
    EXPECT_THROW(ensemble.run(plan), std::runtime_error);
    plan.progress = {};
    EXPECT_EQ(steps_of(ensemble.run(plan)), (Steps{50, 100}));
    EXPECT_EQ(steps_of(ensemble.run(plan)), Steps{});
}

TEST(Run, GoesOnFromStatesThatWereSet) {
    for (const std::int64_t slice : {0, 3}) {
        EnsembleSpec spec = small_spec(7);
        spec.members_per_slice = slice;
        Ensemble<> other(spec, UniformNoise{.seed = 5}), ensemble(spec, UniformNoise{});
        const std::vector<double> start = other.states();
        ensemble.advance(30);
        ensemble.run({.end_time = 0.3, .times = {0.3}, .observables = {{Observable::mean}}});
        ensemble.set_states(start);
        EXPECT_EQ(ensemble.step(), 30);
        EXPECT_EQ(ensemble.states(), start);
        // A sample at the same step is one of other states, so it is taken.
        EXPECT_EQ(steps_of(ensemble.run({.end_time = 0.3, .times = {0.3}, .observables = {{Observable::mean}}})),
                  (Steps{30}));
        ensemble.advance(20);
        other.advance(20);
        EXPECT_EQ(ensemble.states(), other.states());
        expect_error<InvalidArgument>([&] { ensemble.set_states(std::vector<double>(32)); },
                                      {"32 numbers", "7 members"});
    }
    Ensemble<> lost(small_spec(2), UniformNoise{});
    lost.set_states(std::vector<double>(64, std::nan("")));
    EXPECT_THROW(lost.run({.end_time = 0.1}), Unstable);
    lost.set_states(std::vector<double>(64, 0.5));
    lost.run({.end_time = 0.1});
    EXPECT_EQ(lost.step(), 10);
}

TEST(Run, OfAnEnsembleThatWasMovedFromIsRefused) {
    Ensemble<> from(small_spec(2), UniformNoise{});
    Ensemble<> to = std::move(from);
    to.advance(1);
    expect_error<InvalidArgument>([&] { from.advance(1); }, {"moved"});
    expect_error<InvalidArgument>([&] { (void)from.states(); }, {"moved"});
}

TEST(Run, SamplesTheStepItStandsAtIfNobodyDid) {
    RunPlan plan{.end_time = 1, .times = {0.5, 1}, .observables = {{Observable::mean}}};
    Ensemble<> ensemble(small_spec(2), UniformNoise{});
    ensemble.advance(50);
    EXPECT_EQ(steps_of(ensemble.run(plan)), (Steps{50, 100}));
    EXPECT_EQ(steps_of(ensemble.run(plan)), Steps{});
    Ensemble<> late(small_spec(2), UniformNoise{});
    late.advance(80);
    EXPECT_EQ(steps_of(late.run(plan)), (Steps{100})); // what has passed cannot be sampled
    late.advance(80);
    EXPECT_EQ(steps_of(late.run(plan)), Steps{});
    EXPECT_EQ(late.step(), 180);
}

TEST(Run, ReportsProgressAfterEveryChunk) {
    Ensemble<> ensemble(small_spec(2), UniformNoise{});
    std::vector<Progress> seen;
    RunPlan plan{.end_time = 25, .progress = [&](const Progress& progress) {
                     seen.push_back(progress);
                     return true;
                 }};
    ensemble.run(plan);
    ASSERT_EQ(seen.size(), 3u); // of at most 1000 steps
    EXPECT_EQ(seen[0].step, 1000);
    EXPECT_EQ(seen[2].step, 2500);
    EXPECT_EQ(seen[2].steps, 2500);
    EXPECT_EQ(seen[2].time, 25);
}

TEST(Run, AnInterruptionAfterTheLastChunkIsNone) {
    Ensemble<> ensemble(small_spec(1), UniformNoise{});
    EXPECT_FALSE(ensemble.run({.end_time = 0.1, .progress = [](const Progress&) { return false; }}).interrupted);
}

TEST(Times, LinearAndLogarithmic) {
    EXPECT_EQ(linear_times(0, 10, 6), (std::vector<double>{0, 2, 4, 6, 8, 10}));
    const std::vector<double> factors = logarithmic_times(0.1, 1000, 5);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(factors[i] / std::pow(10.0, static_cast<double>(i) - 1), 1, 1e-14);
    EXPECT_EQ(factors.back(), 1000); // no round-off beyond the end of a run
    EXPECT_EQ(linear_times(0.1, 0.7, 4).back(), 0.7);
    expect_error<InvalidArgument>([] { linear_times(0, 1, 1); }, {"1 times", "2 or more"});
    expect_error<InvalidArgument>([] { linear_times(2, 1, 3); }, {"2", "1", "earlier"});
    expect_error<InvalidArgument>([] { logarithmic_times(0, 1, 3); }, {"start at 0", "above 0"});
}

} // namespace
} // namespace bandmill::test
