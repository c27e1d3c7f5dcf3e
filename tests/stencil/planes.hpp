// Planes in a test's buffer, and the oracle: sums in long double over a field that is continued by recursion.
#pragma once

#include "backend_under_test.hpp"
#include "random.hpp"

#include "bandmill/stencil/advect.hpp"
#include "bandmill/stencil/apply.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace bandmill::test {

enum class PlaneLayout {
    contiguous,
    padded,       // five elements between rows, eleven between planes
    transposed,   // columns are neighbours in memory
    batch_inside, // planes are neighbours in memory: [y][x][plane]
    gaps,         // every third element
    reversed,     // all strides negative
    aligned,      // rows begin at multiples of 32 bytes at least, as kernels like it
};
constexpr PlaneLayout all_plane_layouts[] = {PlaneLayout::contiguous,   PlaneLayout::padded, PlaneLayout::transposed,
                                             PlaneLayout::batch_inside, PlaneLayout::gaps,   PlaneLayout::reversed,
                                             PlaneLayout::aligned};

struct PlaneBox {
    PlaneShape shape;
    std::int64_t origin, size;

    std::int64_t index(std::int64_t y, std::int64_t x, std::int64_t m) const {
        return origin + y * shape.row_stride + x * shape.column_stride + m * shape.batch_stride;
    }
};

inline PlaneBox make_box(PlaneLayout layout, std::int64_t rows, std::int64_t columns, std::int64_t batch) {
    // Elements before the first: only those that are aligned begin at a multiple of 16 bytes.
    const std::int64_t guard = layout == PlaneLayout::aligned ? 8 : 3, aligned_row = (columns + 15) / 8 * 8;
    auto box = [&](std::int64_t row, std::int64_t column, std::int64_t plane) {
        const std::int64_t reach = (rows - 1) * std::abs(row) + (columns - 1) * std::abs(column) +
                                   std::max<std::int64_t>(batch - 1, 0) * std::abs(plane);
        return PlaneBox{
            {rows, columns, batch, row, column, plane}, row < 0 ? guard + reach : guard, reach + 1 + 2 * guard};
    };
    switch (layout) {
    case PlaneLayout::contiguous: return box(columns, 1, rows * columns);
    case PlaneLayout::padded: return box(columns + 5, 1, rows * (columns + 5) + 11);
    case PlaneLayout::transposed: return box(1, rows, rows * columns);
    case PlaneLayout::batch_inside: return box(columns * batch, batch, 1);
    case PlaneLayout::gaps: return box(3 * columns, 3, 3 * rows * columns);
    case PlaneLayout::reversed: return box(-columns, -1, -rows * columns);
    case PlaneLayout::aligned: return box(aligned_row, 1, rows * aligned_row + 8);
    }
    return {};
}

// What a test reads and writes; everything around the elements is poison.
template <class T> struct Planes {
    PlaneBox box;
    std::vector<T> buffer;

    Planes(const PlaneBox& where, const std::function<double(std::int64_t, std::int64_t, std::int64_t)>& value)
        : box(where), buffer(static_cast<std::size_t>(where.size), poison<T>()) {
        for_each([&](auto y, auto x, auto m) { at(y, x, m) = static_cast<T>(value(y, x, m)); });
    }
    T& at(std::int64_t y, std::int64_t x, std::int64_t m) {
        return buffer[static_cast<std::size_t>(box.index(y, x, m))];
    }
    T at(std::int64_t y, std::int64_t x, std::int64_t m) const {
        return buffer[static_cast<std::size_t>(box.index(y, x, m))];
    }
    template <class Visit> void for_each(Visit visit) const {
        for (std::int64_t m = 0; m < box.shape.batch; ++m)
            for (std::int64_t y = 0; y < box.shape.rows; ++y)
                for (std::int64_t x = 0; x < box.shape.columns; ++x) visit(y, x, m);
    }
    // Whether nothing but elements has changed.
    bool padding_is_whole() const {
        Planes copy = *this;
        copy.for_each([&](auto y, auto x, auto m) { copy.at(y, x, m) = poison<T>(); });
        for (const T value : copy.buffer)
            if (!same_bits(value, poison<T>())) return false;
        return true;
    }
};

template <class T> Planes<T> noise(const PlaneBox& box, std::uint64_t seed) {
    Random random(seed);
    return Planes<T>(box, [&](auto...) { return random.uniform(-1, 1); });
}

