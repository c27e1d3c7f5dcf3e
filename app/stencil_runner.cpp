#include "stencil_runner.hpp"

#include "environment.hpp"
#include "place_cuda.hpp"
#include "place_host.hpp"
#include "stencil_naive.hpp"

#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::Cuda;
using bandmill::Host;
using bandmill::PlaneView;

// The arrays of one case; repetitions take turns in them.
template <class T, class Space> struct StencilFields {
    struct Turn {
        bandmill::Array<T, Space> in, out, u, v;
    };
    const std::vector<T> block = random_block<T>();
    std::vector<Turn> turns;

    StencilFields(const Place<Space>& place, const StencilCase& what, int count) {
        const auto make = [&](bool wanted) {
            auto array = place.template allocate<T>(wanted ? what.elements() : 0);
            if (wanted) place.template fill<T>(array, block);
            return array;
        };
        for (int i = 0; i < count; ++i)
            turns.push_back({make(true), make(true), make(what.along_x()), make(what.along_y())});
    }
    Turn& operator[](int number) { return turns[static_cast<std::size_t>(number) % turns.size()]; }
    // An element that is never written must not pass for a result.
    void spoil(const Place<Space>& place) {
        for (Turn& turn : turns)
            place.template fill<T>(turn.out, std::vector<T>(4096, std::numeric_limits<T>::quiet_NaN()));
    }
};

// What a point should hold, in long double, from the block that fills all fields; and the magnitudes it is made of.
template <class T> class Expected {
  public:
    Expected(const StencilCase& what, const std::vector<T>& block) : what_(what), block_(block) {}

    std::pair<long double, long double> at(std::int64_t y, std::int64_t x, std::int64_t m) const {
        if (what_.velocities() > 0) return advected(y, x, m);
        const bandmill::Stencil stencil = make_stencil(what_.kind);
        long double sum = 0, size = 0;
        for (std::int64_t dy = -stencil.up(); dy <= stencil.down(); ++dy)
            for (std::int64_t dx = -stencil.left(); dx <= stencil.right(); ++dx) {
                const long double term = static_cast<long double>(stencil.weight(dy, dx)) * value(y + dy, x + dx, m);
                sum += term;
                size += std::abs(term);
            }
        return {sum, size};
    }

  private:
    long double value(std::int64_t y, std::int64_t x, std::int64_t m) const {
        const auto& [rows, columns, batch] = what_.size;
        bool negative = false;
        y = inside(y, rows, negative), x = inside(x, columns, negative);
        const long double found = block_[static_cast<std::size_t>((m * rows + y) * columns + x) % block_.size()];
        return negative ? -found : found;
    }
    // Where a point beyond an end is found again, as often as it takes.
    std::int64_t inside(std::int64_t i, std::int64_t n, bool& negative) const {
        if (what_.edges == EdgeKind::periodic) return (i % n + n) % n;
        while (i < 0 || i >= n) {
            i = i < 0 ? -1 - i : 2 * n - 1 - i;
            if (what_.edges == EdgeKind::odd) negative = !negative;
        }
        return i;
    }
    std::pair<long double, long double> advected(std::int64_t y, std::int64_t x, std::int64_t m) const {
        const bandmill::RightWeno5<double> derivative(bench_spacing);
        const long double speed = value(y, x, m); // fields and velocities hold the same
        long double sum = 0;
        for (const bool along_x : {true, false}) {
            if (!(along_x ? what_.along_x() : what_.along_y())) continue;
            double window[6];
            for (int k = 0; k < 6; ++k) {
                const int d = speed > 0 ? 2 - k : k - 2;
                window[k] = static_cast<double>(along_x ? value(y, x + d, m) : value(y + d, x, m));
            }
            sum += std::abs(speed) * derivative.to_derivative() * derivative(window);
        }
        return {sum, 1 / bench_spacing};
    }

    const StencilCase& what_;
    const std::vector<T>& block_;
};

