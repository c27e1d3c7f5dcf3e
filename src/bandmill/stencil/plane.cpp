#include "bandmill/stencil/plane.hpp"

#include "bandmill/base/overlap.hpp"

#include <algorithm>
#include <string>

namespace bandmill::detail {
namespace {

Lattice lattice(const PlaneShape& shape) {
    return {{{{shape.rows, shape.row_stride}, {shape.columns, shape.column_stride}, {shape.batch, shape.batch_stride}}},
            0};
}

std::string describe(const PlaneShape& shape) {
    return std::to_string(shape.rows) + " rows (stride " + std::to_string(shape.row_stride) + ") by " +
           std::to_string(shape.columns) + " columns (stride " + std::to_string(shape.column_stride) + ") by " +
           std::to_string(shape.batch) + " planes (stride " + std::to_string(shape.batch_stride) + ")";
}

void require_count(const char* what, const char* name, std::int64_t found, std::int64_t expected) {
    if (found != expected)
        throw InvalidArgument(std::string("the ") + name + " has " + std::to_string(found) + " " + what +
                              " and the output " + std::to_string(expected) + ": pass views of one size");
}

} // namespace

void check_plane(const PlaneShape& shape, const void* data, std::size_t alignment) {
    if (shape.rows < 1 || shape.columns < 1)
        throw InvalidArgument("a plane cannot have " + std::to_string(shape.rows) + " rows and " +
                              std::to_string(shape.columns) + " columns (each has at least one): check the sizes");
    if (shape.batch < 0)
        throw InvalidArgument("a view cannot have " + std::to_string(shape.batch) +
                              " planes (a batch holds zero or more): check the batch size");
    if (shape.batch == 0) return;
    if (data == nullptr)
        throw InvalidArgument("the data pointer of a view of " + describe(shape) +
                              " is null: allocate the memory before making the view");
    if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0)
        throw InvalidArgument("the data pointer of a view of " + describe(shape) + " is not a multiple of " +
                              std::to_string(alignment) +
                              " bytes (elements must be aligned): check how it was computed");
    const Extent reach = extent(lattice(shape));
    constexpr Wide limit = Wide(INT64_MAX) / 16; // byte offsets of any element type must fit as well
    if (reach.low < -limit || reach.high > limit || Wide(shape.rows) * shape.columns > limit / shape.batch)
        throw InvalidArgument("a view of " + describe(shape) +
                              " reaches beyond 64-bit addressing: check sizes and strides");
}

void check_plane_room(std::int64_t elements, std::int64_t rows, std::int64_t columns, std::int64_t batch) {
    if (rows > 0 && columns > 0 && batch > 0 && Wide(rows) * columns > Wide(elements) / batch)
        throw InvalidArgument("an array of " + std::to_string(elements) + " elements has no room for " +
                              std::to_string(batch) + " planes of " + std::to_string(rows) + " rows by " +
                              std::to_string(columns) + " columns: allocate rows * columns * batch elements");
}

void check_planes(std::initializer_list<PlaneInput> inputs, const PlaneShape& out, const void* out_data,
                  std::size_t element_bytes) {
    for (const PlaneInput& input : inputs) {
        require_count("rows", input.name, input.shape.rows, out.rows);
        require_count("columns", input.name, input.shape.columns, out.columns);
        require_count("planes", input.name, input.shape.batch, out.batch);
    }
    if (out.batch == 0) return;
    const Lattice written = lattice(out);
    if (repeats(written))
        throw InvalidArgument("the output view of " + describe(out) +
                              " puts several elements at one address (its strides overlap): results would overwrite "
                              "each other; check the strides");
    for (const PlaneInput& input : inputs)
        if (meet({lattice(input.shape), input.data, element_bytes}, {written, out_data, element_bytes}))
            throw InvalidArgument(std::string("the ") + input.name + " (" + describe(input.shape) +
                                  ") and the output (" + describe(out) +
                                  ") overlap in memory (neighbours would be read after they were overwritten): write "
                                  "to separate memory");
}

FieldPieces field_pieces(std::initializer_list<FieldPart> views) {
    const FieldPart& output = *(views.end() - 1);
    const FieldShape& out = output.shape;
    const std::int64_t batch = out.batch;
    std::int64_t tile = std::max<std::int64_t>(batch, 1);
    for (const FieldPart& view : views) {
        const FieldShape& shape = view.shape;
        if (shape.rows != out.rows || shape.batch != batch)
            throw InvalidArgument(std::string("the ") + view.name + " has " + std::to_string(shape.rows) + " rows by " +
                                  std::to_string(shape.batch) + " systems and the output " + std::to_string(out.rows) +
                                  " by " + std::to_string(batch) + ": pass views of one size");
        if (shape.tile >= batch || shape.tile == tile) continue;
        if (tile < batch)
            throw InvalidArgument("one view has tiles of " + std::to_string(tile) + " systems and another of " +
                                  std::to_string(shape.tile) + ": pass views with tiles of one width");
        tile = shape.tile;
    }
    check_writable(out);
    for (const FieldPart& view : views)
        if (&view != &output && overlap(view, output))
            throw InvalidArgument(std::string("the ") + view.name +
                                  " and the output overlap in memory (neighbours would be read after they were "
                                  "overwritten): write to separate memory");
    FieldPieces pieces;
    pieces.tile = tile;
    auto append = [&](std::int64_t first, std::int64_t rows, std::int64_t tiles) {
        FieldPieces::Piece& piece = pieces.piece[pieces.count++];
        piece.first = first;
        int view = 0;
        for (const FieldPart& part : views) {
            const FieldShape& shape = part.shape;
            const bool tiled = shape.tile < batch;
            piece.shape[view] = {rows,
                                 shape.rows,
                                 tiles,
                                 shape.batch_stride,
                                 shape.row_stride,
                                 tiles > 1 ? (tiled ? shape.tile_stride : tile * shape.batch_stride) : 0};
            piece.offset[view++] = tiled ? first / tile * shape.tile_stride : first * shape.batch_stride;
        }
    };
    if (batch / tile > 0) append(0, tile, batch / tile);
    if (batch % tile > 0) append(batch - batch % tile, batch % tile, 1);
    return pieces;
}

} // namespace bandmill::detail
