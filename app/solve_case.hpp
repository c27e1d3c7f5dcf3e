// The cases `bandmill bench solve` measures: what they are, which run by default, and their matrices.
#pragma once

#include "choices.hpp"

#include "bandmill/band/matrix.hpp"
#include "bandmill/base/field.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace app {

enum class Layout { interleaved, contiguous, tiled };
enum class MatrixKind { general, toeplitz };
// Which rivals a case is compared with, of those that were asked for. The standard set spares the slow ones at the
// largest batches.
enum class RivalScope { all, paper, none };

inline constexpr Word<Layout> layout_words[] = {
    {"interleaved", Layout::interleaved}, {"contiguous", Layout::contiguous}, {"tiled", Layout::tiled}};
inline constexpr Word<MatrixKind> matrix_words[] = {{"general", MatrixKind::general},
                                                    {"toeplitz", MatrixKind::toeplitz}};
inline constexpr Word<bandmill::Boundary> boundary_words[] = {{"open", bandmill::Boundary::open},
                                                              {"periodic", bandmill::Boundary::periodic}};
inline constexpr Word<int> half_bandwidth_words[] = {{"1", 1}, {"2", 2}};

inline constexpr std::int64_t tile_width = 32;

struct SolveCase {
    int half_bandwidth;
    bandmill::Boundary boundary;
    MatrixKind matrix;
    std::int64_t n, batch;
    Layout layout;
    Precision precision;
    RivalScope rivals = RivalScope::all;

    std::size_t element_bytes() const { return precision == Precision::f64 ? 8 : 4; }
    // Elements of one field, the padding of the last tile included; nullopt beyond 2^60.
    std::optional<std::int64_t> elements() const;
};

// The lists on the command line; the cases are all their combinations.
struct CaseLists {
    std::vector<std::int64_t> n, batch;
    std::vector<int> half_bandwidth;
    std::vector<bandmill::Boundary> boundary;
    std::vector<Layout> layout;
    std::vector<Precision> precision;
    std::vector<MatrixKind> matrix;
    RivalScope rivals = RivalScope::all;

    bool all_empty() const;
};

// Every combination of the lists; a list that was not given takes a default. With no list at all: the standard set of
// the backend, the one results in bench/results are made with (under 150 s on an H200, under 90 s on two cores).
std::vector<SolveCase> make_cases(const CaseLists& lists, Backend backend);

// One implicit step of diffusion (W = 1) or hyperdiffusion (W = 2): I + sigma * (difference operator), with a
// coefficient that varies by 20% along the rows in the general case.
bandmill::BandMatrix make_matrix(const SolveCase& what, double sigma);
double default_sigma(int half_bandwidth); // 1 (dt/dx^2) and 1e6 (dt/dx^4, as stiff as the paper's own problems)

// The least arithmetic of one solve, in additions and multiplications: each row is scaled, and takes W multiply-adds
// down and W up; a periodic system adds as many again for the last W rows and columns, which reach all others. So
// 1 + 4W or 1 + 8W per unknown.
double flops(const SolveCase& what);

template <class Space, class T> bandmill::FieldView<T, Space> make_view(const SolveCase& what, T* data) {
    switch (what.layout) {
    case Layout::contiguous: return bandmill::contiguous<Space>(data, what.n, what.batch);
    case Layout::tiled: return bandmill::tiled<Space>(data, what.n, what.batch, tile_width);
    case Layout::interleaved: break;
    }
    return bandmill::interleaved<Space>(data, what.n, what.batch);
}

} // namespace app
