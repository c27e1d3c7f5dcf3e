// The smallest complete use: one matrix, many right-hand sides, on the GPU if there is one.
//     solve_batch [rows] [systems]
#include <bandmill/bandmill.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

// -1 for what is no whole number.
static std::int64_t number(const char* text) {
    char* end;
    const long long value = std::strtoll(text, &end, 10);
    return end != text && *end == '\0' ? value : -1;
}

int main(int argc, char** argv) {
    const std::int64_t rows = argc > 1 ? number(argv[1]) : 1000;
    const std::int64_t systems = argc > 2 ? number(argv[2]) : 10000;
    if (rows < 1 || systems < 1 || rows > INT64_MAX / 8 / systems) {
        std::fprintf(stderr, "usage: solve_batch [rows] [systems], one or more of each and as many as fit in memory\n");
        return 2;
    }
    try {
        // A x = b with A = tridiag(-1, 4, -1), factored once. Systems stand side by side: b[row * systems + system].
        const auto matrix = bandmill::BandMatrix::toeplitz(rows, std::vector<double>{-1, 4, -1});
        std::vector<double> x(static_cast<std::size_t>(rows * systems), 1.0);

        if (bandmill::cuda_devices().empty()) {
            const auto factor = bandmill::factor(matrix);
            bandmill::solve(factor, bandmill::interleaved(x.data(), rows, systems));
        } else {
            const auto factor = bandmill::factor(matrix, bandmill::Device{0});
            bandmill::Array<double, bandmill::Cuda> on_gpu(x);
            bandmill::solve(factor, bandmill::interleaved<bandmill::Cuda>(on_gpu.data(), rows, systems));
            on_gpu.copy_to(x);
        }
        // What is left of b - A x, in the worst row.
        double residual = 0;
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t m = 0; m < systems; ++m) {
                const auto at = [&](std::int64_t i) {
                    return i < 0 || i >= rows ? 0.0 : x[static_cast<std::size_t>(i * systems + m)];
                };
                const double left = std::fabs(1 + at(row - 1) - 4 * at(row) + at(row + 1));
                if (left > residual || std::isnan(left)) residual = left;
            }
        std::printf("%lld systems of %lld rows solved; x in the middle is %.6f (far from the ends it is 1/2), "
                    "largest residual %.1e\n",
                    static_cast<long long>(systems), static_cast<long long>(rows),
                    x[static_cast<std::size_t>(rows / 2 * systems)], residual);
        return residual < 1e-14 ? 0 : 1;
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "solve_batch: no memory for %lld systems of %lld rows\n", static_cast<long long>(systems),
                     static_cast<long long>(rows));
        return 1;
    } catch (const bandmill::Error& error) {
        std::fprintf(stderr, "solve_batch: %s\n", error.what());
        return 1;
    }
}
