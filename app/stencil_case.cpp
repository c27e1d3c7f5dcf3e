#include "stencil_case.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace app {
namespace {

using enum StencilKind;

std::vector<double> ramp(int count) {
    std::vector<double> weights;
    for (int k = 0; k < count; ++k) weights.push_back((k % 2 ? -0.1 : 0.2) * (1 + k));
    return weights;
}

std::vector<StencilCase> standard(Backend backend) {
    const StencilKind kinds[] = {x3, x5, x7, y3, y5, y7, cross, patch3, patch5, advect_x, advect_y, advect};
    std::vector<StencilCase> cases;
    if (backend == Backend::cpu) {
        for (const StencilKind kind : kinds) cases.push_back({kind, {2048, 2048}});
        for (const StencilKind kind : {x7, y7, patch5}) cases.push_back({kind, {2048, 2048}, Precision::f32});
        return cases;
    }
    const PlaneSize sizes[] = {{4096, 4096}, {1024, 1024, 16}, {65536, 256}, {1000, 1003}};
    for (const Precision precision : {Precision::f64, Precision::f32})
        for (const PlaneSize& size : sizes)
            for (const StencilKind kind : kinds) cases.push_back({kind, size, precision});
    for (const Precision precision : {Precision::f64, Precision::f32}) // ends where they count least and most
        for (const EdgeKind edges : {EdgeKind::leave, EdgeKind::even, EdgeKind::odd})
            for (const PlaneSize& size : {sizes[0], sizes[2]})
                for (const StencilKind kind : {x3, x7, y3, y7, patch3, patch5})
                    cases.push_back({kind, size, precision, edges});
    return cases;
}

} // namespace

PlaneSize parse_plane_size(std::string_view option, std::string_view text) {
    std::vector<std::string_view> words;
    for (std::string_view rest = text;;) {
        const std::size_t cross_at = rest.find('x');
        words.push_back(rest.substr(0, cross_at));
        if (cross_at == std::string_view::npos) break;
        rest.remove_prefix(cross_at + 1);
    }
    if ((words.size() != 2 && words.size() != 3) || std::find(words.begin(), words.end(), "") != words.end())
        throw UsageError(fmt::format("{} needs rows x columns, or rows x columns x planes, not '{}': 4096x4096 or "
                                     "1024x1024x16, for example",
                                     option, text));
    std::vector<std::int64_t> parts;
    for (const std::string_view word : words) parts.push_back(parse_size(option, word));
    parts.resize(3, 1);
    std::int64_t points = 1;
    for (const std::int64_t part : parts) {
        if (points > (std::int64_t{1} << 50) / part)
            throw UsageError(fmt::format("{} {} has more than 2^50 points: choose less", option, text));
        points *= part;
    }
    return {parts[0], parts[1], parts[2]};
}

std::vector<StencilCase> make_stencil_cases(const StencilLists& lists, Backend backend) {
    if (lists.all_empty()) return standard(backend);
    StencilLists full = lists;
    const auto fill = [](auto& list, auto value) {
        if (list.empty()) list = {value};
    };
    if (full.kind.empty()) full.kind = {x3, x7, y3, y7, patch3, patch5};
    fill(full.size, backend == Backend::cpu ? PlaneSize{2048, 2048} : PlaneSize{4096, 4096});
    fill(full.precision, Precision::f64);
    fill(full.edges, EdgeKind::periodic);
    std::vector<StencilCase> cases;
    for (const Precision precision : full.precision)
        for (const EdgeKind edges : full.edges)
            for (const PlaneSize& size : full.size)
                for (const StencilKind kind : full.kind) cases.push_back({kind, size, precision, edges});
    return cases;
}

std::string describe(const StencilCase& what) {
    return fmt::format("{} {}x{}x{} {} {}", word_of(what.kind, stencil_words), what.size.rows, what.size.columns,
                       what.size.batch, word_of(what.precision, precision_words), word_of(what.edges, edge_words));
}

bandmill::Stencil make_stencil(StencilKind kind) {
    using bandmill::Stencil;
    switch (kind) {
    case x3: return Stencil::along_x(ramp(3));
    case x5: return Stencil::along_x(ramp(5));
    case x7: return Stencil::along_x(ramp(7));
    case y3: return Stencil::along_y(ramp(3));
    case y5: return Stencil::along_y(ramp(5));
    case y7: return Stencil::along_y(ramp(7));
    case cross: return Stencil::patch(3, 3, {0, 0.2, 0, 0.3, -1.1, 0.3, 0, 0.3, 0});
    case patch5: return Stencil::patch(5, 5, ramp(25));
    default: return Stencil::patch(3, 3, ramp(9));
    }
}

bandmill::Edges make_edges(EdgeKind kind) {
    using bandmill::Edges;
    switch (kind) {
    case EdgeKind::periodic: return Edges::periodic();
    case EdgeKind::leave: return Edges::leave();
    case EdgeKind::even: return Edges::even();
    default: return Edges::odd();
    }
}

} // namespace app
