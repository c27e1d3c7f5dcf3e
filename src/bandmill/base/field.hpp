// FieldView: a batch of right-hand sides or solutions in memory that somebody else owns.
// Element (row i of system m) stands at
//     data[i * row_stride + (m % tile) * batch_stride + (m / tile) * tile_stride]
// with 64-bit sizes and strides of either sign. Most views have a single tile (tile == batch), so two strides:
//     interleaved  [row][system]            row_stride = batch, batch_stride = 1
//     contiguous   [system][row]            row_stride = 1, batch_stride = rows
//     tiled        [tile][row][lane]        the CPU's favourite: each tile is a small interleaved block
//     strided      anything, padding included; elements the view does not reach are never touched
#pragma once

#include "bandmill/base/array.hpp"
#include "bandmill/base/error.hpp"
#include "bandmill/base/space.hpp"

#include <cstdint>
#include <type_traits>

namespace bandmill {

// The shape of a view, without its data: what a kernel needs to find an element.
struct FieldShape {
    std::int64_t rows = 0;
    std::int64_t batch = 0;
    std::int64_t row_stride = 0;
    std::int64_t batch_stride = 0;
    std::int64_t tile = 0; // systems per tile; 0: no tiles, the whole batch is one
    std::int64_t tile_stride = 0;

    bool operator==(const FieldShape&) const = default;
};

namespace detail {
// Throws InvalidArgument for negative sizes, a null or misaligned pointer, or offsets beyond 64 bits; returns the shape
// with its number of systems per tile filled in.
FieldShape check_field(FieldShape shape, const void* data, std::size_t alignment);
// Throws InvalidArgument if two elements share an address: such a view can be read, not written.
void check_writable(const FieldShape& shape);
// Throws InvalidArgument if writing `to` could change elements of `from` that are still to be read.
// The same view twice (in place) is fine, and so are disjoint elements of one buffer.
void check_disjoint(const FieldShape& from, const void* from_data, const FieldShape& to, const void* to_data,
                    std::size_t element_bytes);
// A view of whatever type.
struct AnyField {
    FieldShape shape = {};
    const void* data = nullptr;
    std::size_t element_bytes = 0;
};
// Do two views have memory in common? Yes in doubt.
bool overlap(const AnyField& one, const AnyField& other);
// All of the above for x = A^-1 b with a matrix of `rows` rows, and that the sizes agree.
void check_solve(std::int64_t rows, const FieldShape& b, const void* b_data, const FieldShape& x, const void* x_data,
                 std::size_t element_bytes);
} // namespace detail

template <class T, class Space = Host> class FieldView {
  public:
    FieldView(T* data, const FieldShape& shape) : data_(data), shape_(detail::check_field(shape, data, alignof(T))) {}

    // A view that may be written serves wherever one to be read is wanted.
    template <class U>
        requires std::is_same_v<T, const U> FieldView(const FieldView<U, Space>& other)
            : data_(other.data()), shape_(other.shape()) {}

        T* data() const { return data_; }
        const FieldShape& shape() const { return shape_; }
        std::int64_t rows() const { return shape_.rows; }
        std::int64_t batch() const { return shape_.batch; }

        std::int64_t offset(std::int64_t row, std::int64_t system) const {
            return row * shape_.row_stride + system % shape_.tile * shape_.batch_stride +
                   system / shape_.tile * shape_.tile_stride;
        }
        T& operator()(std::int64_t row, std::int64_t system) const requires std::is_same_v<Space, Host> {
            return data_[offset(row, system)];
        }

      private:
        T* data_;
        FieldShape shape_;
};

namespace detail {
template <class T, class Space> AnyField any_field(const FieldView<T, Space>& view) {
    return {view.shape(), view.data(), sizeof(T)};
}
} // namespace detail

template <class Space = Host, class T> FieldView<T, Space> interleaved(T* data, std::int64_t rows, std::int64_t batch) {
    return {data, FieldShape{rows, batch, batch, 1}};
}

template <class Space = Host, class T> FieldView<T, Space> contiguous(T* data, std::int64_t rows, std::int64_t batch) {
    return {data, FieldShape{rows, batch, 1, rows}};
}

// Tiles of `width` systems; the last tile has room for `width` systems too, of which only batch % width are touched.
template <class Space = Host, class T>
FieldView<T, Space> tiled(T* data, std::int64_t rows, std::int64_t batch, std::int64_t width) {
    if (width < 1)
        throw InvalidArgument("a tiled view needs at least one system per tile, not " + std::to_string(width) +
                              ": 32 is a good width");
    if (rows > 0 && width > INT64_MAX / rows) // fewer rows than one are refused by the view itself
        throw InvalidArgument("a tile of " + std::to_string(rows) + " rows by " + std::to_string(width) +
                              " systems is beyond 64-bit addressing: use narrower tiles");
    return {data, FieldShape{rows, batch, width, 1, width, rows > 0 ? rows * width : 0}};
}

template <class Space = Host, class T>
FieldView<T, Space> strided(T* data, std::int64_t rows, std::int64_t batch, std::int64_t row_stride,
                            std::int64_t batch_stride) {
    return {data, FieldShape{rows, batch, row_stride, batch_stride}};
}

// The same over an Array, whose space they take over and whose size they check.
namespace detail {
void check_room(std::int64_t elements, std::int64_t rows, std::int64_t batch); // throws InvalidArgument
} // namespace detail

template <class T, class Space>
FieldView<T, Space> interleaved(Array<T, Space>& array, std::int64_t rows, std::int64_t batch) {
    detail::check_room(array.size(), rows, batch);
    return interleaved<Space>(array.data(), rows, batch);
}

template <class T, class Space>
FieldView<T, Space> contiguous(Array<T, Space>& array, std::int64_t rows, std::int64_t batch) {
    detail::check_room(array.size(), rows, batch);
    return contiguous<Space>(array.data(), rows, batch);
}

} // namespace bandmill
