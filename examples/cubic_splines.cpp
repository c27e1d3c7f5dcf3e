// Cubic splines through many data sets at the same knots. The second derivatives M of all of them obey one tridiagonal
// system; row i, with h_i = x_{i+1} - x_i and d_i = (y_{i+1} - y_i) / h_i, is
//     h_{i-1} / 6 M_{i-1} + (h_{i-1} + h_i) / 3 M_i + h_i / 6 M_{i+1} = d_i - d_{i-1}.
// Natural splines have M = 0 at both ends, periodic ones wrap around.
//     cubic_splines [--gpu]
#include <bandmill/bandmill.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string_view>
#include <vector>

using bandmill::BandMatrix;
using bandmill::Boundary;
using Values = std::vector<double>;

namespace {

constexpr std::int64_t sets = 2000;
constexpr double pi = std::numbers::pi;

// All second derivatives, M[knot * sets + set], from values y in the same order. The knots x have one place more than a
// period of values has: the last one closes the period.
Values second_derivatives(const Values& x, const Values& y, Boundary boundary, bool gpu) {
    const bool periodic = boundary == Boundary::periodic;
    const auto intervals = static_cast<std::int64_t>(x.size()) - 1, n = periodic ? intervals : intervals + 1;
    Values lower(n, 0), main(n, 1), upper(n, 0), m(n * sets, 0); // rows of ends that stay as they are: M = 0
    for (std::int64_t i = periodic ? 0 : 1; i < intervals; ++i) {
        const std::int64_t before = (i + n - 1) % n, after = (i + 1) % n;
        const double h0 = x[before + 1] - x[before], h1 = x[i + 1] - x[i];
        lower[i] = h0 / 6, main[i] = (h0 + h1) / 3, upper[i] = h1 / 6;
        for (std::int64_t s = 0; s < sets; ++s) {
            const double here = y[i * sets + s];
            m[i * sets + s] = (y[after * sets + s] - here) / h1 - (here - y[before * sets + s]) / h0;
        }
    }
    const auto matrix = BandMatrix::tridiagonal(lower, main, upper, boundary);
    if (gpu) {
        const auto factor = bandmill::factor(matrix, bandmill::Device{0});
        bandmill::Array<double, bandmill::Cuda> on_gpu(m);
        bandmill::solve(factor, bandmill::interleaved(on_gpu, n, sets));
        on_gpu.copy_to(m); // waits for the solve
    } else {
        bandmill::solve(bandmill::factor(matrix), bandmill::interleaved(m.data(), n, sets));
    }
    return m;
}

// The spline of one set at t, in the interval that begins at knot i.
double evaluate(const Values& x, const Values& y, const Values& m, std::int64_t i, std::int64_t set, double t) {
    const std::int64_t here = i * sets + set, after = (here + sets) % static_cast<std::int64_t>(y.size());
    const double h = x[i + 1] - x[i], a = (x[i + 1] - t) / h, b = 1 - a;
    return a * y[here] + b * y[after] + ((a * a * a - a) * m[here] + (b * b * b - b) * m[after]) * h * h / 6;
}

// Half waves for natural splines (their second derivative is 0 at both ends, too), shifted waves for periodic ones.
double curve(Boundary boundary, std::int64_t set, double t) {
    const auto wave = static_cast<double>(1 + set % 3), shift = 0.01 * static_cast<double>(set);
    return boundary == Boundary::open ? std::sin(wave * pi * t) : std::sin(2 * wave * pi * t + shift);
}

double largest_error(std::int64_t intervals, Boundary boundary, bool gpu) {
    Values x, y;
    for (std::int64_t i = 0; i <= intervals; ++i) { // knots on [0, 1], closer in the middle
        const double t = static_cast<double>(i) / static_cast<double>(intervals);
        x.push_back(t + 0.08 * std::sin(2 * pi * t));
        if (boundary == Boundary::periodic && i == intervals) break;
        for (std::int64_t s = 0; s < sets; ++s) y.push_back(curve(boundary, s, x.back()));
    }
    const Values m = second_derivatives(x, y, boundary, gpu);
    double largest = 0;
    for (std::int64_t i = 0; i < intervals; ++i)
        for (std::int64_t s = 0; s < sets; ++s) {
            const double t = 0.6 * x[i] + 0.4 * x[i + 1];
            largest = std::max(largest, std::abs(evaluate(x, y, m, i, s, t) - curve(boundary, s, t)));
        }
    return largest;
}

} // namespace

int main(int argc, char** argv) {
    const bool gpu = argc == 2 && std::string_view(argv[1]) == "--gpu";
    if (argc > 1 && !gpu) {
        std::fprintf(stderr, "usage: cubic_splines [--gpu]\n");
        return 2;
    }
    bool right = true;
    try {
        for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
            const double coarse = largest_error(64, boundary, gpu), fine = largest_error(128, boundary, gpu);
            const double order = std::log2(coarse / fine);
            std::printf("%s: %lld splines, error %.2e with 64 intervals, %.2e with 128: order %.2f\n",
                        boundary == Boundary::open ? "natural" : "periodic", static_cast<long long>(sets), coarse, fine,
                        order);
            right = right && std::abs(order - 4) < 0.2;
        }
    } catch (const bandmill::Error& error) {
        std::fprintf(stderr, "cubic_splines: %s\n", error.what());
        return 1;
    }
    return right ? 0 : 1;
}
