#include "bandmill/cuda/resident.hpp"
#include "bandmill/cuda/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace bandmill::cuda {
namespace {

using Real = long double;
using Complex = std::complex<Real>;

// In u = S - 2 + S^-1, the second difference, the matrix is e0 + e1 u + e2 u^2; u runs from -4 to 0 over the waves.
struct Symbol {
    Real e0, e1, e2;
    Real at(Real u) const { return e0 + u * (e1 + u * e2); }
    bool is_positive() const {
        if (!(at(0) > 0 && at(-4) > 0)) return false;
        const Real lowest = e2 != 0 ? -e1 / (2 * e2) : 0;
        return !(lowest < 0 && lowest > -4) || at(lowest) > 0;
    }
};

// The root z of z - 2 + 1/z = u inside the unit circle.
Complex inner_root(Complex u) {
    const Complex half = u / Real(2), root = std::sqrt(u + half * half);
    const Complex a = Real(1) + half - root, b = Real(1) + half + root;
    return std::abs(a) < std::abs(b) ? a : b;
}

struct Factors {
    Real p, q, c;
    Real reach; // points over which the sweeps remember, 1 / |1 - z|
};
Factors factorise(const Symbol& s) {
    if (s.e2 != 0) {
        const Complex root = std::sqrt(Complex(s.e1 * s.e1 - 4 * s.e0 * s.e2));
        const Complex z1 = inner_root((-s.e1 + root) / (2 * s.e2)), z2 = inner_root((-s.e1 - root) / (2 * s.e2));
        const Real q = (z1 * z2).real();
        return {-(z1 + z2).real(), q, s.e2 / q, 1 / std::min(std::abs(Real(1) - z1), std::abs(Real(1) - z2))};
    }
    if (s.e1 != 0) {
        const Real p = -inner_root(-s.e0 / s.e1).real();
        return {p, 0, s.e1 / p, 1 / std::abs(1 + p)};
    }
    return {0, 0, s.e0, 1};
}

struct Map {
    Real a, b, c, d; // rows (a b), (c d)
    Map operator*(const Map& o) const {
        return {a * o.a + b * o.c, a * o.b + b * o.d, c * o.a + d * o.c, c * o.b + d * o.d};
    }
    template <class T> bool is_felt() const {
        return std::max({std::abs(a), std::abs(b), std::abs(c), std::abs(d)}) > std::numeric_limits<T>::epsilon() / 16;
    }
    template <class T> CarryMap<T> rounded() const {
        return {static_cast<T>(a), static_cast<T>(b), static_cast<T>(c), static_cast<T>(d)};
    }
};

Map power(Map base, std::int64_t exponent) {
    Map result{1, 0, 0, 1};
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2) result = result * base;
        base = base * base;
    }
    return result;
}

// Comparing the powers of S on both sides of  N(S^-1) P(S) + M(S) P(S^-1) = 1.
template <class T> BothWays<T> both_ways(const Factors& factors, double update) {
    const Real p = factors.p, q = factors.q, scale = update / factors.c;
    const Real n0 = scale * (1 + q) / ((1 - q) * (1 + q + p) * (1 + q - p)), m1 = -n0 * p / (1 + q);
    const Real n1 = -q * m1, m2 = -q * n0;
    BothWays<T> result{{static_cast<T>(n0), static_cast<T>(n1)}, {static_cast<T>(m1), static_cast<T>(m2)}, {}, {}};
    const Map one_point{-p, -q, 1, 0};
    Map here = one_point; // rows: the sweep at the point, and at the one before
    Real before2[2] = {0, 1};
    for (int j = 0; j < most_both_ways; ++j) {
        result.carried_up[j][0] = static_cast<T>(n0 * here.a + n1 * here.c);
        result.carried_up[j][1] = static_cast<T>(n0 * here.b + n1 * here.d);
        result.carried_down[j][0] = static_cast<T>(m1 * here.c + m2 * before2[0]);
        result.carried_down[j][1] = static_cast<T>(m1 * here.d + m2 * before2[1]);
        before2[0] = here.c;
        before2[1] = here.d;
        here = one_point * here;
    }
    return result;
}

} // namespace

