// Ranks that MPI connects. The C interface only: the one for C++ is gone from the standard.
#include "bandmill/dist/mpi.hpp"

#include "bandmill/base/error.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <list>
#include <thread>
#include <utility>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace bandmill::detail {
namespace {

constexpr int call_tag = 1, gather_tag = 2;
constexpr std::int64_t last_call = -1; // no meeting's number: nothing follows from this rank
// MPI counts in int, and keeps copies of what it adds.
constexpr std::size_t numbers_at_once = std::size_t(1) << 20, bytes_at_once = std::size_t(1) << 30;

void check(int code, const char* what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
    throw Error("ranks cannot " + std::string(what) + " (MPI: " + std::string(text, static_cast<std::size_t>(length)) +
                "): see that all of them still run, then resume from the checkpoint");
}

// Calls of this rank that MPI may not have delivered yet: it reads `meeting` until then.
struct SentCall {
    std::int64_t meeting;
    std::vector<MPI_Request> requests;
};

class MpiCommunicator final : public Communicator {
  public:
    explicit MpiCommunicator(const Launch& launch);
    ~MpiCommunicator() override;
    MpiCommunicator(const MpiCommunicator&) = delete;
    MpiCommunicator& operator=(const MpiCommunicator&) = delete;

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int local_rank() const override { return local_rank_; }
    void sum(std::span<std::int64_t> numbers) override;
    std::vector<std::string> gather(const std::string& bytes) override;
    std::string broadcast(const std::string& bytes) override;
    bool any(bool mine) override;
    void call() override;
    bool called() override;
    void meet(const std::function<void()>& while_waiting) override;
    [[noreturn]] void abort(int exit_code) override;

  private:
    void send_to_others(std::int64_t meeting);
    void receive_call();
    void forget_delivered();
    void leave();

    MPI_Comm ranks_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1, local_rank_ = 0;
    bool initialised_here_ = false;
    std::int64_t meeting_ = 0;        // the next one, or the one this rank waits in
    std::int64_t own_call_ = -1;      // the last meeting that this rank called for
    std::int64_t newest_called_ = -1; // the last meeting that another called for
    int parted_ = 0;                  // ranks whose last call has come
    std::list<SentCall> sent_;
};

MpiCommunicator::MpiCommunicator(const Launch& launch) {
    int initialised = 0, finalised = 0;
    check(MPI_Finalized(&finalised), "be reached");
    if (finalised)
        throw Error("the ranks cannot be reached again (MPI was finalised, and starts once per process): keep the "
                    "first communicator");
    check(MPI_Initialized(&initialised), "be reached");
    if (!initialised) {
        int provided = 0;
        check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "be reached");
        initialised_here_ = true;
    }
    // A communicator of our own: messages cannot meet those of other code, and errors come back instead of ending all.
    check(MPI_Comm_dup(MPI_COMM_WORLD, &ranks_), "be reached");
    check(MPI_Comm_set_errhandler(ranks_, MPI_ERRORS_RETURN), "be reached");
    check(MPI_Comm_rank(ranks_, &rank_), "be reached");
    check(MPI_Comm_size(ranks_, &size_), "be reached");
    if (size_ == 1 && launch.ranks > 1) {
        leave();
        // Each process would take itself for the only one, and all would write the same file.
        throw BackendUnavailable("this process does not see the other ranks (" + launch.variable + " tells of " +
                                 std::to_string(launch.ranks) +
                                 ", its MPI of 1; the launcher belongs to another MPI): start it with the mpirun of "
                                 "the MPI it was built with, or with srun --mpi=pmix or --mpi=pmi2");
    }
    MPI_Comm node = MPI_COMM_NULL;
    check(MPI_Comm_split_type(ranks_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node), "find their nodes");
    check(MPI_Comm_rank(node, &local_rank_), "find their nodes");
    check(MPI_Comm_free(&node), "find their nodes");
}

MpiCommunicator::~MpiCommunicator() {
    // Leaving waits for all ranks. One that leaves by an error would wait for ever; when it just exits, the launcher
    // ends the others.
    if (std::uncaught_exceptions() > 0) return;
    try {
        // MPI wants every message received: after a rank's last call there is none left from it.
        send_to_others(last_call);
        while (parted_ < size_ - 1) receive_call();
        for (SentCall& sent : sent_)
            check(MPI_Waitall(static_cast<int>(sent.requests.size()), sent.requests.data(), MPI_STATUSES_IGNORE),
                  "part");
        leave();
    } catch (const Error& error) {
        std::fprintf(stderr, "bandmill: %s\n", error.what());
    }
}

void MpiCommunicator::leave() {
    check(MPI_Comm_free(&ranks_), "part");
    if (initialised_here_) check(MPI_Finalize(), "part");
}

void MpiCommunicator::sum(std::span<std::int64_t> numbers) {
    while (!numbers.empty()) {
        const auto some = numbers.first(std::min(numbers.size(), numbers_at_once));
        const void* own = is_root() ? MPI_IN_PLACE : some.data();
        check(MPI_Reduce(own, is_root() ? some.data() : nullptr, static_cast<int>(some.size()), MPI_INT64_T, MPI_SUM, 0,
                         ranks_),
              "add their sums");
        numbers = numbers.subspan(some.size());
    }
}

