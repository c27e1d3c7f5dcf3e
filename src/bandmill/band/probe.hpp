// Probe: how accurate a way of solving is on a given matrix, measured on a few right-hand sides before it is chosen.
#pragma once

#include "bandmill/band/matrix.hpp"
#include "bandmill/band/tables.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace bandmill::detail {

template <class T> class Probe {
  public:
    explicit Probe(const BandMatrix& matrix);

    // Largest |r_i| / (|A_i|_1 |x|_inf + |b_i|) over rows and right-hand sides, in epsilons of T, with the residual
    // r = b - A x in extended precision; rows are scaled alike, so this is the measure after row equilibration.
    // Infinite if a solution is not finite. `solve` turns a right-hand side into its solution in place.
    double backward_error(const std::function<void(T*)>& solve) const;

  private:
    const BandMatrix& matrix_;
    std::vector<long double> row_sum_;
    std::vector<std::vector<T>> right_hand_sides_;
};

// One system (n values, in place) on the host, as a kernel solves it and in its arithmetic.
template <class T> void solve_partitioned(const PartitionTables<T>& tables, int width, T* x);
template <class T> void solve_direct(const DirectView<T>& view, int width, bool periodic, T* x);
template <class T> void solve_pivoted(const PivotedView<T>& view, int reach, T* x);

} // namespace bandmill::detail
