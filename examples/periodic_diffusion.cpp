// Diffusion on a ring, u_t = u_xx with x in [0, 2 pi), for many systems at once. Every system starts as a sine wave of
// its own wave number k and phase, which the equation damps by exactly exp(-k^2 t).
//
// One implicit step of second order: with Z = -dt D2 (D2 = second difference / dx^2), exp(-Z) is close to
// (1 + Z + Z^2 / 2)^-1. So every step is one solve, in place, with the same periodic pentadiagonal matrix.
//     periodic_diffusion [rows] [systems] [steps]
#include <bandmill/bandmill.hpp>
#include <bandmill/cpu/isa.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <thread>
#include <vector>

using bandmill::Array;
using bandmill::BandMatrix;
using bandmill::Cuda;
using bandmill::FieldView;
using bandmill::Host;

namespace {

constexpr double end_time = 0.25;
constexpr std::int64_t tile = 32; // the CPU's favourite layout: tiles of 32 systems

struct Problem {
    std::int64_t rows, systems;
    int steps;
};

BandMatrix step_matrix(const Problem& problem) {
    const double dx = 2 * std::numbers::pi / static_cast<double>(problem.rows);
    const double s = end_time / problem.steps / (dx * dx), q = s * s / 2;
    const std::vector<double> weights = {q, -s - 4 * q, 1 + 2 * s + 6 * q, -s - 4 * q, q};
    return BandMatrix::toeplitz(problem.rows, weights, bandmill::Boundary::periodic);
}

double wave_number(std::int64_t system) { return static_cast<double>(1 + system % 4); }

double exact(const Problem& problem, std::int64_t row, std::int64_t system, double time) {
    const double x = 2 * std::numbers::pi * static_cast<double>(row) / static_cast<double>(problem.rows);
    const double k = wave_number(system), phase = 0.1 * static_cast<double>(system % 1009);
    return std::exp(-k * k * time) * std::sin(k * x + phase);
}

// Sines are costly, and wave numbers and phases repeat: later systems copy an earlier one.
void set_initial_state(const Problem& problem, FieldView<double> u) {
    const std::int64_t period = 4 * 1009;
    for (std::int64_t m = 0; m < problem.systems; ++m)
        for (std::int64_t i = 0; i < problem.rows; ++i)
            u(i, m) = m < period ? exact(problem, i, m, 0) : u(i, m - period);
}

// Of the sampled systems: how far A x is from b, row by row, in units of rounding.
double backward_error(const BandMatrix& matrix, const std::vector<double>& b, const std::vector<double>& x) {
    const std::int64_t n = matrix.size();
    long double largest = 0, worst = 0;
    for (const double value : x) largest = std::max<long double>(largest, std::fabs(value));
    for (std::int64_t i = 0; i < n; ++i) {
        long double residual = b[static_cast<std::size_t>(i)], row = 0;
        for (int k = -2; k <= 2; ++k) {
            const long double a = matrix.entry(k, i);
            residual -= a * x[static_cast<std::size_t>(((i + k) % n + n) % n)];
            row += std::fabs(a);
        }
        const long double scale = row * largest + std::fabs(b[static_cast<std::size_t>(i)]);
        if (scale > 0) worst = std::max(worst, std::fabs(residual) / scale);
    }
    return static_cast<double>(worst / std::numeric_limits<double>::epsilon());
}

std::vector<double> one_system(const Problem& problem, FieldView<double> u, std::int64_t system) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < problem.rows; ++i) values.push_back(u(i, system));
    return values;
}

