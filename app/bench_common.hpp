// What the benchmark commands have in common: choosing where to run and whom to compare with, and telling how far it
// is.
#pragma once

#include "choices.hpp"
#include "rival_names.hpp"

#include "bandmill/base/space.hpp"

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace app {

// What every benchmark takes beside its cases, as typed; an empty text is an option that was not given.
struct BenchOptions {
    std::string backend = "auto", gpu, threads, rivals = "all", repetitions, json;
    bool list = false, force_overwrite = false, quiet = false;

    bool to_stdout() const { return json == "-"; }
    bool silent() const { return quiet || to_stdout(); } // JSON there stands alone
    // Of --threads and --repetitions; what is not given is `otherwise`.
    int thread_count(int otherwise) const;
    int repetition_count(int otherwise) const;
};
void add_place_options(CLI::App& command, BenchOptions& options);  // --backend, --gpu
void add_threads_option(CLI::App& command, BenchOptions& options); // --threads
void add_rivals_option(CLI::App& command, BenchOptions& options);  // --rivals
void add_output_options(CLI::App& command, BenchOptions& options); // --list, --json, --force-overwrite, --quiet

// The options as typed; an empty text is an option that was not given.
Backend choose_backend(const std::string& backend, const std::string& gpu, const std::string& threads);
bandmill::Device choose_gpu(const std::string& gpu);
// Throws BackendUnavailable, before the first case runs.
void require_gpu(bandmill::Device device);
// "all", "none", or a list of names.
std::vector<std::string> choose_rivals(const std::string& text, std::span<const RivalName> names);

// One line that is overwritten, on a terminal only.
class ProgressLine {
  public:
    explicit ProgressLine(bool wanted);
    void show(const std::string& text) const;
    void clear() const { show(""); }

  private:
    bool shown_;
};

void print_now(const std::string& text, bool quiet);

// An option with a text for its value; a value that was forgotten is an error.
CLI::Option* add_text(CLI::App& command, const char* flag, std::string& value, const char* type, const char* help);

} // namespace app
