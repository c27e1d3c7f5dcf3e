// What `bandmill bench plane` measures: steps of planes, beside a copy of memory and the usual way in two dimensions.
#pragma once

#include "equation_kind.hpp"
#include "rival_names.hpp"
#include "step_timing.hpp"

#include "bandmill/ensemble/ensemble.hpp"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace app {

struct PlaneCase {
    EquationKind equation = EquationKind::cahn_hilliard;
    std::int64_t nx, ny, members;
    Precision precision = Precision::f64;
    int threads = 0; // 0 on a GPU

    int element_bytes() const { return precision == Precision::f64 ? 8 : 4; }
    double points() const { return static_cast<double>(nx) * static_cast<double>(ny) * static_cast<double>(members); }
    double state_bytes() const { return points() * element_bytes(); }
};
// What the bar of a step is counted with: six numbers per point. Ours moves seven (C and the right-hand side once, that
// side again along x, and along y with C), or five where the second of these stays in the cache.
inline constexpr int counted_numbers = 6;

struct PlaneResult {
    std::string path;
    StepTiming time_us;
    double gpoint_steps_per_s;
    double share_of_ceiling; // counted bytes per second over the ceiling's
};
struct PlaneRivalResult {
    PlaneResult result;
    double difference; // largest in C from ours after a few steps from the same states
    bool wrong;
};
struct PlaneRecord {
    PlaneCase what;
    double spacing, time_step;
    double ceiling_gbytes_per_s;
    PlaneResult ours;
    std::int64_t lost; // members that were not finite in the end
    std::map<std::string, std::variant<PlaneRivalResult, std::string>> rivals; // or why there is no result

    bool wrong() const { return lost > 0; }
    std::optional<double> speedup(const std::string& rival) const;
};
struct PlaneSkipped {
    PlaneCase what;
    std::string reason;
};
struct PlaneBench {
    std::string backend, device, date;
    double load_average; // before the first case
    const char* ceiling;
    std::vector<PlaneRecord> records;
    std::vector<PlaneSkipped> skipped;
};

inline constexpr RivalName plane_rival_names[] = {
    {"paper", "a kernel for the right-hand sides, the paper's periodic solver, a transposition before and after the "
              "second solve"}};

std::string describe(const PlaneCase& what);
std::string table_head(const PlaneBench& bench);
std::string table_lines(const PlaneRecord& record); // ours, then its rivals
std::string table_line(const PlaneSkipped& skipped);
std::string to_json(const PlaneBench& bench);

} // namespace app