// The backend's work on copies of the buffers, wherever they have to be.
template <class T> struct Uploaded {
    Array<T, Space> array;
    PlaneBox box;
    explicit Uploaded(const Planes<T>& planes)
        : array(make_array<T>(std::span<const T>(planes.buffer))), box(planes.box) {}
    PlaneView<T, Space> view() { return {array.data() + box.origin, box.shape}; }
};

template <class T>
void apply_here(const Stencil& stencil, const Planes<T>& in, Planes<T>& out, const PlaneEdges& edges,
                Into into = Into::replace) {
    Uploaded<T> from(in), to(out);
    apply(stencil, from.view(), to.view(), edges, into);
    out.buffer = download(to.array);
}

template <class T>
void advect_here(const Planes<T>* u, const Planes<T>* v, const Spacing& spacing, const Planes<T>& in, Planes<T>& out,
                 const PlaneEdges& edges, Into into = Into::replace) {
    Uploaded<T> from(in), to(out);
    std::optional<Uploaded<T>> along_x, along_y;
    Velocity<T, Space> velocity;
    if (u) velocity.x = along_x.emplace(*u).view();
    if (v) velocity.y = along_y.emplace(*v).view();
    advect(velocity, spacing, from.view(), to.view(), edges, into);
    out.buffer = download(to.array);
}

// A value and the sum of the magnitudes it was made of.
struct Sized {
    long double value = 0, size = 0;
};

template <class Inside> Sized continued(const Edges& edges, std::int64_t i, std::int64_t n, const Inside& inside) {
    if (i >= 0 && i < n) return inside(i);
    const long double end = i < 0 ? edges.first() : edges.last();
    auto mirrored = [&](std::int64_t j) {
        const Sized found = continued(edges, j, n, inside);
        if (edges.kind() == Edges::Kind::even || edges.kind() == Edges::Kind::even_at_point) return found;
        return Sized{2 * end - found.value, 2 * std::fabs(end) + found.size};
    };
    switch (edges.kind()) {
    case Edges::Kind::leave: return {NAN, 0};
    case Edges::Kind::periodic: return inside(((i % n) + n) % n);
    case Edges::Kind::constant: return {end, std::fabs(end)};
    case Edges::Kind::even:
    case Edges::Kind::odd: return mirrored(i < 0 ? -1 - i : 2 * n - 1 - i);
    default: return n == 1 ? inside(0) : mirrored(i < 0 ? -i : 2 * n - 2 - i);
    }
}

template <class T>
Sized continued(const Planes<T>& in, const PlaneEdges& edges, std::int64_t y, std::int64_t x, std::int64_t m) {
    return continued(edges.y, y, in.box.shape.rows, [&](std::int64_t row) {
        return continued(edges.x, x, in.box.shape.columns, [&](std::int64_t column) {
            const long double value = in.at(row, column, m);
            return Sized{value, std::fabs(value)};
        });
    });
}

struct PointReach {
    std::int64_t left, right, up, down;
};
inline bool is_written(const PlaneShape& shape, const PlaneEdges& edges, const PointReach& reach, std::int64_t y,
                       std::int64_t x) {
    const bool x_inside = x >= reach.left && x + reach.right < shape.columns;
    const bool y_inside = y >= reach.up && y + reach.down < shape.rows;
    return (x_inside || edges.x.kind() != Edges::Kind::leave) && (y_inside || edges.y.kind() != Edges::Kind::leave);
}

template <class T>
Sized summed(const Stencil& stencil, const Planes<T>& in, const PlaneEdges& edges, std::int64_t y, std::int64_t x,
             std::int64_t m) {
    Sized sum;
    for (std::int64_t dy = -stencil.up(); dy <= stencil.down(); ++dy)
        for (std::int64_t dx = -stencil.left(); dx <= stencil.right(); ++dx) {
            const long double weight = stencil.weight(dy, dx);
            if (weight == 0) continue;
            const Sized one = continued(in, edges, y + dy, x + dx, m);
            sum.value += weight * one.value;
            sum.size += std::fabs(weight) * one.size;
        }
    return sum;
}

inline std::string describe(const PlaneShape& shape, const PlaneEdges& edges) {
    return std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + " x " + std::to_string(shape.batch) +
           ", edges " + std::to_string(static_cast<int>(edges.x.kind())) + " and " +
           std::to_string(static_cast<int>(edges.y.kind()));
}

} // namespace bandmill::test
