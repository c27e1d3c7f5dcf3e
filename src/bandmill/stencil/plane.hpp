// PlaneView: a batch of 2D fields in memory that somebody else owns. Element (row y, column x) of plane m stands at
//     data[y * row_stride + x * column_stride + m * batch_stride]
// with 64-bit sizes and strides of either sign; a stride of 0 repeats what is read. Elements that the view does not
// reach are never touched.
#pragma once

#include "bandmill/base/array.hpp"
#include "bandmill/base/error.hpp"
#include "bandmill/base/field.hpp"
#include "bandmill/base/space.hpp"

#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace bandmill {

// The shape of a view, without its data.
struct PlaneShape {
    std::int64_t rows = 0, columns = 0; // of one plane: points along y, points along x
    std::int64_t batch = 1;
    std::int64_t row_stride = 0, column_stride = 1, batch_stride = 0;

    bool operator==(const PlaneShape&) const = default;
};

namespace detail {
// Throws InvalidArgument for sizes below one (a batch may be empty), a null or misaligned pointer, or offsets beyond 64
// bits.
void check_plane(const PlaneShape& shape, const void* data, std::size_t alignment);
// The same for what is read and what is written at every point: sizes agree, no two elements of the output share an
// address, none is part of an input.
struct PlaneInput {
    PlaneShape shape;
    const void* data;
    const char* name; // completes "the ..."
};
void check_planes(std::initializer_list<PlaneInput> inputs, const PlaneShape& out, const void* out_data,
                  std::size_t element_bytes);
void check_plane_room(std::int64_t elements, std::int64_t rows, std::int64_t columns, std::int64_t batch);
} // namespace detail

template <class T, class Space = Host> class PlaneView {
  public:
    PlaneView(T* data, const PlaneShape& shape) : data_(data), shape_(shape) {
        detail::check_plane(shape, data, alignof(T));
    }

    // A view that may be written serves wherever one to be read is wanted.
    template <class U>
        requires std::is_same_v<T, const U> PlaneView(const PlaneView<U, Space>& other)
            : data_(other.data()), shape_(other.shape()) {}

        T* data() const { return data_; }
        const PlaneShape& shape() const { return shape_; }
        std::int64_t rows() const { return shape_.rows; }
        std::int64_t columns() const { return shape_.columns; }
        std::int64_t batch() const { return shape_.batch; }

        std::int64_t offset(std::int64_t y, std::int64_t x, std::int64_t m = 0) const {
            return y * shape_.row_stride + x * shape_.column_stride + m * shape_.batch_stride;
        }
        T& operator()(std::int64_t y, std::int64_t x, std::int64_t m = 0) const requires std::is_same_v<Space, Host> {
            return data_[offset(y, x, m)];
        }

      private:
        T* data_;
        PlaneShape shape_;
};

// Row after row, plane after plane.
template <class Space = Host, class T>
PlaneView<T, Space> plane(T* data, std::int64_t rows, std::int64_t columns, std::int64_t batch = 1) {
    const bool fits = rows > 0 && columns > 0 && rows <= INT64_MAX / columns; // the view refuses the rest itself
    return {data, PlaneShape{rows, columns, batch, columns, 1, fits ? rows * columns : INT64_MAX}};
}

template <class T, class Space>
PlaneView<T, Space> plane(Array<T, Space>& array, std::int64_t rows, std::int64_t columns, std::int64_t batch = 1) {
    detail::check_plane_room(array.size(), rows, columns, batch);
    return plane<Space>(array.data(), rows, columns, batch);
}
template <class T, class Space>
PlaneView<const T, Space> plane(const Array<T, Space>& array, std::int64_t rows, std::int64_t columns,
                                std::int64_t batch = 1) {
    detail::check_plane_room(array.size(), rows, columns, batch);
    return plane<Space>(array.data(), rows, columns, batch);
}

namespace detail {

// Systems of a field as the rows of planes: x runs along a system, y over the systems of a tile, and the batch over
// tiles. A last tile that is not full is a piece of its own.
struct FieldPieces {
    static constexpr int most_views = 3;
    struct Piece {
        PlaneShape shape[most_views];
        std::int64_t offset[most_views];
        std::int64_t first; // system
    };
    std::int64_t tile; // systems of one
    int count = 0;
    Piece piece[2];
};
struct FieldPart : AnyField {
    template <class T, class Space>
    FieldPart(const FieldView<T, Space>& view, const char* what) : AnyField(any_field(view)), name(what) {}
    const char* name; // completes "the ..."
};
// The output comes last. Throws InvalidArgument where sizes differ, or tiles of several widths, and where the output
// shares elements with itself or an input, which may be in another piece.
FieldPieces field_pieces(std::initializer_list<FieldPart> views);

template <class T, class Space>
PlaneView<T, Space> piece_of(const FieldView<T, Space>& field, const FieldPieces& all, int piece, int view) {
    return {field.data() + all.piece[piece].offset[view], all.piece[piece].shape[view]};
}

} // namespace detail
} // namespace bandmill
