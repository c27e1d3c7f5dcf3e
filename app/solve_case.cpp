#include "solve_case.hpp"

#include <cmath>
#include <numbers>

namespace app {
namespace {

using bandmill::BandMatrix;
using bandmill::Boundary;

void append_product(std::vector<SolveCase>& cases, const CaseLists& lists) {
    for (const Precision precision : lists.precision)
        for (const Layout layout : lists.layout)
            for (const std::int64_t batch : lists.batch)
                for (const std::int64_t n : lists.n)
                    for (const MatrixKind matrix : lists.matrix)
                        for (const int half_bandwidth : lists.half_bandwidth)
                            for (const Boundary boundary : lists.boundary)
                                cases.push_back(
                                    {half_bandwidth, boundary, matrix, n, batch, layout, precision, lists.rivals});
}

CaseLists block(std::vector<std::int64_t> n, std::vector<std::int64_t> batch, Layout layout,
                Precision precision = Precision::f64, RivalScope rivals = RivalScope::all) {
    return {std::move(n), std::move(batch),      {1, 2}, {Boundary::open, Boundary::periodic}, {layout},
            {precision},  {MatrixKind::general}, rivals};
}

CaseLists toeplitz(std::int64_t n, std::int64_t batch, Layout layout) {
    return {{n}, {batch}, {1, 2}, {Boundary::periodic}, {layout}, {Precision::f64}, {MatrixKind::toeplitz}};
}

std::vector<SolveCase> standard_set(Backend backend) {
    const std::int64_t million = 1048576;
    const Layout wide = Layout::interleaved;
    const std::vector<CaseLists> cuda = {
        block({64, 128, 256, 300, 512, 1000, 1024, 2048, 4096}, {65536}, wide),
        block({256}, {million}, wide, Precision::f64, RivalScope::paper),
        block({64, 128, 300, 512, 1000, 1024}, {million}, wide, Precision::f64, RivalScope::none),
        block({16384, 100000}, {4096}, wide),
        block({256, 1024}, {65536}, Layout::contiguous),
        block({256, 1024}, {65536}, wide, Precision::f32),
        block({64, 256, 1024, 4096}, {64}, wide),
        block({256}, {4096}, wide),
        // with those above, a roofline over the batch
        block({1024}, {256, 1024, 4096, 16384}, wide),
        block({1024}, {262144}, wide, Precision::f64, RivalScope::none),
        toeplitz(1024, 65536, wide),
    };
    const std::vector<CaseLists> cpu = {
        // 256 MiB: several times any cache
        block({64}, {524288}, Layout::tiled),
        block({256}, {131072}, Layout::tiled),
        block({1024}, {32768}, Layout::tiled),
        block({64}, {524288}, Layout::interleaved),
        block({256}, {131072}, Layout::interleaved),
        block({1024}, {32768}, Layout::interleaved),
        block({256}, {131072}, Layout::contiguous),
        block({256}, {262144}, Layout::tiled, Precision::f32),
        // 512 KiB: half of the level-2 caches of two cores
        block({64}, {1024}, Layout::tiled),
        block({256}, {256}, Layout::tiled),
        block({1024}, {64}, Layout::tiled),
    };
    std::vector<SolveCase> cases;
    for (const CaseLists& lists : backend == Backend::cuda ? cuda : cpu) append_product(cases, lists);
    return cases;
}

// Smooth, periodic and not symmetric about any row; `row` may be -1 or n.
double coefficient(std::int64_t row, std::int64_t n) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(row) / static_cast<double>(n);
    return 1 + 0.15 * std::sin(angle) + 0.05 * std::cos(3 * angle);
}

} // namespace

std::optional<std::int64_t> SolveCase::elements() const {
    const std::int64_t limit = std::int64_t{1} << 60;
    if (batch > limit - tile_width) return std::nullopt;
    const std::int64_t systems = layout == Layout::tiled ? (batch + tile_width - 1) / tile_width * tile_width : batch;
    if (n > limit / systems) return std::nullopt;
    return n * systems;
}

bool CaseLists::all_empty() const {
    return n.empty() && batch.empty() && half_bandwidth.empty() && boundary.empty() && layout.empty() &&
           precision.empty() && matrix.empty();
}

std::vector<SolveCase> make_cases(const CaseLists& lists, Backend backend) {
    if (lists.all_empty()) return standard_set(backend);
    const auto fill = [](auto& list, auto... defaults) {
        if (list.empty()) list = {defaults...};
    };
    CaseLists full = lists;
    fill(full.n, 256, 1024);
    fill(full.batch, backend == Backend::cuda ? 65536 : 16384);
    fill(full.half_bandwidth, 1, 2);
    fill(full.boundary, Boundary::open, Boundary::periodic);
    fill(full.layout, backend == Backend::cuda ? Layout::interleaved : Layout::tiled);
    fill(full.precision, Precision::f64);
    fill(full.matrix, MatrixKind::general);
    std::vector<SolveCase> cases;
    append_product(cases, full);
    return cases;
}

double flops(const SolveCase& what) {
    const int sweeps = what.boundary == Boundary::open ? 4 : 8;
    return (1 + sweeps * what.half_bandwidth) * static_cast<double>(what.n) * static_cast<double>(what.batch);
}

double default_sigma(int half_bandwidth) { return half_bandwidth == 1 ? 1.0 : 1e6; }

BandMatrix make_matrix(const SolveCase& what, double s) {
    if (what.matrix == MatrixKind::toeplitz) {
        const double diffusion[] = {-s, 1 + 2 * s, -s};
        const double hyperdiffusion[] = {s, -4 * s, 1 + 6 * s, -4 * s, s};
        if (what.half_bandwidth == 1) return BandMatrix::toeplitz(what.n, diffusion, what.boundary);
        return BandMatrix::toeplitz(what.n, hyperdiffusion, what.boundary);
    }
    std::vector<double> diagonals[5];
    for (auto& diagonal : diagonals) diagonal.resize(static_cast<std::size_t>(what.n));
    for (std::int64_t i = 0; i < what.n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double before = s * coefficient(i - 1, what.n), here = s * coefficient(i, what.n),
                     after = s * coefficient(i + 1, what.n);
        if (what.half_bandwidth == 1) { // -d/dx (k du/dx), k between the rows
            diagonals[1][at] = -(before + here) / 2;
            diagonals[2][at] = 1 + (before + 2 * here + after) / 2;
            diagonals[3][at] = -(here + after) / 2;
        } else { // d2/dx2 (k d2u/dx2)
            diagonals[0][at] = before;
            diagonals[1][at] = -2 * (before + here);
            diagonals[2][at] = 1 + before + 4 * here + after;
            diagonals[3][at] = -2 * (here + after);
            diagonals[4][at] = after;
        }
    }
    if (what.half_bandwidth == 1)
        return BandMatrix::tridiagonal(diagonals[1], diagonals[2], diagonals[3], what.boundary);
    return BandMatrix::pentadiagonal(diagonals[0], diagonals[1], diagonals[2], diagonals[3], diagonals[4],
                                     what.boundary);
}

} // namespace app
