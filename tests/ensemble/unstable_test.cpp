// Members that blow up, and time steps that are too long.
#include "ensembles.hpp"

#include "../base/expect_error.hpp"

#include <cmath>

namespace bandmill::test {
namespace {

// 20 members of noise; some of them start far outside.
GivenStates with_huge(std::initializer_list<std::size_t> members, double value = 1e100) {
    GivenStates given{Ensemble<>(small_spec(), UniformNoise{}).states()};
    for (const std::size_t member : members) given.states[member * 32 + 5] = value;
    return given;
}

struct Warnings {
    std::vector<std::string> texts;
    std::function<void(const std::string&)> taker() {
        return [this](const std::string& text) { texts.push_back(text); };
    }
};

TEST(LostMembers, AreSetAsideAndListedOnce) {
    Ensemble<> sound(small_spec(), UniformNoise{});
    const RunResult expected = sound.run(small_plan());
    for (const std::int64_t slice : {0, 4}) {
        EnsembleSpec spec = small_spec();
        spec.first_member = 1000;
        spec.members_per_slice = slice;
        Ensemble<> ensemble(spec, with_huge({3, 17}));
        Warnings warnings;
        RunPlan plan = small_plan();
        plan.chunk = 10;
        plan.warn = warnings.taker();
        const RunResult result = ensemble.run(plan);
        ASSERT_EQ(result.lost.size(), 2u);
        EXPECT_EQ(result.lost[0].member, 1003);
        EXPECT_EQ(result.lost[1].member, 1017);
        EXPECT_EQ(result.lost[0].time, 0.07); // the end of the first chunk
        EXPECT_TRUE(result.lost[0].parameters.empty());
        for (std::size_t s = 1; s < result.samples.size(); ++s) {
            EXPECT_EQ(result.samples[s].statistics[0].members, 18);
            EXPECT_EQ(result.samples[s].statistics[0].left_out, 2);
            for (std::size_t k = 0; k < 20; ++k) { // nobody else notices
                if (k == 3 || k == 17) continue;
                EXPECT_EQ(result.samples[s].values[0][k], expected.samples[s].values[0][k]);
            }
        }
        EXPECT_EQ(ensemble.states(4, 13), sound.states(4, 13));
        EXPECT_EQ(warnings.texts.size(), 1u); // of the start; the members that are left are fine
    }
}

TEST(LostMembers, NameTheirParameters) {
    EnsembleSpec spec = small_spec();
    spec.equation = ForcedCahnHilliard{};
    spec.parameters = {std::vector<double>(20, 0.5)};
    spec.parameters[0][3] = 0.75;
    RunPlan plan{.end_time = 1, .warn = [](const std::string&) {}};
    const RunResult result = Ensemble<>(spec, with_huge({3})).run(plan);
    ASSERT_EQ(result.lost.size(), 1u);
    EXPECT_EQ(result.lost[0].parameters, std::vector<double>{0.75});

    plan.stop_when_lost = true;
    Ensemble<> ensemble(spec, with_huge({3}));
    try {
        ensemble.run(plan);
        ADD_FAILURE() << "went on";
    } catch (const Unstable& error) {
        EXPECT_EQ(error.member(), 3);
        EXPECT_EQ(error.time(), 1);
        EXPECT_NE(std::string(error.what()).find("member 3 (amplitude = 0.75)"), std::string::npos) << error.what();
    }
    EXPECT_EQ(ensemble.step(), 100);
    EXPECT_EQ(ensemble.states().size(), 640u);
    EXPECT_TRUE(std::isfinite(ensemble.states(0, 1)[0]));
    EXPECT_TRUE(std::isnan(ensemble.states(3, 1)[0]));
    plan.end_time = 2;
    plan.stop_when_lost = false;
    EXPECT_EQ(ensemble.run(plan).lost.size(), 1u); // what the run that threw could not return
    EXPECT_TRUE(ensemble.run(plan).lost.empty());  // known by now
}

TEST(LostMembers, StopEveryRunThatIsToStop) {
    Ensemble<> ensemble(small_spec(), with_huge({3, 17}));
    RunPlan plan = small_plan();
    plan.warn = [](const std::string&) {};
    plan.stop_when_lost = true;
    for (int i = 0; i < 2; ++i) {
        try {
            ensemble.run(plan);
            ADD_FAILURE() << "did not stop";
        } catch (const Unstable& error) {
            EXPECT_EQ(error.member(), 3);
        }
    }
    plan.stop_when_lost = false;
    EXPECT_EQ(ensemble.run(plan).lost.size(), 2u); // listed once, though two runs threw
}

TEST(LostMembers, StopARunWhenNoneIsLeft) {
    for (const std::int64_t slice : {0, 1}) {
        EnsembleSpec spec = small_spec(2);
        spec.members_per_slice = slice;
        Ensemble<float> ensemble(spec, Constant{{1e30, 1e100}}); // the second is infinite in float
        RunPlan plan{.end_time = 1, .chunk = 20, .warn = [](const std::string&) {}};
        expect_error<Unstable>([&] { ensemble.run(plan); },
                               {"no member is finite", "0.2", "member 0", "smaller time_step"});
        EXPECT_EQ(ensemble.step(), 20);
        expect_error<Unstable>([&] { ensemble.run(plan); }, {"no member is finite"});
        EXPECT_EQ(ensemble.step(), 20);
    }
}

// At |C| = 1.05: a = 3 C^2 - 1 = 2.3075. The worst k^2 = a / 2 gamma = 115 is beyond the grid's 4 / dx^2 = 103.75, so
// the limit is 2 / (103.75 (a - 1.0375)) = 0.01518.
TEST(TimeStep, IsCheckedBeforeARun) {
    EnsembleSpec spec = small_spec(1);
    spec.time_step = 0.0160;
    Warnings warnings;
    RunPlan plan{.end_time = 0, .warn = warnings.taker()};
    Ensemble<>(spec, Constant{{0}}).run(plan);
    ASSERT_EQ(warnings.texts.size(), 1u);
    for (const char* word : {"0.016 ", "0.01517", "1.05", "smaller time_step"})
        EXPECT_NE(warnings.texts[0].find(word), std::string::npos) << warnings.texts[0];
    spec.time_step = 0.0150;
    Ensemble<>(spec, Constant{{0}}).run(plan);
    EXPECT_EQ(warnings.texts.size(), 1u);
    Ensemble<>(spec, Constant{{1.1}}).run(plan); // it starts above 1.05
    ASSERT_EQ(warnings.texts.size(), 2u);
    EXPECT_NE(warnings.texts[1].find("1.1"), std::string::npos);
    spec.equation = Diffusion{};
    spec.time_step = 1e6;
    Ensemble<>(spec, Constant{{2}}).run(plan); // nothing explicit, no limit
    EXPECT_EQ(warnings.texts.size(), 2u);
}

TEST(TimeStep, IsWarnedOfAgainWhenItIsTwiceAsBad) {
    EnsembleSpec spec = small_spec(2);
    spec.time_step = 0.02; // above the limit from the start
    Warnings warnings;
    RunPlan plan{.end_time = 0.4, .chunk = 1, .warn = warnings.taker()};
    Ensemble<>(spec, Cosine{.amplitude = 0.1, .wavenumber = 1}).run(plan);
    EXPECT_EQ(warnings.texts.size(), 1u); // once in 20 chunks
    // A member whose |C| grows past the limit on its way: forced to grow.
    spec.equation = ForcedCahnHilliard{};
    spec.parameters = {{0, 40}};
    warnings.texts.clear();
    Ensemble<>(spec, Constant{{0}}).run(plan);
    EXPECT_GE(warnings.texts.size(), 2u);
    EXPECT_LE(warnings.texts.size(), 10u);
}

TEST(Precision, ThatIsTooLowForTheGridIsWarnedOf) {
    Warnings in_f32, in_f64;
    const EnsembleSpec spec{.equation = CahnHilliard{}, .grid = Grid(4096, 6.28), .members = 1};
    const double end = 2 * 0.1 * spec.grid.spacing();
    Ensemble<float>(spec, Constant{{0.5}}).run({.end_time = end, .warn = in_f32.taker()});
    Ensemble<double>(spec, Constant{{0.5}}).run({.end_time = end, .warn = in_f64.taker()});
    ASSERT_EQ(in_f32.texts.size(), 1u);
    EXPECT_NE(in_f32.texts[0].find("use double"), std::string::npos) << in_f32.texts[0];
    EXPECT_TRUE(in_f64.texts.empty());
}

TEST(TimeStep, WarningsGoToStderrByDefault) {
    EnsembleSpec spec = small_spec(1);
    spec.time_step = 0.02;
    testing::internal::CaptureStderr();
    Ensemble<>(spec, Constant{{0}}).run({.end_time = 0});
    EXPECT_NE(testing::internal::GetCapturedStderr().find("bandmill: warning: the time step 0.02"), std::string::npos);
}

} // namespace
} // namespace bandmill::test
