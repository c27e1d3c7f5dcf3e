// What every file of results begins with: where, when and by what it was measured.
#pragma once

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

} // namespace app
