// The cases `bandmill bench step` measures: what they are, which run by default, and the problems they stand for.
#pragma once

#include "choices.hpp"
#include "equation_kind.hpp"

#include "bandmill/ensemble/ensemble.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace app {

// What is measured of every member after every step.
enum class Statistics { none, domain_size };

inline constexpr Word<Statistics> statistics_words[] = {{"none", Statistics::none},
                                                        {"domain-size", Statistics::domain_size}};
inline constexpr Word<bandmill::Shape> shape_words[] = {{"throughput", bandmill::Shape::throughput},
                                                        {"latency", bandmill::Shape::latency}};

struct StepCase {
    EquationKind equation;
    std::int64_t n, members;
    Precision precision = Precision::f64;
    Statistics statistics = Statistics::none;
    bandmill::Shape shape = bandmill::Shape::throughput;
    int threads = 0; // 0 on a GPU

    double points() const { return static_cast<double>(n) * static_cast<double>(members); }
    double state_bytes() const { return points() * (precision == Precision::f64 ? 8 : 4); }
};

// The lists on the command line; the cases are all their combinations.
struct StepLists {
    std::vector<EquationKind> equation;
    std::vector<std::int64_t> n, members;
    std::vector<Precision> precision;
    std::vector<Statistics> statistics;
    std::vector<bandmill::Shape> shape;
    std::vector<int> threads;

    bool all_empty() const; // but for threads, which the standard set takes too
};

// Every combination of the lists; a list that was not given takes a default. With no list at all: the standard set of
// the backend, the one results in bench/results are made with.
std::vector<StepCase> make_step_cases(const StepLists& lists, Backend backend);

std::string describe(const StepCase& what);

// The problem of a case. Length 2 pi; beyond 256 points it grows with n, but for the linear equations, so that dx and
// what an interface sees of the grid stay the same. The step is 0.1 dx, less where that is not stable. (A GPU's scans
// reach further on a stiffer grid: up to two levels more with 2 pi throughout.)
bandmill::EnsembleSpec make_spec(const StepCase& what);

} // namespace app
