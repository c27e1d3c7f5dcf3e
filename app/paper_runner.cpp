#include "paper_runner.hpp"

#include "paper_case.hpp"
#include "place_cuda.hpp"
#include "place_host.hpp"
#include "step_ways.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::Cuda;
using bandmill::Ensemble;
using bandmill::Host;

constexpr std::int64_t warm_up = 10; // steps, twice: pages, caches, lazily loaded kernels; then a first guess

// advance(steps) returns when they are done; check(steps) is called after the first repetition with all that were
// taken.
template <class Advance, class Check>
PaperTiming time_steps(const PaperOptions& options, Advance&& advance, Check&& check) {
    const auto seconds = [&](std::int64_t steps) {
        using Clock = std::chrono::steady_clock;
        const auto start = Clock::now();
        advance(steps);
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    const std::int64_t few = std::min(warm_up, options.steps), all = options.steps;
    advance(few);
    const double guess = seconds(few) / static_cast<double>(few) * static_cast<double>(all);
    std::int64_t timed = 0;
    double spent = 0;
    // At once if they seem to be in time; else piece by piece, and so all of them where the guess was bad.
    while (timed < all && (timed == 0 || spent < options.most_seconds)) {
        const std::int64_t piece = guess <= options.most_seconds ? all : std::max<std::int64_t>(1, all / 20);
        spent += seconds(std::min(piece, all - timed));
        timed += std::min(piece, all - timed);
    }
    check(2 * few + timed);
    const double to_ms = 1e3 * static_cast<double>(all) / static_cast<double>(timed);
    const int most = options.repetitions > 0 ? options.repetitions : 5;
    std::vector<double> times = {to_ms * spent};
    while (static_cast<int>(times.size()) < most && (options.repetitions > 0 || spent < 0.3)) {
        const double once = seconds(timed);
        spent += once;
        times.push_back(to_ms * once);
    }
    std::sort(times.begin(), times.end());
    const std::size_t half = times.size() / 2;
    const double median = times.size() % 2 ? times[half] : (times[half - 1] + times[half]) / 2;
    return {median, times.front(), times.back(), static_cast<int>(times.size()), timed};
}

// Relative to the largest of the reference; NaN stays.
double difference(std::span<const double> states, std::span<const double> reference) {
    double largest = 0, scale = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
        const double here = std::abs(states[i] - reference[i]);
        if (!(here <= largest)) largest = here;
        if (std::isnan(largest)) break;
        scale = std::max(scale, std::abs(reference[i]));
    }
    return largest / scale;
}

// The larger one, or the one that is not a number.
double worse(double a, double b) { return std::isnan(a) || a > b ? a : b; }

// A small ensemble, whose members run as they do in a large one: what all ways are compared with.
class Reference {
  public:
    Reference(const StepCase& what, const PaperOptions& options) : options_(options), few_(what) {
        // Not a multiple of a warp or a vector: neighbours differ wherever they come from the start again.
        few_.members = std::min<std::int64_t>(what.members, 61);
    }
    std::int64_t members() const { return few_.members; }
    // The states of so many members from number `first` on after `steps` steps.
    const std::vector<double>& states(std::int64_t first, std::int64_t steps) {
        const auto [entry, is_new] = known_.try_emplace({first, steps});
        if (is_new) {
            auto ensemble = make(few_, first);
            ensemble.advance(steps);
            entry->second = ensemble.states();
        }
        return entry->second;
    }
    Ensemble<double> make(const StepCase& what, std::int64_t first) const {
        bandmill::EnsembleSpec spec = paper_spec(what);
        spec.first_member = first;
        const bandmill::UniformNoise noise{0.1};
        if (options_.backend == Backend::cuda) return Ensemble<double>(spec, noise, options_.device);
        return Ensemble<double>(spec, noise, bandmill::Threads{options_.threads});
    }

  private:
    const PaperOptions& options_;
    StepCase few_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> known_;
};

