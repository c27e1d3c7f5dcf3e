// The usual way on the CPU: plain loops.
#include "paper.hpp"
#include "parallel.hpp"
#include "plane_rival.hpp"

#include "bandmill/base/array.hpp"
#include "environment.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::Array;
using bandmill::Host;

// A step has five barriers. With fewer points than these two threads were no faster than one on an idle machine, and
// a hundred times slower on a busy one.
constexpr std::int64_t points_worth_threads = 4096;

template <class T> class PlaneLoops : public RivalStepper<T> {
  public:
    PlaneLoops(const bandmill::EnsembleSpec& spec, std::span<const T> states, int threads)
        : PlaneLoops(spec, plane_rival_scheme(spec), states, threads) {}

    std::string path() const override {
        return fmt::format("stencil loop + pentadiagonal loops + transpositions ({} {})", threads_,
                           threads_ == 1 ? "thread" : "threads");
    }
    std::size_t held_bytes() const override {
        return static_cast<std::size_t>(c_.size() + f_.size() + turned_.size()) * sizeof(T);
    }
    void advance(std::int64_t steps) override {
        for (std::int64_t s = 0; s < steps; ++s)
            for (T* c = c_.begin(); c != c_.end(); c += plane_) step(c);
    }
    std::vector<T> states(std::int64_t first, std::int64_t count) const override {
        return std::vector<T>(c_.begin() + first * plane_, c_.begin() + (first + count) * plane_);
    }

  private:
    PlaneLoops(const bandmill::EnsembleSpec& spec, const PlaneRivalScheme& scheme, std::span<const T> states,
               int threads)
        : numbers_(spec, scheme), plane_(spec.points()), threads_(plane_ < points_worth_threads ? 1 : threads),
          along_x_(paper_factor<T>(scheme.along_x)), along_y_(paper_factor<T>(scheme.along_y)), c_(states), f_(plane_),
          turned_(plane_) {
        along_x_.tables.values = along_x_.values.data();
        along_y_.tables.values = along_y_.values.data();
    }

    void step(T* c) {
        right_sides(c);
        const std::int64_t nx = numbers_.nx, ny = numbers_.ny;
        parallel_ranges(threads_, nx, [&](std::int64_t begin, std::int64_t end) {
            paper_solve<T>(along_y_.tables, f_.data(), nx, begin, end, nullptr);
        });
        transpose(f_.data(), nx, ny, [&](std::int64_t i, std::int64_t j, T value) { turned_[i * ny + j] = value; });
        parallel_ranges(threads_, ny, [&](std::int64_t begin, std::int64_t end) {
            paper_solve<T>(along_x_.tables, turned_.data(), ny, begin, end, nullptr);
        });
        transpose(turned_.data(), ny, nx, [&](std::int64_t j, std::int64_t i, T value) { c[j * nx + i] += value; });
    }

    void right_sides(const T* c) {
        T* const mu = turned_.data(); // not needed yet
        const auto rows = [&](const auto& row_of) {
            parallel_ranges(
                threads_, numbers_.ny,
                [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t j = begin; j < end; ++j) row_of(j);
                },
                1);
        };
        const auto second = [&](const T* of, std::int64_t i, std::int64_t j, T factor_x, T factor_y) {
            const std::int64_t n = numbers_.nx, m = numbers_.ny, row = j * n;
            const std::int64_t left = i > 0 ? i - 1 : n - 1, right = i + 1 < n ? i + 1 : 0;
            const std::int64_t below = (j > 0 ? j - 1 : m - 1) * n, above = (j + 1 < m ? j + 1 : 0) * n;
            const T here = of[row + i];
            return factor_x * (of[row + left] - 2 * here + of[row + right]) +
                   factor_y * (of[below + i] - 2 * here + of[above + i]);
        };
        rows([&](std::int64_t j) {
            for (std::int64_t i = 0; i < numbers_.nx; ++i) {
                const T here = c[j * numbers_.nx + i];
                mu[j * numbers_.nx + i] =
                    here * here * here - here - numbers_.gamma * second(c, i, j, numbers_.x, numbers_.y);
            }
        });
        rows([&](std::int64_t j) {
            for (std::int64_t i = 0; i < numbers_.nx; ++i)
                f_[j * numbers_.nx + i] = second(mu, i, j, numbers_.update_x, numbers_.update_y);
        });
    }

    // put(i, j, from[j][i]), by squares that stay in the cache.
    template <class Put> void transpose(const T* from, std::int64_t columns, std::int64_t rows, const Put& put) {
        constexpr std::int64_t side = 16;
        parallel_ranges(
            threads_, columns,
            [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i0 = begin; i0 < end; i0 += side)
                    for (std::int64_t j0 = 0; j0 < rows; j0 += side)
                        for (std::int64_t i = i0; i < std::min(i0 + side, end); ++i)
                            for (std::int64_t j = j0; j < std::min(j0 + side, rows); ++j)
                                put(i, j, from[j * columns + i]);
            },
            side);
    }

    PlaneRivalNumbers<T> numbers_;
    std::int64_t plane_;
    int threads_;
    PaperFactor<T> along_x_, along_y_;
    Array<T, Host> c_, f_, turned_;
};

} // namespace

PlaneRivalScheme plane_rival_scheme(const bandmill::EnsembleSpec& spec) {
    const double gamma = std::get<bandmill::CahnHilliard>(spec.equation).gamma, dt = spec.time_step;
    const double x = 1 / (spec.grid.spacing() * spec.grid.spacing());
    const double y = 1 / (spec.grid_y->spacing() * spec.grid_y->spacing());
    const auto matrix = [&](const bandmill::Grid& grid, double second) {
        const double s = gamma * dt * second * second, row[] = {s, -4 * s, 1 + 6 * s, -4 * s, s};
        return bandmill::BandMatrix::toeplitz(grid.points(), row, bandmill::Boundary::periodic);
    };
    return {matrix(spec.grid, x), matrix(*spec.grid_y, y), gamma, x, y, dt};
}

template <class T>
std::unique_ptr<RivalStepper<T>> make_plane_rival(const bandmill::EnsembleSpec& spec, std::span<const T> states,
                                                  bandmill::Threads threads) {
    return std::make_unique<PlaneLoops<T>>(spec, states, threads.count > 0 ? threads.count : default_threads());
}
template std::unique_ptr<RivalStepper<double>> make_plane_rival(const bandmill::EnsembleSpec&, std::span<const double>,
                                                                bandmill::Threads);
template std::unique_ptr<RivalStepper<float>> make_plane_rival(const bandmill::EnsembleSpec&, std::span<const float>,
                                                               bandmill::Threads);

} // namespace app
