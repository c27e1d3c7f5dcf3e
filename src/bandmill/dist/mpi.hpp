// How connect() reaches the ranks: by MPI where it was built, by mpi_missing.cpp where not.
#pragma once

#include "bandmill/dist/communicator.hpp"

namespace bandmill::detail {

// What the environment tells of the program that started this process.
struct Launch {
    std::string variable; // that gave it away, empty if there was no launcher
    int ranks = 1;        // 0: it does not tell
};

std::unique_ptr<Communicator> single_process();
std::unique_ptr<Communicator> connect_by_mpi(const Launch& launch);

} // namespace bandmill::detail
