#include "stencil_report.hpp"

#include "json_head.hpp"

#include "bandmill/cpu/isa.hpp"
#include "bandmill/version.hpp"

#include <fmt/format.h>

namespace app {
namespace {

constexpr const char* case_columns = "{:<9} {:>16} {:<5} {:<8}";
constexpr const char* result_columns = " {:<8} {:>10} {:>7} {:>8} {:>6} {:>8} {:>7}\n";

std::string case_text(const StencilCase& what) {
    const auto& [rows, columns, batch] = what.size;
    return fmt::format(case_columns, word_of(what.kind, stencil_words),
                       batch > 1 ? fmt::format("{}x{}x{}", rows, columns, batch) : fmt::format("{}x{}", rows, columns),
                       word_of(what.precision, precision_words), word_of(what.edges, edge_words));
}

std::string result_text(const std::string& name, const StencilRecord& record, const StencilResult& result,
                        const std::string& speedup) {
    const Timing& time = result.time_us;
    const double copies = time.median / record.same_size_copy_us;
    return fmt::format(result_columns, name, fmt::format("{:.1f}", time.median),
                       fmt::format("{:.1f}%", 100 * (time.max - time.min) / time.median),
                       result.wrong ? "WRONG" : fmt::format("{:.0f}", result.gbytes_per_s),
                       fmt::format("{:.2f}", result.share_of_ceiling), fmt::format("{:.2f}", copies), speedup);
}

void write_case(JsonWriter& json, const StencilCase& what, const std::string& backend) {
    json.value("stencil", word_of(what.kind, stencil_words))
        .value("rows", what.size.rows)
        .value("columns", what.size.columns)
        .value("batch", what.size.batch)
        .value("dtype", word_of(what.precision, precision_words))
        .value("edges", word_of(what.edges, edge_words))
        .value("backend", backend);
}

void write_result(JsonWriter& json, const StencilResult& result) {
    json.begin_object("time_us")
        .value("median", result.time_us.median)
        .value("min", result.time_us.min)
        .value("max", result.time_us.max)
        .value("repetitions", result.time_us.repetitions)
        .value("solves_per_timing", result.time_us.solves_per_timing)
        .end_object()
        .value("gbytes_per_s", result.gbytes_per_s)
        .value("share_of_copy", result.share_of_ceiling)
        .value("error", result.error)
        .value("wrong", result.wrong);
}

void write_record(JsonWriter& json, const StencilRecord& record, const std::string& backend) {
    json.begin_object();
    write_case(json, record.what, backend);
    json.value("threads", record.threads)
        .value("bytes", record.what.moved_bytes())
        .value("ceiling_gbytes_per_s", record.ceiling_gbytes_per_s)
        .value("same_size_copy_us", record.same_size_copy_us);
    write_result(json, record.ours);
    json.begin_object("rivals");
    if (record.naive) {
        json.begin_object("naive");
        write_result(json, *record.naive);
        json.end_object();
    }
    json.end_object().end_object();
}

} // namespace

std::string table_head(const StencilBench& bench) {
    const bool cpu = bench.backend == "cpu";
    std::string text = fmt::format("bandmill {}, {}: {}", bandmill::version(), bench.backend, bench.device);
    if (cpu) text += fmt::format(", ISA {}", bandmill::cpu_isa());
    if (cpu) text += busy_text(bench.load_average);
    text += "\nus       microseconds: median, and (max - min) / median"
            "\nGB/s     each element read once and written once, and the velocities read"
            "\nshare    of the speed of a copy (GPU: a large one; CPU: of this field)"
            "\ncopies   time over that of a copy of this field"
            "\nspeedup  of ours over the rival\n\n";
    text += fmt::format(case_columns, "stencil", "rows x columns", "dtype", "edges");
    return text + fmt::format(result_columns, "who", "us", "spread", "GB/s", "share", "copies", "speedup");
}

std::string table_lines(const StencilRecord& record) {
    std::string text = case_text(record.what) + result_text("bandmill", record, record.ours, "");
    if (record.naive)
        text += fmt::format(case_columns, "", "", "", "") +
                result_text("naive", record, *record.naive,
                            fmt::format("{:.2f}x", record.naive->time_us.median / record.ours.time_us.median));
    return text;
}

std::string table_line(const StencilSkipped& skipped) {
    return case_text(skipped.what) + fmt::format(" skipped: {}\n", skipped.reason);
}

std::string to_json(const StencilBench& bench) {
    JsonWriter json;
    json.begin_object();
    write_head(json, "stencil", bench);
    write_cases(json, bench, write_record, write_case);
    return json.end_object().text();
}

} // namespace app
