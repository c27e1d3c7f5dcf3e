// What an ensemble refuses: the text names the value and what to do.
#include "ensembles.hpp"

#include "../base/expect_error.hpp"

#include <limits>

namespace bandmill::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Change> void refuse_spec(Change change, std::initializer_list<std::string> words) {
    EnsembleSpec spec = small_spec(4);
    change(spec);
    expect_error<InvalidArgument>([&] { Ensemble<>(spec, Constant{{0}}); }, words);
}

TEST(Ensemble, RefusesSpecificationsThatMakeNoSense) {
    refuse_spec([](auto& spec) { spec.members = 0; }, {"0 members", "1 or more"});
    refuse_spec([](auto& spec) { spec.members = -3; }, {"-3 members"});
    refuse_spec([](auto& spec) { spec.members = std::int64_t{1} << 60; }, {"32 points", "fewer"});
    refuse_spec([](auto& spec) { spec.first_member = -1; }, {"-1", "first member"});
    refuse_spec([](auto& spec) { spec.first_member = std::numeric_limits<std::int64_t>::max(); }, {"63 bits"});
    refuse_spec([](auto& spec) { spec.members_per_slice = -5; }, {"slice", "-5"});
    refuse_spec([](auto& spec) { spec.time_step = -0.1; }, {"time step", "-0.1"});
    refuse_spec([](auto& spec) { spec.time_step = nan; }, {"time step", "nan"});
    refuse_spec([](auto& spec) { spec.time_step = infinity; }, {"time step", "inf"});
    refuse_spec([](auto& spec) { spec.equation = CahnHilliard{-1}; }, {"gamma", "-1"});
}

// The user made no matrix, so that is not what is spoken of.
TEST(Ensemble, RefusesStepsThatLoseTheState) {
    refuse_spec([](auto& spec) { spec.time_step = 1e300; }, {"the time step", "state itself is lost", "smaller"});
    for (const Ends ends : {Ends::periodic, Ends::neumann, Ends::dirichlet}) {
        const Grid tiny(32, 1e-200, ends), fine(32, 1e-8, ends), usual(32, 1, ends);
        refuse_spec([&](auto& spec) { spec.grid = tiny, spec.equation = Hyperdiffusion{}, spec.time_step = 1; },
                    {"the time step", "inf", "beyond the range"});
        EnsembleSpec spec = small_spec(4);
        spec.grid = fine, spec.equation = Diffusion{}, spec.time_step = 1; // entries of 5e18
        const auto make = [&] { Ensemble<>(spec, Constant{{0}}); };
        if (ends == Ends::dirichlet)
            EXPECT_NO_THROW(make());
        else
            expect_error<InvalidArgument>(make, {"the time step", "1.024e+19", "is lost"});
        if (ends != Ends::periodic) continue;
        for (const bool across : {false, true})
            refuse_spec(
                [&](auto& plane) {
                    plane.grid = across ? usual : fine, plane.grid_y = across ? fine : usual;
                    plane.equation = Diffusion{}, plane.time_step = 1;
                },
                {"the time step", "is lost"});
    }
}

TEST(Ensemble, RefusesParametersThatDoNotSuit) {
    auto force = [](EnsembleSpec& spec, std::vector<std::vector<double>> parameters) {
        spec.equation = ForcedCahnHilliard{};
        spec.parameters = std::move(parameters);
    };
    refuse_spec([](auto& spec) { spec.parameters = {{1}}; }, {"1 lists", "cahn-hilliard has 0"});
    refuse_spec([&](auto& spec) { force(spec, {}); }, {"0 lists", "forced-cahn-hilliard has 1: amplitude"});
    refuse_spec([&](auto& spec) { force(spec, {{1, 2, 3}}); }, {"amplitude", "3 values", "4 members"});
    refuse_spec([&](auto& spec) { force(spec, {{1, 2, nan, 4}}); }, {"amplitude", "member 2", "not finite"});
    for (const Ends ends : {Ends::neumann, Ends::dirichlet})
        refuse_spec(
            [&](auto& spec) {
                force(spec, {{1}});
                spec.grid = Grid(32, 1, ends);
            },
            {"forced-cahn-hilliard", name(ends), "make the ends periodic"});
}

