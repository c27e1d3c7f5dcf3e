#include "bandmill/band/factor.hpp"

#include "bandmill/band/elimination.hpp"
#include "bandmill/band/order.hpp"
#include "bandmill/band/pivoted.hpp"
#include "bandmill/band/probe.hpp"
#include "bandmill/band/tables.hpp"
#include "bandmill/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>
#include <string>
#include <type_traits>

namespace bandmill {

const char* name(SolvePath path) {
    switch (path) {
    case SolvePath::partitioned: return "partitioned";
    case SolvePath::sequential: return "sequential";
    case SolvePath::pivoted: return "pivoted";
    }
    return "unknown";
}

namespace detail {
namespace {

// Elimination without exchanges is trusted if its a-priori bound (growth) is modest and the probes, which show what
// errors really come out, are as good as a backward stable solver's. Beyond either limit rows are exchanged.
constexpr double growth_limit = 8;
constexpr double error_limit = 3; // epsilons; well-behaved matrices show 0.5 to 1

template <class T> std::vector<T> rounded(const std::vector<Extended>& values) {
    return {values.begin(), values.end()};
}

template <class T>
PartitionTables<T> round_partition(const BandMatrix& matrix, const Elimination& elimination,
                                   const Partition& partition) {
    // A coupling this weak changes no solution by more than a thousandth of its rounding.
    const Extended negligible = std::ldexp(Extended(std::numeric_limits<T>::epsilon()), -10);
    const int levels = levels_of(partition.group), useful = elimination.useful_levels(negligible);
    return {partition,
            matrix.size(),
            std::min(useful, levels),
            std::max(useful - levels, 0),
            matrix.boundary() == Boundary::periodic,
            rounded<T>(elimination.rows()),
            rounded<T>(elimination.separators())};
}

template <class T> DirectTables<T> round_direct(const BandMatrix& matrix, const Elimination& elimination) {
    const int width = matrix.half_bandwidth(), spike = matrix.boundary() == Boundary::periodic ? width : 0;
    const std::int64_t n = matrix.size();
    DirectTables<T> tables{n, {}, {}, rounded<T>(elimination.separators())};
    tables.corner.resize(width + 2 * width * width); // one separator has no neighbours
    tables.forward.reserve(n * (1 + width + spike));
    tables.backward.reserve(n * (width + spike));
    for (std::int64_t k = 0; k < n; ++k) {
        for (int c = 0; c < 1 + width + spike; ++c) tables.forward.push_back(static_cast<T>(elimination.row(c, k)));
        for (int c = 0; c < width + spike; ++c)
            tables.backward.push_back(static_cast<T>(elimination.row(1 + 2 * width + c, k)));
    }
    return tables;
}

template <class T> PivotedTables<T> round_pivoted(const PivotedFactor& factor) {
    const int reach = factor.reach;
    const std::int64_t n = static_cast<std::int64_t>(factor.scale.size());
    PivotedTables<T> tables{n, reach, factor.folded, {}, {}, factor.pivot};
    for (std::int64_t k = 0; k < n; ++k) {
        tables.forward.push_back(static_cast<T>(factor.scale[k]));
        tables.forward.push_back(static_cast<T>(factor.pivot_inverse[k]));
        for (int j = 0; j < reach; ++j) tables.forward.push_back(static_cast<T>(-factor.lower[k * reach + j]));
        for (int j = 0; j < 2 * reach; ++j) tables.backward.push_back(static_cast<T>(-factor.upper[k * 2 * reach + j]));
    }
    return tables;
}

template <class T> [[noreturn]] void throw_out_of_range(const char* what, Extended size, std::int64_t row) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3Lg", std::abs(size));
    throw InvalidMatrix("row " + std::to_string(row) + " " + what + " " + text + ", which is beyond the range of " +
                            (sizeof(T) == 4 ? "f32 (1e-38 to 1.7e38): scale the matrix, or factor in double"
                                            : "f64 (1e-308 to 8.9e307): scale the matrix"),
                        row);
}

template <class T> void require_range(const PivotedFactor& factor) {
    const std::int64_t n = static_cast<std::int64_t>(factor.scale.size());
    for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t row = factor.folded ? folded_row(k, n) : k;
        if (!in_range<T>(factor.scale[k]))
            throw_out_of_range<T>("needs division by its size, about", 1 / factor.scale[k], row);
        if (!in_range<T>(factor.pivot_inverse[k]))
            throw_out_of_range<T>("after scaling needs division by its pivot", 1 / factor.pivot_inverse[k],
                                  factor.origin[k]);
        for (int j = 0; j < 2 * factor.reach; ++j) {
            const Extended ratio = factor.upper[k * 2 * factor.reach + j];
            if (!(std::abs(ratio) <= std::numeric_limits<T>::max()))
                throw_out_of_range<T>("has entries whose ratio to its pivot is", ratio, factor.origin[k]);
        }
    }
}

template <class T> SolveTables<T> choose_path(const BandMatrix& matrix, const std::optional<Partition>& partition) {
    const int width = matrix.half_bandwidth();
    const bool periodic = matrix.boundary() == Boundary::periodic;
    const Probe<T> probe(matrix);
    SolveTables<T> result{};

    auto eliminate = [&](const Partition& cut) {
        std::optional<Elimination> found = Elimination::run(matrix, cut);
        if (found && (!(found->growth() <= growth_limit) || !found->pivots_in_range<T>())) found.reset();
        return found;
    };
    if (const auto elimination = partition ? eliminate(*partition) : std::nullopt) {
        PartitionTables<T> tables = round_partition<T>(matrix, *elimination, *partition);
        const double error = probe.backward_error([&](T* x) { solve_partitioned(tables, width, x); });
        if (error <= error_limit) {
            result.report = {SolvePath::partitioned, static_cast<double>(elimination->growth()), error, tables.bytes()};
            result.partitioned = std::move(tables);
            return result;
        }
    }
    if (const auto elimination = eliminate({matrix.size(), 1, 1})) {
        DirectTables<T> tables = round_direct<T>(matrix, *elimination);
        const double error = probe.backward_error([&](T* x) { solve_direct(tables.view(), width, periodic, x); });
        if (error <= error_limit) {
            result.report = {SolvePath::sequential, static_cast<double>(elimination->growth()), error, tables.bytes()};
            result.direct = std::move(tables);
            return result;
        }
    }
    const PivotedFactor pivoted = factor_pivoted(matrix);
    require_range<T>(pivoted);
    PivotedTables<T> tables = round_pivoted<T>(pivoted);
    const double error = probe.backward_error([&](T* x) { solve_pivoted(tables.view(), tables.reach, x); });
    result.report = {SolvePath::pivoted, static_cast<double>(pivoted.growth), error, tables.bytes()};
    result.pivoted = std::move(tables);
    return result;
}

} // namespace

