#include "bandmill/band/batch.hpp"

#include <string>

namespace bandmill::detail {
namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

} // namespace

void check_batch_shape(const BatchShape& shape) {
    if (shape.half_bandwidth != 1 && shape.half_bandwidth != 2)
        throw InvalidArgument("matrices of half-bandwidth " + text(shape.half_bandwidth) +
                              " are not supported: use 1 (tridiagonal) or 2 (pentadiagonal)");
    if (shape.boundary != Boundary::open && shape.boundary != Boundary::periodic)
        throw InvalidArgument("boundary " + text(static_cast<int>(shape.boundary)) +
                              " is not known: use Boundary::open or Boundary::periodic");
    if (shape.rows < 1)
        throw InvalidArgument("a matrix cannot have " + text(shape.rows) +
                              " rows (there must be at least one): check the number of rows");
    if (shape.batch < 0)
        throw InvalidArgument("there cannot be " + text(shape.batch) +
                              " matrices (a batch holds zero or more): check the batch size");
    // 9 values per row at most, in tiles of 32 systems.
    constexpr std::int64_t most = INT64_MAX / 16 / 16;
    if (shape.batch > most - 32 || shape.rows > most / (shape.batch + 32))
        throw InvalidArgument(text(shape.batch) + " matrices of " + text(shape.rows) +
                              " rows are beyond 64-bit addressing: check the sizes");
}

BatchShape check_diagonals(const FieldShape* shapes, int count, Boundary boundary) {
    if (count != 3 && count != 5)
        throw InvalidArgument("matrices cannot have " + text(count) +
                              " diagonals: give 3 (tridiagonal) or 5 (pentadiagonal), the lowest first");
    for (int d = 1; d < count; ++d)
        if (shapes[d].rows != shapes[0].rows || shapes[d].batch != shapes[0].batch)
            throw InvalidArgument("diagonal " + text(d) + " has " + text(shapes[d].rows) + " rows of " +
                                  text(shapes[d].batch) + " systems and the lowest " + text(shapes[0].rows) + " of " +
                                  text(shapes[0].batch) +
                                  " (diagonals are indexed by row): give every diagonal one entry per row and system");
    const BatchShape shape{shapes[0].rows, shapes[0].batch, count / 2, boundary};
    check_batch_shape(shape);
    return shape;
}

void check_batch_solve(const BatchShape& shape, const FieldShape& b, const void* b_data, const FieldShape& x,
                       const void* x_data, std::size_t element_bytes) {
    check_solve(shape.rows, b, b_data, x, x_data, element_bytes);
    if (x.batch != shape.batch)
        throw InvalidArgument("there are " + text(x.batch) + " systems to solve and " + text(shape.batch) +
                              " matrices (each system has its own): pass views of one batch size");
}

void check_combined(const BatchShape& shape, const void* const* diagonals, const FieldShape* shapes,
                    const FieldShape& x, const void* x_data, std::size_t element_bytes, const FieldShape& status,
                    const BatchShape& workspace) {
    for (int d = 0; d < 2 * shape.half_bandwidth + 1; ++d)
        if (overlap(shapes[d], diagonals[d], x, x_data, element_bytes))
            throw InvalidArgument("the solution overlaps diagonal " + text(d) +
                                  " of the matrices in memory (they are to be left alone): write it somewhere else");
    if (status.rows != 1 || status.batch != shape.batch)
        throw InvalidArgument("the status has " + text(status.rows) + " rows of " + text(status.batch) +
                              " systems, and one row of " + text(shape.batch) +
                              " is wanted: pass interleaved(data, 1, batch)");
    check_writable(status);
    if (workspace != shape)
        throw InvalidArgument(
            "the workspace was made for " + text(workspace.batch) + " systems of " + text(workspace.rows) +
            " rows with half-bandwidth " + text(workspace.half_bandwidth) +
            (workspace.boundary == Boundary::open ? ", open" : ", periodic") + ", not for these " + text(shape.batch) +
            " of " + text(shape.rows) + " rows with " + text(shape.half_bandwidth) +
            (shape.boundary == Boundary::open ? ", open" : ", periodic") + ": make one of the matrices' shape()");
}

} // namespace bandmill::detail
