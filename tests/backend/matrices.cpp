#include "matrices.hpp"

#include "oracle.hpp"
#include "random.hpp"

#include <cmath>
#include <cstdlib>
#include <numbers>

namespace bandmill::test {
namespace {

template <class Draw> void fill(Bands& bands, Draw draw) {
    for (int k = -bands.half_bandwidth; k <= bands.half_bandwidth; ++k)
        for (std::int64_t i = 0; i < bands.n; ++i)
            if (bands.column(k, i) >= 0) bands.at(k, i) = draw(k, i);
}

// Makes the main diagonal larger than the rest of its row, by `margin` at least.
void dominate(Bands& bands, Random& random, double margin) {
    for (std::int64_t i = 0; i < bands.n; ++i) {
        double sum = 0;
        for (int k = -bands.half_bandwidth; k <= bands.half_bandwidth; ++k)
            if (k != 0 && bands.column(k, i) >= 0) sum += std::fabs(bands.at(k, i));
        bands.at(0, i) = random.signed_uniform(sum + margin, sum + 2 * margin);
    }
}

void fill_row_scaled(Bands& bands, Random& random) {
    for (std::int64_t i = 0; i < bands.n; ++i) {
        const double scale = std::pow(10.0, random.uniform(-8, 8));
        for (int k = -bands.half_bandwidth; k <= bands.half_bandwidth; ++k)
            if (bands.column(k, i) >= 0) bands.at(k, i) = scale * random.uniform(-1, 1);
    }
}

Bands make_nonsymmetric(Bands bands, Random& random) {
    fill(bands, [&](int k, std::int64_t) { return k < 0 ? random.uniform(-1, 1) : random.uniform(-0.05, 0.05); });
    dominate(bands, random, 0.1);
    return random.chance(0.5) ? transposed(bands) : bands;
}

// T = tridiag(-1, d, -1) has the smallest eigenvalue `gap`; for W = 2 take T^2.
Bands make_nearly_singular(Bands bands) {
    const bool open = bands.boundary == Boundary::open;
    const double gap = bands.half_bandwidth == 1 ? 1e-9 : 1e-5;
    const double d = gap + (open ? 2 * std::cos(std::numbers::pi / static_cast<double>(bands.n + 1)) : 2.0);
    if (bands.half_bandwidth == 1) {
        fill(bands, [&](int k, std::int64_t) { return k == 0 ? d : -1.0; });
        return bands;
    }
    fill(bands, [&](int k, std::int64_t i) {
        if (k != 0) return std::abs(k) == 1 ? -2 * d : 1.0;
        const int neighbours = open ? (i > 0) + (i < bands.n - 1) : 2;
        return d * d + neighbours;
    });
    return bands;
}

// Rows 2k and 2k + 1 hold their large entry in each other's column, so the matrix is dominant once they are exchanged.
void fill_zero_diagonal(Bands& bands, Random& random) {
    const bool all = random.chance(0.5);
    fill(bands, [&](int k, std::int64_t i) {
        const bool partner = k == (i % 2 == 0 ? 1 : -1) && (i | 1) < bands.n;
        if (partner) return random.signed_uniform(1, 2);
        if (k == 0 && bands.n % 2 == 1 && i == bands.n - 1) return random.signed_uniform(1.5, 2);
        if (k == 0) return all || i == 0 || random.chance(0.5) ? 0.0 : random.uniform(-0.1, 0.1);
        return std::abs(k) == 1 ? random.uniform(-0.3, 0.3) : random.uniform(-0.1, 0.1);
    });
}

std::vector<double> weights(const MatrixKind& kind, int half_bandwidth) {
    const double s = kind.sigma;
    if (kind.family == Family::hyperdiffusion) return {s, -4 * s, 1 + 6 * s, -4 * s, s};
    if (kind.family == Family::dominant_constant)
        return half_bandwidth == 1 ? std::vector{-0.7, 2.5, 0.9} : std::vector{0.3, -0.7, 2.5, 0.9, -0.2};
    if (half_bandwidth == 1) return {-s, 1 + 2 * s, -s};
    return {s / 12, -16 * s / 12, 1 + 30 * s / 12, -16 * s / 12, s / 12};
}

Bands draw_bands(const MatrixKind& kind, std::int64_t n, int half_bandwidth, Boundary boundary, Random& random) {
    Bands bands = empty_bands(n, half_bandwidth, boundary);
    const auto any = [&](int, std::int64_t) { return random.uniform(-1, 1); };
    switch (kind.family) {
    case Family::dominant:
        fill(bands, any);
        dominate(bands, random, 0.5);
        return bands;
    case Family::nonsingular: fill(bands, any); return bands;
    case Family::row_scaled: fill_row_scaled(bands, random); return bands;
    case Family::nonsymmetric: return make_nonsymmetric(std::move(bands), random);
    case Family::nearly_singular: return make_nearly_singular(std::move(bands));
    case Family::zero_diagonal: fill_zero_diagonal(bands, random); return bands;
    case Family::dominant_constant:
    case Family::diffusion:
    case Family::hyperdiffusion: break;
    }
    return constant_bands(n, weights(kind, half_bandwidth), boundary);
}

} // namespace

const std::vector<MatrixKind>& matrix_kinds() {
    static const std::vector<MatrixKind> kinds = [] {
        std::vector<MatrixKind> list;
        for (Family family : {Family::dominant, Family::dominant_constant, Family::nonsingular, Family::row_scaled,
                              Family::nonsymmetric, Family::nearly_singular, Family::zero_diagonal})
            list.push_back({family});
        for (Family family : {Family::diffusion, Family::hyperdiffusion})
            for (double sigma : {1e-3, 1.0, 1e3, 1e6, 1e10}) list.push_back({family, sigma});
        return list;
    }();
    return kinds;
}

std::string name(const MatrixKind& kind) {
    static const char* const names[] = {"dominant",   "dominant_constant", "nonsingular",
                                        "row_scaled", "nonsymmetric",      "nearly_singular",
                                        "diffusion",  "hyperdiffusion",    "zero_diagonal"};
    std::string text = names[static_cast<int>(kind.family)];
    if (kind.sigma == 0) return text;
    const int power = static_cast<int>(std::lround(std::log10(kind.sigma)));
    return text + (power < 0 ? "_1em" : "_1e") + std::to_string(std::abs(power));
}

bool has_constant_diagonals(const MatrixKind& kind) {
    return kind.family == Family::dominant_constant || kind.family == Family::diffusion ||
           kind.family == Family::hyperdiffusion;
}

bool has_half_bandwidth(const MatrixKind& kind, int half_bandwidth) {
    return kind.family != Family::hyperdiffusion || half_bandwidth == 2;
}

bool has_size(const MatrixKind& kind, std::int64_t n) { return kind.family != Family::zero_diagonal || n >= 2; }

Bands make_bands(const MatrixKind& kind, std::int64_t n, int half_bandwidth, Boundary boundary, std::uint64_t seed) {
    Random random(seed);
    const bool arbitrary = kind.family == Family::nonsingular || kind.family == Family::row_scaled;
    while (true) {
        Bands bands = draw_bands(kind, n, half_bandwidth, boundary, random);
        if (!arbitrary || n > oracle_max_rows || Oracle(bands).condition() < 1e12L) return bands;
    }
}

} // namespace bandmill::test
