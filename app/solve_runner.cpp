#include "solve_runner.hpp"

#include "contestant.hpp"
#include "environment.hpp"
#include "fields.hpp"
#include "place_cuda.hpp"
#include "place_host.hpp"
#include "survey_memory.hpp"

#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::BandMatrix;
using bandmill::Cuda;
using bandmill::Host;

// What a rival's result depends on: everything but our layout.
using RivalKey = std::tuple<int, bandmill::Boundary, MatrixKind, std::int64_t, std::int64_t, Precision, RivalScope>;

RivalKey rival_key(const SolveCase& what) {
    return {what.half_bandwidth, what.boundary, what.matrix, what.n, what.batch, what.precision, what.rivals};
}

double moved_bytes(const SolveCase& what) {
    return 2.0 * static_cast<double>(what.element_bytes()) * static_cast<double>(what.n) *
           static_cast<double>(what.batch);
}

template <class Space> class Runner : public SolveRunner {
  public:
    Runner(const RunOptions& options, Place<Space> place) : options_(options), place_(std::move(place)) {
        for (Rival<Space>& rival : make_rivals(place_))
            if (std::find(options.rivals.begin(), options.rivals.end(), rival.name) != options.rivals.end())
                rivals_.push_back(std::move(rival));
    }

    std::string device_name() const override { return place_.name(); }
    int threads() const override { return place_.threads(); }
    const std::vector<Ceiling>& ceilings() const override { return ceilings_; }
    MemorySurvey survey_memory() const override { return MemorySurveyor<Space>(place_, rivals_).run(); }

    const Ceiling& ceiling(std::size_t field_bytes) override {
        const std::size_t bytes = place_.ceiling_bytes(field_bytes);
        for (const Ceiling& known : ceilings_)
            if (known.array_bytes == bytes) return known;
        ceilings_.push_back(measure_ceiling(bytes));
        return ceilings_.back();
    }

    std::optional<std::string> obstacle(const SolveCase& what) const override {
        const auto elements = what.elements();
        if (!elements) return "more elements than 64-bit addressing allows";
        const double needed = static_cast<double>(arrays(options_.placement)) * static_cast<double>(*elements) *
                              static_cast<double>(what.element_bytes());
        if (const auto reason = beyond_memory(needed)) return reason;
        // The host factors in long double with tables of its own: less than 1 KiB per row.
        const double tables = 1024.0 * static_cast<double>(what.n);
        if (tables > static_cast<double>(available_memory()) - (std::is_same_v<Space, Host> ? needed : 0))
            return fmt::format("factoring may need {} of host memory", readable_bytes(tables));
        return std::nullopt;
    }

    std::variant<Record, Skipped> run(const SolveCase& what) override {
        if (const auto reason = obstacle(what)) return Skipped{what, *reason};
        return what.precision == Precision::f64 ? run_in<double>(what) : run_in<float>(what);
    }

  private:
    Ceiling measure_ceiling(std::size_t bytes) {
        place_.prepare_ceiling(bytes);
        const Timing time = measure(
            place_, Patience{0, 2, 7}, [](int count) { return count; }, [](int, int) {},
            [this](int number) { place_.run_ceiling(number); });
        place_.end_ceiling();
        return {place_.ceiling_operation(), bytes, fits_cache(bytes, place_.cache()), time,
                2e-3 * static_cast<double>(bytes) / time.median};
    }
    // The memory of a CPU is often shared with others, and its speed drifts: there the ceiling is measured again beside
    // each case.
    double ceiling_now(std::size_t field_bytes) {
        if (std::is_same_v<Space, Cuda>) return ceiling(field_bytes).gbytes_per_s;
        return measure_ceiling(place_.ceiling_bytes(field_bytes)).gbytes_per_s;
    }

    int arrays(Placement placement) const { return placement == Placement::in_place ? place_.fields_in_place : 2; }

    std::optional<std::string> beyond_memory(double needed) const {
        if (needed > static_cast<double>(options_.max_bytes))
            return fmt::format("needs {}, over --max-bytes", readable_bytes(needed));
        const double free = static_cast<double>(place_.free_bytes());
        // Some room is left for the factor, for other programs, and on the CPU for the system.
        if (needed > 0.9 * free)
            return fmt::format("needs {}, and {} are free", readable_bytes(needed), readable_bytes(free));
        return std::nullopt;
    }

    template <class T> Record run_in(const SolveCase& what) {
        const double sigma = options_.sigma.value_or(default_sigma(what.half_bandwidth));
        const BandMatrix matrix = make_matrix(what, sigma);
        const std::size_t field_bytes = static_cast<std::size_t>(*what.elements()) * sizeof(T);
        const std::size_t footprint = field_bytes * static_cast<std::size_t>(arrays(options_.placement));
        Bandmill<T, Space> contestant(place_, matrix, what.batch);
        const double before = ceiling_now(field_bytes);
        Result ours = contest<T>(contestant, what, options_.placement, {options_.repetitions, 2, 7}, matrix);
        const double ceiling_speed = (before + ceiling_now(field_bytes)) / 2;
        ours.share_of_ceiling = ours.gbytes_per_s / ceiling_speed;
        return {what,          options_.placement,
                sigma,         static_cast<std::size_t>(moved_bytes(what)),
                field_bytes,   fits_cache(footprint, place_.cache()),
                ceiling_speed, same_size_copy_us<T>(what),
                ours,          rival_results<T>(what, matrix)};
    }

    template <class T> double same_size_copy_us(const SolveCase& what) {
        if (std::is_same_v<Space, Host> || options_.placement == Placement::in_place)
            return std::numeric_limits<double>::quiet_NaN();
        const std::size_t field_bytes = static_cast<std::size_t>(*what.elements()) * sizeof(T);
        const auto [entry, is_new] = known_copies_.try_emplace(field_bytes);
        if (is_new) {
            const std::size_t room = std::min(options_.max_bytes, place_.free_bytes() / 2);
            Fields<T, Space> fields(place_, what, Placement::out_of_place,
                                    turns(2 * field_bytes, place_.cache(), room));
            entry->second = measure(
                                place_, Patience{0, 2, 7}, [](int count) { return count; }, [](int, int) {},
                                [&](int number) { fields.copy(number); })
                                .median;
        }
        return entry->second;
    }

    // The time, error and memory of one contestant, in arrays of its own.
    template <class T>
    Result contest(Contestant<T, Space>& contestant, const SolveCase& what, Placement placement,
                   const Patience& patience, const BandMatrix& matrix) {
        const std::size_t field_bytes = static_cast<std::size_t>(*what.elements()) * sizeof(T);
        const std::size_t footprint = field_bytes * static_cast<std::size_t>(arrays(placement));
        const double ceiling_speed = ceiling(field_bytes).gbytes_per_s;
        const auto room = [&] { return std::min(options_.max_bytes, place_.free_bytes() / 2); };
        Fields<T, Space> fields(place_, what, placement, turns(footprint, place_.cache(), room()));
        const auto ready = [&](int first, int count) {
            fields.refresh(first, count);
            contestant.restore();
        };
        const auto solve = [&](int number) { contestant.solve(fields.b(number), fields.x(number)); };
        // The first solve is checked, and the last one too where it must be as right.
        ready(0, 1);
        solve(0);
        double error = fields.backward_error_of_sample(matrix);
        const Timing time = measure(
            place_, patience, [&](int count) { return fields.reserve(count, room()); }, ready, solve);
        if (!contestant.needs_restore()) error = std::max(error, fields.backward_error_of_sample(matrix));
        const double speed = 1e-3 * moved_bytes(what) / time.median;
        return {contestant.path(), time, speed, speed / ceiling_speed, error, contestant.held_bytes()};
    }

    template <class T> const std::vector<RivalResult>& rival_results(const SolveCase& what, const BandMatrix& matrix) {
        const auto [entry, is_new] = known_rivals_.try_emplace(rival_key(what));
        if (is_new)
            for (const Rival<Space>& rival : rivals_)
                entry->second.push_back({rival.name, rival.layout, rival_result<T>(rival, what, matrix)});
        return entry->second;
    }

    template <class T>
    std::variant<Result, std::string> rival_result(const Rival<Space>& rival, SolveCase what,
                                                   const BandMatrix& matrix) {
        if (const auto reason = rival.obstacle(what)) return *reason;
        if (what.rivals == RivalScope::none || (what.rivals == RivalScope::paper && rival.name != "paper"))
            return "left out of the standard set at this batch, for time";
        if (what.n > rival.most_elements / what.batch)
            return fmt::format("more than {} elements, beyond which its indices may overflow", rival.most_elements);
        what.layout = rival.layout;
        try {
            const double needed = static_cast<double>(arrays(Placement::in_place)) * moved_bytes(what) / 2 +
                                  static_cast<double>(rival.holding(what).total());
            if (const auto reason = beyond_memory(needed)) return *reason;
            const auto contestant = rival.template make<T>(what, matrix);
            return contest<T>(*contestant, what, Placement::in_place, {options_.repetitions, 1, 3}, matrix);
        } catch (const bandmill::Error& error) { // ours was measured, and is worth keeping
            return fmt::format("failed: {}", error.what());
        }
    }

    RunOptions options_;
    Place<Space> place_;
    std::vector<Rival<Space>> rivals_; // those asked for
    std::map<RivalKey, std::vector<RivalResult>> known_rivals_;
    std::map<std::size_t, double> known_copies_; // microseconds, by size
    std::vector<Ceiling> ceilings_;
};

} // namespace

std::unique_ptr<SolveRunner> make_runner(const RunOptions& options) {
    if (options.backend == Backend::cuda) return std::make_unique<Runner<Cuda>>(options, Place<Cuda>(options.device));
    return std::make_unique<Runner<Host>>(options, Place<Host>(options.threads));
}

} // namespace app
