// The heat equation u_t = u_xx + u_yy on a rectangle with u = 0 at its sides, by alternating directions (Peaceman and
// Rachford): with X = dt/2 D_xx and Y = dt/2 D_yy, the second differences times half a time step,
//     (1 - X) v = (1 + Y) u,      then      (1 - Y) u = (1 + X) v.
// Each half is a batch of tridiagonal systems: one along every line of the grid. The lines along x and the lines along
// y are two views of the same memory, so nothing is transposed.
//     heat_adi
#include <bandmill/bandmill.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

using bandmill::BandMatrix;

namespace {

constexpr double width = 1, height = 2, end_time = 0.1, pi = std::numbers::pi;

// 1 - dt/2 D2 on the points between two ends where u = 0
BandMatrix half_step(std::int64_t points, double spacing, double dt) {
    const double r = dt / (2 * spacing * spacing);
    return BandMatrix::toeplitz(points, std::array{-r, 1 + 2 * r, -r});
}

// Sines decay each at a rate of their own.
double exact(double x, double y, double t) {
    const auto mode = [&](int p, int q) {
        const double k = p * pi / width, l = q * pi / height;
        return std::exp(-(k * k + l * l) * t) * std::sin(k * x) * std::sin(l * y);
    };
    return mode(1, 1) + 0.5 * mode(2, 3);
}

// The largest error at the end, with nx points along x, ny along y, and so many steps.
double largest_error(std::int64_t nx, std::int64_t ny, int steps) {
    const double dx = width / static_cast<double>(nx + 1), dy = height / static_cast<double>(ny + 1);
    const double dt = end_time / steps;
    const auto x_at = [&](std::int64_t i) { return dx * static_cast<double>(i + 1); };
    const auto y_at = [&](std::int64_t j) { return dy * static_cast<double>(j + 1); };
    std::vector<double> u(nx * ny), w(nx * ny); // u[j * nx + i]: x runs fastest
    for (std::int64_t j = 0; j < ny; ++j)
        for (std::int64_t i = 0; i < nx; ++i) u[j * nx + i] = exact(x_at(i), y_at(j), 0);

    const auto along_x = bandmill::factor(half_step(nx, dx, dt)), along_y = bandmill::factor(half_step(ny, dy, dt));
    const auto u_x = bandmill::contiguous(u.data(), nx, ny), w_x = bandmill::contiguous(w.data(), nx, ny);
    const auto u_y = bandmill::interleaved(u.data(), ny, nx), w_y = bandmill::interleaved(w.data(), ny, nx);
    // (1 - A) u = w was solved, so (1 + A) u is 2 u - w: no differences need be taken.
    const auto other_half = [&] {
        for (std::size_t at = 0; at < w.size(); ++at) w[at] = 2 * u[at] - w[at];
    };

    const double r = dt / (2 * dy * dy); // the first right-hand side, (1 + Y) u, has no solve before it
    for (std::int64_t j = 0; j < ny; ++j)
        for (std::int64_t i = 0; i < nx; ++i) {
            const double below = j > 0 ? u_y(j - 1, i) : 0, above = j + 1 < ny ? u_y(j + 1, i) : 0;
            w_y(j, i) = u_y(j, i) + r * (below - 2 * u_y(j, i) + above);
        }
    for (int step = 0; step < steps; ++step) {
        bandmill::solve(along_x, w_x, u_x);
        other_half();
        bandmill::solve(along_y, w_y, u_y);
        other_half();
    }

    double largest = 0;
    for (std::int64_t j = 0; j < ny; ++j)
        for (std::int64_t i = 0; i < nx; ++i)
            largest = std::max(largest, std::abs(u[j * nx + i] - exact(x_at(i), y_at(j), end_time)));
    return largest;
}

} // namespace

int main(int argc, char**) try {
    if (argc > 1) {
        std::fprintf(stderr, "usage: heat_adi (it takes no arguments)\n");
        return 2;
    }
    const double coarse = largest_error(39, 59, 20), fine = largest_error(79, 119, 40); // half of dx, dy and dt
    const double order = std::log2(coarse / fine);
    std::printf("error %.2e on 40 x 60 cells in 20 steps, %.2e on 80 x 120 in 40: order %.2f\n", coarse, fine, order);
    return std::abs(order - 2) < 0.1 ? 0 : 1;
} catch (const bandmill::Error& error) {
    std::fprintf(stderr, "heat_adi: %s\n", error.what());
    return 1;
}
