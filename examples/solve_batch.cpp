// The smallest complete use: one matrix, many right-hand sides, on the GPU if there is one.
//     solve_batch [rows] [systems]
#include <bandmill/bandmill.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
    const std::int64_t rows = argc > 1 ? std::atoll(argv[1]) : 1000;
    const std::int64_t systems = argc > 2 ? std::atoll(argv[2]) : 10000;
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
        std::printf("%lld systems of %lld rows solved; x in the middle is %.6f (far from the ends it is 1/2)\n",
                    static_cast<long long>(systems), static_cast<long long>(rows),
                    x[static_cast<std::size_t>(rows / 2 * systems)]);
    } catch (const bandmill::Error& error) {
        std::fprintf(stderr, "solve_batch: %s\n", error.what());
        return 1;
    }
}
