#include "layout.hpp"

#include <array>
#include <cstdlib>
#include <span>

namespace bandmill::python {
namespace {

struct BatchAxis {
    std::int64_t size, b_stride, x_stride;
};

using Batch = std::span<const BatchAxis>;

FieldShape view_of(std::int64_t rows, std::int64_t row_stride, Batch batch, std::int64_t BatchAxis::*stride) {
    FieldShape shape{rows, 1, row_stride, 0};
    if (batch.empty()) return shape;
    const BatchAxis& inner = batch.back();
    shape.batch = inner.size;
    shape.batch_stride = inner.*stride;
    if (batch.size() == 1) return shape;
    shape.batch *= batch.front().size;
    // One array may go on where a tile ends although the other does not; views without tiles are the faster ones.
    if (batch.front().*stride == inner.*stride * inner.size) return shape;
    shape.tile = inner.size;
    shape.tile_stride = batch.front().*stride;
    return shape;
}

} // namespace

std::optional<SolveShapes> solve_shapes(std::size_t axes, const std::int64_t* shape, const std::int64_t* b_strides,
                                        const std::int64_t* x_strides, std::size_t axis) {
    constexpr std::size_t most = 64; // as many as NumPy and torch have; and no memory is allocated
    std::array<BatchAxis, most> batch;
    std::size_t count = 0;
    for (std::size_t k = 0; k < axes; ++k) {
        if (k == axis || shape[k] == 1) continue;
        if (shape[k] == 0) {
            const FieldShape nothing{shape[axis], 0, 0, 0};
            return SolveShapes{nothing, nothing};
        }
        if (count == most) return std::nullopt;
        // The longest stride of the solution first, so that tiles lie inside each other.
        std::size_t place = count++;
        for (; place > 0 && std::abs(batch[place - 1].x_stride) < std::abs(x_strides[k]); --place)
            batch[place] = batch[place - 1];
        batch[place] = {shape[k], b_strides[k], x_strides[k]};
    }
    std::size_t joined = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const BatchAxis inner = batch[k];
        BatchAxis* outer = joined > 0 ? &batch[joined - 1] : nullptr;
        if (outer != nullptr && outer->b_stride == inner.b_stride * inner.size &&
            outer->x_stride == inner.x_stride * inner.size)
            *outer = {outer->size * inner.size, inner.b_stride, inner.x_stride};
        else
            batch[joined++] = inner;
    }
    if (joined > 2) return std::nullopt;
    const Batch found(batch.data(), joined);
    return SolveShapes{view_of(shape[axis], b_strides[axis], found, &BatchAxis::b_stride),
                       view_of(shape[axis], x_strides[axis], found, &BatchAxis::x_stride)};
}

} // namespace bandmill::python
