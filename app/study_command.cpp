#include "study_command.hpp"

#include "bench_common.hpp"
#include "output_file.hpp"
#include "study_files.hpp"

#include "bandmill/version.hpp"

#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace app {

void add_study(CLI::App& program, const StudyCommand& study) {
    CLI::App* command = program.add_subcommand(study.name, study.help);
    const auto options = std::make_shared<Options>();
    study.add_options(*options);
    options->declare(*command);
    command->footer(study.footer);
    command->callback([options, &study] {
        on_all_ranks([&](bandmill::Communicator& ranks) {
            options->read_config_file();
            study.settle(*options);
            if (options->asks_for_config()) {
                if (ranks.is_root()) fmt::print("# bandmill {}\n{}", study.name, options->config(ConfigFor::user));
                return 0;
            }
            return study.run(*options, ranks, nullptr);
        });
    });
}

namespace {

// How a run is to be gone on with; everything else is in the checkpoint.
struct ResumeOptions {
    std::string path, gpu, threads, checkpoint_every, json;
    bool quiet = false;
};

const StudyCommand& find(std::span<const StudyCommand* const> studies, const std::string& name) {
    for (const StudyCommand* study : studies)
        if (study->name == name) return *study;
    throw bandmill::FileError(fmt::format("the checkpoint is of a study '{}', which this version does not know: resume "
                                          "with the version that wrote it",
                                          name));
}

int resume(const ResumeOptions& given, std::span<const StudyCommand* const> studies, bandmill::Communicator& ranks) {
    // Rank 0 verifies the file; the others are told what is in it.
    Resumed resumed;
    if (!std::filesystem::exists(given.path) && !given.path.ends_with(".checkpoint") &&
        std::filesystem::exists(given.path + ".checkpoint"))
        throw UsageError(fmt::format("'{0}' is not there, but '{0}.checkpoint' is: give that", given.path));
    resumed.checkpoint = given.path;
    if (resumed.checkpoint.ends_with(".previous")) resumed.checkpoint.resize(resumed.checkpoint.size() - 9);
    std::string failure;
    if (ranks.is_root()) try {
            const std::string partial = StudyFiles("results", resumed.checkpoint).partial();
            if (std::filesystem::exists(partial)) resumed.lock = std::make_shared<FileLock>(partial);
            resumed.path = given.path;
            resumed.head = bandmill::load_checkpoint(resumed.path, make_warner(given.quiet));
        } catch (const bandmill::Error& error) {
            failure = error.what();
        }
    failure = ranks.broadcast(failure);
    if (!failure.empty()) {
        if (!ranks.is_root()) return 1;
        throw bandmill::FileError(failure);
    }
    resumed.path = ranks.broadcast(resumed.path);
    bandmill::CheckpointHead told = resumed.head;
    told.sums.clear(); // rank 0 adds them to its own
    const std::string bytes = ranks.broadcast(bandmill::encode(told));
    if (!ranks.is_root()) resumed.head = bandmill::decode(std::as_bytes(std::span(bytes)), INT64_MAX);

    if (resumed.head.version != bandmill::version() && ranks.is_root())
        make_warner(given.quiet)(fmt::format("this checkpoint is of version {}; another version may round differently",
                                             resumed.head.version));
    const StudyCommand& study = find(studies, resumed.head.study);
    Options options;
    study.add_options(options);
    options.read_config(resumed.head.options, fmt::format("'{}'", resumed.path));
    if (!given.gpu.empty()) options.set("gpu", given.gpu);
    if (!given.threads.empty()) options.set("threads", given.threads);
    if (!given.checkpoint_every.empty()) options.set("checkpoint-every", given.checkpoint_every);
    if (!given.json.empty()) options.set("json", given.json);
    options.set("quiet", given.quiet ? "true" : "false");
    return study.run(options, ranks, &resumed);
}

} // namespace

void add_resume(CLI::App& program, std::span<const StudyCommand* const> studies) {
    CLI::App* command = program.add_subcommand("resume", "Go on with a study from its checkpoint, with the same bits");
    const auto given = std::make_shared<ResumeOptions>();
    command->add_option("checkpoint", given->path, "The checkpoint: NAME.checkpoint")->required()->type_name("FILE");
    add_text(*command, "--gpu", given->gpu, "N", "Which GPU");
    add_text(*command, "--threads", given->threads, "N", "CPU threads (default: all)");
    add_text(*command, "--checkpoint-every", given->checkpoint_every, "TIME", "How often to write it again (60s)");
    add_text(*command, "--json", given->json, "FILE", "Also write a summary as JSON; - prints it");
    command->add_flag("--quiet", given->quiet, "Print nothing but errors");
    command->footer(
        "The options of the study are in the checkpoint. Threads and ranks may be others than before: the results are\n"
        "the same to the last bit. A damaged checkpoint is refused, and the one before it (FILE.previous) taken.\n"
        "Examples:\n"
        "  bandmill resume coarsen.nc.checkpoint\n"
        "  mpirun -n 4 bandmill resume coarsen.nc.checkpoint");
    command->callback([given, studies] {
        on_all_ranks([&](bandmill::Communicator& ranks) { return resume(*given, studies, ranks); });
    });
}

SummaryFile::SummaryFile(const Options& options, bool root)
    : path_(options["json"]), overwrite_(options.flag("force-overwrite")) {
    if (root && !path_.empty() && !to_stdout()) OutputFile(path_, overwrite_ ? Overwrite::yes : Overwrite::no);
}

void SummaryFile::write(const std::string& json) const {
    if (to_stdout())
        print_now(json, false);
    else if (!path_.empty())
        OutputFile(path_, overwrite_ ? Overwrite::yes : Overwrite::no).write(json);
}

std::string lost_text(const std::vector<bandmill::LostMember>& lost) {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(lost.size(), 10); ++i)
        text += fmt::format("member {} was lost at t = {:.6g}: it is not finite, and left out from then on\n",
                            lost[i].member, lost[i].time);
    if (lost.size() > 10) text += fmt::format("and {} more\n", lost.size() - 10);
    return text;
}

std::string results_name(const Options& options, const Resumed* resumed) {
    return StudyFiles(options["out"], resumed ? resumed->checkpoint : "").out();
}

} // namespace app
