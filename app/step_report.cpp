#include "step_report.hpp"

#include "environment.hpp"

#include "bandmill/cpu/isa.hpp"
#include "bandmill/version.hpp"

#include <fmt/format.h>

namespace app {
namespace {

constexpr const char* case_columns = "{:<20} {:>6} {:>8} {:<5} {:<11} {:>7}";
constexpr const char* result_columns = " {:<33} {:>8} {:>10} {:>6} {:>8} {:>7}\n";

std::string case_text(const StepCase& what) {
    return fmt::format(case_columns, word_of(what.equation, equation_words), what.n, what.members,
                       word_of(what.precision, precision_words), word_of(what.statistics, statistics_words),
                       what.threads > 0 ? fmt::format("{}", what.threads) : "");
}

std::string result_text(const std::string& name, const StepResult& result, bool wrong, const std::string& ratio) {
    const StepTiming& time = result.time_us;
    const double spread = 100 * (time.max - time.min) / time.median;
    const double speed = result.gpoint_steps_per_s;
    return fmt::format(result_columns, name, time.steps,
                       fmt::format("{:.2f}", time.median / static_cast<double>(time.steps)),
                       spread < 1000 ? fmt::format("{:.1f}%", spread) : ">999%",
                       wrong ? "WRONG" : fmt::format("{:.{}f}", speed, speed < 10 ? 3 : 1), ratio);
}

std::string shown_path(const StepRecord& record) {
    const std::string mark = record.what.shape == bandmill::Shape::latency ? " (latency)" : "";
    return shortened(record.ours.path, 33 - mark.size()) + mark;
}

} // namespace

std::string table_head(const StepBench& bench) {
    const bool cpu = bench.backend == "cpu";
    std::string text = fmt::format("bandmill {}, {}: {}", bandmill::version(), bench.backend, bench.device);
    if (cpu) text += fmt::format(", ISA {}", bandmill::cpu_isa());
    if (cpu) text += busy_text(bench.load_average);
    text += "\nus/step  microseconds of one step of all members: median, and (max - min) / median"
            "\nspeed    10^9 point-steps per second: n * members * steps / time"
            "\nspeedup  of ours over the rival, which has interleaved members and no statistics\n\n";
    text += fmt::format(case_columns, "equation", "n", "members", "dtype", "statistics", "threads");
    return text + fmt::format(result_columns, "path or rival", "steps", "us/step", "spread", "speed", "speedup");
}

std::string table_lines(const StepRecord& record) {
    std::string text = case_text(record.what) + result_text(shown_path(record), record.ours, record.wrong(), "");
    for (const auto& [name, outcome] : record.rivals)
        if (const auto* rival = std::get_if<StepRivalResult>(&outcome)) {
            const auto speedup = record.speedup(name);
            text += fmt::format(case_columns, "", "", "", "", "", "");
            text += result_text(name, rival->result, rival->wrong, speedup ? fmt::format("{:.2f}x", *speedup) : "");
        }
    return text;
}

std::string table_line(const StepSkipped& skipped) {
    return case_text(skipped.what) + fmt::format(" skipped: {}\n", skipped.reason);
}

} // namespace app
