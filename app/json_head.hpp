// What every file of results begins with: where, when and by what it was measured.
#pragma once

#include "choices.hpp"
#include "environment.hpp"
#include "json.hpp"

#include "bandmill/cpu/isa.hpp"
#include "bandmill/version.hpp"

namespace app {

template <class Bench> void write_head(JsonWriter& json, const char* benchmark, const Bench& bench) {
    json.value("benchmark", benchmark)
        .value("device", bench.device)
        .value("backend", bench.backend)
        .value("isa", bandmill::cpu_isa())
        .value("load_average", bench.load_average)
        .value("date", bench.date)
        .value("commit", commit())
        .value("version", bandmill::version())
        .value("compiler", compiler())
        .value("build_type", build_type());
}

// Of a study's summary.
template <class Machine>
void write_study_head(JsonWriter& json, const char* study, const std::string& file, const Machine& machine) {
    json.value("study", study)
        .value("file", file)
        .value("version", bandmill::version())
        .value("commit", commit())
        .value("backend", word_of(machine.backend, backend_words))
        .value("device", machine.device)
        .value("date", utc_now());
}

// "records" and "skipped": what was measured, and what was not and why. The writers put the fields of one into the
// JSON.
template <class Bench, class WriteRecord, class WriteCase>
void write_cases(JsonWriter& json, const Bench& bench, const WriteRecord& write_record, const WriteCase& write_case) {
    json.begin_array("records");
    for (const auto& record : bench.records) write_record(json, record, bench.backend);
    json.end_array().begin_array("skipped");
    for (const auto& skipped : bench.skipped) {
        json.begin_object();
        write_case(json, skipped.what, bench.backend);
        json.value("reason", skipped.reason).end_object();
    }
    json.end_array();
}

} // namespace app
