#include "ensemble.hpp"

#include "bandmill/base/error.hpp"
#include "bandmill/base/text.hpp"
#include "bandmill/ensemble/schedule.hpp"

#include <iterator>
#include <optional>
#include <utility>

namespace bandmill::python {
namespace {

using Either = std::variant<Ensemble<float>, Ensemble<double>>;

template <class T> Either make(const EnsembleSpec& spec, const Start& start, int device, Threads threads) {
    auto from = [&](const auto& first) {
        return device == cpu ? Ensemble<T>(spec, first, threads) : Ensemble<T>(spec, first, Device{device});
    };
    if (const auto* initial = std::get_if<InitialState>(&start)) return from(*initial);
    if (const auto* saved = std::get_if<SavedState<T>>(&start)) return from(*saved);
    throw InvalidArgument(
        "the saved state is of another precision than the ensemble: give the dtype it was saved with");
}

Either make(const EnsembleSpec& spec, const Start& start, int bits, int device, Threads threads) {
    std::optional<Either> made;
    with_own_team([&] {
        made.emplace(bits == 32 ? make<float>(spec, start, device, threads)
                                : make<double>(spec, start, device, threads));
    });
    return std::move(*made);
}

// A mutex let go for as long as this lives.
class Released {
  public:
    explicit Released(std::mutex& mutex) : mutex_(mutex) { mutex_.unlock(); }
    ~Released() { mutex_.lock(); }
    Released(const Released&) = delete;

  private:
    std::mutex& mutex_;
};

} // namespace

SharedEnsemble::SharedEnsemble(const EnsembleSpec& spec, const Start& start, int bits, int device, Threads threads)
    : ensemble_(make(spec, start, bits, device, threads)) {}

void SharedEnsemble::refuse_while_running() const {
    if (running_)
        throw InvalidArgument("this ensemble is being advanced (by another thread, or by the call that shows this "
                              "progress): wait until that has returned");
}

template <class T> void SharedEnsemble::run(Ensemble<T>& ensemble, const RunPlan& plan, RunResult& result) {
    const std::int64_t first = ensemble.step();
    const detail::Schedule schedule(plan, ensemble.time_step(), ensemble.members_per_slice());
    if (schedule.steps() < first)
        throw InvalidArgument("the run is to end at the time " + detail::text(plan.end_time) +
                              ", but the ensemble has reached " + detail::text(ensemble.time()) +
                              " (time does not run backwards): give a later time");
    std::optional<Sample> due;
    if (schedule.samples_at(first)) due = ensemble.sample(plan.observables, plan.keep_values);
    auto complete = [&] {
        auto& samples = result.samples;
        if (due && (samples.empty() || samples.front().step != first)) samples.insert(samples.begin(), std::move(*due));
    };
    result.interrupted = true; // until it has ended
    try {
        result = ensemble.run(plan);
    } catch (...) {
        // What the run had sampled and lost by then is returned by the next one. If even that fails, an error has left
        // the members at different times, and only what was due at the start is known.
        try {
            result = ensemble.run(
                {.end_time = ensemble.time(), .stop_when_none_is_left = false, .warn = [](const std::string&) {}});
        } catch (const Error&) {
            result = {};
        }
        result.interrupted = true;
        complete();
        throw;
    }
    complete();
}

void SharedEnsemble::run(RunPlan plan, const Listener& listener, RunResult& result) {
    plan.progress = [&](const Progress& now) {
        const Released released(mutex_);
        return listener.progress(now);
    };
    plan.warn = [&](const std::string& text) {
        const Released released(mutex_);
        listener.warn(text);
    };
    change([&](auto& ensemble) {
        running_ = true;
        try {
            run(ensemble, plan, result);
        } catch (...) {
            running_ = false;
            throw;
        }
        running_ = false;
    });
}

} // namespace bandmill::python
