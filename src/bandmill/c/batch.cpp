// The C interface to batches in which every system has a matrix of its own.
#include "bandmill/band/batch.hpp"
#include "bandmill/c/guard.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

using bandmill::BatchFactor;
using bandmill::BatchWorkspace;
using bandmill::Cuda;
using bandmill::Host;

struct bandmill_batch_factor_t {
    std::variant<BatchFactor<double, Host>, BatchFactor<float, Host>, BatchFactor<double, Cuda>,
                 BatchFactor<float, Cuda>>
        factor;
    int place;
};

struct bandmill_workspace_t {
    std::variant<BatchWorkspace<double, Host>, BatchWorkspace<float, Host>, BatchWorkspace<double, Cuda>,
                 BatchWorkspace<float, Cuda>>
        workspace;
};

namespace bandmill::c {
namespace {

void require_diagonal_count(int count) {
    if (count != 3 && count != 5)
        throw InvalidArgument("matrices cannot have " + std::to_string(count) +
                              " diagonals: give 3 (tridiagonal) or 5 (pentadiagonal), the lowest first");
}

template <class Space, class T>
BandBatch<T, Space> as_matrices(int count, const T* const* diagonals, const bandmill_shape& shape, int boundary) {
    require_diagonal_count(count);
    require(diagonals, "list of diagonals");
    constexpr const char* of_three[] = {"lower diagonal", "main diagonal", "upper diagonal"};
    constexpr const char* of_five[] = {"lower diagonal 2", "lower diagonal 1", "main diagonal", "upper diagonal 1",
                                       "upper diagonal 2"};
    const auto view = [&](int d) { return as_view<Space>(diagonals[d], shape, count == 3 ? of_three[d] : of_five[d]); };
    if (count == 3) return {{view(0), view(1), view(2)}, as_boundary(boundary)};
    return {{view(0), view(1), view(2), view(3), view(4)}, as_boundary(boundary)};
}

template <class T>
int make_factor(int count, const T* const* diagonals, const bandmill_shape& shape, int boundary, int place, int threads,
                void* stream, bandmill_batch_factor_t** handle) noexcept {
    return create(handle, [&]() -> bandmill_batch_factor_t {
        if (!on_cpu(place))
            return {factor(as_matrices<Cuda>(count, diagonals, shape, boundary), Device{place}, as_stream(stream)),
                    place};
        refuse_stream(stream);
        return {factor(as_matrices<Host>(count, diagonals, shape, boundary), Threads{threads}), place};
    });
}

template <class T>
int solve_batch(const bandmill_batch_factor_t* handle, const T* b, const bandmill_shape& b_shape, T* x,
                const bandmill_shape& x_shape, int threads, void* stream) noexcept {
    return guarded([&] {
        const auto& any = require(handle, "factor")->factor;
        if (const auto* on_host = std::get_if<BatchFactor<T, Host>>(&any)) {
            refuse_stream(stream);
            solve(*on_host, as_view<Host>(b, b_shape, "right-hand side"), as_view<Host>(x, x_shape, "solution"),
                  Threads{threads});
        } else if (const auto* on_gpu = std::get_if<BatchFactor<T, Cuda>>(&any)) {
            solve(*on_gpu, as_view<Cuda>(b, b_shape, "right-hand side"), as_view<Cuda>(x, x_shape, "solution"),
                  as_stream(stream));
        } else {
            refuse_precision<T>("factor");
        }
    });
}

template <class T>
int solve_once(int count, const T* const* diagonals, const bandmill_shape& shape, int boundary, const T* b,
               const bandmill_shape& b_shape, T* x, const bandmill_shape& x_shape, std::int64_t* status,
               bandmill_workspace_t* handle, int threads, void* stream) noexcept {
    return guarded([&] {
        auto& any = require(handle, "workspace")->workspace;
        const auto run = [&]<class Space>(BatchWorkspace<T, Space>& workspace, auto how) {
            solve(as_matrices<Space>(count, diagonals, shape, boundary), as_view<Space>(b, b_shape, "right-hand side"),
                  as_view<Space>(x, x_shape, "solution"),
                  as_view<Space>(status, bandmill_interleaved(1, shape.batch), "status"), workspace, how);
        };
        if (auto* on_host = std::get_if<BatchWorkspace<T, Host>>(&any)) {
            refuse_stream(stream);
            run(*on_host, Threads{threads});
        } else if (auto* on_gpu = std::get_if<BatchWorkspace<T, Cuda>>(&any)) {
            run(*on_gpu, as_stream(stream));
        } else {
            refuse_precision<T>("workspace");
        }
    });
}

} // namespace
} // namespace bandmill::c

using namespace bandmill::c;

