#include "bandmill/base/field.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

namespace bandmill::detail {
namespace {

using Wide = __int128; // products of two 64-bit sizes

struct Dimension {
    Wide count;
    Wide stride; // absolute value
};

// The three directions of a view, those of one element left out.
std::array<Dimension, 3> dimensions(const FieldShape& shape) {
    const Wide tiles = (shape.batch + shape.tile - 1) / shape.tile;
    auto absolute = [](Wide stride) { return stride < 0 ? -stride : stride; };
    return {{{shape.rows, absolute(shape.row_stride)},
             {std::min(shape.batch, shape.tile), absolute(shape.batch_stride)},
             {tiles, absolute(shape.tile_stride)}}};
}

// Lowest and highest element offset a view reaches.
struct Extent {
    Wide low = 0, high = 0;
};

Extent extent(const FieldShape& shape) {
    Extent reach;
    auto stretch = [&reach](Wide count, Wide stride) {
        if (count > 1) (stride < 0 ? reach.low : reach.high) += (count - 1) * stride;
    };
    stretch(shape.rows, shape.row_stride);
    stretch(std::min(shape.batch, shape.tile), shape.batch_stride);
    stretch((shape.batch + shape.tile - 1) / shape.tile, shape.tile_stride);
    return reach;
}

// Strides of directions that hold one element say nothing; without them, equal views have equal shapes.
FieldShape normalised(FieldShape shape) {
    if (shape.tile >= shape.batch) shape.tile = std::max<std::int64_t>(shape.batch, 1);
    if (shape.batch <= shape.tile) shape.tile_stride = 0;
    if (std::min(shape.batch, shape.tile) <= 1) shape.batch_stride = 0;
    if (shape.rows <= 1) shape.row_stride = 0;
    return shape;
}

bool empty(const FieldShape& shape) { return shape.rows == 0 || shape.batch == 0; }

std::string describe(const FieldShape& shape) {
    std::string text = std::to_string(shape.rows) + " rows (stride " + std::to_string(shape.row_stride) + ") by " +
                       std::to_string(shape.batch) + " systems (stride " + std::to_string(shape.batch_stride) + ")";
    if (shape.tile < shape.batch)
        text += " in tiles of " + std::to_string(shape.tile) + " (stride " + std::to_string(shape.tile_stride) + ")";
    return text;
}

// Do i * a.stride == j * b.stride for some 0 < i < a.count, 0 < j < b.count? Then two elements share an address.
bool collide(const Dimension& a, const Dimension& b) {
    if ((a.count > 1 && a.stride == 0) || (b.count > 1 && b.stride == 0)) return true;
    if (a.count <= 1 || b.count <= 1) return false;
    Wide x = a.stride, y = b.stride;
    while (y != 0) x = std::exchange(y, x % y);
    return b.stride / x < a.count && a.stride / x < b.count;
}

} // namespace

void check_field(const FieldShape& shape, const void* data) {
    if (shape.rows < 1)
        throw InvalidArgument("a view cannot have " + std::to_string(shape.rows) +
                              " rows (a system has at least one unknown): pass the matrix's size");
    if (shape.batch < 0)
        throw InvalidArgument("a view cannot have " + std::to_string(shape.batch) +
                              " systems (a batch holds zero or more): check the batch size");
    if (shape.tile < 1)
        throw InvalidArgument("a view cannot have " + std::to_string(shape.tile) +
                              " systems per tile (at least one): use the batch size for a view without tiles");
    if (empty(shape)) return;
    if (data == nullptr)
        throw InvalidArgument("the data pointer of a view of " + describe(shape) +
                              " is null: allocate the memory before making the view");
    const Extent reach = extent(shape);
    constexpr Wide limit = Wide(INT64_MAX) / 16; // byte offsets of any element type must fit as well
    if (reach.low < -limit || reach.high > limit)
        throw InvalidArgument("a view of " + describe(shape) +
                              " reaches beyond 64-bit addressing: check sizes and strides");
}

void check_writable(const FieldShape& shape) {
    if (empty(shape)) return;
    auto sides = dimensions(shape);
    bool overlap;
    if (sides[2].count <= 1) { // two strides: the exact answer
        overlap = collide(sides[0], sides[1]);
    } else { // three: safe if each direction steps over all that the ones below it reach
        std::sort(sides.begin(), sides.end(), [](auto& a, auto& b) { return a.stride < b.stride; });
        Wide reach = 0;
        overlap = false;
        for (const Dimension& side : sides) {
            if (side.count <= 1) continue;
            overlap = overlap || side.stride <= reach;
            reach += (side.count - 1) * side.stride;
        }
    }
    if (overlap)
        throw InvalidArgument("the output view of " + describe(shape) +
                              " puts several elements at one address (its strides overlap): solutions would overwrite "
                              "each other; check the strides");
}

void check_disjoint(const FieldShape& from_shape, const void* from_data, const FieldShape& to_shape,
                    const void* to_data, std::size_t element_bytes) {
    if (empty(from_shape) || empty(to_shape)) return;
    const FieldShape from = normalised(from_shape), to = normalised(to_shape);
    const Extent read = extent(from), write = extent(to);
    const Wide size = Wide(element_bytes);
    const Wide distance =
        Wide(reinterpret_cast<std::uintptr_t>(to_data)) - Wide(reinterpret_cast<std::uintptr_t>(from_data));
    if (distance + write.low * size >= read.high * size + size) return;
    if (distance + write.high * size + size <= read.low * size) return;
    if (from == to && distance == 0) return; // in place
    if (from == to && from.tile == from.batch && distance % size == 0) {
        // Elements of one grid shifted against itself: do they meet? distance = i * row_stride + m * batch_stride.
        const Wide shift = distance / size;
        bool meet = false;
        for (Wide i = 1 - from.rows; i < from.rows && !meet; ++i) {
            const Wide rest = shift - i * from.row_stride;
            if (from.batch_stride == 0)
                meet = rest == 0;
            else
                meet = rest % from.batch_stride == 0 && rest / from.batch_stride > -from.batch &&
                       rest / from.batch_stride < from.batch;
        }
        if (!meet) return;
    }
    throw InvalidArgument("right-hand side and solution overlap in memory without being the same view (" +
                          describe(from) + ", and " + describe(to) +
                          "): solve in place with one view, or write to separate memory");
}

void check_solve(std::int64_t rows, const FieldShape& b, const void* b_data, const FieldShape& x, const void* x_data,
                 std::size_t element_bytes) {
    for (const FieldShape* shape : {&b, &x})
        if (shape->rows != rows)
            throw InvalidArgument(std::string("the ") + (shape == &b ? "right-hand side" : "solution") + " has " +
                                  std::to_string(shape->rows) + " rows, but the factored matrix has " +
                                  std::to_string(rows) + ": pass views of the matrix's size");
    if (b.batch != x.batch)
        throw InvalidArgument("the right-hand side has " + std::to_string(b.batch) + " systems and the solution " +
                              std::to_string(x.batch) + ": pass views of one batch size");
    check_writable(x);
    check_disjoint(b, b_data, x, x_data, element_bytes);
}

} // namespace bandmill::detail
