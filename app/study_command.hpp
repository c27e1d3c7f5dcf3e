// A study as a command: its options, and what runs it, from the command line or from a checkpoint.
#pragma once

#include "study_run.hpp"

#include <span>

namespace CLI {
class App;
}

namespace app {

struct StudyCommand {
    const char* name;
    const char* help;
    const char* footer; // below the options
    void (*add_options)(Options& options);
    // Exit code. `resumed` is null for a new run.
    int (*run)(Options& options, bandmill::Communicator& ranks, const Resumed* resumed);
    // Defaults that depend on other options.
    void (*settle)(Options& options) = [](Options&) {};
};

extern const StudyCommand coarsen_command, converge_command, map_command, simulate_command;

void add_study(CLI::App& program, const StudyCommand& study);
// bandmill resume, for the studies that are given.
void add_resume(CLI::App& program, std::span<const StudyCommand* const> studies);

// Where --json goes; refused before the run if it cannot be written.
class SummaryFile {
  public:
    SummaryFile(const Options& options, bool root); // rank 0 writes it
    bool to_stdout() const { return path_ == "-"; }
    void write(const std::string& json) const;

  private:
    std::string path_;
    bool overwrite_;
};

// One line for each of the first members that were lost.
std::string lost_text(const std::vector<bandmill::LostMember>& lost);
// The results' name, also where a checkpoint was moved elsewhere.
std::string results_name(const Options& options, const Resumed* resumed);

} // namespace app
