// The results of `bandmill bench diffusion` and `hyperdiffusion` for programs. docs/performance.md is made from it.
#include "json_head.hpp"
#include "paper_report.hpp"

namespace app {
namespace {

void write_case(JsonWriter& json, const StepCase& what, const std::string& backend) {
    json.value("equation", word_of(what.equation, equation_words))
        .value("n", what.n)
        .value("members", what.members)
        .value("dtype", word_of(what.precision, precision_words))
        .value("backend", backend)
        .value("threads", what.threads)
        .value("shape", word_of(what.shape, shape_words));
}

void write_result(JsonWriter& json, const std::string& name, const PaperResult& result, std::int64_t steps) {
    const PaperTiming& time = result.time_ms;
    json.begin_object(name)
        .value("path", result.path)
        .begin_object("time_ms")
        .value("median", time.median)
        .value("min", time.min)
        .value("max", time.max)
        .value("repetitions", time.repetitions)
        .end_object()
        .value("timed_steps", time.timed_steps)
        .value("scaled", time.timed_steps < steps)
        .value("held_bytes", static_cast<std::int64_t>(result.held_bytes))
        .value("difference", result.difference)
        .value("wrong", result.wrong)
        .end_object();
}

void write_speedups(JsonWriter& json, const PaperRecord& record, const std::string& way) {
    json.begin_object(way);
    for (const auto& [name, outcome] : record.rivals)
        if (name != way)
            if (const auto speedup = record.speedup(way, name)) json.value(name, *speedup);
    json.end_object();
}

void write_record(JsonWriter& json, const PaperRecord& record, const std::string& backend) {
    json.begin_object();
    write_case(json, record.what, backend);
    json.value("length", record.length)
        .value("time_step", record.time_step)
        .value("sigma", record.sigma)
        .value("steps", record.steps)
        .value("state_bytes", static_cast<std::int64_t>(record.what.state_bytes()))
        .value("members_per_slice", record.members_per_slice)
        .begin_object("ways");
    write_result(json, "resident", record.ours, record.steps);
    for (const auto& [name, outcome] : record.rivals) {
        if (const auto* result = std::get_if<PaperResult>(&outcome))
            write_result(json, name, *result, record.steps);
        else
            json.begin_object(name).value("skipped", std::get<std::string>(outcome)).end_object();
    }
    json.end_object().begin_object("speedup");
    write_speedups(json, record, "resident");
    for (const auto& [name, outcome] : record.rivals) write_speedups(json, record, name);
    json.end_object().end_object();
}

} // namespace

std::string to_json(const PaperBench& bench) {
    JsonWriter json;
    json.begin_object();
    write_head(json, word_of(bench.equation, equation_words), bench);
    json.value("threads", bench.threads).value("steps", bench.steps);
    write_cases(json, bench, write_record, write_case);
    return json.end_object().text();
}

} // namespace app
