// The same ensemble on the CPU and on a GPU: close while round-off has not grown, alike in statistics afterwards.
#include "verifying.hpp"

#include <cmath>
#include <utility>

namespace bandmill::test {
namespace {

using CpuAndGpu = VerificationTest;
using CpuAndGpuStatistics = FullSizeTest;

template <class T>
double difference(const Equation& equation, const Grid& grid, std::int64_t steps, Shape shape = Shape::throughput) {
    EnsembleSpec spec{
        .equation = equation, .grid = grid, .members = 9, .time_step = std::fmin(0.01, 0.1 * grid.spacing())};
    spec.shape = shape;
    if (std::holds_alternative<ForcedCahnHilliard>(equation))
        spec.parameters = {{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}};
    Ensemble<T> cpu(spec, UniformNoise{.seed = 5}, Threads{}), gpu(spec, UniformNoise{.seed = 5}, Device{});
    cpu.advance(steps);
    gpu.advance(steps);
    const std::vector<T> a = cpu.states(), b = gpu.states();
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return INFINITY;
        largest = std::fmax(largest, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    }
    return largest;
}

// Ripples grow e-fold in 0.04 at most and by a factor of ten or so before they stop growing, round-off with them.
// Seen: 7e-10 (hyperdiffusion, 2048 points) and below 3e-11 otherwise; in f32 1e-3. But f32 has few digits left for
// hyperdiffusion on fine grids: Crank-Nicolson hardly damps the grid's own noise, and turns it over at every step.
constexpr double bound_f64 = 2e-9;
double bound_f32(const Equation& equation, const Grid& grid) {
    return std::holds_alternative<Hyperdiffusion>(equation) && grid.points() > 300 ? 0.1 : 2e-3;
}

void expect_close(const Equation& equation, const Grid& grid, Shape shape = Shape::throughput) {
    const std::int64_t steps = limits().small ? 5 : 200;
    const double f64 = difference<double>(equation, grid, steps, shape),
                 f32 = difference<float>(equation, grid, steps, shape);
    EXPECT_LT(f64, bound_f64) << name_of(equation) << ", " << grid.points() << " points, " << name(grid.ends());
    EXPECT_LT(f32, bound_f32(equation, grid))
        << name_of(equation) << ", " << grid.points() << " points, " << name(grid.ends());
}

TEST_F(CpuAndGpu, PeriodicStatesAreCloseFor200Steps) {
    const std::vector<std::int64_t> few = {5, 33, 64, 1100}, all = {5, 33, 64, 300, 1024, 2048};
    for (const Equation& equation : every_equation())
        for (const std::int64_t n : limits().small ? few : all) expect_close(equation, Grid(n, 2 * pi));
}

TEST_F(CpuAndGpu, StatesOfTheLatencyShapeAreCloseFor200Steps) {
    for (const Equation& equation : every_equation())
        for (const std::int64_t n : {8, 16, 100, 128, 256}) expect_close(equation, Grid(n, 2 * pi), Shape::latency);
}

TEST_F(CpuAndGpu, StatesBetweenEndsAreCloseFor200Steps) {
    for (const Equation& equation : every_equation())
        for (const Ends ends : ends_of(equation))
            if (ends != Ends::periodic)
                expect_close(equation, Grid(64, 2 * pi, ends, ends == Ends::dirichlet ? 0.2 : 0));
}

// Right-hand sides round alike, the solves do not. Rectangles, odd sizes, and systems of several blocks.
TEST_F(CpuAndGpu, PlanesAreCloseFor50Steps) {
    const std::pair<std::int64_t, std::int64_t> small[] = {{37, 24}, {64, 40}},
                                                all[] = {{5, 6},     {37, 24},    {64, 40},   {129, 130},
                                                         {300, 500}, {1100, 640}, {640, 2050}};
    const auto close = [&](const Equation& equation, std::int64_t nx, std::int64_t ny) {
        // dx = dy = 2 pi / 64, whatever the size
        EnsembleSpec spec{.equation = equation,
                          .grid = Grid(nx, 2 * pi / 64 * static_cast<double>(nx)),
                          .members = 3,
                          .time_step = 0.002};
        spec.grid_y = Grid(ny, 2 * pi / 64 * static_cast<double>(ny));
        const auto difference = [&]<class T>(T) {
            Ensemble<T> cpu(spec, UniformNoise{.seed = 5}, Threads{}), gpu(spec, UniformNoise{.seed = 5}, Device{});
            cpu.advance(limits().small ? 4 : 50);
            gpu.advance(limits().small ? 4 : 50);
            const std::vector<T> a = cpu.states(), b = gpu.states();
            double largest = 0;
            for (std::size_t i = 0; i < a.size(); ++i)
                largest =
                    std::fmax(largest, std::isfinite(b[i]) ? std::fabs(static_cast<double>(a[i] - b[i])) : INFINITY);
            return largest;
        };
        EXPECT_LT(difference(double{}), bound_f64) << name_of(equation) << ", " << nx << " x " << ny;
        EXPECT_LT(difference(float{}), 2e-3) << name_of(equation) << ", " << nx << " x " << ny;
    };
    for (const Equation& equation :
         {Equation(Diffusion{0.7}), Equation(Hyperdiffusion{0.02}), Equation(CahnHilliard{})})
        if (limits().small)
            for (const auto& [nx, ny] : small) close(equation, nx, ny);
        else
            for (const auto& [nx, ny] : all) close(equation, nx, ny);
}

// Other noise on each, so that the comparison is one of statistics.
TEST_F(CpuAndGpuStatistics, DomainSizesAgree) {
    const EnsembleSpec spec{.equation = CahnHilliard{}, .grid = Grid(256, 2 * pi), .members = 1024};
    const RunPlan plan{.end_time = 5, .times = {5}, .observables = {{Observable::domain_size}}};
    Ensemble<> cpu(spec, UniformNoise{.seed = 1}, Threads{}), gpu(spec, UniformNoise{.seed = 2}, Device{});
    const EnsembleStatistic a = cpu.run(plan).samples[0].statistics[0], b = gpu.run(plan).samples[0].statistics[0];
    EXPECT_NEAR(a.mean(), b.mean(), 4 * std::hypot(a.standard_error(), b.standard_error()));
    EXPECT_NEAR(a.standard_error() / b.standard_error(), 1, 0.2);
}

} // namespace
} // namespace bandmill::test
