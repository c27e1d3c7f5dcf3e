#include "bandmill/dist/mpi.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace bandmill {
namespace detail {
namespace {

class SingleProcess final : public Communicator {
  public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    int local_rank() const override { return 0; }
    void sum(std::span<std::int64_t>) override {}
    std::vector<std::string> gather(const std::string& bytes) override { return {bytes}; }
    std::string broadcast(const std::string& bytes) override { return bytes; }
    bool any(bool mine) override { return mine; }
    void call() override {}
    bool called() override { return false; }
    void meet(const std::function<void()>&) override {}
    [[noreturn]] void abort(int exit_code) override {
        std::fflush(nullptr);
        std::_Exit(exit_code);
    }
};

std::optional<int> number_in(const char* variable) {
    const char* value = std::getenv(variable);
    if (!value) return {};
    const std::string_view text = value;
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) return {};
    return number;
}

Launch find_launch() {
    // mpirun inside a Slurm job sees both kinds: its own count is the right one. Slurm's is of the step, which only
    // srun sets; a batch script without srun is one process, whatever the job's number of tasks.
    for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"})
        if (const auto ranks = number_in(variable); ranks && *ranks > 0) return {variable, *ranks};
    // Launchers that tell the rank only; a rank above 0 has company.
    for (const char* variable : {"PMIX_RANK", "PMI_RANK"})
        if (const auto rank = number_in(variable)) return {variable, *rank > 0 ? *rank + 1 : 0};
    return {};
}

} // namespace

std::unique_ptr<Communicator> single_process() { return std::make_unique<SingleProcess>(); }

} // namespace detail

std::unique_ptr<Communicator> connect() {
    const detail::Launch launch = detail::find_launch();
    return launch.ranks == 1 ? detail::single_process() : detail::connect_by_mpi(launch);
}

} // namespace bandmill
