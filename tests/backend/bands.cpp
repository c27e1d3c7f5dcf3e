#include "bands.hpp"

#include <cmath>
#include <limits>

namespace bandmill::test {

Bands empty_bands(std::int64_t n, int half_bandwidth, Boundary boundary) {
    Bands bands{n, half_bandwidth, boundary,
                std::vector<std::vector<double>>(2 * half_bandwidth + 1, std::vector<double>(n, 0.0))};
    for (int k = -half_bandwidth; k <= half_bandwidth; ++k)
        for (std::int64_t i = 0; i < n; ++i)
            if (bands.column(k, i) < 0) bands.at(k, i) = std::numeric_limits<double>::quiet_NaN();
    return bands;
}

Bands constant_bands(std::int64_t n, const std::vector<double>& weights, Boundary boundary) {
    Bands bands = empty_bands(n, static_cast<int>(weights.size() / 2), boundary);
    for (int k = -bands.half_bandwidth; k <= bands.half_bandwidth; ++k)
        for (std::int64_t i = 0; i < n; ++i)
            if (bands.column(k, i) >= 0) bands.at(k, i) = weights[k + bands.half_bandwidth];
    return bands;
}

Bands transposed(const Bands& bands) {
    Bands result = empty_bands(bands.n, bands.half_bandwidth, bands.boundary);
    for (int k = -bands.half_bandwidth; k <= bands.half_bandwidth; ++k)
        for (std::int64_t i = 0; i < bands.n; ++i)
            if (const std::int64_t j = bands.column(k, i); j >= 0) result.at(-k, j) = bands.at(k, i);
    return result;
}

BandMatrix as_matrix(const Bands& bands, Storage storage) {
    const auto& d = bands.diagonals;
    if (storage == Storage::toeplitz) {
        std::vector<double> weights;
        // An open matrix may have no entry at all on an outer diagonal (n <= offset): any weight will do there.
        for (const auto& diagonal : d) {
            weights.push_back(0.0);
            for (double value : diagonal)
                if (!std::isnan(value)) weights.back() = value;
        }
        return BandMatrix::toeplitz(bands.n, weights, bands.boundary);
    }
    if (bands.half_bandwidth == 1) return BandMatrix::tridiagonal(d[0], d[1], d[2], bands.boundary);
    return BandMatrix::pentadiagonal(d[0], d[1], d[2], d[3], d[4], bands.boundary);
}

std::vector<long double> row_norms(const Bands& bands, long double resolution) {
    const int w = bands.half_bandwidth;
    std::vector<long double> norms(bands.n, 0);
    for (std::int64_t i = 0; i < bands.n; ++i) {
        long double values[5] = {};
        std::int64_t columns[5] = {-1, -1, -1, -1, -1};
        for (int k = -w; k <= w; ++k) {
            const std::int64_t j = bands.column(k, i);
            if (j < 0) continue;
            int slot = 0;
            while (columns[slot] != j && columns[slot] != -1) ++slot;
            columns[slot] = j;
            values[slot] += bands.at(k, i);
            norms[i] += resolution * std::fabs(static_cast<long double>(bands.at(k, i)));
        }
        for (long double value : values) norms[i] += std::fabs(value);
    }
    return norms;
}

std::vector<long double> dense(const Bands& bands) {
    std::vector<long double> a(bands.n * bands.n, 0);
    for (int k = -bands.half_bandwidth; k <= bands.half_bandwidth; ++k)
        for (std::int64_t i = 0; i < bands.n; ++i)
            if (const std::int64_t j = bands.column(k, i); j >= 0) a[i * bands.n + j] += bands.at(k, i);
    return a;
}

} // namespace bandmill::test
