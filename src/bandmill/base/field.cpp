#include "bandmill/base/field.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

namespace bandmill::detail {
namespace {

using Wide = __int128; // products of two 64-bit sizes

Wide absolute(Wide value) { return value < 0 ? -value : value; }

struct Dimension {
    Wide count;
    Wide stride; // absolute value
};

// Lowest and highest element offset a view reaches. The last tile may hold fewer systems than the others.
struct Extent {
    Wide low = 0, high = 0;

    void include(Wide offset) {
        low = std::min(low, offset);
        high = std::max(high, offset);
    }
};

Extent extent(const FieldShape& shape) {
    Extent reach;
    const Wide full = shape.batch / shape.tile, rest = shape.batch % shape.tile;
    if (full > 0)
        for (Wide tile : {Wide(0), full - 1})
            for (Wide lane : {Wide(0), Wide(shape.tile) - 1})
                reach.include(tile * shape.tile_stride + lane * shape.batch_stride);
    if (rest > 0)
        for (Wide lane : {Wide(0), rest - 1}) reach.include(full * shape.tile_stride + lane * shape.batch_stride);
    const Wide rows = Wide(shape.rows - 1) * shape.row_stride;
    (rows < 0 ? reach.low : reach.high) += rows;
    return reach;
}

// Equal views have equal shapes after this: tiles that only continue the batch are no tiles, and strides of directions
// that hold one element say nothing.
FieldShape normalised(FieldShape shape) {
    const std::int64_t batch = std::max<std::int64_t>(shape.batch, 1);
    if (shape.tile == 0 || shape.tile > batch || Wide(shape.tile) * shape.batch_stride == shape.tile_stride)
        shape.tile = batch;
    if (shape.tile == batch) shape.tile_stride = 0;
    if (shape.tile <= 1) shape.batch_stride = 0;
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

bool meet(const FieldShape& from_shape, const void* from_data, const FieldShape& to_shape, const void* to_data,
          std::size_t element_bytes, bool same_is_fine) {
    if (empty(from_shape) || empty(to_shape)) return false;
    const FieldShape from = normalised(from_shape), to = normalised(to_shape);
    const Extent read = extent(from), write = extent(to);
    const Wide size = Wide(element_bytes);
    const Wide distance =
        Wide(reinterpret_cast<std::uintptr_t>(to_data)) - Wide(reinterpret_cast<std::uintptr_t>(from_data));
    if (distance + write.low * size >= read.high * size + size) return false;
    if (distance + write.high * size + size <= read.low * size) return false;
    if (from == to && distance == 0) return !same_is_fine; // in place
    if (from == to && from.tile == from.batch && distance % size == 0) {
        // Elements of one grid shifted against itself: do they meet? distance = i * row_stride + m * batch_stride.
        const Wide shift = distance / size;
        for (Wide i = 1 - from.rows; i < from.rows; ++i) {
            const Wide rest = shift - i * from.row_stride;
            if (from.batch_stride == 0 ? rest == 0
                                       : rest % from.batch_stride == 0 && rest / from.batch_stride > -from.batch &&
                                             rest / from.batch_stride < from.batch)
                return true;
        }
        return false;
    }
    return true;
}

} // namespace

FieldShape check_field(FieldShape shape, const void* data, std::size_t alignment) {
    if (shape.rows < 1)
        throw InvalidArgument("a view cannot have " + std::to_string(shape.rows) +
                              " rows (a system has at least one unknown): pass the matrix's size");
    if (shape.batch < 0)
        throw InvalidArgument("a view cannot have " + std::to_string(shape.batch) +
                              " systems (a batch holds zero or more): check the batch size");
    if (shape.tile < 0)
        throw InvalidArgument("a view cannot have " + std::to_string(shape.tile) +
                              " systems per tile: use 0 for a view without tiles");
    if (shape.tile == 0) shape.tile = std::max<std::int64_t>(shape.batch, 1);
    if (empty(shape)) return shape;
    if (data == nullptr)
        throw InvalidArgument("the data pointer of a view of " + describe(shape) +
                              " is null: allocate the memory before making the view");
    if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0)
        throw InvalidArgument("the data pointer of a view of " + describe(shape) + " is not a multiple of " +
                              std::to_string(alignment) +
                              " bytes (elements must be aligned): check how it was computed");
    const Extent reach = extent(shape);
    constexpr Wide limit = Wide(INT64_MAX) / 16; // byte offsets of any element type must fit as well
    if (reach.low < -limit || reach.high > limit)
        throw InvalidArgument("a view of " + describe(shape) +
                              " reaches beyond 64-bit addressing: check sizes and strides");
    return shape;
}

void check_room(std::int64_t elements, std::int64_t rows, std::int64_t batch) {
    if (rows > 0 && batch > 0 && Wide(rows) * batch > elements)
        throw InvalidArgument("an array of " + std::to_string(elements) + " elements has no room for " +
                              std::to_string(rows) + " rows by " + std::to_string(batch) +
                              " systems: allocate rows * batch elements");
}

void check_writable(const FieldShape& given) {
    if (empty(given)) return;
    const FieldShape shape = normalised(given);
    const Wide tiles = (shape.batch - 1) / shape.tile + 1;
    const Dimension rows{shape.rows, absolute(shape.row_stride)}, lanes{shape.tile, absolute(shape.batch_stride)};
    bool overlap;
    if (tiles == 1) { // two strides: the exact answer
        overlap = collide(rows, lanes);
    } else { // three: safe if systems are apart from each other, and rows step over them all or lie between them
        const Dimension tile{tiles, absolute(shape.tile_stride)};
        FieldShape one_row = shape;
        one_row.rows = 1;
        const Extent systems = extent(one_row);
        const Wide row_reach = (rows.count - 1) * rows.stride;
        const Wide lane_reach = (lanes.count - 1) * lanes.stride;
        const bool rows_outside = rows.stride > systems.high - systems.low;
        const bool rows_innermost = row_reach < std::min(lanes.count > 1 ? lanes.stride : tile.stride, tile.stride) &&
                                    row_reach + lane_reach < tile.stride;
        const bool rows_between = rows.stride > lane_reach && row_reach + lane_reach < tile.stride;
        overlap = collide(lanes, tile) ||
                  (rows.count > 1 && (rows.stride == 0 || !(rows_outside || rows_innermost || rows_between)));
    }
    if (overlap)
        throw InvalidArgument("the output view of " + describe(shape) +
                              " puts several elements at one address (its strides overlap): solutions would overwrite "
                              "each other; check the strides");
}

bool overlap(const FieldShape& one, const void* one_data, const FieldShape& other, const void* other_data,
             std::size_t element_bytes) {
    return meet(one, one_data, other, other_data, element_bytes, false);
}

void check_disjoint(const FieldShape& from, const void* from_data, const FieldShape& to, const void* to_data,
                    std::size_t element_bytes) {
    if (meet(from, from_data, to, to_data, element_bytes, true))
        throw InvalidArgument("right-hand side and solution overlap in memory without being the same view (" +
                              describe(normalised(from)) + ", and " + describe(normalised(to)) +
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
