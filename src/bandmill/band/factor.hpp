// Factor: a matrix made ready for solving, once, for one precision and one place. Complete when constructed and never
// changed afterwards, so any number of threads and streams may solve with one factor at the same time; copies share it.
#pragma once

#include "bandmill/band/matrix.hpp"
#include "bandmill/base/space.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace bandmill {

// How a factor solves. It is chosen when the matrix is factored, by the growth of the factors and by measuring the
// accuracy on probe systems: from (matrix, precision, backend) alone, never from the batch.
enum class SolvePath {
    partitioned, // no pivoting; the rows of a system are split over threads and held on chip: one pass over memory, or
                 // two for systems that are too long
    sequential,  // no pivoting, one lane or thread sweeps down and up a system
    pivoted,     // row exchanges, for matrices that need them; also sequential
};

const char* name(SolvePath path);

struct FactorReport {
    SolvePath path;
    // Largest row sum of |L||U| over that of |A|: 1 is ideal; the error of a solve is at most a small multiple of it.
    double pivot_growth;
    // Largest row-wise backward error of the probe systems, in units of the precision's epsilon.
    double backward_error;
    // Memory held by the factor, where it solves. O(n); docs/solver.md has the count for each path.
    std::size_t bytes;
    // What a solve may take beside that for each system while it runs: 0, but for long systems on a GPU.
    std::size_t workspace_bytes_per_system = 0;
};

namespace detail {
template <class T, class Space> struct FactorData; // the tables; each backend defines its own
} // namespace detail

template <class T, class Space> class Factor {
  public:
    Factor(const BandMatrix& matrix, const FactorReport& report,
           std::shared_ptr<const detail::FactorData<T, Space>> data)
        : size_(matrix.size()), half_bandwidth_(matrix.half_bandwidth()), boundary_(matrix.boundary()), report_(report),
          data_(std::move(data)) {}

    // A copy shares the tables, so copying is cheap; there is no move that would leave an empty factor behind.
    Factor(const Factor&) = default;
    Factor& operator=(const Factor&) = default;

    std::int64_t size() const { return size_; }
    int half_bandwidth() const { return half_bandwidth_; }
    Boundary boundary() const { return boundary_; }
    const FactorReport& report() const { return report_; }
    const detail::FactorData<T, Space>& data() const { return *data_; } // for the backends

  private:
    std::int64_t size_;
    int half_bandwidth_;
    Boundary boundary_;
    FactorReport report_;
    std::shared_ptr<const detail::FactorData<T, Space>> data_;
};

// T = double or float; a float factor is computed in higher precision and rounded.
// Throws SingularMatrix, or InvalidMatrix where a row's size, a pivot or a ratio of entries is beyond the range of T.
template <class T = double> Factor<T, Host> factor(const BandMatrix& matrix);
// The same, with its tables uploaded to a GPU. Throws BackendUnavailable without CUDA or such a device.
template <class T = double> Factor<T, Cuda> factor(const BandMatrix& matrix, Device device);

} // namespace bandmill
