// A build without MPI: fine for one process, a clear error for one rank of several.
#include "bandmill/dist/communicator.hpp"

#include "../base/expect_error.hpp"

#include <cstdlib>
#include <utility>

namespace bandmill::test {
namespace {

constexpr const char* variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",  "MV2_COMM_WORLD_SIZE",
                                     "SLURM_STEP_NUM_TASKS", "PMIX_RANK", "PMI_RANK"};

using Setting = std::pair<const char*, const char*>;

void set_environment(std::initializer_list<Setting> settings) {
    for (const char* variable : variables) unsetenv(variable);
    for (const auto& [variable, value] : settings) setenv(variable, value, 1);
}

TEST(WithoutMpi, OneProcessNeedsNoLauncher) {
    for (const auto& settings : std::initializer_list<std::initializer_list<Setting>>{
             {},
             {{"OMPI_COMM_WORLD_SIZE", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}}, // mpirun -n 1 inside a Slurm job
             {{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}},
             {{"PMIX_RANK", "0"}},
             {{"SLURM_STEP_NUM_TASKS", "1"}},
             {{"SLURM_STEP_NUM_TASKS", "4(x2)"}},
             {{"PMI_SIZE", ""}}}) {
        set_environment(settings);
        EXPECT_EQ(connect()->size(), 1);
    }
}

TEST(WithoutMpi, RanksAreRefused) {
    for (const auto& [variable, value] : {Setting("OMPI_COMM_WORLD_SIZE", "3"), Setting("PMI_SIZE", "3"),
                                          Setting("SLURM_STEP_NUM_TASKS", "3"), Setting("PMIX_RANK", "2")}) {
        set_environment({{variable, value}});
        expect_error<BackendUnavailable>([] { connect(); }, {variable, "3", "without MPI", "BANDMILL_MPI"});
    }
}

TEST(SingleProcess, IsAlone) {
    set_environment({});
    const auto alone = connect();
    alone->call();
    EXPECT_FALSE(alone->called());
    alone->meet(nullptr);
    EXPECT_EQ(alone->gather("a"), std::vector<std::string>{"a"});
    EXPECT_EXIT(alone->abort(3), testing::ExitedWithCode(3), "");
}

} // namespace
} // namespace bandmill::test
