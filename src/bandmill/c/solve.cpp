// The C interface to factors of one matrix and their solves.
#include "bandmill/band/solve.hpp"
#include "bandmill/c/guard.hpp"

#include <span>
#include <type_traits>
#include <variant>

using bandmill::BandMatrix;
using bandmill::Cuda;
using bandmill::Factor;
using bandmill::Host;

struct bandmill_factor_t {
    std::variant<Factor<double, Host>, Factor<float, Host>, Factor<double, Cuda>, Factor<float, Cuda>> factor;
    int place;
};

namespace bandmill::c {
namespace {

static_assert(static_cast<int>(SolvePath::partitioned) == BANDMILL_PATH_PARTITIONED &&
              static_cast<int>(SolvePath::sequential) == BANDMILL_PATH_SEQUENTIAL &&
              static_cast<int>(SolvePath::pivoted) == BANDMILL_PATH_PIVOTED);

std::span<const double> diagonal(const double* entries, std::int64_t rows, const char* name) {
    return {require(entries, name), static_cast<std::size_t>(rows)};
}

// Before rows become a length without a sign.
void require_rows(std::int64_t rows) {
    if (rows < 1)
        throw InvalidArgument("a matrix cannot have " + std::to_string(rows) +
                              " rows (there must be at least one): check the number of rows");
}

bandmill_factor_t make_factor(const BandMatrix& matrix, int precision, int place) {
    const auto made = [&]<class T>(std::type_identity<T>) -> bandmill_factor_t {
        if (on_cpu(place)) return {factor<T>(matrix), place};
        return {factor<T>(matrix, Device{place}), place};
    };
    return is_double(precision) ? made(std::type_identity<double>{}) : made(std::type_identity<float>{});
}

template <class T>
int solve_batch(const bandmill_factor_t* handle, const T* b, const bandmill_shape& b_shape, T* x,
                const bandmill_shape& x_shape, int threads, void* stream) noexcept {
    return guarded([&] {
        const auto& any = require(handle, "factor")->factor;
        if (const auto* on_host = std::get_if<Factor<T, Host>>(&any)) {
            refuse_stream(stream);
            solve(*on_host, as_view<Host>(b, b_shape, "right-hand side"), as_view<Host>(x, x_shape, "solution"),
                  Threads{threads});
        } else if (const auto* on_gpu = std::get_if<Factor<T, Cuda>>(&any)) {
            solve(*on_gpu, as_view<Cuda>(b, b_shape, "right-hand side"), as_view<Cuda>(x, x_shape, "solution"),
                  as_stream(stream));
        } else {
            refuse_precision<T>("factor");
        }
    });
}

} // namespace
} // namespace bandmill::c

using namespace bandmill::c;

extern "C" {

int bandmill_factor_tridiagonal(int64_t rows, const double* lower, const double* main, const double* upper,
                                int boundary, int precision, int place, bandmill_factor_t** factor) {
    return create(factor, [&] {
        require_rows(rows);
        return make_factor(BandMatrix::tridiagonal(diagonal(lower, rows, "lower diagonal"),
                                                   diagonal(main, rows, "main diagonal"),
                                                   diagonal(upper, rows, "upper diagonal"), as_boundary(boundary)),
                           precision, place);
    });
}

int bandmill_factor_pentadiagonal(int64_t rows, const double* lower2, const double* lower1, const double* main,
                                  const double* upper1, const double* upper2, int boundary, int precision, int place,
                                  bandmill_factor_t** factor) {
    return create(factor, [&] {
        require_rows(rows);
        return make_factor(BandMatrix::pentadiagonal(
                               diagonal(lower2, rows, "lower diagonal 2"), diagonal(lower1, rows, "lower diagonal 1"),
                               diagonal(main, rows, "main diagonal"), diagonal(upper1, rows, "upper diagonal 1"),
                               diagonal(upper2, rows, "upper diagonal 2"), as_boundary(boundary)),
                           precision, place);
    });
}

int bandmill_factor_toeplitz(int64_t rows, int weight_count, const double* weights, int boundary, int precision,
                             int place, bandmill_factor_t** factor) {
    return create(factor, [&] {
        if (weight_count != 3 && weight_count != 5)
            throw bandmill::InvalidArgument(
                "a constant-diagonal matrix cannot have " + std::to_string(weight_count) +
                " weights: give 3 (tridiagonal) or 5 (pentadiagonal), lowest diagonal first");
        const auto count = static_cast<std::size_t>(weight_count);
        return make_factor(
            BandMatrix::toeplitz(rows, {require(weights, "list of weights"), count}, as_boundary(boundary)), precision,
            place);
    });
}

int bandmill_factor_copy(const bandmill_factor_t* factor, bandmill_factor_t** copy) {
    return create(copy, [&] { return *require(factor, "factor"); });
}

void bandmill_factor_destroy(bandmill_factor_t* factor) { delete factor; }

int bandmill_factor_report(const bandmill_factor_t* factor, bandmill_report* report) {
    return guarded([&] {
        require(factor, "factor");
        require(report, "report");
        std::visit(
            [&]<class T, class Space>(const Factor<T, Space>& made) {
                const bandmill::FactorReport& found = made.report();
                *report = {made.size(),
                           made.half_bandwidth(),
                           from_boundary(made.boundary()),
                           sizeof(T) == 8 ? BANDMILL_F64 : BANDMILL_F32,
                           factor->place,
                           static_cast<int>(found.path),
                           found.pivot_growth,
                           found.backward_error,
                           static_cast<int64_t>(found.bytes),
                           static_cast<int64_t>(found.workspace_bytes_per_system)};
            },
            factor->factor);
    });
}

int bandmill_solve_f64(const bandmill_factor_t* factor, const double* b, bandmill_shape b_shape, double* x,
                       bandmill_shape x_shape, int threads, void* stream) {
    return solve_batch(factor, b, b_shape, x, x_shape, threads, stream);
}

int bandmill_solve_f32(const bandmill_factor_t* factor, const float* b, bandmill_shape b_shape, float* x,
                       bandmill_shape x_shape, int threads, void* stream) {
    return solve_batch(factor, b, b_shape, x, x_shape, threads, stream);
}
}