// `advance(count)` takes that many steps and waits for them; `fetch()` gives the state as a host view.
template <class Advance, class Fetch>
void simulate(const Problem& problem, const BandMatrix& matrix, Advance&& advance, Fetch&& fetch) {
    std::vector<std::int64_t> sample;
    for (int i = 0; i < 16; ++i) sample.push_back(i * (problem.systems - 1) / 15);

    advance(1); // the first step also loads kernels and wakes threads
    const int timed = problem.steps - 2;
    const auto start = std::chrono::steady_clock::now();
    advance(timed);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;

    std::vector<std::vector<double>> before;
    FieldView<double> u = fetch();
    for (const std::int64_t m : sample) before.push_back(one_system(problem, u, m));
    advance(1); // the last step, looked at closely
    u = fetch();
    double residual = 0, error = 0;
    for (std::size_t j = 0; j < sample.size(); ++j) {
        const std::vector<double> after = one_system(problem, u, sample[j]);
        residual = std::max(residual, backward_error(matrix, before[j], after));
        for (std::int64_t i = 0; i < problem.rows; ++i)
            error =
                std::max(error, std::fabs(after[static_cast<std::size_t>(i)] - exact(problem, i, sample[j], end_time)));
    }
    const double unknowns = static_cast<double>(problem.rows) * static_cast<double>(problem.systems);
    const double rate = unknowns * timed / taken.count();
    std::printf("  residual     %.2f epsilon: each row of each equation holds to rounding\n", residual);
    std::printf("  error        %.1e against the exact decay exp(-k^2 t): what dt and dx leave\n", error);
    std::printf("  time         %.3f s for %d steps (all but the first and the last)\n", taken.count(), timed);
    std::printf("  throughput   %.3g unknowns/s, %.1f GB/s (each unknown read and written once: 16 bytes)\n\n", rate,
                16e-9 * rate);
    if (!(residual < 100) || !(error < 0.1)) throw std::runtime_error("the result is wrong");
}

void run_on_cpu(const Problem& problem, const BandMatrix& matrix) {
    std::printf("on the CPU (ISA level %s, %u hardware threads)\n", bandmill::cpu_isa(),
                std::thread::hardware_concurrency());
    const auto factor = bandmill::factor(matrix);
    Array<double, Host> memory((problem.systems + tile - 1) / tile * tile * problem.rows);
    const auto u = bandmill::tiled(memory.data(), problem.rows, problem.systems, tile);
    set_initial_state(problem, u);
    const auto advance = [&](int steps) {
        for (int step = 0; step < steps; ++step) bandmill::solve(factor, u);
    };
    simulate(problem, matrix, advance, [&] { return u; });
}

void run_on_gpu(const Problem& problem, const BandMatrix& matrix, const bandmill::DeviceInfo& gpu) {
    std::printf("on the GPU (%s)\n", gpu.name.c_str());
    const bandmill::Device device{gpu.index};
    const auto factor = bandmill::factor(matrix, device);
    std::vector<double> host(static_cast<std::size_t>(problem.rows * problem.systems));
    const auto host_view = bandmill::interleaved(host.data(), problem.rows, problem.systems);
    set_initial_state(problem, host_view);
    Array<double, Cuda> memory(host, device);
    const auto u = bandmill::interleaved<Cuda>(memory.data(), problem.rows, problem.systems);
    const auto advance = [&](int steps) {
        for (int step = 0; step < steps; ++step) bandmill::solve(factor, u);
        bandmill::synchronize(device);
    };
    const auto fetch = [&] {
        memory.copy_to(host);
        return host_view;
    };
    simulate(problem, matrix, advance, fetch);
}

// -1 for what is no whole number.
std::int64_t number(const char* text) {
    char* end;
    const long long value = std::strtoll(text, &end, 10);
    return end != text && *end == '\0' ? value : -1;
}

} // namespace

int main(int argc, char** argv) {
    const std::int64_t rows = argc > 1 ? number(argv[1]) : 256, systems = argc > 2 ? number(argv[2]) : 65536,
                       steps = argc > 3 ? number(argv[3]) : 200;
    if (rows < 16 || systems < 1 || steps < 3 || steps > 1'000'000'000) {
        std::fprintf(stderr, "usage: periodic_diffusion [rows] [systems] [steps]: whole numbers, at least 16 rows, 1 "
                             "system and 3 steps\n");
        return 2;
    }
    const Problem problem{rows, systems, static_cast<int>(steps)};
    try {
        std::printf("Periodic diffusion u_t = u_xx: %lld systems of %lld points, %d implicit steps to t = %g;\n"
                    "each step solves one pentadiagonal system for each of them, all with the same matrix.\n\n",
                    static_cast<long long>(problem.systems), static_cast<long long>(problem.rows), problem.steps,
                    end_time);
        const BandMatrix matrix = step_matrix(problem);
        run_on_cpu(problem, matrix);
        const auto gpus = bandmill::cuda_devices();
        for (const bandmill::DeviceInfo& gpu : gpus) run_on_gpu(problem, matrix, gpu);
        if (gpus.empty()) std::printf("No usable GPU was found, so this was the CPU alone.\n");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "periodic_diffusion: %s\n", error.what());
        return 1;
    }
}
