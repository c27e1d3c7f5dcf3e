// What `bandmill bench plane` shows: a table for people, JSON for programs.
#include "json_head.hpp"
#include "plane_bench.hpp"

#include <fmt/format.h>

namespace app {
namespace {

constexpr const char* case_columns = "{:<15} {:>11} {:>8} {:<5} {:>7}";
constexpr const char* result_columns = " {:<33} {:>6} {:>10} {:>7} {:>8} {:>6} {:>8}\n";

std::string case_text(const PlaneCase& what) {
    return fmt::format(case_columns, word_of(what.equation, equation_words), fmt::format("{}x{}", what.nx, what.ny),
                       what.members, word_of(what.precision, precision_words),
                       what.threads > 0 ? fmt::format("{}", what.threads) : "");
}

std::string result_text(const std::string& name, const PlaneResult& result, bool wrong, const std::string& ratio) {
    const StepTiming& time = result.time_us;
    const double spread = 100 * (time.max - time.min) / time.median, speed = result.gpoint_steps_per_s;
    return fmt::format(result_columns, shortened(name, 33), time.steps,
                       fmt::format("{:.1f}", time.median / static_cast<double>(time.steps)),
                       spread < 1000 ? fmt::format("{:.1f}%", spread) : ">999%",
                       wrong ? "WRONG" : fmt::format("{:.{}f}", speed, speed < 10 ? 3 : 1),
                       fmt::format("{:.2f}", result.share_of_ceiling), ratio);
}

void write_case(JsonWriter& json, const PlaneCase& what, const std::string& backend) {
    json.value("equation", word_of(what.equation, equation_words))
        .value("nx", what.nx)
        .value("ny", what.ny)
        .value("members", what.members)
        .value("dtype", word_of(what.precision, precision_words))
        .value("backend", backend)
        .value("threads", what.threads);
}

// The time is that of all the steps.
void write_result(JsonWriter& json, const PlaneResult& result) {
    json.value("path", result.path)
        .value("steps", result.time_us.steps)
        .begin_object("time_us")
        .value("median", result.time_us.median)
        .value("min", result.time_us.min)
        .value("max", result.time_us.max)
        .value("repetitions", result.time_us.repetitions)
        .end_object()
        .value("gpoint_steps_per_s", result.gpoint_steps_per_s)
        .value("share_of_ceiling", result.share_of_ceiling);
}

void write_record(JsonWriter& json, const PlaneRecord& record, const std::string& backend) {
    json.begin_object();
    write_case(json, record.what, backend);
    json.value("spacing", record.spacing)
        .value("time_step", record.time_step)
        .value("state_bytes", static_cast<std::int64_t>(record.what.state_bytes()))
        .value("counted_bytes_per_point", counted_numbers * record.what.element_bytes())
        .value("ceiling_gbytes_per_s", record.ceiling_gbytes_per_s);
    write_result(json, record.ours);
    json.value("lost_members", record.lost).value("wrong", record.wrong()).begin_object("speedup");
    for (const auto& [name, outcome] : record.rivals)
        if (const auto speedup = record.speedup(name)) json.value(name, *speedup);
    json.end_object().begin_object("rivals");
    for (const auto& [name, outcome] : record.rivals) {
        json.begin_object(name);
        if (const auto* rival = std::get_if<PlaneRivalResult>(&outcome)) {
            write_result(json, rival->result);
            json.value("difference", rival->difference).value("wrong", rival->wrong);
        } else {
            json.value("skipped", std::get<std::string>(outcome));
        }
        json.end_object();
    }
    json.end_object().end_object();
}

} // namespace

std::optional<double> PlaneRecord::speedup(const std::string& rival) const {
    const auto found = rivals.find(rival);
    if (found == rivals.end()) return std::nullopt;
    const auto* theirs = std::get_if<PlaneRivalResult>(&found->second);
    if (!theirs || theirs->wrong) return std::nullopt;
    return ours.gpoint_steps_per_s / theirs->result.gpoint_steps_per_s;
}

std::string describe(const PlaneCase& what) {
    std::string text = fmt::format("{} {}x{} members={} {}", word_of(what.equation, equation_words), what.nx, what.ny,
                                   what.members, word_of(what.precision, precision_words));
    if (what.threads > 0) text += fmt::format(" threads={}", what.threads);
    return text;
}

std::string table_head(const PlaneBench& bench) {
    const bool cpu = bench.backend == "cpu";
    std::string text = fmt::format("bandmill {}, {}: {}", bandmill::version(), bench.backend, bench.device);
    if (cpu) text += fmt::format(", ISA {}", bandmill::cpu_isa());
    if (cpu) text += busy_text(bench.load_average);
    text += "\nus/step  microseconds of one step of all planes: median, and (max - min) / median"
            "\nspeed    10^9 point-steps per second";
    text += fmt::format("\nshare    {} numbers per point and step, over the speed of {}"
                        "\nspeedup  of ours over the rival\n\n",
                        counted_numbers, cpu ? "scaling memory in place" : "copying memory");
    text += fmt::format(case_columns, "equation", "points", "members", "dtype", "threads");
    return text +
           fmt::format(result_columns, "path or rival", "steps", "us/step", "spread", "speed", "share", "speedup");
}

std::string table_lines(const PlaneRecord& record) {
    std::string text = case_text(record.what) + result_text(record.ours.path, record.ours, record.wrong(), "");
    for (const auto& [name, outcome] : record.rivals)
        if (const auto* rival = std::get_if<PlaneRivalResult>(&outcome)) {
            const auto speedup = record.speedup(name);
            text += fmt::format(case_columns, "", "", "", "", "");
            text += result_text(name, rival->result, rival->wrong, speedup ? fmt::format("{:.2f}x", *speedup) : "");
        }
    return text;
}

std::string table_line(const PlaneSkipped& skipped) {
    return case_text(skipped.what) + fmt::format(" skipped: {}\n", skipped.reason);
}

std::string to_json(const PlaneBench& bench) {
    JsonWriter json;
    json.begin_object();
    write_head(json, "plane", bench);
    json.value("ceiling", bench.ceiling);
    write_cases(json, bench, write_record, write_case);
    return json.end_object().text();
}

} // namespace app
