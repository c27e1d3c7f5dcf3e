#include "study_run.hpp"

#include "bench_common.hpp"
#include "environment.hpp"
#include "progress_bar.hpp"
#include "signals.hpp"
#include "study_files.hpp"

#include "bandmill/ensemble/check.hpp"
#include "bandmill/version.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <limits>
#include <memory>
#include <set>
#include <thread>

#include <fmt/format.h>

namespace app {
void add_common_options(Options& options, const char* default_out, bool checkpoints) {
    using enum Decides;
    options.add("backend", "NAME", "auto", "auto, cpu or cuda; auto takes the GPU if there is one and no --threads",
                data, "Machine");
    options.add("gpu", "N", "", "Which GPU (default: the first, under MPI that of the local rank)", manner, "Machine");
    options.add("threads", "N", "", "CPU threads (default: all)", manner, "Machine");
    options.add("precision", "NAME", "f64", "f64 or f32", data, "Machine");
    options.add("out", "FILE", default_out, "The file of results (HDF5, netCDF-4)", data, "Files");
    options.add("json", "FILE", "", "Also write a summary as JSON; - prints it", manner, "Files");
    options.add_flag("force-overwrite", "Replace FILE and what is left of an earlier run", data, "Files");
    if (checkpoints)
        options.add("checkpoint-every", "TIME", "60s",
                    "How often to write FILE.checkpoint (90s, 5m, 2h; 0: only when stopped)", manner, "Files");
    options.add_flag("quiet", "Print nothing but errors", manner, "Running");
    options.add_flag("dry-run", "Only tell memory, time and file size", manner, "Running");
}

Machine choose_machine(Options& options, bandmill::Communicator& ranks) {
    Machine machine{};
    machine.backend = choose_backend(options["backend"], options["gpu"], options["threads"]);
    // Rank 0 decides for all: a study must not mix what rounds differently.
    options.set("backend", ranks.broadcast(word_of(machine.backend, backend_words)));
    machine.backend = choose_backend(options["backend"], options["gpu"], options["threads"]);
    if (machine.backend == Backend::cpu) {
        const int threads =
            options.given("threads") ? static_cast<int>(parse_size("--threads", options["threads"], 1, 4096)) : 0;
        machine.threads = threads > 0 ? threads : default_threads();
        machine.where = bandmill::Threads{threads};
        machine.device = cpu_model();
        return machine;
    }
    const auto gpus = bandmill::cuda_devices();
    bandmill::Device device = choose_gpu(options["gpu"]);
    if (!options.given("gpu") && !gpus.empty()) device.index = ranks.local_rank() % static_cast<int>(gpus.size());
    require_gpu(device);
    machine.where = device;
    for (const bandmill::DeviceInfo& gpu : gpus)
        if (gpu.index == device.index) machine.device = gpu.name;
    return machine;
}

// What a GPU needs to be busy, and what a checkpoint may well hold.
std::int64_t largest_piece(const Machine& machine) {
    return std::int64_t{1} << (machine.backend == Backend::cuda ? 26 : 24);
}

std::vector<bandmill::Attribute> provenance(const char* title, const Options& options, const Machine& machine,
                                            const bandmill::Communicator& ranks) {
    const std::string started = utc_now();
    return {{"title", title},
            {"Conventions", "CF-1.10"},
            {"source", fmt::format("bandmill {}", bandmill::version())},
            {"version", bandmill::version()},
            {"commit", commit()},
            {"options", options.config(ConfigFor::results)},
            {"backend", word_of(machine.backend, backend_words)},
            {"device", machine.device},
            {"threads", std::int64_t{machine.threads}},
            {"ranks", std::int64_t{ranks.size()}},
            {"started", started},
            {"finished", std::string(started.size(), ' ')},
            {"seconds", std::numeric_limits<double>::quiet_NaN()}};
}

// The library names its own parameters.
static std::string in_our_words(std::string text) {
    const std::string_view theirs = "time_step", ours = "--dt";
    for (std::size_t at; (at = text.find(theirs)) != std::string::npos;) text.replace(at, theirs.size(), ours);
    return text;
}

void on_all_ranks(const std::function<int(bandmill::Communicator&)>& body) {
    auto ranks = bandmill::connect();
    const bool root = ranks->is_root();
    // Most errors are those of all ranks: rank 0 tells them and ends the others. One that only another rank has is told
    // by that one, when rank 0 has had the time to end it.
    const auto end = [&](const std::string& text, int exit_code) {
        if (!root) std::this_thread::sleep_for(std::chrono::milliseconds(500));
        fmt::print(stderr, "bandmill: {}{}\n", root ? "" : fmt::format("rank {}: ", ranks->rank()), text);
        ranks->abort(exit_code);
    };
    int code = 0;
    try {
        code = body(*ranks);
    } catch (const UsageError& error) {
        if (ranks->size() == 1) throw;
        end(error.what(), 2);
    } catch (const bandmill::InvalidArgument& error) { // the library checks what its options mean
        if (ranks->size() == 1) throw UsageError(in_our_words(error.what()));
        end(in_our_words(error.what()), 2);
    } catch (const bandmill::Unstable& error) {
        if (ranks->size() == 1) throw std::runtime_error(in_our_words(error.what()));
        end(in_our_words(error.what()), 1);
    } catch (const std::exception& error) {
        if (ranks->size() == 1) throw;
        end(error.what(), 1);
    }
    ranks.reset(); // they part in peace; an exception that leaves this function would not let them
    if (code != 0) throw ExitCode{code};
}

std::function<void(const std::string&)> make_warner(bool quiet) {
    if (quiet) return [](const std::string&) {};
    // Pieces of an ensemble tell the same with other numbers in it.
    const auto told = std::make_shared<std::set<std::string>>();
    return [told](const std::string& warning) {
        if (!told->insert(warning.substr(0, warning.find_first_of("0123456789"))).second) return;
        fmt::print(stderr, "bandmill: warning: {}\n", in_our_words(warning));
    };
}

template <class T> void check(const bandmill::Study<T>& study) {
    for (const bandmill::MemberGroup& group : study.groups()) {
        const bandmill::EnsembleSpec spec = study.spec(group.first, group.count);
        bandmill::detail::checked_setup(spec);
        bandmill::detail::check_initial_state(study.initial(group.first, group.count), spec.grid, spec.members,
                                              spec.rows());
    }
}

namespace {

Start start_of(const Resumed* resumed, bool records, bool overwrite) {
    if (resumed) return records ? Start::resume_records : Start::resume;
    return overwrite ? Start::overwrite : Start::fresh;
}

bandmill::CampaignPlan plan_of(const char* study, const Options& options, const Machine& machine,
                               const std::string& checkpoint, bool resumed) {
    bandmill::CampaignPlan plan;
    plan.where = machine.where;
    plan.piece_points = largest_piece(machine);
    plan.checkpoint = checkpoint;
    plan.checkpoint_every = parse_duration("--checkpoint-every", options["checkpoint-every"]);
    // A run of a minute or two is sooner repeated than resumed, unless someone asks for more.
    const bool soon = plan.checkpoint_every < 60 || resumed;
    plan.first_checkpoint_after = soon ? plan.checkpoint_every : 120;
    plan.head.study = study;
    plan.head.version = bandmill::version();
    plan.head.options = options.config(ConfigFor::checkpoint);
    plan.stop_asked = [] { return SignalWatch::seen() != 0; };
    return plan;
}

// Rank 0, when all members are done: what went wrong, or nothing.
template <class T>
std::string publish(StudyRun<T>& run, bandmill::DataFile& data, const StudyFiles& files, bool overwrite) {
    try {
        run.finish(data);
        data.set_attribute("finished", utc_now());
        data.set_attribute("seconds", run.seconds);
        data.flush();
        files.publish(overwrite);
        return {};
    } catch (const bandmill::FileError& error) {
        return error.what();
    }
}

} // namespace

template <class T>
int carry_out(StudyRun<T>& run, const Options& options, const Machine& machine, bandmill::Communicator& ranks,
              const Resumed* resumed) {
    const bool quiet = options.flag("quiet"), json_only = options["json"] == "-";
    const bool overwrite = options.flag("force-overwrite");
    StudyFiles files(options["out"], resumed ? resumed->checkpoint : "", resumed ? resumed->lock : nullptr);
    if (!options["json"].empty()) files.refuse_own(options["json"]);
    check(run.study);
    bandmill::CampaignPlan plan = plan_of(run.name, options, machine, files.checkpoint(), resumed != nullptr);

    const SignalWatch signals;
    bandmill::DataFile data = files.open(run.layout, start_of(resumed, run.records, overwrite), ranks);
    ProgressBar bar(!quiet && ranks.is_root());
    plan.progress = [&](const bandmill::CampaignProgress& progress) { bar.show(progress); };
    plan.warn = run.study.warn = [&, warn = make_warner(quiet)](const std::string& text) {
        bar.clear();
        warn(text);
    };

    bandmill::CampaignEnd end{};
    try {
        run.begin(data);
        print_now(run.heading, quiet || json_only || !ranks.is_root());
        const auto began = std::chrono::steady_clock::now();
        end = bandmill::run_campaign(run.study, plan, ranks, resumed ? &resumed->head : nullptr,
                                     resumed ? resumed->path : std::string());
        run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    } catch (...) {
        bar.clear();
        if (ranks.is_root()) files.leave(run.records);
        throw;
    }
    bar.clear();
    if (end == bandmill::CampaignEnd::stopped) {
        if (!ranks.is_root()) return 0;
        fmt::print(stderr, "bandmill: stopped; go on with: bandmill resume {}\n", files.checkpoint());
        return 128 + (SignalWatch::seen() ? SignalWatch::seen() : SIGTERM); // that of another rank is not known here
    }

    const std::string failure = ranks.broadcast(ranks.is_root() ? publish(run, data, files, overwrite) : "");
    if (failure.empty()) {
        if (ranks.is_root()) bandmill::remove_checkpoint(files.checkpoint());
        return 0;
    }
    // Hours of work must not end with a full disk: everything is in the sums.
    plan.head.sums.assign(run.study.sums().begin(), run.study.sums().end());
    plan.head.extra = bandmill::lines_of(run.study.lost);
    bandmill::save_checkpoint(plan.checkpoint, plan.head, {}, ranks);
    throw bandmill::FileError(
        fmt::format("{}; nothing is lost: when that is settled, write the results with: bandmill resume {}", failure,
                    files.checkpoint()));
}

template void check(const bandmill::Study<double>&);
template void check(const bandmill::Study<float>&);
template int carry_out(StudyRun<double>&, const Options&, const Machine&, bandmill::Communicator&, const Resumed*);
template int carry_out(StudyRun<float>&, const Options&, const Machine&, bandmill::Communicator&, const Resumed*);

} // namespace app
