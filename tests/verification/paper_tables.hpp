// The paper's convergence tables: gamma = 0.01, L = 2 pi, dt = 0.1 dx, C(x, 0) = 1e-6 cos(5x), until t = 20.
#pragma once

#include "verifying.hpp"

#include <cmath>
#include <map>
#include <string>

namespace bandmill::test {

inline std::vector<double> at_the_end(const Equation& equation, std::int64_t n) {
    EnsembleSpec spec{.equation = equation, .grid = Grid(n, 2 * pi)};
    if (std::holds_alternative<ForcedCahnHilliard>(equation)) spec.parameters = {{1.0}};
    Ensemble<> ensemble = start(spec, Cosine{1e-6, 5});
    ensemble.run({.end_time = 20});
    return ensemble.states();
}

// E_N, the mean over the N/2 shared points of |C_N - C_{N/2}|, for N = first, 2 first, .. last.
inline std::map<std::int64_t, double> errors(const Equation& equation, std::int64_t first, std::int64_t last) {
    std::map<std::int64_t, double> result;
    std::vector<double> coarse = at_the_end(equation, first / 2);
    for (std::int64_t n = first; n <= last; n *= 2) {
        std::vector<double> fine = at_the_end(equation, n);
        double sum = 0;
        for (std::size_t i = 0; i < coarse.size(); ++i) sum += std::fabs(fine[2 * i] - coarse[i]);
        result[n] = sum / static_cast<double>(coarse.size());
        coarse = std::move(fine);
        testing::Test::RecordProperty("E_" + std::to_string(n), std::to_string(1e6 * result[n]) + "e-6");
    }
    return result;
}

using Table = std::map<std::int64_t, double>;
inline void expect_within_a_percent(const Table& found, const Table& expected) {
    for (const auto& [n, value] : found)
        if (const auto row = expected.find(n); row != expected.end()) {
            EXPECT_NEAR(value / row->second, 1, 0.01) << "E_" << n << " = " << value;
        }
}

} // namespace bandmill::test
