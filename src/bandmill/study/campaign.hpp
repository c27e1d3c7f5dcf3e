// Campaign: the members of a study, piece after piece, on all ranks, with checkpoints.
// Every rank steps its own pieces at its own pace. They meet when a checkpoint is due, when one of them is told to
// stop, and at the end.
#pragma once

#include "bandmill/base/where.hpp"
#include "bandmill/ensemble/ensemble.hpp"
#include "bandmill/study/pieces.hpp"

#include <functional>
#include <optional>
#include <string>

namespace bandmill {

// Members that are done and whose states are still needed.
template <class T> struct FinishedPiece {
    std::int64_t first, count;
    std::vector<T> states; // [member][point]
};

// What a study does with its members. Everything it learns is in sums that ranks can add up, or in places of its own.
// It may take several rounds: what the members of one have shown can decide which ones the next has.
template <class T> class Study {
  public:
    using GoOn = std::function<bool(const Progress&)>;
    virtual ~Study() = default;

    // Members first .. first + count - 1 of it, all of one group, as they start.
    virtual EnsembleSpec spec(std::int64_t first, std::int64_t count) const = 0;
    virtual InitialState initial(std::int64_t first, std::int64_t count) const = 0;
    virtual std::int64_t members() const = 0;            // of the first round
    virtual std::vector<MemberGroup> groups() const = 0; // of this round, ascending; no round has another's numbers

    // From where the piece stands on: to its end (true), or until go_on, asked often, says no (false).
    virtual bool run(Ensemble<T>& piece, const GoOn& go_on) = 0;
    virtual std::span<std::int64_t> sums() = 0;
    virtual std::string status() const { return {}; } // of what runs, for a progress bar
    virtual void flush() {}                           // before a checkpoint: what was written elsewhere is on the disk

    // Collective, when all members of a round are done; rank 0 has the sums of all. False: that was the last.
    virtual bool next_round(Communicator&) { return false; }
    virtual bool expects_round() const { return false; } // may it take long, or give another? The same on all ranks
    virtual double work() const { return member_steps(groups()); } // member-steps of all rounds so far
    // Collective, when rank 0 has got its sums back from a checkpoint: which round that was.
    virtual void find_round(Communicator&) {}
    // What a checkpoint keeps beside pieces that are under way, and gives back, whole or in parts, to any rank.
    virtual std::vector<const FinishedPiece<T>*> finished() const { return {}; }
    virtual void take_finished(FinishedPiece<T>) {}

    // Steps between two looks at go_on: a third of a second at the speed so far, so that a signal is obeyed soon. A GPU
    // works best with long chunks, a core takes seconds for a thousand steps of a full piece.
    std::int64_t chunk(const EnsembleSpec& piece) const;
    // Runs and times the piece by the plan, whose chunk, progress and warnings it sets: to its end, or until go_on says
    // no (then `wanted` becomes false), or for some half a second, so that the samples come out for a status.
    RunResult run_for_a_while(Ensemble<T>& piece, RunPlan plan, const GoOn& go_on, bool& wanted);
    void time_steps(const EnsembleSpec& piece, std::int64_t steps, double seconds);
    void expect_speed(double point_steps_per_second) { point_steps_per_second_ = point_steps_per_second; }

    double stepping_seconds = 0;                  // of this rank, without making initial states
    std::vector<LostMember> lost;                 // by this rank; of all ranks, on rank 0, at the end
    std::function<void(const std::string&)> warn; // default: to stderr

  private:
    double point_steps_per_second_ = 1e9; // so far; before anything is known, a core's
};

// Lost members as they stand in a checkpoint.
std::string lines_of(const std::vector<LostMember>& lost);

struct CampaignProgress {
    double share;          // of the work of this round, 0 to 1
    double point_steps;    // done in this round by this process, all ranks together if they are equally fast
    double seconds;        // since it started, or the round did
    double share_at_start; // more than 0 after a resume
    std::string status;
};

struct CampaignPlan {
    Where where = Threads{};
    std::int64_t piece_points = std::int64_t{1} << 24; // most points of a piece
    std::string checkpoint;                            // its path; empty: none
    double checkpoint_every = 60;                      // seconds; 0: only when told to stop
    double first_checkpoint_after = 120;               // a shorter run needs none
    CheckpointHead head;                               // study, version, options: what identifies it
    std::function<bool()> stop_asked = [] { return false; };
    std::function<void(const CampaignProgress&)> progress = {};
    std::function<void(const std::string&)> warn = {};
};

enum class CampaignEnd { finished, stopped };

// Collective. Rank 0's study has the sums of all ranks in the end. `resumed`, read from `resumed_path`, is where to go
// on from; rank 0's study gets its sums. Throws Unstable if no member at all is left in the end. Throws what a piece
// throws, and FileError when told to stop and the checkpoint cannot be written.
template <class T>
CampaignEnd run_campaign(Study<T>& study, const CampaignPlan& plan, Communicator& ranks,
                         const CheckpointHead* resumed = nullptr, const std::string& resumed_path = {});

} // namespace bandmill
