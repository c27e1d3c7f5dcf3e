// bandmill: the command line. Exit codes: 0 done, 1 the run failed, 2 the command line was wrong and nothing was done,
// 128 + N stopped by signal N.
#include "command.hpp"
#include "environment.hpp"
#include "study_command.hpp"
#include "text.hpp"

#include "bandmill/base/error.hpp"
#include "bandmill/version.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

// Every rank has the same command line: one of them tells what is wrong with it.
bool is_another_rank() {
    for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (const char* rank = std::getenv(variable)) return std::string_view(rank) != "0";
    return false;
}

int complain(std::string text, int exit_code) {
    if (exit_code == 2 && is_another_rank()) return exit_code;
    std::replace(text.begin(), text.end(), '\n', ' ');
    fmt::print(stderr, "bandmill: {}\n", text);
    return exit_code;
}

// "bandmill bench solve": the command as far as it was understood, to point at its help.
std::string command_of(const CLI::App& program) {
    std::string name = "bandmill";
    for (const CLI::App* app = &program; !app->get_subcommands().empty();) {
        app = app->get_subcommands().front();
        name += " " + app->get_name();
    }
    return name;
}

// How many letters have to be added, left out or changed to make one word of the other.
std::size_t distance(std::string_view one, std::string_view other) {
    std::vector<std::size_t> row(other.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < one.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < other.size(); ++j) {
            const std::size_t changed = diagonal + (one[i] != other[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

// "there is no option '--member': did you mean --members?"
std::string unknown_option(const CLI::App& program, const std::vector<std::string>& strangers) {
    const auto option =
        std::find_if(strangers.begin(), strangers.end(), [](const auto& s) { return s.starts_with("-"); });
    if (option == strangers.end()) return "";
    const CLI::App* command = &program;
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    std::string best;
    for (const CLI::Option* known : command->get_options())
        for (const std::string& name : known->get_lnames())
            if (distance("--" + name, *option) <= 2 || (option->size() > 4 && ("--" + name).starts_with(*option)))
                if (best.empty() || distance("--" + name, *option) < distance(best, *option)) best = "--" + name;
    return fmt::format("there is no option '{}'{}", *option,
                       best.empty() ? "" : fmt::format(": did you mean {}?", best));
}

// "--dt: At Most 1 required but received 2" says what to do in nobody's words.
std::string given_twice(const CLI::ParseError& error) {
    const std::string text = error.what(), option = text.substr(0, text.find(':'));
    if (!dynamic_cast<const CLI::ArgumentMismatch*>(&error) || text.find("At Most 1 required") == std::string::npos)
        return "";
    return fmt::format("{} is given more than once: leave one of them", option);
}

int run(int argc, char** argv) {
    CLI::App program{"Ensembles of PDEs in one dimension or two, and batches of banded systems, on CPU and GPU."};
    program.name("bandmill");
    program.set_version_flag("--version", fmt::format("bandmill {} (commit {})", bandmill::version(), app::commit()),
                             "Print version and commit, and exit");
    program.require_subcommand(1);
    program.get_formatter()->column_width(32);
    program.footer("Each command has its own --help, for example: bandmill coarsen --help\n"
                   "Exit codes: 0 done, 1 the run failed, 2 wrong command line (nothing was done), 128 + N stopped by "
                   "signal N.");
    app::add_study(program, app::coarsen_command);
    app::add_study(program, app::simulate_command);
    app::add_study(program, app::map_command);
    app::add_study(program, app::converge_command);
    static constexpr const app::StudyCommand* resumable[] = {&app::coarsen_command, &app::simulate_command,
                                                             &app::map_command};
    app::add_resume(program, resumable);
    app::add_info(program);
    CLI::App& bench = *program.add_subcommand("bench", "Measure speed");
    bench.require_subcommand(1);
    app::add_bench_solve(bench);
    app::add_bench_own(bench);
    app::add_bench_step(bench);
    app::add_bench_stencil(bench);
    app::add_bench_paper(bench);
    app::add_bench_plane(bench);

    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return program.exit(error);
        const auto strangers = program.remaining(true);
        const bool no_command = dynamic_cast<const CLI::RequiredError*>(&error) && !strangers.empty();
        const std::string text = no_command ? fmt::format("'{}' is not a command", strangers.front()) : error.what();
        const std::string better =
            dynamic_cast<const CLI::ExtrasError*>(&error) ? unknown_option(program, strangers) : given_twice(error);
        return complain(fmt::format("{} (see {} --help)", better.empty() ? text : better, command_of(program)), 2);
    } catch (const app::UsageError& error) {
        return complain(fmt::format("{} (see {} --help)", error.what(), command_of(program)), 2);
    } catch (const app::ExitCode& exit) {
        return exit.code;
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int exit_code = run(argc, argv);
        // A full disk behind a redirected stdout shows only here.
        if (std::fflush(stdout) != 0 || std::ferror(stdout)) return complain("cannot write to standard output", 1);
        return exit_code;
    } catch (const std::bad_alloc&) {
        return complain("out of memory: use smaller sizes", 1);
    } catch (const std::exception& error) { // bandmill::Error among them
        return complain(error.what(), 1);
    }
}
