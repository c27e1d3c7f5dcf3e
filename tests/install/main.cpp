// A downstream program: solves a batch through the installed library and checks it against A x.
#include <bandmill/bandmill.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

int main() {
    if (bandmill::version() != std::string(BANDMILL_VERSION) ||
        bandmill::version() != std::to_string(BANDMILL_VERSION_MAJOR) + "." + std::to_string(BANDMILL_VERSION_MINOR) +
                                   "." + std::to_string(BANDMILL_VERSION_PATCH)) {
        std::printf("headers are %s, the library is %s\n", BANDMILL_VERSION, bandmill::version());
        return 1;
    }

    const std::int64_t n = 100, batch = 37;
    std::vector<double> lower(n), diagonal(n), upper(n), x(n * batch);
    for (std::int64_t i = 0; i < n; ++i) {
        lower[i] = -1.0 - 0.001 * i;
        diagonal[i] = 4.0 + 0.01 * i;
        upper[i] = -1.5 + 0.002 * i;
    }
    for (std::int64_t k = 0; k < n * batch; ++k) x[k] = std::sin(0.1 * k);
    const std::vector<double> b = x;

    const auto matrix = bandmill::BandMatrix::tridiagonal(lower, diagonal, upper, bandmill::Boundary::periodic);
    const auto factor = bandmill::factor(matrix);
    bandmill::solve(factor, bandmill::contiguous(x.data(), n, batch));

    double worst = 0.0;
    for (std::int64_t m = 0; m < batch; ++m)
        for (std::int64_t i = 0; i < n; ++i) {
            const double *system = &x[m * n], *rhs = &b[m * n];
            const double row =
                lower[i] * system[(i + n - 1) % n] + diagonal[i] * system[i] + upper[i] * system[(i + 1) % n];
            worst = std::fmax(worst, std::fabs(rhs[i] - row));
        }
    std::printf("bandmill %s, path %s, largest residual %.2g\n", bandmill::version(),
                bandmill::name(factor.report().path), worst);
    return worst < 1e-14 ? 0 : 1;
}
