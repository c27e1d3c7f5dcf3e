// FlowMap: the forced Cahn-Hilliard equation over a map of two of its parameters, one run per cell, and which pattern
// each cell ends in. Several maps (panels) at once if other parameters have several values.
//
// Round 0 steps every cell. The time step of a cell is as short as the explicit term needs at the largest |C| that is
// expected there; where more was seen, the cell is stepped again in the next round, with half of it. Then the cells are
// classified, and in a last round those at a border are run again with other noise.
#pragma once

#include "bandmill/cluster/kmeans.hpp"
#include "bandmill/study/campaign.hpp"
#include "bandmill/study/flow_classes.hpp"
#include "bandmill/study/flow_map_spec.hpp"

#include <array>
#include <string>

namespace bandmill {

// What was found, on rank 0. By cell, [panel][y][x].
template <class T> struct FlowMapResult {
    std::vector<FlowFeatures> features;
    std::vector<FlowVerdict> verdicts;                   // of the features alone
    std::vector<FlowClass> classes;                      // after refinement: what most runs of a cell ended in
    std::vector<FlowClass> kmeans;                       // empty without
    std::vector<std::array<int, flow_classes>> outcomes; // of all runs of a cell; only those at a border have several
    std::vector<int> halvings;                           // of the time step
    std::vector<char> step_too_long;                     // even so, at some time
    std::vector<T> kept;                                 // [panel][kept y][kept x][point]
    FlowRule rule{};
    double speckle = 0, kmeans_speckle = 0; // share of cells that differ from most of their neighbours
};

template <class T> class FlowMap : public Study<T> {
  public:
    // `where` is for k-means. Throws InvalidArgument.
    explicit FlowMap(const FlowMapSpec& spec, Where where = Threads{});

    EnsembleSpec spec(std::int64_t first, std::int64_t count) const override;
    InitialState initial(std::int64_t first, std::int64_t count) const override;
    std::int64_t members() const override { return spec_.cells(); }
    std::vector<MemberGroup> groups() const override;
    bool run(Ensemble<T>& piece, const typename Study<T>::GoOn& go_on) override;
    std::span<std::int64_t> sums() override { return numbers_; }
    std::string status() const override { return status_; }
    bool next_round(Communicator& ranks) override;
    double work() const override { return work_; }
    bool expects_round() const override;
    void find_round(Communicator& ranks) override;
    std::vector<const FinishedPiece<T>*> finished() const override;
    void take_finished(FinishedPiece<T> piece) override { finished_.push_back(std::move(piece)); }

    // Motion below which round-off hides it, at most, as a share of the forcing's speed for a pattern of two domains.
    double hidden_motion() const;
    FlowMapResult<T> result() const;
    std::int64_t steps() const { return steps_; } // of a cell whose step is not halved
    double time() const { return static_cast<double>(steps_) * spec_.step_length(); } // of the end
    double kmeans_seconds = 0;
    std::int64_t repeated = 0, refined = 0; // runs of the later rounds, all ranks

  private:
    struct Run { // one member
        std::int64_t cell;
        std::uint64_t seed;
        int halvings;
    };
    struct Cell { // its parameters
        double mean, forcing;
        ForcedCahnHilliard equation;
    };

    Cell cell(std::int64_t number) const;
    int expected_halvings(const Cell& cell) const;
    int halvings(std::int64_t cell, int round) const;
    std::vector<Run> runs_of(int round) const;
    std::int64_t first_member(int round) const { return round * members_per_round_; }
    const Run& run_of(std::int64_t member) const;
    std::vector<std::int64_t> watch_steps(std::int64_t steps) const, window_steps(std::int64_t steps) const;
    std::int64_t& number(std::int64_t cell, int field);
    std::int64_t known(std::int64_t cell, int field) const;
    std::int64_t& refined_square(const Run& run);
    std::int64_t kept_place(std::int64_t cell) const;
    double rate_noise(const ForcedCahnHilliard& equation) const;
    void set_motion(FlowFeatures& seen, const ForcedCahnHilliard& equation) const;
    int threads() const;
    FlowFeatures features(std::int64_t cell) const;
    std::vector<FlowFeatures> all_features() const;
    std::vector<FlowClass> classes(const std::vector<FlowFeatures>& all) const;
    void add(const RunResult& result, Ensemble<T>& piece);
    void finish(Ensemble<T>& piece);
    void share_numbers(Communicator& ranks);
    std::string round_words() const;
    void begin(int round);
    void sort_states(const std::vector<FlowClass>& kinds, Communicator& ranks);
    void forget(std::int64_t cell);

    FlowMapSpec spec_;
    std::vector<FlowParameter> panel_parameters_; // asked for with every cell
    Where where_;
    std::int64_t steps_, members_per_round_;
    std::vector<std::int64_t> kept_x_, kept_y_;
    int round_ = 0;
    bool is_root_ = true;
    std::vector<Run> runs_;             // of this round
    std::vector<std::int64_t> borders_; // between groups of equal equation and time step, in runs_
    std::vector<int> expected_;         // halvings, by cell
    std::vector<std::int64_t>
        numbers_; // this rank's part: the round; [cell][field]; states that are kept; rates of repetitions
    std::vector<std::int64_t> known_; // the whole, as it was when this round began
    FlowRule rule_{};                 // from then on, too
    std::vector<FinishedPiece<T>> finished_;
    double work_ = 0;
    std::string status_;
};

} // namespace bandmill
