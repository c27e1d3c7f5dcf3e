#include "bench_common.hpp"

#include "bandmill/base/error.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace app {

int BenchOptions::thread_count(int otherwise) const {
    return threads.empty() ? otherwise : static_cast<int>(parse_size("--threads", threads, 1, 4096));
}
int BenchOptions::repetition_count(int otherwise) const {
    return repetitions.empty() ? otherwise : static_cast<int>(parse_size("--repetitions", repetitions, 1, 1000000));
}

void add_place_options(CLI::App& command, BenchOptions& options) {
    add_text(command, "--backend", options.backend, "NAME",
             "auto, cpu or cuda; auto takes the GPU if there is one and no --threads");
    add_text(command, "--gpu", options.gpu, "N", "Which GPU (default 0; see bandmill info)");
}
void add_threads_option(CLI::App& command, BenchOptions& options) {
    add_text(command, "--threads", options.threads, "N", "CPU threads (default all)");
}
void add_rivals_option(CLI::App& command, BenchOptions& options) {
    add_text(command, "--rivals", options.rivals, "NAMES",
             "Compare with all, none, or some of those that --list shows (default all)");
}
void add_output_options(CLI::App& command, BenchOptions& options) {
    command.add_flag("--list", options.list, "Only show the cases and the rivals");
    add_text(command, "--json", options.json, "FILE",
             "Also write the results, with device, date and commit; - prints them, and no table");
    command.add_flag("--force-overwrite", options.force_overwrite, "Replace FILE if it exists");
    command.add_flag("--quiet", options.quiet, "Print nothing but errors");
}

Backend choose_backend(const std::string& backend, const std::string& gpu, const std::string& threads) {
    const Backend wanted = parse_word("--backend", backend, backend_words);
    const auto gpus = bandmill::cuda_devices();
    if (!gpu.empty() && !threads.empty()) throw UsageError("--gpu and --threads make no sense together: choose one");
    // Whoever counts threads means the CPU.
    const Backend chosen = wanted != Backend::automatic       ? wanted
                           : gpus.empty() || !threads.empty() ? Backend::cpu
                                                              : Backend::cuda;
    if (chosen == Backend::cpu && !gpu.empty())
        throw UsageError(wanted == Backend::cpu ? "--gpu makes no sense with --backend cpu"
                                                : "--gpu was given, but no usable GPU was found (see bandmill info)");
    if (wanted == Backend::cuda && !threads.empty()) throw UsageError("--threads makes no sense with --backend cuda");
    return chosen;
}

bandmill::Device choose_gpu(const std::string& gpu) {
    return {gpu.empty() ? 0 : static_cast<int>(parse_size("--gpu", gpu, 0, 1023))};
}

void require_gpu(bandmill::Device device) {
    if (!bandmill::cuda_built())
        throw bandmill::BackendUnavailable("the CUDA backend is not in this build: configure with -DBANDMILL_CUDA=ON, "
                                           "or use --backend cpu");
    const auto gpus = bandmill::cuda_devices();
    for (const bandmill::DeviceInfo& gpu : gpus)
        if (gpu.index == device.index) return;
    throw bandmill::BackendUnavailable(
        gpus.empty() ? std::string("no usable GPU was found (see bandmill info)")
                     : fmt::format("there is no GPU {} ({} were found): see bandmill info", device.index, gpus.size()));
}

std::vector<std::string> choose_rivals(const std::string& text, std::span<const RivalName> names) {
    std::vector<std::string> known;
    for (const RivalName& rival : names) known.emplace_back(rival.name);
    if (text == "all") return known;
    if (text == "none") return {};
    const std::vector<std::string> chosen = split_list("--rivals", text);
    for (const std::string& name : chosen)
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            known.insert(known.begin(), {"all", "none"});
            refuse_word("--rivals", name, known);
        }
    return chosen;
}

ProgressLine::ProgressLine(bool wanted) : shown_(wanted && isatty(STDERR_FILENO)) {}

void ProgressLine::show(const std::string& text) const {
    if (shown_) fmt::print(stderr, "\r\033[K{}", text);
}

void print_now(const std::string& text, bool quiet) {
    if (quiet) return;
    fmt::print("{}", text);
    std::fflush(stdout);
}

CLI::Option* add_text(CLI::App& command, const char* flag, std::string& value, const char* type, const char* help) {
    // CLI11 would take the next flag for a value that was forgotten.
    const auto present = [](const std::string& given) {
        return given.empty() || given.starts_with("--") ? "a value is missing" : "";
    };
    return command.add_option(flag, value, help)->type_name(type)->check(present);
}

} // namespace app
