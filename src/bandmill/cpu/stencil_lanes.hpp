// What stencils and advection on the CPU ask of one instruction-set level: rows of results, computed from neighbours.
// Plain data: nothing of the standard library is instantiated at a level that another CPU may lack.
#pragma once

#include "bandmill/pde/weno.hpp"
#include "bandmill/stencil/edges.hpp"

#include <cstdint>

namespace bandmill::cpu {

// The axes of the planes in the order of the loops: a SIMD vector lies along the inner one.
enum : int { inner, middle, outer, axes };

template <class T> struct StencilAxis {
    std::int64_t count;
    std::int64_t in_stride, out_stride;
    std::int64_t before, after; // the reach of the neighbours
    detail::EdgeRule<T> rule;

    BANDMILL_HD bool leaves_edges() const { return rule.kind == Edges::Kind::leave; }
    BANDMILL_HD std::int64_t first_written() const { return leaves_edges() ? before : 0; }
    BANDMILL_HD std::int64_t end_written() const { return leaves_edges() ? count - after : count; }
};

// Neighbours of a point lie on lines along the inner axis.
struct Line {
    std::int64_t step[axes]; // to the point's own line; none along the inner axis
    std::int64_t offset;     // the same in memory, where no edge is in between
};
struct Neighbour {
    int line;
    std::int64_t step; // along it
};

// A field beside the input that is read at the point itself.
template <class T> struct Companion {
    const T* data;
    std::int64_t stride[axes];
};

// What a line of neighbours is for the row at hand: memory, taken beyond the edge of x and then beyond that of y.
template <class T> struct LineState {
    const T* at; // of the row's first point; null where an edge says that there is nothing
    detail::Ghost<T> x, y;
    bool plain;
};

// Where the neighbours (then the companions) of the points at hand are read.
template <class T> struct Tap {
    const T* at;
    const LineState<T>* line;
};

// Rows of results that are taken together where a patch has several.
inline constexpr int stencil_block_rows = 4;

template <class T> struct StencilJob {
    const T* in;
    T* out;
    StencilAxis<T> axis[axes];
    int x_axis, y_axis; // which of them is x, and which y
    const Line* lines;
    int line_count;
    const Neighbour* neighbours; // in the order in which they are summed
    int neighbour_count;
    bool add, stream;   // stream: stores pass by the cache
    std::int64_t panel; // points along the inner axis that are taken at once
    // Either weights ...
    const T* weights;
    // (and those of a patch of x along the inner and y along the middle axis once more, row by row, if rows of results
    // may be taken together: patch_rows is then 3, 5 or 7; dense: none is zero)
    const T* patch = nullptr;
    int patch_rows = 0, patch_columns = 0;
    bool dense = false;
    // ... or the velocities and derivatives along x and y, of which one may be missing (data == null). Neighbours are
    // then those from -3 to 3 along x, then those along y.
    Companion<T> velocity[2] = {};
    using Derivative = RightWeno5<T, Slopes::any>;
    Derivative derivative[2] = {Derivative(1), Derivative(1)};
    T to_derivative[2] = {};

    BANDMILL_HD std::int64_t panels() const { return (axis[inner].count + panel - 1) / panel; }
    BANDMILL_HD std::int64_t runs() const { return axis[outer].count * panels() * axis[middle].count; }
    // Points at an edge are taken from copies of their lines, with room for whole vectors.
    static constexpr std::int64_t spare = 64;
    BANDMILL_HD std::int64_t edge_width() const { return 2 * (axis[inner].before + axis[inner].after) + spare; }
};

// What a thread needs beside.
template <class T> struct StencilScratch {
    LineState<T>* lines; // line_count
    Tap<T>* taps;        // neighbour_count + 2
    T* edges;            // (line_count + 2) * edge_width
};

// Computes runs first .. last - 1.
template <class T>
using StencilRange = void (*)(const StencilJob<T>& job, std::int64_t first, std::int64_t last,
                              const StencilScratch<T>& scratch);

#define BANDMILL_DECLARE_LEVEL(level)                                                                                  \
    namespace level {                                                                                                  \
    extern const StencilRange<double> stencil_range_f64;                                                               \
    extern const StencilRange<float> stencil_range_f32;                                                                \
    }
#if defined(__x86_64__)
BANDMILL_DECLARE_LEVEL(v2)
BANDMILL_DECLARE_LEVEL(v3)
BANDMILL_DECLARE_LEVEL(v4)
#else
BANDMILL_DECLARE_LEVEL(generic)
#endif
#undef BANDMILL_DECLARE_LEVEL

} // namespace bandmill::cpu