extern "C" {

int bandmill_batch_factor_f64(int diagonal_count, const double* const* diagonals, bandmill_shape shape, int boundary,
                              int place, int threads, void* stream, bandmill_batch_factor_t** factor) {
    return make_factor(diagonal_count, diagonals, shape, boundary, place, threads, stream, factor);
}

int bandmill_batch_factor_f32(int diagonal_count, const float* const* diagonals, bandmill_shape shape, int boundary,
                              int place, int threads, void* stream, bandmill_batch_factor_t** factor) {
    return make_factor(diagonal_count, diagonals, shape, boundary, place, threads, stream, factor);
}

int bandmill_batch_factor_copy(const bandmill_batch_factor_t* factor, bandmill_batch_factor_t** copy) {
    return create(copy, [&] { return *require(factor, "factor"); });
}

void bandmill_batch_factor_destroy(bandmill_batch_factor_t* factor) { delete factor; }

int bandmill_batch_factor_status(const bandmill_batch_factor_t* factor, int64_t* status, void* stream) {
    return guarded([&] {
        require(factor, "factor");
        std::visit(
            [&]<class T, class Space>(const BatchFactor<T, Space>& made) {
                if (made.batch() > 0) require(status, "list that is to take the status");
                if constexpr (std::is_same_v<Space, Host>) {
                    refuse_stream(stream);
                    std::copy(made.status().begin(), made.status().end(), status);
                } else {
                    bandmill::synchronize(bandmill::Device{factor->place}, as_stream(stream));
                    made.status().copy_to({status, static_cast<std::size_t>(made.batch())});
                }
            },
            factor->factor);
    });
}

int bandmill_batch_factor_report(const bandmill_batch_factor_t* factor, bandmill_batch_report* report) {
    return guarded([&] {
        require(factor, "factor");
        require(report, "report");
        std::visit(
            [&]<class T, class Space>(const BatchFactor<T, Space>& made) {
                const bandmill::BatchShape& shape = made.shape();
                *report = {shape.rows,
                           shape.batch,
                           shape.half_bandwidth,
                           from_boundary(shape.boundary),
                           sizeof(T) == 8 ? BANDMILL_F64 : BANDMILL_F32,
                           factor->place,
                           static_cast<int64_t>(made.bytes())};
            },
            factor->factor);
    });
}

int bandmill_batch_solve_f64(const bandmill_batch_factor_t* factor, const double* b, bandmill_shape b_shape, double* x,
                             bandmill_shape x_shape, int threads, void* stream) {
    return solve_batch(factor, b, b_shape, x, x_shape, threads, stream);
}

int bandmill_batch_solve_f32(const bandmill_batch_factor_t* factor, const float* b, bandmill_shape b_shape, float* x,
                             bandmill_shape x_shape, int threads, void* stream) {
    return solve_batch(factor, b, b_shape, x, x_shape, threads, stream);
}

int bandmill_workspace_create(int diagonal_count, int64_t rows, int64_t batch, int boundary, int precision, int place,
                              int threads, bandmill_workspace_t** workspace) {
    return create(workspace, [&] {
        require_diagonal_count(diagonal_count);
        const bandmill::BatchShape shape{rows, batch, diagonal_count / 2, as_boundary(boundary)};
        bandmill::detail::check_batch_shape(shape);
        const auto made = [&]<class T>(std::type_identity<T>) -> bandmill_workspace_t {
            if (on_cpu(place)) return {BatchWorkspace<T, Host>(shape, bandmill::Threads{threads})};
            return {BatchWorkspace<T, Cuda>(shape, bandmill::Device{place})};
        };
        return is_double(precision) ? made(std::type_identity<double>{}) : made(std::type_identity<float>{});
    });
}

void bandmill_workspace_destroy(bandmill_workspace_t* workspace) { delete workspace; }

int bandmill_batch_solve_once_f64(int diagonal_count, const double* const* diagonals, bandmill_shape shape,
                                  int boundary, const double* b, bandmill_shape b_shape, double* x,
                                  bandmill_shape x_shape, int64_t* status, bandmill_workspace_t* workspace, int threads,
                                  void* stream) {
    return solve_once(diagonal_count, diagonals, shape, boundary, b, b_shape, x, x_shape, status, workspace, threads,
                      stream);
}

int bandmill_batch_solve_once_f32(int diagonal_count, const float* const* diagonals, bandmill_shape shape, int boundary,
                                  const float* b, bandmill_shape b_shape, float* x, bandmill_shape x_shape,
                                  int64_t* status, bandmill_workspace_t* workspace, int threads, void* stream) {
    return solve_once(diagonal_count, diagonals, shape, boundary, b, b_shape, x, x_shape, status, workspace, threads,
                      stream);
}
}