template <class Space> class Runner final : public StencilRunner {
  public:
    Runner(const StencilOptions& options, Place<Space> place) : options_(options), place_(std::move(place)) {}
    std::string device_name() const override { return place_.name(); }

    std::variant<StencilRecord, StencilSkipped> run(const StencilCase& what) override {
        const double needed = (2 + what.velocities()) * what.points() * static_cast<double>(what.element_bytes());
        const double free = static_cast<double>(place_.free_bytes());
        if (needed > 0.9 * free)
            return StencilSkipped{
                what, fmt::format("needs {}, and {} are free", readable_bytes(needed), readable_bytes(free))};
        return what.precision == Precision::f64 ? run_in<double>(what) : run_in<float>(what);
    }

  private:
    template <class T> StencilRecord run_in(const StencilCase& what) {
        const auto bytes = static_cast<std::size_t>(what.elements()) * sizeof(T);
        const std::size_t footprint = bytes * static_cast<std::size_t>(2 + what.velocities());
        const int count = turns(footprint, place_.cache(), place_.free_bytes() / 2);
        StencilRecord record{what, place_.threads(), 0, 0, {}, {}};
        if constexpr (std::is_same_v<Space, Cuda>) record.ceiling_gbytes_per_s = large_copy();
        StencilFields<T, Space> fields(place_, what, count);
        record.same_size_copy_us = time([&](int number) { copy<T>(fields[number]); }).median;
        if constexpr (std::is_same_v<Space, Host>)
            record.ceiling_gbytes_per_s = 2e-3 * static_cast<double>(bytes) / record.same_size_copy_us;
        fields.spoil(place_);
        record.ours = result(record, fields, time([&](int number) { compute<T>(what, fields[number]); }));
        const NaiveJob<T> job = naive_job<T>(what);
        const bool wraps_once = what.size.columns >= job.left && what.size.columns >= job.right &&
                                what.size.rows >= job.up && what.size.rows >= job.down;
        if (!options_.rivals.empty() && wraps_once) {
            fields.spoil(place_);
            record.naive = result(record, fields, time([&](int number) { naive(job, fields[number]); }));
        }
        return record;
    }

    template <class Work> Timing time(const Work& work) {
        return measure(
            place_, Patience{options_.repetitions, 2, 7}, [](int count) { return count; }, [](int, int) {}, work);
    }

    double large_copy() {
        if (large_copy_ > 0) return large_copy_;
        const std::size_t bytes = place_.ceiling_bytes(0);
        place_.prepare_ceiling(bytes);
        const Timing timing = measure(
            place_, Patience{0, 2, 7}, [](int count) { return count; }, [](int, int) {},
            [this](int number) { place_.run_ceiling(number); });
        place_.end_ceiling();
        return large_copy_ = 2e-3 * static_cast<double>(bytes) / timing.median;
    }

    template <class T, class Turn> void copy(Turn& turn) {
        if constexpr (std::is_same_v<Space, Cuda>) {
            place_.template refresh<T>(turn.out, &turn.in, {});
        } else {
            const std::int64_t size = turn.in.size();
            parallel_ranges(place_.threads_for(size), size, [&](std::int64_t begin, std::int64_t end) {
                std::memcpy(turn.out.data() + begin, turn.in.data() + begin,
                            static_cast<std::size_t>(end - begin) * sizeof(T));
            });
        }
    }

    template <class T, class Turn> void compute(const StencilCase& what, Turn& turn) {
        const auto& [rows, columns, batch] = what.size;
        const auto view = [&](bandmill::Array<T, Space>& array) { return plane(array, rows, columns, batch); };
        const auto into = bandmill::Into::replace;
        const bandmill::Edges edges = make_edges(what.edges);
        if (what.velocities() == 0)
            return bandmill::apply(make_stencil(what.kind), view(turn.in), view(turn.out), edges, into, resource());
        bandmill::Velocity<T, Space> velocity;
        if (what.along_x()) velocity.x = view(turn.u);
        if (what.along_y()) velocity.y = view(turn.v);
        bandmill::advect(velocity, {bench_spacing, bench_spacing}, view(turn.in), view(turn.out), edges, into,
                         resource());
    }
    auto resource() const {
        if constexpr (std::is_same_v<Space, Cuda>)
            return bandmill::Stream{};
        else
            return bandmill::Threads{place_.threads()};
    }

    template <class T> static NaiveJob<T> naive_job(const StencilCase& what) {
        const bandmill::RightWeno5<T> derivative(bench_spacing);
        NaiveJob<T> job{nullptr,
                        nullptr,
                        nullptr,
                        nullptr,
                        what.size.rows,
                        what.size.columns,
                        what.size.batch,
                        make_edges(what.edges).kind(),
                        0,
                        0,
                        0,
                        0,
                        {},
                        derivative,
                        derivative.to_derivative()};
        if (what.velocities() > 0) {
            job.left = job.right = what.along_x() ? 3 : 0;
            job.up = job.down = what.along_y() ? 3 : 0;
            return job;
        }
        const bandmill::Stencil stencil = make_stencil(what.kind);
        job.left = static_cast<int>(stencil.left()), job.right = static_cast<int>(stencil.right());
        job.up = static_cast<int>(stencil.up()), job.down = static_cast<int>(stencil.down());
        T* weight = job.weights;
        for (std::int64_t dy = -stencil.up(); dy <= stencil.down(); ++dy)
            for (std::int64_t dx = -stencil.left(); dx <= stencil.right(); ++dx)
                *weight++ = static_cast<T>(stencil.weight(dy, dx));
        return job;
    }
    template <class T, class Turn> void naive(NaiveJob<T> job, Turn& turn) {
        job.in = turn.in.data();
        job.out = turn.out.data();
        job.u = turn.u.size() > 0 ? turn.u.data() : nullptr;
        job.v = turn.v.size() > 0 ? turn.v.data() : nullptr;
        if constexpr (std::is_same_v<Space, Cuda>) {
            run_naive(place_.device(), job);
        } else {
            parallel_ranges(
                place_.threads_for(turn.in.size()), job.rows * job.batch,
                [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t row = begin; row < end; ++row)
                        for (std::int64_t x = 0; x < job.columns; ++x)
                            naive_point(job, row % job.rows, x, row / job.rows);
                },
                1);
        }
    }

    template <class T>
    StencilResult result(const StencilRecord& record, StencilFields<T, Space>& fields, const Timing& timing) {
        const StencilCase& what = record.what;
        const double speed = 1e-3 * what.moved_bytes() / timing.median;
        StencilResult result{timing, speed, speed / record.ceiling_gbytes_per_s, 0, false};
        const auto& [rows, columns, batch] = what.size;
        struct Point {
            std::int64_t y, x, m;
        };
        std::vector<Point> points;
        std::vector<std::int64_t> offsets;
        // Corners, the ends of rows, and steps that share no factor with the sizes of tiles.
        for (std::int64_t k = 0; k < 4096; ++k) {
            const std::int64_t y = k < 16 ? (k % 4 < 2 ? k % 4 : rows - k % 4 + 1) : k * 7919 % rows,
                               x = k < 16 ? (k / 4 < 2 ? k / 4 : columns - k / 4 + 1) : k * 104729 % columns;
            if (y < 0 || y >= rows || x < 0 || x >= columns) continue;
            if (what.edges == EdgeKind::leave && (y < 3 || y + 3 >= rows || x < 3 || x + 3 >= columns)) continue;
            points.push_back({y, x, k * 31 % batch});
            offsets.push_back((points.back().m * rows + y) * columns + x);
        }
        const std::vector<T> values = place_.gather(fields[0].out, offsets);
        const Expected<T> expected(what, fields.block);
        for (std::size_t i = 0; i < points.size(); ++i) {
            const auto [value, size] = expected.at(points[i].y, points[i].x, points[i].m);
            const double error =
                static_cast<double>(std::abs(values[i] - value) / size / std::numeric_limits<T>::epsilon());
            if (!(error <= result.error)) result.error = error; // NaN stays
        }
        result.wrong = !(result.error <= (what.velocities() > 0 ? 200 : 30));
        return result;
    }

    StencilOptions options_;
    Place<Space> place_;
    double large_copy_ = 0;
};

} // namespace

std::unique_ptr<StencilRunner> make_stencil_runner(const StencilOptions& options) {
    if (options.backend == Backend::cuda) return std::make_unique<Runner<Cuda>>(options, Place<Cuda>(options.device));
    return std::make_unique<Runner<Host>>(options, Place<Host>(options.threads));
}

} // namespace app
