#include "own_report.hpp"

#include "json_head.hpp"
#include "solve_report.hpp"

#include <fmt/format.h>

namespace app {
namespace {

constexpr const char* case_columns = "{:>2} {:<8} {:>7} {:>8} {:<11} {:<5}";
constexpr const char* result_columns = " {:<26} {:>10} {:>7} {:>6} {:>6} {:>6} {:>7}\n";

std::string case_text(const OwnCase& what) {
    return fmt::format(case_columns, what.half_bandwidth, word_of(what.boundary, boundary_words), what.n, what.batch,
                       word_of(what.layout, layout_words), word_of(what.precision, precision_words));
}

std::string result_text(const std::string& name, const Result& result, bool cache_resident, const std::string& ratio,
                        const std::string& with_y = "") {
    return fmt::format(result_columns, name, fmt::format("{:.1f}", result.time_us.median),
                       fmt::format("{:.1f}", result.gbytes_per_s),
                       fmt::format("{:.2f}{}", result.share_of_ceiling, cache_resident ? '*' : ' '), with_y,
                       is_wrong(result) ? "WRONG" : fmt::format("{:.2g}", result.backward_error), ratio);
}

double share_with_y(const OwnRecord& record) {
    const double bytes = static_cast<double>(record.solve_bytes);
    return record.solve.share_of_ceiling * (bytes + static_cast<double>(record.spilled_bytes)) / bytes;
}

double speedup(const OwnRecord& record, const Result& rival) {
    return rival.time_us.median / record.combined.time_us.median;
}

std::string tuning_text(const OwnCase& what) {
    return what.blocks + what.chunks == 0 ? "" : fmt::format(" {}x{}", what.blocks, what.chunks);
}

void write_case(JsonWriter& json, const OwnCase& what, const std::string& backend) {
    json.value("half_bandwidth", what.half_bandwidth)
        .value("boundary", word_of(what.boundary, boundary_words))
        .value("n", what.n)
        .value("batch", what.batch)
        .value("layout", word_of(what.layout, layout_words))
        .value("dtype", word_of(what.precision, precision_words))
        .value("backend", backend)
        .value("blocks", what.blocks)
        .value("chunks", what.chunks);
}

void write_result(JsonWriter& json, const char* key, const Result& result, std::size_t bytes) {
    json.begin_object(key)
        .value("path", result.path)
        .value("bytes", bytes)
        .begin_object("time_us")
        .value("median", result.time_us.median)
        .value("min", result.time_us.min)
        .value("max", result.time_us.max)
        .value("repetitions", result.time_us.repetitions)
        .value("solves_per_timing", result.time_us.solves_per_timing)
        .end_object()
        .value("gbytes_per_s", result.gbytes_per_s)
        .value("share_of_copy", result.share_of_ceiling)
        .value("backward_error", result.backward_error)
        .value("wrong", is_wrong(result))
        .value("held_bytes", result.held_bytes)
        .end_object();
}

void write_record(JsonWriter& json, const OwnRecord& record, const std::string& backend) {
    json.begin_object();
    write_case(json, record.what, backend);
    json.value("sigma", record.sigma)
        .value("cache_resident", record.cache_resident)
        .value("ceiling_gbytes_per_s", record.ceiling_gbytes_per_s);
    write_result(json, "factor_and_solve", record.combined, record.combined_bytes);
    write_result(json, "solve", record.solve, record.solve_bytes);
    json.value("spilled_bytes", record.spilled_bytes).value("solve_share_with_y", share_with_y(record));
    json.begin_object("speedup");
    for (const RivalResult& rival : record.rivals)
        if (const auto* result = std::get_if<Result>(&rival.outcome)) json.value(rival.name, speedup(record, *result));
    json.end_object().begin_object("rivals");
    for (const RivalResult& rival : record.rivals) {
        if (const auto* result = std::get_if<Result>(&rival.outcome))
            write_result(json, rival.name.c_str(), *result, record.combined_bytes);
        else
            json.begin_object(rival.name).value("skipped", std::get<std::string>(rival.outcome)).end_object();
    }
    json.end_object().end_object();
}

} // namespace

std::string describe(const OwnCase& what) {
    return fmt::format("W={} {} n={} batch={} {} {}{}", what.half_bandwidth, word_of(what.boundary, boundary_words),
                       what.n, what.batch, word_of(what.layout, layout_words), word_of(what.precision, precision_words),
                       tuning_text(what));
}

std::string table_head(const OwnBench& bench) {
    std::string text = fmt::format("bandmill {}, {}: {}", bandmill::version(), bench.backend, bench.device);
    if (bench.backend == "cpu") text += fmt::format(", ISA {}, {} threads", bandmill::cpu_isa(), bench.threads);
    if (bench.backend == "cpu") text += busy_text(bench.load_average);
    text += fmt::format("\na matrix for every system; time in microseconds for the whole batch"
                        "\nshare    of {}, for what has to be moved: diagonals (or factor), right-hand side, solution"
                        "\n         * = all data in the cache",
                        bench.backend == "cuda" ? "a copy" : "an in-place scale");
    if (bench.backend == "cuda")
        text += "\nwith y   the same with y's way to memory and back between the sweeps, for the rows that all of"
                "\n         a multiprocessor's shared memory could not keep";
    text += "\nspeedup  of our factor and solve over the rival, which does the same\n\n";
    text += fmt::format(case_columns, "W", "boundary", "n", "batch", "layout", "dtype");
    return text + fmt::format(result_columns, "way or rival", "time us", "GB/s", "share ",
                              bench.backend == "cuda" ? "with y" : "", "error", "speedup");
}

std::string table_lines(const OwnRecord& record) {
    const std::string blank(case_text(record.what).size(), ' ');
    std::string text = case_text(record.what) + result_text(record.combined.path + tuning_text(record.what),
                                                            record.combined, record.cache_resident, "");
    text += blank + result_text(record.solve.path, record.solve, record.cache_resident, "",
                                record.spilled_bytes > 0 ? fmt::format("{:.2f}", share_with_y(record)) : "");
    for (const RivalResult& rival : record.rivals)
        if (const auto* result = std::get_if<Result>(&rival.outcome))
            text += blank + result_text(rival.name, *result, record.cache_resident,
                                        fmt::format("{:.2f}x", speedup(record, *result)));
    return text;
}

std::string table_line(const OwnSkipped& skipped) {
    return case_text(skipped.what) + fmt::format(" skipped: {}\n", skipped.reason);
}

std::string to_json(const OwnBench& bench) {
    JsonWriter json;
    json.begin_object();
    write_head(json, "own", bench);
    json.value("threads", bench.threads)
        .value("ceiling", bench.backend == "cuda" ? "device-to-device copy" : "in-place scale");
    write_cases(json, bench, write_record, write_case);
    return json.end_object().text();
}

} // namespace app
