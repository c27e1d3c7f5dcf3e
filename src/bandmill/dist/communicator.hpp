// Communicator: the processes (ranks) that share one study. A program that was not started by mpirun or srun is rank 0
// of 1, and MPI is not even initialised.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bandmill {

class Communicator {
  public:
    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    virtual int local_rank() const = 0; // among the ranks of this node
    bool is_root() const { return rank() == 0; }

    // Collective: every rank calls them, in the same order.
    virtual void sum(std::span<std::int64_t> numbers) = 0;                 // rank 0 gets the sums, others keep theirs
    virtual std::vector<std::string> gather(const std::string& bytes) = 0; // rank 0 gets one per rank, others nothing
    virtual std::string broadcast(const std::string& bytes) = 0;           // rank 0's, everywhere
    virtual bool any(bool mine) = 0;

    // A meeting is where ranks, each at its own pace before, come together. Any rank may call for the next one; the
    // others notice when they ask. A rank that has nothing else to do may come uncalled and wait, `while_waiting` being
    // called every few milliseconds (it may call the others).
    virtual void call() = 0;
    virtual bool called() = 0;
    virtual void meet(const std::function<void()>& while_waiting) = 0;

    // Ends all ranks at once, after an error on this one.
    [[noreturn]] virtual void abort(int exit_code) = 0;
};

bool mpi_built();
// Throws Error if the launcher's ranks cannot be reached: this build has no MPI, say.
std::unique_ptr<Communicator> connect();

} // namespace bandmill