template <class Space> class Runner : public PaperRunner {
  public:
    Runner(const PaperOptions& options, Place<Space> place) : options_(options), place_(std::move(place)) {
        for (StepWay& way : make_ways(place_))
            if (std::find(options.rivals.begin(), options.rivals.end(), way.name) != options.rivals.end())
                ways_.push_back(std::move(way));
    }
    std::string device_name() const override { return place_.name(); }

    std::variant<PaperRecord, PaperSkipped> run(const StepCase& what) override {
        if (const auto reason = host_obstacle(what)) return PaperSkipped{what, *reason};
        const bandmill::EnsembleSpec spec = paper_spec(what);
        const PaperScheme scheme = paper_scheme(what, spec);
        Reference reference(what, options_);
        PaperRecord record{what, spec.grid.length(), spec.time_step, scheme.factor, options_.steps, 0, {}, {}};
        run_ensemble(record, reference);
        for (const StepWay& way : ways_) record.rivals.emplace_back(way.name, run_way(way, record, scheme, reference));
        return record;
    }

  private:
    void run_ensemble(PaperRecord& record, Reference& reference) {
        const StepCase& what = record.what;
        Ensemble<double> ensemble = reference.make(what, 0);
        const std::int64_t count = reference.members(), last = what.members - count;
        PaperResult& ours = record.ours;
        ours.time_ms = time_steps(
            options_, [&](std::int64_t steps) { ensemble.advance(steps); },
            [&](std::int64_t steps) {
                const std::vector<double> states = ensemble.states();
                const auto of = [&](std::int64_t first) {
                    return std::span(states).subspan(static_cast<std::size_t>(first * what.n),
                                                     static_cast<std::size_t>(count * what.n));
                };
                ours.difference = worse(difference(of(0), reference.states(0, steps)),
                                        difference(of(last), reference.states(last, steps)));
            });
        ours.wrong = !(ours.difference <= tolerance(record));
        ours.path = ensemble.path();
        record.members_per_slice = ensemble.members_per_slice();
        // Its arrays of states; the tables are a few KiB. Streaming has four of them.
        const double arrays = ours.path.starts_with("streaming") ? 4 : 1;
        ours.held_bytes = arrays * 8 * static_cast<double>(what.n) * static_cast<double>(record.members_per_slice);
    }

    PaperRecord::Outcome run_way(const StepWay& way, const PaperRecord& record, const PaperScheme& scheme,
                                 Reference& reference) {
        const StepCase& what = record.what;
        if (const auto reason = way.obstacle(what)) return *reason;
        try {
            const double needed = way.bytes(what), free = static_cast<double>(place_.free_bytes());
            if (needed > 0.9 * free)
                return fmt::format("needs {}, and {} are free", readable_bytes(needed), readable_bytes(free));
            const std::int64_t count = reference.members();
            const std::vector<double>& start = reference.states(0, 0);
            const auto stepper = way.make(what, scheme, start);
            PaperResult result{};
            result.time_ms = time_steps(
                options_, [&](std::int64_t steps) { stepper->advance(steps); },
                [&](std::int64_t steps) {
                    const std::vector<double>& right = reference.states(0, steps);
                    result.difference = worse(difference(stepper->states(0, count), right),
                                              difference(last_states(*stepper, what, count), right));
                });
            result.wrong = !(result.difference <= tolerance(record));
            result.path = stepper->path();
            result.held_bytes = static_cast<double>(stepper->held_bytes());
            return result;
        } catch (const bandmill::Error& error) { // ours was measured, and is worth keeping
            return fmt::format("failed: {}", error.what());
        }
    }

    // The last member that started from each of the states, in their order.
    static std::vector<double> last_states(const RivalStepper<double>& stepper, const StepCase& what,
                                           std::int64_t count) {
        const std::int64_t first = what.members - count;
        std::vector<double> states = stepper.states(first, count);
        std::rotate(states.begin(), states.begin() + (count - first % count) % count * what.n, states.end());
        return states;
    }

    // What rounding may do: C goes through the inverse of a stiff matrix in every step of the other ways, which costs
    // them digits that ours keeps. At most a tenth of this was seen.
    static double tolerance(const PaperRecord& record) {
        const double epsilon = std::numeric_limits<double>::epsilon();
        const double stiffness = 1 + (record.what.equation == EquationKind::diffusion ? 4 : 16) * record.sigma;
        return 2 * epsilon * stiffness * static_cast<double>(record.steps + 2 * warm_up);
    }

    PaperOptions options_;
    Place<Space> place_;
    std::vector<StepWay> ways_; // those asked for
};

} // namespace

const PaperResult* PaperRecord::result(const std::string& rival) const {
    if (rival == "resident") return &ours;
    for (const auto& [name, outcome] : rivals)
        if (name == rival) return std::get_if<PaperResult>(&outcome);
    return nullptr;
}

std::optional<double> PaperRecord::speedup(const std::string& way, const std::string& rival) const {
    const PaperResult *mine = result(way), *theirs = result(rival);
    if (!mine || !theirs || mine->wrong || theirs->wrong) return std::nullopt;
    return theirs->time_ms.median / mine->time_ms.median;
}

bool PaperRecord::any_wrong() const {
    const auto wrong = [](const auto& rival) {
        const auto* result = std::get_if<PaperResult>(&rival.second);
        return result && result->wrong;
    };
    return ours.wrong || std::any_of(rivals.begin(), rivals.end(), wrong);
}

std::unique_ptr<PaperRunner> make_paper_runner(const PaperOptions& options) {
    if (options.backend == Backend::cuda) return std::make_unique<Runner<Cuda>>(options, Place<Cuda>(options.device));
    return std::make_unique<Runner<Host>>(options, Place<Host>(bandmill::Threads{options.threads}));
}

} // namespace app
