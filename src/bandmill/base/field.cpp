#include "bandmill/base/field.hpp"

#include "bandmill/base/overlap.hpp"

#include <algorithm>
#include <string>

namespace bandmill::detail {
namespace {

// A last tile with fewer systems than the others is a lattice of its own.
struct Lattices {
    int count = 0;
    Lattice all[2];

    const Lattice* begin() const { return all; }
    const Lattice* end() const { return all + count; }
};

Lattices lattices(const FieldShape& shape) {
    Lattices result;
    const std::int64_t full = shape.batch / shape.tile, rest = shape.batch % shape.tile;
    const Direction rows{shape.rows, shape.row_stride};
    if (full > 0) result.all[result.count++] = {{rows, {shape.tile, shape.batch_stride}, {full, shape.tile_stride}}, 0};
    if (rest > 0) result.all[result.count++] = {{rows, {rest, shape.batch_stride}, {}}, Wide(full) * shape.tile_stride};
    return result;
}

// Equal views have equal shapes after this: tiles that only continue the batch are no tiles, and strides of directions
// that hold one element say nothing.
FieldShape normalised(FieldShape shape) {
    const std::int64_t batch = std::max<std::int64_t>(shape.batch, 1);
    if (shape.tile == 1) shape.batch_stride = shape.tile_stride; // systems are as far apart as tiles
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

} // namespace

FieldShape check_field(FieldShape shape, const void* data, std::size_t alignment) {
    if (shape.rows < 1)
        throw InvalidArgument("a view cannot have " + std::to_string(shape.rows) +
                              " rows (a system has at least one unknown): pass the matrix's size");
    if (shape.batch < 0)
        throw InvalidArgument("a view cannot have " + std::to_string(shape.batch) +
                              " systems (a batch holds zero or more): check the batch size");
    if (shape.tile < 0)
        throw InvalidArgument("a tiled view needs at least one system per tile: 32 is a good width (a shape without "
                              "tiles has 0)");
    if (shape.tile == 0) shape.tile = std::max<std::int64_t>(shape.batch, 1);
    if (empty(shape)) return shape;
    if (data == nullptr)
        throw InvalidArgument("the data pointer of a view of " + describe(shape) +
                              " is null: allocate the memory before making the view");
    if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0)
        throw InvalidArgument("the data pointer of a view of " + describe(shape) + " is not a multiple of " +
                              std::to_string(alignment) +
                              " bytes (elements must be aligned): check how it was computed");
    constexpr Wide limit = Wide(INT64_MAX) / 16; // byte offsets of any element type must fit as well
    for (const Lattice& lattice : lattices(shape))
        if (const Extent reach = extent(lattice); reach.low < -limit || reach.high > limit)
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
    const Lattices parts = lattices(shape);
    const auto both = [&](int part) { return Elements{parts.all[part], nullptr, 1}; };
    if (std::any_of(parts.begin(), parts.end(), repeats) || (parts.count == 2 && meet(both(0), both(1))))
        throw InvalidArgument("the output view of " + describe(shape) +
                              " puts several elements at one address (its strides overlap): results would overwrite "
                              "each other; check the strides");
}

bool overlap(const AnyField& one, const AnyField& other) {
    if (empty(one.shape) || empty(other.shape)) return false;
    for (const Lattice& a : lattices(normalised(one.shape)))
        for (const Lattice& b : lattices(normalised(other.shape)))
            if (meet({a, one.data, one.element_bytes}, {b, other.data, other.element_bytes})) return true;
    return false;
}

void check_disjoint(const FieldShape& from, const void* from_data, const FieldShape& to, const void* to_data,
                    std::size_t element_bytes) {
    const bool in_place = from_data == to_data && normalised(from) == normalised(to);
    if (!in_place && overlap({from, from_data, element_bytes}, {to, to_data, element_bytes}))
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
