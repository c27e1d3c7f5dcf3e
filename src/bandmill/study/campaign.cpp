#include "bandmill/study/campaign.hpp"

#include "bandmill/base/text.hpp"
#include "bandmill/io/checkpoint_file.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <future>
#include <limits>
#include <memory>
#include <sstream>
#include <utility>

namespace bandmill {
namespace {

class Clock {
  public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

template <class T> Ensemble<T> make_ensemble(const EnsembleSpec& spec, const auto& start, const Where& where) {
    return std::visit([&](auto place) { return Ensemble<T>(spec, start, place); }, where);
}

std::vector<LostMember> lost_in(const std::string& lines) {
    std::vector<LostMember> lost;
    std::istringstream text(lines);
    for (LostMember one{}; text >> one.member >> one.time;) lost.push_back(one);
    return lost;
}

// Each member once, when it was first seen to be lost.
void sort_out(std::vector<LostMember>& lost) {
    std::sort(lost.begin(), lost.end(), [](const LostMember& a, const LostMember& b) {
        return std::pair(a.member, a.time) < std::pair(b.member, b.time);
    });
    const auto same = [](const LostMember& a, const LostMember& b) { return a.member == b.member; };
    lost.erase(std::unique(lost.begin(), lost.end(), same), lost.end());
}

// Where a piece under way has its step.
constexpr std::int64_t finished_mark = std::numeric_limits<std::int64_t>::max();

template <class T> class Campaign {
  public:
    Campaign(Study<T>& study, const CampaignPlan& plan, Communicator& ranks, const CheckpointHead* resumed,
             std::string resumed_path)
        : study_(study), plan_(plan), ranks_(ranks), resumed_path_(std::move(resumed_path)) {
        if (resumed)
            resumed_file_ = std::make_unique<detail::CheckpointFile>(resumed_path_, detail::CheckpointFile::Mode::read);
        next_checkpoint_ = plan.first_checkpoint_after;
        if (std::holds_alternative<Device>(plan.where)) study.expect_speed(5e11);
        if (!resumed) {
            begin_round(not_started(study.groups()));
            return;
        }
        if (ranks.is_root()) restore(*resumed);
        study.find_round(ranks);
        begin_round(resumed->pieces);
    }

    CampaignEnd run() {
        for (;;) {
            step_until_meeting();
            ranks_.meet([this] {
                if (wants_meeting()) ranks_.call();
            });
            if (!ranks_.any(!pieces_.empty())) {
                // What was reached is safe before something long begins, and a stop that was asked for is made.
                const bool stop = study_.expects_round() && ranks_.any(plan_.stop_asked());
                if (stop || (study_.expects_round() && ranks_.any(checkpoint_due()))) save(stop);
                if (stop) return CampaignEnd::stopped;
                agree([this] { study_.flush(); });
                ranks_.sum(study_.sums());
                if (study_.next_round(ranks_)) {
                    begin_round(not_started(study_.groups()));
                    continue;
                }
                study_.lost = lost_in(gather_lost());
                sort_out(study_.lost);
                refuse_if_none_is_left();
                return CampaignEnd::finished;
            }
            const bool stop = ranks_.any(plan_.stop_asked());
            if (ranks_.any(checkpoint_due()) || stop) save(stop);
            if (stop) return CampaignEnd::stopped;
        }
    }

  private:
    // Of the pieces of all ranks, takes those that are for this one.
    void begin_round(const std::vector<PieceHead>& all) {
        groups_ = study_.groups();
        const std::int64_t points = study_.spec(groups_.front().first, 1).points();
        points_ = static_cast<double>(points);
        const std::int64_t most = std::max<std::int64_t>(1, plan_.piece_points / points);
        left_at_start_ = 0;
        round_clock_ = Clock();
        for (const PieceHead& piece : cut(share(all, groups_, ranks_.rank(), ranks_.size()), most)) {
            if (piece.bytes > 0 && is_finished(piece)) {
                study_.take_finished({piece.first, piece.count, read(piece).states});
                continue;
            }
            pieces_.push_back(piece);
            left_at_start_ += left(piece);
        }
        double left_of_all = 0;
        for (const PieceHead& piece : all) left_of_all += left(piece);
        const double work = member_steps(groups_);
        share_at_start_ = work > 0 ? 1 - left_of_all / work : 0;
    }

    static bool is_finished(const PieceHead& piece) { return piece.step == finished_mark; }

    void restore(const CheckpointHead& head) {
        const auto sums = study_.sums();
        if (head.sums.size() != sums.size())
            throw FileError("the checkpoint '" + resumed_path_ + "' holds " + std::to_string(head.sums.size()) +
                            " sums, but its options make " + std::to_string(sums.size()) +
                            " (another version of the program wrote it): resume with that version");
        std::copy(head.sums.begin(), head.sums.end(), sums.begin());
        study_.lost = lost_in(head.extra);
    }

    // Collective. What throws on one rank throws on all, so that none waits for another.
    template <class Action> void agree(const Action& action) {
        std::string failure;
        try {
            action();
        } catch (const FileError& error) {
            failure = error.what();
        }
        if (ranks_.any(!failure.empty()))
            throw FileError(failure.empty() ? "another rank cannot write or read its files" : failure);
    }

    void refuse_if_none_is_left() const {
        if (!ranks_.is_root() || static_cast<std::int64_t>(study_.lost.size()) < study_.members()) return;
        const LostMember& first = study_.lost.front();
        throw Unstable("no member is finite any more, member " + std::to_string(first.member) + " since the time " +
                           detail::text(first.time) +
                           " (the time step is too long for them, or their initial states are out of range): give a "
                           "smaller time_step",
                       first.member, first.time);
    }

    // On rank 0, of all ranks.
    std::string gather_lost() {
        std::string all;
        for (const std::string& lines : ranks_.gather(lines_of(study_.lost))) all += lines;
        return all;
    }

    // Member-steps.
    double left(const PieceHead& piece) const {
        return static_cast<double>(piece.count) * static_cast<double>(steps_left(piece, groups_));
    }

    bool checkpoint_due() const {
        return ranks_.is_root() && plan_.checkpoint_every > 0 && !plan_.checkpoint.empty() &&
               clock_.seconds() >= next_checkpoint_;
    }
    bool wants_meeting() const { return plan_.stop_asked() || checkpoint_due(); }

    void step_until_meeting() {
        while (!pieces_.empty()) {
            PieceHead& piece = pieces_.front();
            if (!current_) current_.emplace(next_.valid() ? next_.get() : open(piece));
            prepare_next();
            bool meeting = false;
            const bool done = study_.run(*current_, [&](const Progress& progress) {
                piece.step = progress.step;
                tell();
                if (wants_meeting()) {
                    ranks_.call();
                    meeting = true;
                }
                meeting = meeting || ranks_.called();
                return !meeting;
            });
            if (done) {
                current_.reset();
                pieces_.pop_front();
            }
            if (meeting) return;
        }
    }

    // While a GPU steps a piece, cores make the initial states of the one after it.
    void prepare_next() {
        if (!std::holds_alternative<Device>(plan_.where) || next_.valid() || pieces_.size() < 2) return;
        next_ = std::async(std::launch::async, [this, piece = pieces_[1]] { return open(piece); });
    }

    Ensemble<T> open(const PieceHead& piece) const {
        const EnsembleSpec spec = study_.spec(piece.first, piece.count);
        if (piece.bytes == 0) return make_ensemble<T>(spec, study_.initial(piece.first, piece.count), plan_.where);
        return make_ensemble<T>(spec, read(piece), plan_.where);
    }

    SavedState<T> read(const PieceHead& piece) const {
        if (piece.bytes != piece.count * static_cast<std::int64_t>(points_ * sizeof(T)))
            throw FileError("'" + resumed_path_ +
                            "' does not hold the states that its options need (another version of "
                            "the program wrote it): resume with that version");
        SavedState<T> saved{piece.step, std::vector<T>(static_cast<std::size_t>(piece.bytes) / sizeof(T)),
                            piece.sampled};
        resumed_file_->read(std::as_writable_bytes(std::span(saved.states)), piece.offset);
        return saved;
    }

    // The piece under way with its states, others as they wait: for those of an earlier run that were not opened yet,
    // the states come out of the checkpoint they are in. `pieces` points into `states`.
    void collect(std::vector<SavedState<T>>& states, std::vector<PieceStates>& pieces) {
        states.reserve(pieces_.size());
        for (const PieceHead& piece : pieces_) {
            PieceStates one{piece, {}};
            const bool under_way = current_ && &piece == &pieces_.front();
            if (under_way || piece.bytes > 0) {
                states.push_back(under_way ? current_->save() : read(piece));
                one.head.step = states.back().step;
                one.head.sampled = states.back().sampled;
                one.states = std::as_bytes(std::span(states.back().states));
            }
            pieces.push_back(one);
        }
        for (const FinishedPiece<T>* piece : study_.finished())
            pieces.push_back(
                {{piece->first, piece->count, finished_mark, finished_mark}, std::as_bytes(std::span(piece->states))});
    }

    void save(bool must_succeed) {
        const Clock took;
        try {
            std::vector<SavedState<T>> states;
            std::vector<PieceStates> pieces;
            agree([&] {
                study_.flush();
                collect(states, pieces);
            });
            CheckpointHead head = plan_.head;
            const auto own = study_.sums();
            head.sums.assign(own.begin(), own.end());
            ranks_.sum(head.sums);
            head.extra = gather_lost();
            save_checkpoint(plan_.checkpoint, head, pieces, ranks_);
        } catch (const FileError& error) {
            if (must_succeed) throw;
            if (ranks_.is_root() && plan_.warn) plan_.warn(error.what());
        }
        // Where a checkpoint takes long, it is made less often: at most a tenth of the time goes into them.
        next_checkpoint_ = clock_.seconds() + std::max(plan_.checkpoint_every, 9 * took.seconds());
    }

    void tell() {
        if (!ranks_.is_root() || !plan_.progress) return;
        double left_now = 0;
        for (const PieceHead& piece : pieces_) left_now += left(piece);
        const double done = left_at_start_ > 0 ? 1 - left_now / left_at_start_ : 1;
        plan_.progress({share_at_start_ + (1 - share_at_start_) * done,
                        (left_at_start_ - left_now) * points_ * ranks_.size(), round_clock_.seconds(), share_at_start_,
                        study_.status()});
    }

    Study<T>& study_;
    const CampaignPlan& plan_;
    Communicator& ranks_;
    std::string resumed_path_;
    // Kept open: a new checkpoint takes its name, and later its place, while pieces still wait in this one.
    std::unique_ptr<detail::CheckpointFile> resumed_file_;
    std::deque<PieceHead> pieces_; // those that this rank has to step; the first one is under way
    std::optional<Ensemble<T>> current_;
    Clock clock_, round_clock_;
    double points_ = 0, left_at_start_ = 0, share_at_start_ = 0, next_checkpoint_ = 0;
    std::vector<MemberGroup> groups_;
    std::future<Ensemble<T>> next_; // last: it uses the others until it is there
};

} // namespace

// "member time"
std::string lines_of(const std::vector<LostMember>& lost) {
    std::string lines;
    char line[64];
    for (const LostMember& one : lost) {
        std::snprintf(line, sizeof line, "%lld %.17g\n", static_cast<long long>(one.member), one.time);
        lines += line;
    }
    return lines;
}

template <class T> std::int64_t Study<T>::chunk(const EnsembleSpec& piece) const {
    constexpr double wanted_seconds = 0.3;
    const double points = static_cast<double>(piece.members) * static_cast<double>(piece.points());
    return static_cast<std::int64_t>(std::clamp(wanted_seconds * point_steps_per_second_ / points, 10.0, 1000.0));
}

template <class T>
RunResult Study<T>::run_for_a_while(Ensemble<T>& piece, RunPlan plan, const GoOn& go_on, bool& wanted) {
    const auto start = std::chrono::steady_clock::now();
    plan.chunk = chunk(piece.spec());
    plan.stop_when_none_is_left = false; // of this piece
    if (!plan.warn) plan.warn = warn;
    plan.progress = [&](const Progress& progress) {
        wanted = go_on(progress);
        return wanted && std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500);
    };
    const std::int64_t before = piece.step();
    RunResult result = piece.run(plan);
    time_steps(piece.spec(), piece.step() - before,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return result;
}

template <class T> void Study<T>::time_steps(const EnsembleSpec& piece, std::int64_t steps, double seconds) {
    if (steps <= 0 || !(seconds > 0)) return;
    stepping_seconds += seconds;
    point_steps_per_second_ =
        static_cast<double>(steps) * static_cast<double>(piece.members) * static_cast<double>(piece.points()) / seconds;
}
template class Study<double>;
template class Study<float>;

template <class T>
CampaignEnd run_campaign(Study<T>& study, const CampaignPlan& plan, Communicator& ranks, const CheckpointHead* resumed,
                         const std::string& resumed_path) {
    return Campaign<T>(study, plan, ranks, resumed, resumed_path).run();
}

template CampaignEnd run_campaign(Study<double>&, const CampaignPlan&, Communicator&, const CheckpointHead*,
                                  const std::string&);
template CampaignEnd run_campaign(Study<float>&, const CampaignPlan&, Communicator&, const CheckpointHead*,
                                  const std::string&);

} // namespace bandmill
