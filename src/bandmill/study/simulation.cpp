#include "bandmill/study/simulation.hpp"

#include "bandmill/base/text.hpp"
#include "bandmill/ensemble/schedule.hpp"

#include <algorithm>

namespace bandmill {
namespace {

// Of one value for all, or one per member, those of some members.
std::vector<double> some_of(const std::vector<double>& values, std::int64_t first, std::int64_t count) {
    if (values.size() == 1) return values;
    return {values.begin() + first, values.begin() + first + count};
}

} // namespace

template <class T> Simulation<T>::Simulation(const SimulationSpec& spec) : spec_(spec) {
    if (!(spec.until >= 0) || !(spec.save_every >= 0))
        throw InvalidArgument("a simulation until " + detail::text(spec.until) + ", saved every " +
                              detail::text(spec.save_every) + ", makes no sense: give times of 0 or more");
    const double time_step = spec.step_length();
    steps_ = detail::steps_to_reach(spec.until, time_step);
    constexpr double most_records = 1e8;
    if (spec.save_every > 0 ? spec.until / spec.save_every > most_records : static_cast<double>(steps_) > most_records)
        throw InvalidArgument("more than " + detail::text(most_records) +
                              " records were asked for: save less often, or end earlier");
    // k * save_every is counted, not added up: round-off must not move a record.
    for (std::int64_t k = 0;; ++k) {
        const double time = static_cast<double>(k) * spec.save_every;
        const std::int64_t step =
            spec.save_every > 0 ? detail::steps_to_reach(std::min(time, spec.until), time_step) : k;
        if (record_steps_.empty() || step > record_steps_.back()) record_steps_.push_back(step);
        if (step >= steps_) break;
    }
    sums_.resize(record_steps_.size());
}

template <class T> EnsembleSpec Simulation<T>::spec(std::int64_t first, std::int64_t count) const {
    EnsembleSpec some = spec_.ensemble;
    some.members = count;
    some.first_member = first;
    for (std::vector<double>& values : some.parameters) values = some_of(values, first, count);
    return some;
}

template <class T> InitialState Simulation<T>::initial(std::int64_t first, std::int64_t count) const {
    InitialState some = spec_.initial;
    if (auto* noise = std::get_if<UniformNoise>(&some)) {
        noise->mean = some_of(noise->mean, first, count);
        if (!noise->numbers.empty()) // one per member, also where there is one member
            noise->numbers = {noise->numbers.begin() + first, noise->numbers.begin() + first + count};
    }
    if (auto* constant = std::get_if<Constant>(&some)) constant->value = some_of(constant->value, first, count);
    return some;
}

template <class T> std::vector<double> Simulation<T>::times() const {
    std::vector<double> times;
    for (const std::int64_t step : record_steps_) times.push_back(static_cast<double>(step) * spec_.step_length());
    return times;
}

template <class T> void Simulation<T>::write_record(Ensemble<T>& piece) {
    const auto at = std::lower_bound(record_steps_.begin(), record_steps_.end(), piece.step());
    if (at == record_steps_.end() || *at != piece.step()) return;
    const auto record = at - record_steps_.begin();
    const std::vector<T> states = piece.states();
    const std::int64_t points = spec_.ensemble.grid.points();
    file->write("C", (record * members() + piece.spec().first_member) * points, std::span<const T>(states));
    sums_[static_cast<std::size_t>(record)] += piece.spec().members;
    status_ = "t = " + detail::text(piece.time());
}

// A record belongs to the step that a run ends with, so that a resumed one writes none twice.
template <class T> bool Simulation<T>::run(Ensemble<T>& piece, const typename Study<T>::GoOn& go_on) {
    if (piece.step() == 0) write_record(piece);
    bool wanted = true;
    while (piece.step() < steps_ && wanted) {
        const auto next = std::upper_bound(record_steps_.begin(), record_steps_.end(), piece.step());
        const RunResult result =
            this->run_for_a_while(piece, {.end_time = static_cast<double>(*next) * piece.time_step()}, go_on, wanted);
        this->lost.insert(this->lost.end(), result.lost.begin(), result.lost.end());
        if (!result.interrupted) write_record(piece);
    }
    return piece.step() >= steps_;
}

template class Simulation<double>;
template class Simulation<float>;

} // namespace bandmill
