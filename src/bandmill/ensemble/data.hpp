// What an Ensemble holds. Where the backend has room for all members their states stay there; otherwise the host holds
// them and slices go back and forth.
#pragma once

#include "bandmill/ensemble/ensemble.hpp"

#include <algorithm>

namespace bandmill {

template <class T> struct Ensemble<T>::Data {
    EnsembleSpec spec;
    double time_step;
    std::unique_ptr<detail::Stepper<T>> stepper;
    std::int64_t slice = 0;     // members at a time
    std::vector<T> states = {}; // [member][point]; empty where they stay in the stepper
    std::int64_t step = 0;
    std::int64_t sampled = -1;   // the last step that a run has sampled
    std::vector<char> lost = {}; // per member: listed as such before
    RunResult unreturned = {};   // of a run that ended by an exception: the next one returns it
    bool torn = false;           // an error came between two slices of a chunk

    bool resident() const { return slice == spec.members; }
    T* states_of(std::int64_t member) { return states.data() + member * spec.points(); }

    enum class Use { read, write };
    // Calls body(first, count) with each slice in the stepper, once.
    template <class Body> void for_each_slice(Use use, const Body& body) {
        torn = use == Use::write; // until all is done
        for (std::int64_t first = 0; first < spec.members; first += slice) {
            const std::int64_t count = std::min(slice, spec.members - first);
            if (!resident()) stepper->load(first, count, states_of(first));
            body(first, count);
            if (!resident() && use == Use::write) stepper->store(states_of(first));
        }
        torn = false;
    }
};

} // namespace bandmill