TEST(Ensemble, RefusesStatesThatDoNotSuit) {
    expect_error<InvalidArgument>([] { Ensemble<>(small_spec(4), Constant{{1, 2}}); }, {"2 values", "4 members"});
    SavedState<double> saved{10, std::vector<double>(4 * 31)};
    expect_error<InvalidArgument>([&] { Ensemble<>(small_spec(4), saved); }, {"124 numbers", "4 members", "128"});
    saved = {-1, std::vector<double>(4 * 32)};
    expect_error<InvalidArgument>([&] { Ensemble<>(small_spec(4), saved); }, {"step -1"});
}

template <class Change> void refuse_plan(Change change, std::initializer_list<std::string> words) {
    Ensemble<> ensemble(small_spec(2), Constant{{0}});
    RunPlan plan{.end_time = 1, .times = {0.5}, .observables = {{Observable::mean}}};
    change(plan);
    expect_error<InvalidArgument>([&] { ensemble.run(plan); }, words);
    EXPECT_EQ(ensemble.step(), 0);
}

TEST(Run, RefusesPlansThatMakeNoSense) {
    refuse_plan([](auto& plan) { plan.end_time = -1; }, {"end at the time -1"});
    refuse_plan([](auto& plan) { plan.end_time = infinity; }, {"inf"});
    refuse_plan([](auto& plan) { plan.end_time = 1e15; }, {"1e+17 steps", "time_step"});
    refuse_plan([](auto& plan) { plan.times = {0.2, 1.01}; }, {"1.01", "0 to 1"});
    refuse_plan([](auto& plan) { plan.times = {-0.5}; }, {"-0.5"});
    refuse_plan([](auto& plan) { plan.times = {nan}; }, {"nan"});
    refuse_plan([](auto& plan) { plan.every_step = true; }, {"both", "one of the two"});
    refuse_plan([](auto& plan) { plan.observables.clear(); }, {"no observables"});
    refuse_plan([](auto& plan) { plan.chunk = -2; }, {"-2 steps"});
    refuse_plan([](auto& plan) { plan.observables[0].histogram = {0, 1, 0}; }, {"histogram of mean", "0 bins"});
    refuse_plan([](auto& plan) { plan.observables[0].histogram = {1, 1, 5}; }, {"from 1 to 1", "lower one first"});
    refuse_plan([](auto& plan) { plan.observables[0].histogram = {0, infinity, 5}; }, {"inf", "finite"});
}

TEST(Ensemble, RefusesToAdvanceOrShowWhatIsNotThere) {
    Ensemble<> ensemble(small_spec(4), Constant{{0}});
    expect_error<InvalidArgument>([&] { ensemble.advance(-1); }, {"-1 steps"});
    expect_error<InvalidArgument>([&] { ensemble.states(2, 3); }, {"3 members", "number 2", "there are 4"});
    expect_error<InvalidArgument>([&] { ensemble.states(-1, 1); }, {"number -1"});
    expect_error<InvalidArgument>([&] { ensemble.states(5); }, {"number 5"});
    EXPECT_TRUE(ensemble.states(4).empty());
    const ObservableRequest request[] = {{Observable::mean, HistogramBins{0, 1, -1}}};
    expect_error<InvalidArgument>([&] { ensemble.sample(request); }, {"-1 bins"});
    EXPECT_FALSE(ensemble.path().empty());
}

TEST(Ensemble, WithoutAGpuThrows) {
    if (!cuda_devices().empty()) GTEST_SKIP() << "there is a CUDA device";
    expect_error<BackendUnavailable>([] { Ensemble<>(small_spec(1), Constant{{0}}, Device{}); });
    expect_error<BackendUnavailable>([] { Ensemble<float>(small_spec(1), Constant{{0}}, Device{}); });
}

} // namespace
} // namespace bandmill::test
