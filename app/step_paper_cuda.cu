#include "step_paper_row.hpp"

#include "bandmill/base/device.hpp"

#include <algorithm>
#include <cuda_runtime_api.h>

namespace app {
namespace {

constexpr int block_threads = 128;
constexpr std::int64_t run = 16; // rows per thread: each is read once, and four more at the ends

// A thread goes down some rows of its member's column.
template <EquationKind kind, class T>
__global__ void right_sides(const T* c, T* f, std::int64_t n, std::int64_t batch, T factor) {
    const std::int64_t member = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (member >= batch) return;
    const auto at = [&](std::int64_t i) { return __ldg(c + (i < 0 ? i + n : i >= n ? i - n : i) * batch + member); };
    for (std::int64_t first = blockIdx.y * run; first < n; first += gridDim.y * run) {
        const std::int64_t end = first + run < n ? first + run : n;
        T before2 = at(first - 2), before = at(first - 1), here = at(first), after = at(first + 1);
        for (std::int64_t i = first; i < end; ++i) {
            const T after2 = at(i + 2);
            f[i * batch + member] = paper_right_side<kind>(factor, before2, before, here, after, after2);
            before2 = before, before = here, here = after, after = after2;
        }
    }
}

} // namespace

template <class T>
void paper_right_sides_cuda(bandmill::Device device, EquationKind kind, const T* c, T* f, std::int64_t n,
                            std::int64_t batch, T factor) {
    const bandmill::DeviceScope scope(device);
    const dim3 grid(static_cast<unsigned>((batch + block_threads - 1) / block_threads),
                    static_cast<unsigned>(std::min<std::int64_t>((n + run - 1) / run, 65535)));
    if (kind == EquationKind::diffusion)
        right_sides<EquationKind::diffusion><<<grid, block_threads>>>(c, f, n, batch, factor);
    else if (kind == EquationKind::hyperdiffusion)
        right_sides<EquationKind::hyperdiffusion><<<grid, block_threads>>>(c, f, n, batch, factor);
    else
        right_sides<EquationKind::cahn_hilliard><<<grid, block_threads>>>(c, f, n, batch, factor);
    bandmill::check_cuda(cudaGetLastError(), "launching the kernel of right-hand sides");
}
template void paper_right_sides_cuda(bandmill::Device, EquationKind, const double*, double*, std::int64_t, std::int64_t,
                                     double);
template void paper_right_sides_cuda(bandmill::Device, EquationKind, const float*, float*, std::int64_t, std::int64_t,
                                     float);

} // namespace app
