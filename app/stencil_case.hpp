// The cases `bandmill bench stencil` measures.
#pragma once

#include "choices.hpp"

#include "bandmill/stencil/advect.hpp"
#include "bandmill/stencil/apply.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace app {

enum class StencilKind { x3, x5, x7, y3, y5, y7, cross, patch3, patch5, advect_x, advect_y, advect };
enum class EdgeKind { periodic, leave, even, odd };

inline constexpr Word<StencilKind> stencil_words[] = {{"x3", StencilKind::x3},
                                                      {"x5", StencilKind::x5},
                                                      {"x7", StencilKind::x7},
                                                      {"y3", StencilKind::y3},
                                                      {"y5", StencilKind::y5},
                                                      {"y7", StencilKind::y7},
                                                      {"cross", StencilKind::cross},
                                                      {"3x3", StencilKind::patch3},
                                                      {"5x5", StencilKind::patch5},
                                                      {"advect-x", StencilKind::advect_x},
                                                      {"advect-y", StencilKind::advect_y},
                                                      {"advect", StencilKind::advect}};
inline constexpr Word<EdgeKind> edge_words[] = {
    {"periodic", EdgeKind::periodic}, {"leave", EdgeKind::leave}, {"even", EdgeKind::even}, {"odd", EdgeKind::odd}};

struct PlaneSize {
    std::int64_t rows, columns, batch = 1;
};
// "4096x4096" or "1024x1024x16": rows, columns, planes.
PlaneSize parse_plane_size(std::string_view option, std::string_view text);

struct StencilCase {
    StencilKind kind;
    PlaneSize size;
    Precision precision = Precision::f64;
    EdgeKind edges = EdgeKind::periodic;

    std::size_t element_bytes() const { return precision == Precision::f64 ? 8 : 4; }
    double points() const {
        return static_cast<double>(size.rows) * static_cast<double>(size.columns) * static_cast<double>(size.batch);
    }
    std::int64_t elements() const { return size.rows * size.columns * size.batch; }
    bool along_x() const { return kind == StencilKind::advect_x || kind == StencilKind::advect; } // a velocity
    bool along_y() const { return kind == StencilKind::advect_y || kind == StencilKind::advect; }
    int velocities() const { return along_x() + along_y(); }
    // Each element read once and written once, and the velocities read.
    double moved_bytes() const { return (2 + velocities()) * points() * static_cast<double>(element_bytes()); }
};

struct StencilLists {
    std::vector<StencilKind> kind;
    std::vector<PlaneSize> size;
    std::vector<Precision> precision;
    std::vector<EdgeKind> edges;

    bool all_empty() const { return kind.empty() && size.empty() && precision.empty() && edges.empty(); }
};
std::vector<StencilCase> make_stencil_cases(const StencilLists& lists, Backend backend);
std::string describe(const StencilCase& what);

// The weights of a case without velocities: none is zero, but for those of the cross.
bandmill::Stencil make_stencil(StencilKind kind);
bandmill::Edges make_edges(EdgeKind kind); // along both axes
inline constexpr double bench_spacing = 0.01;

} // namespace app
