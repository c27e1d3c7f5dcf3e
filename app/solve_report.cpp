#include "solve_report.hpp"

#include "environment.hpp"
#include "json.hpp"

#include "bandmill/cpu/isa.hpp"
#include "bandmill/version.hpp"

#include <fmt/format.h>

namespace app {
namespace {

constexpr const char* case_columns = "{:>2} {:<8} {:<8} {:>7} {:>8} {:<11} {:<5}";

std::string case_text(const SolveCase& what) {
    return fmt::format(case_columns, what.half_bandwidth, word_of(what.boundary, boundary_words),
                       word_of(what.matrix, matrix_words), what.n, what.batch, word_of(what.layout, layout_words),
                       word_of(what.precision, precision_words));
}

void write_case(JsonWriter& json, const SolveCase& what, const std::string& backend) {
    json.value("half_bandwidth", what.half_bandwidth)
        .value("boundary", word_of(what.boundary, boundary_words))
        .value("matrix", word_of(what.matrix, matrix_words))
        .value("n", what.n)
        .value("batch", what.batch)
        .value("layout", word_of(what.layout, layout_words));
    if (what.layout == Layout::tiled) json.value("tile", tile_width);
    json.value("dtype", word_of(what.precision, precision_words)).value("backend", backend);
}

void write_time(JsonWriter& json, const Timing& time) {
    json.begin_object("time_us")
        .value("median", time.median)
        .value("min", time.min)
        .value("max", time.max)
        .value("repetitions", time.repetitions)
        .end_object();
}

// What ours and each rival have in common.
void write_result(JsonWriter& json, const Result& result) {
    json.value("path", result.path);
    write_time(json, result.time_us);
    json.value("gbytes_per_s", result.gbytes_per_s)
        .value("share_of_copy", result.share_of_ceiling)
        .value("backward_error", result.backward_error)
        .value("factor_bytes", result.held_bytes);
}

void write_record(JsonWriter& json, const Record& record, const std::string& backend) {
    const Result& ours = record.results.front();
    json.begin_object();
    write_case(json, record.what, backend);
    json.value("sigma", record.sigma)
        .value("in_place", record.placement == Placement::in_place)
        .value("cache_resident", record.cache_resident)
        .value("bytes", record.bytes)
        .value("field_bytes", record.field_bytes)
        .value("ceiling_gbytes_per_s", record.ceiling_gbytes_per_s);
    write_result(json, ours);
    json.begin_object("rivals");
    for (std::size_t i = 1; i < record.results.size(); ++i) {
        const Result& rival = record.results[i];
        json.begin_object(rival.contestant);
        write_result(json, rival);
        json.value("speedup", rival.time_us.median / ours.time_us.median).end_object();
    }
    json.end_object().end_object();
}

} // namespace

std::string describe(const SolveCase& what) {
    return fmt::format("W={} {} {} n={} batch={} {} {}", what.half_bandwidth, word_of(what.boundary, boundary_words),
                       word_of(what.matrix, matrix_words), what.n, what.batch, word_of(what.layout, layout_words),
                       word_of(what.precision, precision_words));
}

std::string table_head(const SolveBench& bench, const Ceiling* ceiling, Placement placement) {
    const bool cpu = bench.backend == "cpu";
    std::string text = fmt::format("bandmill {}, {}: {}", bandmill::version(), bench.backend, bench.device);
    if (cpu) text += fmt::format(", ISA {}, {} threads", bandmill::cpu_isa(), bench.threads);
    if (cpu && bench.load_average > 0.5)
        text +=
            fmt::format("\nbusy     other programs were running (load average {:.1f}): these times will be too long",
                        bench.load_average);
    if (ceiling)
        text += fmt::format("\nceiling  {:.1f} GB/s read + written: {} of {}{}", ceiling->gbytes_per_s,
                            ceiling->operation, readable_bytes(static_cast<double>(ceiling->array_bytes)),
                            cpu ? "; other sizes are compared with a scale of their own size" : "");
    text +=
        fmt::format("\ntime     microseconds of one solve of the whole batch, {}: median, and (max - min) / median"
                    "\nGB/s     each unknown read once and written once: 16 bytes in f64, 8 in f32"
                    "\nshare    of the ceiling; * = all data in the cache, so it may pass 1 or be launch-bound"
                    "\nerror    largest row-wise backward error of sampled systems, in epsilons of the precision\n\n",
                    placement == Placement::in_place ? "in place" : "out of place");
    text += fmt::format(case_columns, "W", "boundary", "matrix", "n", "batch", "layout", "dtype");
    return text + fmt::format(" {:<17} {:>11} {:>7} {:>8} {:>7} {:>7}\n", "path", "time us", "spread", "GB/s", "share",
                              "error");
}

// A preempted repetition can take a thousand times longer; more digits would only break the columns.
std::string spread_text(const Timing& time) {
    const double spread = 100 * (time.max - time.min) / time.median;
    return spread < 1000 ? fmt::format("{:.1f}%", spread) : ">999%";
}

std::string table_line(const Record& record) {
    std::string text;
    for (const Result& result : record.results) {
        const Timing& time = result.time_us;
        const bool ours = &result == &record.results.front();
        text += case_text(record.what) + fmt::format(" {:<17} {:>11.1f} {:>7} {:>8.1f} {:>6.2f}{} {:>7.2g}{}\n",
                                                     ours ? result.path : result.contestant, time.median,
                                                     spread_text(time), result.gbytes_per_s, result.share_of_ceiling,
                                                     record.cache_resident ? '*' : ' ', result.backward_error,
                                                     result.backward_error <= wrong_beyond ? "" : " WRONG");
    }
    return text;
}

std::string table_line(const Skipped& skipped) {
    return case_text(skipped.what) + fmt::format(" skipped: {}\n", skipped.reason);
}

std::string to_json(const SolveBench& bench) {
    JsonWriter json;
    json.begin_object()
        .value("benchmark", "solve")
        .value("device", bench.device)
        .value("backend", bench.backend)
        .value("threads", bench.threads)
        .value("isa", bandmill::cpu_isa())
        .value("load_average", bench.load_average)
        .value("date", bench.date)
        .value("commit", commit())
        .value("version", bandmill::version())
        .value("compiler", compiler())
        .value("build_type", build_type());
    json.begin_array("ceilings");
    for (const Ceiling& ceiling : bench.ceilings) {
        json.begin_object()
            .value("operation", ceiling.operation)
            .value("array_bytes", ceiling.array_bytes)
            .value("cache_resident", ceiling.cache_resident)
            .value("gbytes_per_s", ceiling.gbytes_per_s);
        write_time(json, ceiling.time_us);
        json.end_object();
    }
    json.end_array().begin_array("records");
    for (const Record& record : bench.records) write_record(json, record, bench.backend);
    json.end_array().begin_array("skipped");
    for (const Skipped& skipped : bench.skipped) {
        json.begin_object();
        write_case(json, skipped.what, bench.backend);
        json.value("reason", skipped.reason).end_object();
    }
    return json.end_array().end_object().text();
}

} // namespace app