template <class T>
bool circulant_tables(const LinearOperator& linear, const Grid& grid, int half_bandwidth, double weight, double update,
                      const Spread& spread, ResidentJob<T>& job, std::vector<CarryMap<T>>& positions) {
    if (grid.ends() != Ends::periodic) return false;
    const Real dx2 = Real(grid.spacing()) * grid.spacing();
    const Symbol symbol{1 - Real(weight) * linear.zeroth, -Real(weight) * linear.second / dx2,
                        half_bandwidth > 1 ? -Real(weight) * linear.fourth / (dx2 * dx2) : 0};
    if (!symbol.is_positive()) return false;
    const Factors factors = factorise(symbol);
    // The two sweeps of W = 2 lose about reach^3.5 epsilons of an increment. That is nothing in f64 (1e-11 with 4096
    // points); in f32 grids finer than 1024 points on 2 pi, with the paper's step, are left to the exact solver.
    if (half_bandwidth == 2 && std::pow(factors.reach, Real(3.5)) * std::numeric_limits<T>::epsilon() > Real(2e-4))
        return false;
    const Map one_point{-factors.p, -factors.q, 1, 0};
    const std::int64_t n = grid.points(), lanes = spread.lanes;
    auto start = [&](std::int64_t lane) { return lane * n / lanes; };

    CirculantTables<T>& tables = job.tables;
    tables.minus_p = static_cast<T>(-factors.p);
    tables.minus_q = static_cast<T>(-factors.q);
    tables.update = static_cast<T>(update / factors.c);
    // Doubling brings in 2^levels segments; a segment that far away must not be felt, or all have to be in.
    const std::int64_t in_warp = std::min<std::int64_t>(lanes, 32);
    while (tables.levels < carry_levels && (1 << tables.levels) < in_warp &&
           power(one_point, (n << tables.levels) / lanes).template is_felt<T>())
        ++tables.levels;
    tables.decayed = lanes > 32 ? !power(one_point, 32 * n / lanes).template is_felt<T>()
                                : (1 << tables.levels) <= lanes &&
                                      !power(one_point, (n << tables.levels) / lanes).template is_felt<T>();
    tables.usual = tables.decayed && tables.levels == usual_levels<T>(spread.slots);
    tables.alike = n % lanes == 0;
    for (int level = 0; level < carry_levels; ++level) {
        const std::int64_t length = (n << level) / lanes; // n < 2^20 here
        tables.past[level][0] = power(one_point, length).template rounded<T>();
        tables.past[level][1] = power(one_point, length + 1).template rounded<T>();
    }
    tables.past_warp[0] = power(one_point, 32 * n / lanes).template rounded<T>();
    tables.past_warp[1] = power(one_point, 32 * n / lanes + 1).template rounded<T>();
    const Map around = power(one_point, n);
    const Real determinant = (1 - around.a) * (1 - around.d) - around.b * around.c;
    tables.ring =
        Map{(1 - around.d) / determinant, around.b / determinant, around.c / determinant, (1 - around.a) / determinant}
            .template rounded<T>();

    Map response{1, 0, 0, 1};
    for (auto& entry : job.response) {
        response = one_point * response;
        entry[0] = static_cast<T>(response.a);
        entry[1] = static_cast<T>(response.b);
    }
    job.both_ways = both_ways<T>(factors, update);

    positions.resize(static_cast<std::size_t>(2 * lanes));
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const std::int64_t first = lane / 32 * 32, end = std::min(first + 32, lanes);
        positions[lane] = power(one_point, start(lane) - start(first)).template rounded<T>();
        positions[lanes + lane] = power(one_point, start(end) - start(lane + 1)).template rounded<T>();
    }
    return true;
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template bool circulant_tables<T>(const LinearOperator&, const Grid&, int, double, double, const Spread&,          \
                                      ResidentJob<T>&, std::vector<CarryMap<T>>&);
BANDMILL_INSTANTIATE(double)
BANDMILL_INSTANTIATE(float)

} // namespace bandmill::cuda
