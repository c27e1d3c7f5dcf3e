// The results of `bandmill bench step` for programs. docs/performance.md is made from it.
#include "json_head.hpp"
#include "step_report.hpp"

namespace app {
namespace {

void write_case(JsonWriter& json, const StepCase& what, const std::string& backend) {
    json.value("equation", word_of(what.equation, equation_words))
        .value("n", what.n)
        .value("members", what.members)
        .value("dtype", word_of(what.precision, precision_words))
        .value("backend", backend)
        .value("threads", what.threads)
        .value("statistics", word_of(what.statistics, statistics_words))
        .value("shape", word_of(what.shape, shape_words));
}

// What ours and each rival have in common. The time is that of all the steps.
void write_result(JsonWriter& json, const StepResult& result) {
    json.value("path", result.path)
        .value("steps", result.time_us.steps)
        .begin_object("time_us")
        .value("median", result.time_us.median)
        .value("min", result.time_us.min)
        .value("max", result.time_us.max)
        .value("repetitions", result.time_us.repetitions)
        .end_object()
        .value("gpoint_steps_per_s", result.gpoint_steps_per_s);
}

void write_rival(JsonWriter& json, const std::string& name, const std::variant<StepRivalResult, std::string>& outcome) {
    json.begin_object(name);
    if (const auto* rival = std::get_if<StepRivalResult>(&outcome)) {
        write_result(json, rival->result);
        json.value("difference", rival->difference).value("wrong", rival->wrong);
    } else {
        json.value("skipped", std::get<std::string>(outcome));
    }
    json.end_object();
}

void write_record(JsonWriter& json, const StepRecord& record, const std::string& backend) {
    json.begin_object();
    write_case(json, record.what, backend);
    json.value("length", record.length)
        .value("time_step", record.time_step)
        .value("state_bytes", static_cast<std::int64_t>(record.what.state_bytes()))
        .value("members_per_slice", record.members_per_slice);
    write_result(json, record.ours);
    json.value("lost_members", record.lost).value("largest", record.largest).value("wrong", record.wrong());
    json.begin_object("speedup");
    for (const auto& [name, outcome] : record.rivals)
        if (const auto speedup = record.speedup(name)) json.value(name, *speedup);
    json.end_object().begin_object("rivals");
    for (const auto& [name, outcome] : record.rivals) write_rival(json, name, outcome);
    json.end_object().end_object();
}

} // namespace

std::string to_json(const StepBench& bench) {
    JsonWriter json;
    json.begin_object();
    write_head(json, "step", bench);
    write_cases(json, bench, write_record, write_case);
    return json.end_object().text();
}

} // namespace app