std::vector<std::string> MpiCommunicator::gather(const std::string& bytes) {
    const std::int64_t own_size = static_cast<std::int64_t>(bytes.size());
    std::vector<std::int64_t> sizes(is_root() ? static_cast<std::size_t>(size_) : 0);
    check(MPI_Gather(&own_size, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, 0, ranks_), "gather");
    if (!is_root()) {
        for (std::size_t done = 0; done < bytes.size(); done += bytes_at_once)
            check(MPI_Send(bytes.data() + done, static_cast<int>(std::min(bytes_at_once, bytes.size() - done)),
                           MPI_BYTE, 0, gather_tag, ranks_),
                  "gather");
        return {};
    }
    std::vector<std::string> all{bytes};
    for (int from = 1; from < size_; ++from) {
        std::string& theirs = all.emplace_back(static_cast<std::size_t>(sizes[static_cast<std::size_t>(from)]), '\0');
        for (std::size_t done = 0; done < theirs.size(); done += bytes_at_once)
            check(MPI_Recv(theirs.data() + done, static_cast<int>(std::min(bytes_at_once, theirs.size() - done)),
                           MPI_BYTE, from, gather_tag, ranks_, MPI_STATUS_IGNORE),
                  "gather");
    }
    return all;
}

std::string MpiCommunicator::broadcast(const std::string& bytes) {
    std::int64_t size = static_cast<std::int64_t>(bytes.size());
    check(MPI_Bcast(&size, 1, MPI_INT64_T, 0, ranks_), "share");
    std::string shared = is_root() ? bytes : std::string(static_cast<std::size_t>(size), '\0');
    for (std::size_t done = 0; done < shared.size(); done += bytes_at_once)
        check(MPI_Bcast(shared.data() + done, static_cast<int>(std::min(bytes_at_once, shared.size() - done)), MPI_BYTE,
                        0, ranks_),
              "share");
    return shared;
}

bool MpiCommunicator::any(bool mine) {
    int one = mine ? 1 : 0, all = 0;
    check(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_LOR, ranks_), "agree");
    return all != 0;
}

void MpiCommunicator::send_to_others(std::int64_t meeting) {
    SentCall& sent = sent_.emplace_back();
    sent.meeting = meeting;
    for (int to = 0; to < size_; ++to) {
        if (to == rank_) continue;
        MPI_Request& request = sent.requests.emplace_back(MPI_REQUEST_NULL);
        check(MPI_Isend(&sent.meeting, 1, MPI_INT64_T, to, call_tag, ranks_, &request), "call a meeting");
    }
}

void MpiCommunicator::receive_call() {
    std::int64_t meeting = 0;
    check(MPI_Recv(&meeting, 1, MPI_INT64_T, MPI_ANY_SOURCE, call_tag, ranks_, MPI_STATUS_IGNORE), "hear a call");
    newest_called_ = std::max(newest_called_, meeting);
    if (meeting == last_call) ++parted_;
}

void MpiCommunicator::forget_delivered() {
    std::erase_if(sent_, [](SentCall& sent) {
        int delivered = 0;
        check(
            MPI_Testall(static_cast<int>(sent.requests.size()), sent.requests.data(), &delivered, MPI_STATUSES_IGNORE),
            "call a meeting");
        return delivered != 0;
    });
}

void MpiCommunicator::call() {
    // Whoever called before this rank has called everyone.
    if (own_call_ == meeting_ || called()) return;
    own_call_ = meeting_;
    send_to_others(meeting_);
}

bool MpiCommunicator::called() {
    forget_delivered();
    for (int waiting = 1; waiting;) {
        check(MPI_Iprobe(MPI_ANY_SOURCE, call_tag, ranks_, &waiting, MPI_STATUS_IGNORE), "hear a call");
        if (waiting) receive_call();
    }
    // One meeting ahead, where a rank that has left the last one calls before this one has noticed its end.
    return newest_called_ >= meeting_;
}

void MpiCommunicator::meet(const std::function<void()>& while_waiting) {
    MPI_Request everyone = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(ranks_, &everyone), "meet");
    for (int here = 0;;) {
        check(MPI_Test(&everyone, &here, MPI_STATUS_IGNORE), "meet");
        if (here) break;
        if (while_waiting) while_waiting();
        // MPI's own waiting would take a core from the ranks that still compute.
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ++meeting_;
    forget_delivered();
}

void MpiCommunicator::abort(int exit_code) {
    std::fflush(nullptr);
    MPI_Abort(ranks_, exit_code);
    std::_Exit(exit_code);
}

} // namespace

std::unique_ptr<Communicator> connect_by_mpi(const Launch& launch) { return std::make_unique<MpiCommunicator>(launch); }

} // namespace bandmill::detail

bool bandmill::mpi_built() { return true; }
