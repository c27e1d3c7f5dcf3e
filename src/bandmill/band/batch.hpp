// A matrix of its own for every system of a batch: tridiagonal or pentadiagonal, open or periodic.
//
// Elimination is without row exchanges, in the precision of the data. Every system has a status: 0, or 1 + the first
// row whose pivot cannot be used. A pivot p can be used if 2^-1022 <= |p| < 2^1022 (f32: 2^-126, 2^126), so that it and
// its reciprocal are normal numbers; zero, NaN and infinity cannot. The solution of a bad system is NaN in every row.
// The others are not touched by it: a system's solution depends on its own matrix and right-hand side, the precision
// and the backend, never on the batch around it. Diagonally dominant and symmetric positive definite matrices never
// need row exchanges; for others the error grows with the pivots.
//
// Factor once and solve as often as wanted:          auto factor = bandmill::factor(matrices);
//                                                    bandmill::solve(factor, b, x);
// Or both in one call, which leaves the matrices be: bandmill::solve(matrices, b, x, status, workspace);
#pragma once

#include "bandmill/band/matrix.hpp"
#include "bandmill/base/array.hpp"
#include "bandmill/base/field.hpp"
#include "bandmill/base/space.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

namespace bandmill {

struct BatchShape {
    std::int64_t rows = 1;
    std::int64_t batch = 0;
    int half_bandwidth = 1; // 1 or 2
    Boundary boundary = Boundary::open;

