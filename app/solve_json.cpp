// The results of `bandmill bench solve` for programs. docs/performance.md is made from it.
#include "json_head.hpp"
#include "solve_report.hpp"

#include <limits>

namespace app {
namespace {

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
        .value("solves_per_timing", time.solves_per_timing)
        .end_object();
}

// What ours and each rival have in common.
void write_result(JsonWriter& json, const SolveCase& what, const Result& result) {
    json.value("path", result.path);
    write_time(json, result.time_us);
    json.value("gbytes_per_s", result.gbytes_per_s)
        .value("share_of_copy", result.share_of_ceiling)
        .value("gflops_per_s", 1e-3 * flops(what) / result.time_us.median)
        .value("backward_error", result.backward_error)
        .value("wrong", is_wrong(result))
        .value("held_bytes", result.held_bytes);
}

void write_rival(JsonWriter& json, const SolveCase& what, const RivalResult& rival) {
    json.begin_object(rival.name).value("layout", word_of(rival.layout, layout_words));
    if (const auto* result = std::get_if<Result>(&rival.outcome)) {
        json.value("in_place", true);
        write_result(json, what, *result);
    } else {
        json.value("skipped", std::get<std::string>(rival.outcome));
    }
    json.end_object();
}

void write_record(JsonWriter& json, const Record& record, const std::string& backend) {
    json.begin_object();
    write_case(json, record.what, backend);
    json.value("sigma", record.sigma)
        .value("in_place", record.placement == Placement::in_place)
        .value("cache_resident", record.cache_resident)
        .value("bytes", record.bytes)
        .value("flops", flops(record.what))
        .value("field_bytes", record.field_bytes)
        .value("ceiling_gbytes_per_s", record.ceiling_gbytes_per_s)
        .value("same_size_copy_us", record.same_size_copy_us);
    write_result(json, record.what, record.ours);
    json.begin_object("speedup");
    for (const RivalResult& rival : record.rivals)
        if (const auto* result = std::get_if<Result>(&rival.outcome)) json.value(rival.name, speedup(record, *result));
    json.end_object().begin_object("rivals");
    for (const RivalResult& rival : record.rivals) write_rival(json, record.what, rival);
    json.end_object().end_object();
}

void write_memory(JsonWriter& json, const MemorySurvey& survey) {
    json.begin_object("memory").value("free_bytes", survey.free_bytes).begin_array("entries");
    for (const auto& [what, contestant, outcome] : survey.entries) {
        json.begin_object()
            .value("half_bandwidth", what.half_bandwidth)
            .value("boundary", word_of(what.boundary, boundary_words))
            .value("n", what.n)
            .value("dtype", word_of(what.precision, precision_words))
            .value("batch", what.batch)
            .value("contestant", contestant)
            .value("layout", word_of(what.layout, layout_words));
        if (const auto* use = std::get_if<MemoryUse>(&outcome)) {
            json.value("bytes_per_system", use->bytes_per_system)
                .value("shared_bytes", use->shared_bytes)
                .value("bytes_held", use->bytes_held)
                .value("reduction_percent", use->reduction_percent.value_or(std::numeric_limits<double>::quiet_NaN()))
                .value("largest_batch", use->largest_batch)
                .value("largest_batch_limit", use->limit)
                .value("proved_by_allocation", use->proved);
        } else {
            json.value("skipped", std::get<std::string>(outcome));
        }
        json.end_object();
    }
    json.end_array().end_object();
}

} // namespace

std::string to_json(const SolveBench& bench) {
    JsonWriter json;
    json.begin_object();
    write_head(json, "solve", bench);
    json.value("threads", bench.threads);
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
    json.end_array();
    write_cases(json, bench, write_record, write_case);
    if (bench.memory) write_memory(json, *bench.memory);
    return json.end_object().text();
}

} // namespace app
