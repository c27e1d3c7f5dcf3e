// Compact (Pade) first derivatives of many periodic fields. The derivatives f' of all points are coupled,
//     beta f'_{i-2} + alpha f'_{i-1} + f'_i + alpha f'_{i+1} + beta f'_{i+2}
//         = a (f_{i+1} - f_{i-1}) / 2h + b (f_{i+2} - f_{i-2}) / 4h + c (f_{i+3} - f_{i-3}) / 6h,
// so that few points give a high order: one banded matrix for all fields (Lele, J. Comput. Phys. 103 (1992) 16).
//     pade_derivatives [--gpu]
#include <bandmill/bandmill.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string_view>
#include <vector>

namespace {

constexpr std::int64_t fields = 1000;

struct Scheme {
    int order;
    std::vector<double> left; // from beta or alpha on the left to the same on the right
    double a, b, c;
};
const Scheme sixth{6, {1.0 / 3, 1, 1.0 / 3}, 14.0 / 9, 1.0 / 9, 0};                   // tridiagonal
const Scheme tenth{10, {0.05, 0.5, 1, 0.5, 0.05}, 17.0 / 12, 101.0 / 150, 1.0 / 100}; // pentadiagonal

// df/dx of every field, f[point * fields + field], on n points with spacing h.
std::vector<double> derivative(const Scheme& scheme, const std::vector<double>& f, std::int64_t n, double h, bool gpu) {
    std::vector<double> d(f.size());
    const double a = scheme.a / (2 * h), b = scheme.b / (4 * h), c = scheme.c / (6 * h);
    for (std::int64_t i = 0; i < n; ++i) {
        const auto row = [&](std::int64_t offset) { return &f[(i + offset + n) % n * fields]; };
        const double *p1 = row(1), *m1 = row(-1), *p2 = row(2), *m2 = row(-2), *p3 = row(3), *m3 = row(-3);
        for (std::int64_t k = 0; k < fields; ++k)
            d[i * fields + k] = a * (p1[k] - m1[k]) + b * (p2[k] - m2[k]) + c * (p3[k] - m3[k]);
    }
    const auto matrix = bandmill::BandMatrix::toeplitz(n, scheme.left, bandmill::Boundary::periodic);
    if (gpu) {
        const auto factor = bandmill::factor(matrix, bandmill::Device{0});
        bandmill::Array<double, bandmill::Cuda> on_gpu(d);
        bandmill::solve(factor, bandmill::interleaved(on_gpu, n, fields));
        on_gpu.copy_to(d); // waits for the solve
    } else {
        bandmill::solve(bandmill::factor(matrix), bandmill::interleaved(d.data(), n, fields));
    }
    return d;
}

// The fields exp(sin(x + phase)) on [0, 2 pi), each with a phase of its own.
double largest_error(const Scheme& scheme, std::int64_t n, bool gpu) {
    const double h = 2 * std::numbers::pi / static_cast<double>(n);
    std::vector<double> f(n * fields), exact(n * fields);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = 0; k < fields; ++k) {
            const double angle = h * static_cast<double>(i) + 0.001 * static_cast<double>(k);
            f[i * fields + k] = std::exp(std::sin(angle));
            exact[i * fields + k] = std::cos(angle) * f[i * fields + k];
        }
    const std::vector<double> d = derivative(scheme, f, n, h, gpu);
    double largest = 0;
    for (std::size_t at = 0; at < d.size(); ++at) largest = std::max(largest, std::abs(d[at] - exact[at]));
    return largest;
}

} // namespace

int main(int argc, char** argv) {
    const bool gpu = argc == 2 && std::string_view(argv[1]) == "--gpu";
    if (argc > 1 && !gpu) {
        std::fprintf(stderr, "usage: pade_derivatives [--gpu]\n");
        return 2;
    }
    bool right = true;
    try {
        for (const Scheme& scheme : {sixth, tenth}) {
            const double coarse = largest_error(scheme, 32, gpu), fine = largest_error(scheme, 64, gpu);
            const double order = std::log2(coarse / fine);
            std::printf("order %2d: %lld derivatives, error %.2e with 32 points, %.2e with 64: order %.2f\n",
                        scheme.order, static_cast<long long>(fields), coarse, fine, order);
            right = right && std::abs(order - scheme.order) < 0.5;
        }
    } catch (const bandmill::Error& error) {
        std::fprintf(stderr, "pade_derivatives: %s\n", error.what());
        return 1;
    }
    return right ? 0 : 1;
}
