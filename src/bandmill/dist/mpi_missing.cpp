// Stands in for mpi.cpp where MPI was not found.
#include "bandmill/base/error.hpp"
#include "bandmill/dist/mpi.hpp"

namespace bandmill {

bool mpi_built() { return false; }

namespace detail {

std::unique_ptr<Communicator> connect_by_mpi(const Launch& launch) {
    if (launch.ranks <= 1) return single_process();
    throw BackendUnavailable("this bandmill cannot share a study among ranks (" + launch.variable + " tells of " +
                             std::to_string(launch.ranks) +
                             ", but it was built without MPI): start it without mpirun or srun, or build it with "
                             "-DBANDMILL_MPI=ON");
}

} // namespace detail
} // namespace bandmill
