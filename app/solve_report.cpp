#include "solve_report.hpp"

#include "environment.hpp"

#include "bandmill/cpu/isa.hpp"
#include "bandmill/version.hpp"

#include <cmath>

#include <fmt/format.h>

namespace app {
namespace {

constexpr const char* case_columns = "{:>2} {:<8} {:<8} {:>7} {:>8} {:<11} {:<5}";
constexpr const char* result_columns = " {:<26} {:>10} {:>6} {:>7} {:>6} {:>6} {:>7}\n";

std::string case_text(const SolveCase& what) {
    return fmt::format(case_columns, what.half_bandwidth, word_of(what.boundary, boundary_words),
                       word_of(what.matrix, matrix_words), what.n, what.batch, word_of(what.layout, layout_words),
                       word_of(what.precision, precision_words));
}

// A preempted repetition can take a thousand times longer; more digits would only break the columns.
std::string spread_text(const Timing& time) {
    const double spread = 100 * (time.max - time.min) / time.median;
    return spread < 1000 ? fmt::format("{:.1f}%", spread) : ">999%";
}

// Never "-0.0%": a factor of ours may be some bytes larger.
std::string percent_text(double percent) { return fmt::format("{:.1f}%", std::round(10 * percent) / 10 + 0.0); }

std::string result_text(const std::string& name, const Result& result, bool cache_resident, const std::string& ratio) {
    return fmt::format(result_columns, name, fmt::format("{:.1f}", result.time_us.median), spread_text(result.time_us),
                       fmt::format("{:.1f}", result.gbytes_per_s),
                       fmt::format("{:.2f}{}", result.share_of_ceiling, cache_resident ? '*' : ' '),
                       is_wrong(result) ? "WRONG" : fmt::format("{:.2g}", result.backward_error), ratio);
}

} // namespace

bool is_wrong(const Result& result) { return !(result.backward_error <= wrong_beyond); }

std::string describe(const SolveCase& what) {
    return fmt::format("W={} {} {} n={} batch={} {} {}", what.half_bandwidth, word_of(what.boundary, boundary_words),
                       word_of(what.matrix, matrix_words), what.n, what.batch, word_of(what.layout, layout_words),
                       word_of(what.precision, precision_words));
}

std::string table_head(const SolveBench& bench, const Ceiling* ceiling, Placement placement) {
    const bool cpu = bench.backend == "cpu";
    std::string text = fmt::format("bandmill {}, {}: {}", bandmill::version(), bench.backend, bench.device);
    if (cpu) text += fmt::format(", ISA {}, {} threads", bandmill::cpu_isa(), bench.threads);
    if (cpu) text += busy_text(bench.load_average);
    if (ceiling)
        text += fmt::format("\nceiling  {:.1f} GB/s read + written: {} of {}{}", ceiling->gbytes_per_s,
                            ceiling->operation, readable_bytes(static_cast<double>(ceiling->array_bytes)),
                            cpu ? "; other sizes are compared with a scale of their own size" : "");
    text += fmt::format("\ntime     microseconds of one solve of the whole batch, {}: median, and (max - min) / median"
                        "\nGB/s     each unknown read once and written once: 16 bytes in f64, 8 in f32"
                        "\nshare    of the ceiling; * = all data in the cache, so it may pass 1 or be launch-bound"
                        "\nerror    largest row-wise backward error of sampled systems, in epsilons of the precision"
                        "\nspeedup  of ours over the rival, which runs in place and in the layout it is made for\n\n",
                        placement == Placement::in_place ? "in place" : "out of place");
    text += fmt::format(case_columns, "W", "boundary", "matrix", "n", "batch", "layout", "dtype");
    return text +
           fmt::format(result_columns, "path or rival", "time us", "spread", "GB/s", "share ", "error", "speedup");
}

std::string table_lines(const Record& record) {
    std::string text = case_text(record.what) + result_text(record.ours.path, record.ours, record.cache_resident, "");
    for (const RivalResult& rival : record.rivals)
        if (const auto* result = std::get_if<Result>(&rival.outcome)) {
            text += fmt::format(case_columns, "", "", "", "", "", word_of(rival.layout, layout_words), "");
            text += result_text(rival.name, *result, record.cache_resident,
                                fmt::format("{:.2f}x", speedup(record, *result)));
        }
    return text;
}

std::string table_line(const Skipped& skipped) {
    return case_text(skipped.what) + fmt::format(" skipped: {}\n", skipped.reason);
}

std::string memory_table(const MemorySurvey& survey) {
    constexpr const char* columns = "{:>2} {:>5} {:<26} {:>12} {:>11} {:>6} {:>13}";
    std::string text = fmt::format(
        "\nMemory, f64, open, right-hand sides in place: bytes held for 65536 systems, what ours saves, and the largest"
        "\nbatch for which {} are enough\n\n",
        readable_bytes(static_cast<double>(survey.free_bytes)));
    text += fmt::format(columns, "W", "n", "", "bytes/system", "held", "saved", "largest batch") + "\n";
    for (const MemoryEntry& entry : survey.entries) {
        const auto* use = std::get_if<MemoryUse>(&entry.outcome);
        if (!use) continue;
        text += fmt::format(columns, entry.what.half_bandwidth, entry.what.n, entry.contestant,
                            fmt::format("{:.1f}", use->bytes_per_system),
                            readable_bytes(static_cast<double>(use->bytes_held)),
                            use->reduction_percent ? percent_text(*use->reduction_percent) : "", use->largest_batch);
        if (use->limit != "memory") text += fmt::format("  {}", use->limit);
        text += use->proved || !survey.proves ? "\n" : "  (could not be allocated)\n";
    }
    return text;
}

} // namespace app
