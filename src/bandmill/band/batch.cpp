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

void check_combined(const BatchShape& shape, const AnyField* diagonals, const AnyField& b, const AnyField& x,
                    const AnyField& status, const BatchShape& workspace) {
    check_batch_solve(shape, b.shape, b.data, x.shape, x.data, x.element_bytes);
    if (status.shape.rows != 1 || status.shape.batch != shape.batch)
        throw InvalidArgument("the status has " + text(status.shape.rows) + " rows of " + text(status.shape.batch) +
                              " systems, and one row of " + text(shape.batch) +
                              " is wanted: pass interleaved(data, 1, batch)");
    check_writable(status.shape);
    const auto refuse = [](const char* name, const std::string& other, const char* reason) {
        throw InvalidArgument(std::string("the ") + name + " overlaps " + other + " in memory (" + reason +
                              "): write it somewhere else");
    };
    for (int d = 0; d < 2 * shape.half_bandwidth + 1; ++d)
        for (const AnyField* written : {&x, &status})
            if (overlap(*written, diagonals[d]))
                refuse(written == &x ? "solution" : "status", "diagonal " + text(d) + " of the matrices",
                       "they are to be left alone");
    if (overlap(status, b)) refuse("status", "the right-hand side", "it is read when the status may have been written");
    if (overlap(status, x)) refuse("status", "the solution", "both are written");
    if (workspace != shape)
        throw InvalidArgument(
            "the workspace was made for " + text(workspace.batch) + " systems of " + text(workspace.rows) +
            " rows with half-bandwidth " + text(workspace.half_bandwidth) +
            (workspace.boundary == Boundary::open ? ", open" : ", periodic") + ", not for these " + text(shape.batch) +
            " of " + text(shape.rows) + " rows with " + text(shape.half_bandwidth) +
            (shape.boundary == Boundary::open ? ", open" : ", periodic") + ": make one for these sizes");
}

} // namespace bandmill::detail