    bool operator==(const BatchShape&) const = default;
};

namespace detail {
// Throws InvalidArgument unless these are the 3 or 5 diagonals of a batch; returns its shape.
BatchShape check_diagonals(const FieldShape* shapes, int count, Boundary boundary);
void check_batch_shape(const BatchShape& shape); // throws InvalidArgument
} // namespace detail

// The matrices, in memory that somebody else owns: 2W + 1 diagonals from the lowest to the highest, each a view with
// one entry per row and system, of any layout. Conventions are those of BandMatrix: entry i of diagonal k is A[i, i +
// k]; periodic columns wrap, and add up where n <= 2W; entries outside an open matrix are never used, they may be NaN.
template <class T, class Space = Host> class BandBatch {
  public:
    using Diagonal = FieldView<const T, Space>;

    BandBatch(std::initializer_list<Diagonal> diagonals, Boundary boundary = Boundary::open) {
        int count = 0;
        for (const Diagonal& diagonal : diagonals) {
            if (count < most_diagonals) {
                data_[count] = diagonal.data();
                shapes_[count] = diagonal.shape();
            }
            ++count;
        }
        shape_ = detail::check_diagonals(shapes_, count, boundary);
    }

    const BatchShape& shape() const { return shape_; }
    std::int64_t rows() const { return shape_.rows; }
    std::int64_t batch() const { return shape_.batch; }
    int half_bandwidth() const { return shape_.half_bandwidth; }
    Boundary boundary() const { return shape_.boundary; }
    int diagonals() const { return 2 * shape_.half_bandwidth + 1; }
    // Counted from the lowest.
    const T* data(int diagonal) const { return data_[diagonal]; }
    const FieldShape& field_shape(int diagonal) const { return shapes_[diagonal]; }

  private:
    static constexpr int most_diagonals = 5;
    const T* data_[most_diagonals] = {};
    FieldShape shapes_[most_diagonals] = {};
    BatchShape shape_;
};

// All diagonals interleaved in one array, the lowest first: entry i of diagonal d of system m is
// data[(d * rows + i) * batch + m].
template <class Space = Host, class T>
BandBatch<std::remove_const_t<T>, Space> interleaved_bands(T* data, const BatchShape& shape) {
    detail::check_batch_shape(shape);
    const auto diagonal = [&](int d) {
        return FieldView<const std::remove_const_t<T>, Space>(data + d * shape.rows * shape.batch,
                                                              {shape.rows, shape.batch, shape.batch, 1});
    };
    if (shape.half_bandwidth == 1) return {{diagonal(0), diagonal(1), diagonal(2)}, shape.boundary};
    return {{diagonal(0), diagonal(1), diagonal(2), diagonal(3), diagonal(4)}, shape.boundary};
}

namespace detail {
template <class T, class Space> struct BatchFactorData {
    Array<T, Space> values;                // as band/batch_sweeps.hpp says
    Array<std::int64_t, Space> status;     // of each system
    Device device{};                       // of a CUDA factor
    std::shared_ptr<const void> knowledge; // what the backend wants to know about its device
    Array<int, Space> reach;               // of each system, where a CUDA factor solves in pieces
};
} // namespace detail

// The factored matrices: never changed, so any number of threads and streams may solve with them; copies share them.
template <class T, class Space> class BatchFactor {
  public:
    BatchFactor(const BatchShape& shape, std::shared_ptr<const detail::BatchFactorData<T, Space>> data)
        : shape_(shape), data_(std::move(data)) {}
    BatchFactor(const BatchFactor&) = default;
    BatchFactor& operator=(const BatchFactor&) = default;

    const BatchShape& shape() const { return shape_; }
    std::int64_t size() const { return shape_.rows; }
    std::int64_t batch() const { return shape_.batch; }
    // 0, or 1 + the first row whose pivot cannot be used; one per system. On CUDA it lies on the device.
    const Array<std::int64_t, Space>& status() const { return data_->status; }
    std::size_t bytes() const {
        return static_cast<std::size_t>(data_->values.size()) * sizeof(T) +
               static_cast<std::size_t>(data_->status.size()) * sizeof(std::int64_t) +
               static_cast<std::size_t>(data_->reach.size()) * sizeof(int);
    }
    const detail::BatchFactorData<T, Space>& data() const { return *data_; } // for the backends

  private:
    BatchShape shape_;
    std::shared_ptr<const detail::BatchFactorData<T, Space>> data_;
};

template <class T> BatchFactor<T, Host> factor(const BandBatch<T, Host>& matrices, Threads threads = {});
// Allocates on the device; the rest is work on the stream, which is not waited for. Whoever solves on another stream
// has to wait for this one.
template <class T> BatchFactor<T, Cuda> factor(const BandBatch<T, Cuda>& matrices, Device device, Stream stream = {});

// x = A^-1 b for every system, in place or out of place, views of any layout; nothing is allocated. On CUDA nothing is
// waited for, and the call may be captured in a graph.
template <class T>
void solve(const BatchFactor<T, Host>& factor, std::type_identity_t<FieldView<const T, Host>> b,
           std::type_identity_t<FieldView<T, Host>> x, Threads threads = {});
template <class T>
void solve(const BatchFactor<T, Cuda>& factor, std::type_identity_t<FieldView<const T, Cuda>> b,
           std::type_identity_t<FieldView<T, Cuda>> x, Stream stream = {});
template <class T>
void solve(const BatchFactor<T, Host>& factor, std::type_identity_t<FieldView<T, Host>> x, Threads threads = {}) {
    solve(factor, FieldView<const T, Host>(x), x, threads);
}
template <class T>
void solve(const BatchFactor<T, Cuda>& factor, std::type_identity_t<FieldView<T, Cuda>> x, Stream stream = {}) {
    solve(factor, FieldView<const T, Cuda>(x), x, stream);
}

// Room for what one combined factor and solve keeps between its sweeps, for batches of one shape. It may serve any
// number of solves, one at a time: on CUDA those of one stream.
template <class T, class Space> class BatchWorkspace;

template <class T> class BatchWorkspace<T, Host> {
  public:
    explicit BatchWorkspace(const BatchShape& shape, Threads threads = {}); // for up to so many threads
    const BatchShape& shape() const { return shape_; }
    std::size_t bytes() const { return static_cast<std::size_t>(values_.size()) * sizeof(T); }
    int threads() const { return threads_; }
    T* of_thread(int which) { return values_.data() + which * (values_.size() / threads_); }

  private:
    BatchShape shape_;
    int threads_;
    Array<T, Host> values_;
};

template <class T> class BatchWorkspace<T, Cuda> {
  public:
    explicit BatchWorkspace(const BatchShape& shape, Device device = {});
    const BatchShape& shape() const { return shape_; }
    Device device() const { return values_.device(); }
    std::size_t bytes() const { return static_cast<std::size_t>(values_.size()) * sizeof(T); }
    T* data() { return values_.data(); }
    const void* knowledge() const { return knowledge_.get(); } // for the backend

  private:
    BatchShape shape_;
    std::shared_ptr<const void> knowledge_;
    Array<T, Cuda> values_;
};

// Factors and solves in one call. The matrices are left alone, and so is b unless x is the same view. `status` is a
// view of one row, apart from all of them. Nothing is allocated; on CUDA nothing is waited for, and the call may be
// captured in a graph.
template <class T>
void solve(const BandBatch<T, Host>& matrices, std::type_identity_t<FieldView<const T, Host>> b,
           std::type_identity_t<FieldView<T, Host>> x, FieldView<std::int64_t, Host> status,
           BatchWorkspace<T, Host>& workspace, Threads threads = {});
template <class T>
void solve(const BandBatch<T, Cuda>& matrices, std::type_identity_t<FieldView<const T, Cuda>> b,
           std::type_identity_t<FieldView<T, Cuda>> x, FieldView<std::int64_t, Cuda> status,
           BatchWorkspace<T, Cuda>& workspace, Stream stream = {});

namespace detail {
// Throws InvalidArgument where a solve with these cannot be done.
void check_batch_solve(const BatchShape& shape, const FieldShape& b, const void* b_data, const FieldShape& x,
                       const void* x_data, std::size_t element_bytes);
// The same for a combined factor and solve: also the status, the workspace and that all but x and the status are left
// alone.
void check_combined(const BatchShape& shape, const AnyField* diagonals, const AnyField& b, const AnyField& x,
                    const AnyField& status, const BatchShape& workspace);

template <class T, class Space>
void check_combined(const BandBatch<T, Space>& matrices, const FieldView<const T, Space>& b,
                    const FieldView<T, Space>& x, const FieldView<std::int64_t, Space>& status,
                    const BatchShape& workspace) {
    AnyField diagonals[5];
    for (int d = 0; d < matrices.diagonals(); ++d)
        diagonals[d] = {matrices.field_shape(d), matrices.data(d), sizeof(T)};
    check_combined(matrices.shape(), diagonals, any_field(b), any_field(x), any_field(status), workspace);
}
} // namespace detail

} // namespace bandmill
