// Stands in for rivals_lapack.cpp where LAPACKE or OpenBLAS was not found.
#include "rivals_lapack.hpp"

namespace app {
namespace {

Rival<bandmill::Host> missing(const char* name) {
    const auto obstacle = [](const SolveCase&) { return "not built: LAPACKE or OpenBLAS was not found"; };
    return {name, Layout::contiguous, 0, obstacle, {}, {}, {}};
}

} // namespace

Rival<bandmill::Host> lapack_gttrs(const Place<bandmill::Host>&) { return missing("gttrs"); }
Rival<bandmill::Host> lapack_gbtrs(const Place<bandmill::Host>&) { return missing("gbtrs"); }
Rival<bandmill::Host> lapack_gtsv(const Place<bandmill::Host>&) { return missing("gtsv"); }
Rival<bandmill::Host> lapack_gbsv(const Place<bandmill::Host>&) { return missing("gbsv"); }

} // namespace app
