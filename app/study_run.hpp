// What the study commands have in common: where they run, their files, their checkpoints, and how they end.
#pragma once

#include "choices.hpp"
#include "file_lock.hpp"
#include "options.hpp"

#include "bandmill/io/data_file.hpp"
#include "bandmill/study/campaign.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace app {

// A checkpoint that a command goes on from.
struct Resumed {
    bandmill::CheckpointHead head;
    std::string path;               // that it was read from
    std::string checkpoint;         // that it was asked for by: the same, or the one whose predecessor was read
    std::shared_ptr<FileLock> lock; // on rank 0: nobody else goes on with it
};

// Where a rank works.
struct Machine {
    Backend backend;
    bandmill::Where where;
    std::string device; // its name
    int threads;        // 0 on a GPU
};

// backend, gpu, threads, precision, out, checkpoint-every, json, force-overwrite, quiet, dry-run
void add_common_options(Options& options, const char* default_out, bool checkpoints = true);
// Settles --backend auto, so that a checkpoint resumes on the same kind of machine.
Machine choose_machine(Options& options, bandmill::Communicator& ranks);
// Of all members together.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 59;
// Points that a rank steps together at most.
std::int64_t largest_piece(const Machine& machine);
// Who made a file, of what, where and when; "finished" and "seconds" are filled in at the end.
std::vector<bandmill::Attribute> provenance(const char* title, const Options& options, const Machine& machine,
                                            const bandmill::Communicator& ranks);

// A command that is done by all ranks. An error that all of them have is told by one; one of a single rank ends them
// all. The exit code is thrown as ExitCode if it is not 0.
struct ExitCode {
    int code;
};
void on_all_ranks(const std::function<int(bandmill::Communicator&)>& body);

// Of the whole study.
template <class T> double point_steps(const bandmill::Study<T>& study) {
    return study.work() * static_cast<double>(study.spec(study.groups().front().first, 1).points());
}
// "47 s, 3.6 G point-steps per second"
template <class T> std::string speed_text(const bandmill::Study<T>& study, double seconds, const Resumed* resumed) {
    if (resumed) return readable_duration(seconds) + " since it was resumed";
    return readable_duration(seconds) + ", " + readable_rate(point_steps(study) / seconds) + " point-steps per second";
}

// Warnings on stderr, each kind once.
std::function<void(const std::string&)> make_warner(bool quiet);

// The files of a study and the run between opening and closing them.
template <class T> struct StudyRun {
    const char* name;
    bandmill::Study<T>& study;
    bandmill::DataLayout layout;
    bool records;                                                                // are results written while it runs?
    std::string heading = {};                                                    // printed when it starts
    double seconds = 0;                                                          // that the members took, without files
    std::function<void(bandmill::DataFile&)> begin = [](bandmill::DataFile&) {}; // on every rank, file open
    std::function<void(bandmill::DataFile&)> finish;                             // on rank 0, with all sums
};

// Exit code: 0, or 128 + the signal that stopped it.
template <class T>
int carry_out(StudyRun<T>& run, const Options& options, const Machine& machine, bandmill::Communicator& ranks,
              const Resumed* resumed);

// Throws what the library would refuse later, before a file is made.
template <class T> void check(const bandmill::Study<T>& study);

// What a study measures, and when. Nothing: that takes no time beside the steps.
struct Sampling {
    bool every_step = false;
    std::int64_t samples = 0; // at other times
    std::vector<bandmill::ObservableRequest> observables = {};
};

// --dry-run: what it would take. `kept_bytes`: states of finished members that the study keeps, on all ranks together.
template <class T>
void print_estimate(bandmill::Study<T>& study, const bandmill::DataLayout& layout, const Sampling& sampling,
                    const Options& options, const Machine& machine, const bandmill::Communicator& ranks,
                    double kept_bytes = 0);

// Once for every type of number: body.template operator()<double>().
template <class Body> int with_precision(const Options& options, const Body& body) {
    return parse_word("--precision", options["precision"], precision_words) == Precision::f64
               ? body.template operator()<double>()
               : body.template operator()<float>();
}

} // namespace app
