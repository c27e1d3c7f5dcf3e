// Simulation: the fields of a few members over time, written as they are reached.
#pragma once

#include "bandmill/io/data_file.hpp"
#include "bandmill/study/campaign.hpp"

#include <algorithm>

namespace bandmill {

struct SimulationSpec {
    EnsembleSpec ensemble;
    InitialState initial;
    double until = 0;
    double save_every = 0; // time between records; 0: after every step. The first is the initial state

    double step_length() const { return ensemble.time_step > 0 ? ensemble.time_step : 0.1 * ensemble.grid.spacing(); }
};

template <class T> class Simulation : public Study<T> {
  public:
    // Throws InvalidArgument.
    explicit Simulation(const SimulationSpec& spec);

    EnsembleSpec spec(std::int64_t first, std::int64_t count) const override;
    InitialState initial(std::int64_t first, std::int64_t count) const override;
    std::int64_t members() const override { return spec_.ensemble.members; }
    std::vector<MemberGroup> groups() const override { return equal_groups(members(), members(), steps_); }
    std::int64_t steps() const { return steps_; }
    bool run(Ensemble<T>& piece, const typename Study<T>::GoOn& go_on) override;
    std::span<std::int64_t> sums() override { return sums_; }
    std::string status() const override { return status_; }
    void flush() override {
        if (file) file->flush();
    }

    // Has every member written every record? With the sums of all ranks.
    bool complete() const {
        return std::all_of(sums_.begin(), sums_.end(), [this](std::int64_t written) { return written == members(); });
    }
    std::int64_t records() const { return static_cast<std::int64_t>(record_steps_.size()); }
    std::vector<double> times() const; // true ones, of the records

    DataFile* file = nullptr; // has C(time, member, x)

  private:
    void write_record(Ensemble<T>& piece);

    SimulationSpec spec_;
    std::int64_t steps_;
    std::vector<std::int64_t> record_steps_; // ascending
    std::vector<std::int64_t> sums_;         // [record]: how many members have written it
    std::string status_;
};

} // namespace bandmill
