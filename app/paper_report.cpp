#include "paper_report.hpp"

#include "environment.hpp"
#include "step_ways.hpp"

#include "bandmill/cpu/isa.hpp"
#include "bandmill/version.hpp"

#include <fmt/format.h>

namespace app {
namespace {

constexpr int name_width = 10, speedup_width = 10;

std::string case_text(const std::string& n, const std::string& members) {
    return fmt::format("{:>6} {:>8}", n, members);
}

std::string time_text(const PaperResult* result, std::int64_t steps) {
    if (!result) return "-";
    if (result->wrong) return "WRONG";
    const double time = result->time_ms.median;
    const char* mark = result->time_ms.timed_steps < steps ? "~" : "";
    return fmt::format("{}{:.{}f}", mark, time, time < 10 ? 3 : time < 1000 ? 1 : 0);
}

// Speed-ups of ours, resident and by one solve per step, over each of the others.
std::vector<std::pair<std::string, std::string>> pairs(const std::vector<std::string>& rivals) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string& rival : rivals) pairs.emplace_back("resident", rival);
    for (const std::string& rival : rivals)
        if (std::find(rivals.begin(), rivals.end(), way::one_solve.name) != rivals.end() &&
            rival != way::one_solve.name)
            pairs.emplace_back(way::one_solve.name, rival);
    return pairs;
}

} // namespace

std::string table_head(const PaperBench& bench) {
    const bool cpu = bench.backend == "cpu";
    std::string text = fmt::format("bandmill {}, {}: {}", bandmill::version(), bench.backend, bench.device);
    if (cpu) text += fmt::format(", ISA {}, {} threads", bandmill::cpu_isa(), bench.threads);
    if (cpu) text += busy_text(bench.load_average, 10);
    text +=
        fmt::format("\nproblem    {} of noise on a periodic length of 1, Crank-Nicolson, dt = 0.1 dx; {} steps, f64",
                    word_of(bench.equation, equation_words), bench.steps);
    if (cpu) text += "\nmembers    a CPU's standard set has those that take about a minute; ask for more by --members";
    text += "\nresident   bandmill's ensemble: members stay on chip from step to step";
    for (const RivalName& rival : way_names(cpu ? Backend::cpu : Backend::cuda))
        if (std::find(bench.rivals.begin(), bench.rivals.end(), rival.name) != bench.rivals.end())
            text += fmt::format("\n{:<10} {}", rival.name, rival.what);
    text += "\ntime       milliseconds of all steps: median; ~ where fewer were timed, and their time scaled"
            "\nspeed-up   of resident and of one-solve over the others\n\n";

    const auto columns = pairs(bench.rivals);
    const auto own = std::count_if(columns.begin(), columns.end(), [](auto& pair) { return pair.first == "resident"; });
    const int times_width = (name_width + 1) * (1 + static_cast<int>(bench.rivals.size()));
    std::string over = case_text("", "") + fmt::format("{:>{}}", "time, ms", times_width);
    if (own > 0) over += fmt::format(" |{:>{}}", "resident over", (speedup_width + 1) * own);
    const auto others = static_cast<std::ptrdiff_t>(columns.size()) - own;
    if (others > 0) over += fmt::format(" |{:>{}}", "one-solve over", (speedup_width + 1) * others);
    text += over + "\n" + case_text("n", "members") + fmt::format(" {:>{}}", "resident", name_width);
    for (const std::string& rival : bench.rivals) text += fmt::format(" {:>{}}", rival, name_width);
    for (std::size_t k = 0; k < columns.size(); ++k)
        text += fmt::format("{} {:>{}}", k == 0 || static_cast<std::ptrdiff_t>(k) == own ? " |" : "", columns[k].second,
                            speedup_width);
    return text + "\n";
}

std::string table_lines(const PaperRecord& record) {
    std::string text = case_text(fmt::format("{}", record.what.n), fmt::format("{}", record.what.members)), reasons;
    const auto show_time = [&](const PaperResult* result) {
        text += fmt::format(" {:>{}}", time_text(result, record.steps), name_width);
    };
    show_time(&record.ours);
    std::vector<std::string> rivals;
    for (const auto& [name, outcome] : record.rivals) {
        rivals.push_back(name);
        show_time(std::get_if<PaperResult>(&outcome));
        if (const auto* reason = std::get_if<std::string>(&outcome))
            reasons += fmt::format("{}   {}: {}\n", case_text("", ""), name, *reason);
    }
    std::string way;
    for (const auto& [ours, rival] : pairs(rivals)) {
        const auto speedup = record.speedup(ours, rival);
        text += fmt::format("{} {:>{}}", ours != way ? " |" : "", speedup ? fmt::format("{:.2f}x", *speedup) : "-",
                            speedup_width);
        way = ours;
    }
    return text + "\n" + reasons;
}

std::string table_line(const PaperSkipped& skipped) {
    return case_text(fmt::format("{}", skipped.what.n), fmt::format("{}", skipped.what.members)) +
           fmt::format("   skipped: {}\n", skipped.reason);
}

} // namespace app
