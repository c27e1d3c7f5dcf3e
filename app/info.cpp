// bandmill info: what this build can do on this machine.
#include "command.hpp"
#include "environment.hpp"
#include "json.hpp"
#include "text.hpp"

#include "bandmill/base/array.hpp"
#include "bandmill/base/space.hpp"
#include "bandmill/cpu/isa.hpp"
#include "bandmill/dist/communicator.hpp"
#include "bandmill/pde/grid.hpp"
#include "bandmill/version.hpp"

#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace app {
namespace {

std::string info_json() {
    JsonWriter json;
    json.begin_object()
        .value("version", bandmill::version())
        .value("commit", commit())
        .value("compiler", compiler())
        .value("build_type", build_type())
        .value("cpu", cpu_model())
        .value("isa", bandmill::cpu_isa())
        .value("threads", default_threads())
        .value("memory_available_bytes", available_memory())
        .value("cuda_built", bandmill::cuda_built())
        .value("mpi_built", bandmill::mpi_built())
        .begin_object("limits")
        .value("fewest_points", bandmill::Grid::fewest_points)
        .value("most_elements", std::int64_t{1} << 59)
        .end_object()
        .begin_array("gpus");
    for (const bandmill::DeviceInfo& gpu : bandmill::cuda_devices())
        json.begin_object()
            .value("index", gpu.index)
            .value("name", gpu.name)
            .value("compute_capability", fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor))
            .value("multiprocessors", gpu.multiprocessors)
            .value("memory_bytes", gpu.memory_bytes)
            .value("memory_free_bytes", bandmill::free_memory(bandmill::Device{gpu.index}))
            .end_object();
    return json.end_array().end_object().text();
}

void line(const char* what, const std::string& value) { fmt::print("{:<10} {}\n", what, value); }

void print_info() {
    line("bandmill", fmt::format("{} (commit {})", bandmill::version(), commit()));
    line("built", fmt::format("{}, {}", compiler(), build_type()));
    line("CPU", cpu_model());
    try {
        line("ISA level", fmt::format("{} (lower it with BANDMILL_ISA)", bandmill::cpu_isa()));
    } catch (const bandmill::Error& error) { // the rest is still worth knowing
        line("ISA level", fmt::format("error: {}", error.what()));
    }
    line("threads", fmt::format("{} unless --threads says otherwise", default_threads()));
    line("memory", readable_bytes(static_cast<double>(available_memory())) + " available");
    line("limits",
         "systems of 1 row or more, ensembles of 5 points or more; sizes below 2^59, in slices where memory ends");
    line("MPI",
         bandmill::mpi_built() ? "MPI built: mpirun or srun split a study over ranks" : "not built: one process");
    const auto gpus = bandmill::cuda_devices();
    line("CUDA", !bandmill::cuda_built() ? "not built: CPU only"
                 : gpus.empty()          ? "built, but no usable GPU was found"
                                         : "built");
    for (const bandmill::DeviceInfo& gpu : gpus)
        line(fmt::format("GPU {}", gpu.index).c_str(),
             fmt::format("{}, {} ({} free), {} multiprocessors, compute capability {}.{}", gpu.name,
                         readable_bytes(static_cast<double>(gpu.memory_bytes)),
                         readable_bytes(static_cast<double>(bandmill::free_memory(bandmill::Device{gpu.index}))),
                         gpu.multiprocessors, gpu.compute_major, gpu.compute_minor));
}

} // namespace

void add_info(CLI::App& program) {
    CLI::App* command = program.add_subcommand("info", "Show version, build, CPU, ISA level, threads and GPUs");
    auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "Print it as JSON");
    command->callback([json] {
        if (*json)
            fmt::print("{}", info_json());
        else
            print_info();
    });
}

} // namespace app
