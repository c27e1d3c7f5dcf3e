// SharedEnsemble: an ensemble of either precision that several Python threads may hold.
#pragma once

#include "fork.hpp"
#include "plan.hpp"

#include "bandmill/ensemble/ensemble.hpp"

#include <nanobind/nanobind.h>

#include <functional>
#include <mutex>
#include <variant>

namespace bandmill::python {

using Start = std::variant<InitialState, SavedState<float>, SavedState<double>>;

// What a run tells Python, each called without Python's lock.
struct Listener {
    std::function<bool(const Progress&)> progress; // after every chunk; false ends the run
    std::function<void(const std::string&)> warn;
};

class SharedEnsemble {
  public:
    // bits: of the precision. device: `cpu` or a GPU's index.
    SharedEnsemble(const EnsembleSpec& spec, const Start& start, int bits, int device, Threads threads);

    // body(ensemble), between the chunks of a run if there is one. Call it without Python's lock.
    template <class Body> void look(const Body& body) {
        with_own_team([&] {
            const std::lock_guard lock(mutex_);
            std::visit(body, ensemble_);
        });
    }
    // The same, where nothing else may be going on.
    template <class Body> void change(const Body& body) {
        look([&](auto& ensemble) {
            refuse_while_running();
            body(ensemble);
        });
    }

    // As Ensemble::run, but a sample that is due where the run starts is always taken. The listener is called while
    // others may look. The result has what was sampled also where an exception ends the run.
    void run(RunPlan plan, const Listener& listener, RunResult& result);

  private:
    template <class T> void run(Ensemble<T>& ensemble, const RunPlan& plan, RunResult& result);
    void refuse_while_running() const;

    std::variant<Ensemble<float>, Ensemble<double>> ensemble_;
    std::mutex mutex_;
    bool running_ = false;
};

void bind_ensemble(nanobind::module_& module);

} // namespace bandmill::python