template <class T> SolveTables<T> prepare(const BandMatrix& matrix, const std::optional<Partition>& partition) {
    const std::string too_large =
        "cannot factor a matrix of " + std::to_string(matrix.size()) +
        " rows (its tables, about 200 bytes per row, do not fit in memory): use a smaller matrix";
    if (matrix.size() > INT64_MAX / 1024) throw OutOfMemory(too_large);
    try {
        return choose_path<T>(matrix, partition);
    } catch (const std::bad_alloc&) {
        throw OutOfMemory(too_large);
    }
}

template SolveTables<double> prepare<double>(const BandMatrix&, const std::optional<Partition>&);
template SolveTables<float> prepare<float>(const BandMatrix&, const std::optional<Partition>&);

} // namespace detail

template <class T> Factor<T, Host> factor(const BandMatrix& matrix) {
    static_assert(std::is_same_v<T, double> || std::is_same_v<T, float>);
    auto data = std::make_shared<detail::FactorData<T, Host>>(detail::FactorData<T, Host>{detail::prepare<T>(matrix)});
    const FactorReport report = data->tables.report;
    return {matrix, report, std::move(data)};
}

template Factor<double, Host> factor<double>(const BandMatrix&);
template Factor<float, Host> factor<float>(const BandMatrix&);

} // namespace bandmill
