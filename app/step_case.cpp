#include "step_case.hpp"

#include "environment.hpp"

#include <algorithm>
#include <numbers>

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::Shape;
using enum EquationKind;

// 2^26 points whatever n, as far as n allows: more than any cache of a GPU holds, and enough to fill it.
std::int64_t many(std::int64_t n) { return n == 300 ? 262144 : (std::int64_t{1} << 26) / n; }

std::vector<StepCase> standard_cuda() {
    std::vector<StepCase> cases;
    for (const Precision precision : {Precision::f64, Precision::f32})
        for (const Statistics statistics : {Statistics::none, Statistics::domain_size})
            cases.push_back({cahn_hilliard, 256, many(256), precision, statistics});
    for (const std::int64_t n : {64, 300, 512, 1024, 4096}) cases.push_back({cahn_hilliard, n, many(n)});
    for (const Precision precision : {Precision::f64, Precision::f32})
        cases.push_back({forced_cahn_hilliard, 512, many(512), precision});
    for (const EquationKind linear : {diffusion, hyperdiffusion}) cases.push_back({linear, 1024, many(1024)});
    cases.push_back({cahn_hilliard, 256, 4096});
    for (const Shape shape : {Shape::throughput, Shape::latency})
        cases.push_back({cahn_hilliard, 256, 64, Precision::f64, Statistics::none, shape});
    return cases;
}

// One thread, and all of them where that is to be compared: the bars are for one core, and for how threads add up.
std::vector<StepCase> standard_cpu(const std::vector<int>& threads) {
    std::vector<StepCase> cases;
    for (const EquationKind equation : {cahn_hilliard, forced_cahn_hilliard})
        for (const int count : threads) {
            cases.push_back({equation, 256, 4096});
            cases.back().threads = count;
        }
    const StepCase others[] = {
        {cahn_hilliard, 256, 4096, Precision::f64, Statistics::domain_size},
        {cahn_hilliard, 256, 4096, Precision::f32},
        {cahn_hilliard, 64, 16384},
        {cahn_hilliard, 1024, 1024},
        {diffusion, 1024, 1024},
        {hyperdiffusion, 1024, 1024},
    };
    for (StepCase what : others) {
        what.threads = threads.front();
        cases.push_back(what);
    }
    return cases;
}

std::vector<StepCase> product(const StepLists& lists) {
    std::vector<StepCase> cases;
    for (const EquationKind equation : lists.equation)
        for (const Precision precision : lists.precision)
            for (const std::int64_t n : lists.n)
                for (const std::int64_t members : lists.members)
                    for (const Statistics statistics : lists.statistics)
                        for (const Shape shape : lists.shape)
                            for (const int threads : lists.threads)
                                cases.push_back({equation, n, members, precision, statistics, shape, threads});
    return cases;
}

bandmill::Equation make_equation(EquationKind kind) {
    switch (kind) {
    case diffusion: return bandmill::Diffusion{};
    case hyperdiffusion: return bandmill::Hyperdiffusion{};
    case forced_cahn_hilliard: return bandmill::ForcedCahnHilliard{};
    case cahn_hilliard: break;
    }
    return bandmill::CahnHilliard{};
}

bool is_linear(EquationKind kind) { return kind == diffusion || kind == hyperdiffusion; }

} // namespace

bool StepLists::all_empty() const {
    return equation.empty() && n.empty() && members.empty() && precision.empty() && statistics.empty() && shape.empty();
}

std::vector<StepCase> make_step_cases(const StepLists& lists, Backend backend) {
    const bool cpu = backend == Backend::cpu;
    if (lists.all_empty()) {
        if (!cpu) return standard_cuda();
        if (!lists.threads.empty()) return standard_cpu(lists.threads);
        return standard_cpu(default_threads() > 1 ? std::vector{1, default_threads()} : std::vector{1});
    }
    const auto fill = [](auto& list, auto value) {
        if (list.empty()) list = {value};
    };
    StepLists full = lists;
    fill(full.equation, cahn_hilliard);
    fill(full.n, 256);
    fill(full.members, cpu ? 4096 : 262144);
    fill(full.precision, Precision::f64);
    fill(full.statistics, Statistics::none);
    fill(full.shape, Shape::throughput);
    fill(full.threads, cpu ? default_threads() : 0);
    return product(full);
}

std::string describe(const StepCase& what) {
    std::string text = fmt::format("{} n={} members={} {} statistics={} {}", word_of(what.equation, equation_words),
                                   what.n, what.members, word_of(what.precision, precision_words),
                                   word_of(what.statistics, statistics_words), word_of(what.shape, shape_words));
    if (what.threads > 0) text += fmt::format(" threads={}", what.threads);
    return text;
}

bandmill::EnsembleSpec make_spec(const StepCase& what) {
    const double scale = is_linear(what.equation) ? 1 : std::max(1.0, static_cast<double>(what.n) / 256);
    bandmill::EnsembleSpec spec{.equation = make_equation(what.equation),
                                .grid = bandmill::Grid(what.n, 2 * std::numbers::pi * scale),
                                .members = what.members};
    spec.shape = what.shape;
    // The forcing drives |C| to where C^3 - C = f0 / k: 1.53 for f0 = 2.
    const double largest = what.equation == forced_cahn_hilliard ? 1.75 : 1.05;
    const double stable =
        std::visit([&](const auto& one) { return one.stable_step(spec.grid, largest); }, spec.equation);
    spec.time_step = std::min(0.1 * spec.grid.spacing(), 0.9 * stable);
    if (what.equation == forced_cahn_hilliard) {
        std::vector<double>& amplitudes = spec.parameters.emplace_back();
        for (std::int64_t m = 0; m < what.members; ++m)
            amplitudes.push_back(2 * (static_cast<double>(m) + 0.5) / static_cast<double>(what.members));
    }
    return spec;
}

} // namespace app
