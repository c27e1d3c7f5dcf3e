// apply_function: a function of the neighbours at every point, on the CPU. (On a GPU: apply_function.cuh, for nvcc.)
//     apply_function<double>(Reach{.left = 1, .right = 1},
//                            [=](const Neighbourhood<double>& at) { return a * (at(1) - at(-1)); }, in, out, edges);
// The function is compiled into the caller's loop, so coefficients are simply its members; what it may be vectorised to
// is up to the caller's compiler options (-O3 -march=...). It is called from several threads at once, in any order, and
// only for points that are written. Everything else is as for apply().
#pragma once

#include "bandmill/stencil/apply.hpp"
#include "bandmill/stencil/neighbourhood.hpp"

#include <algorithm>
#include <functional>
#include <type_traits>
#include <vector>

namespace bandmill {
namespace detail {

// body(begin, end) on threads, with shares of 0 .. count; rethrows what one of them throws.
void for_each_share_of(std::int64_t count, Threads threads,
                       const std::function<void(std::int64_t, std::int64_t)>& body);

template <class T, class Function> class FunctionRows {
  public:
    FunctionRows(const Reach& reach, const Function& function, const PlaneView<const T, Host>& in,
                 const PlaneView<T, Host>& out, const PlaneEdges& edges, Into into)
        : reach_(reach), function_(function), in_(in), out_(out), x_rule_(edges.x), y_rule_(edges.y),
          add_(into == Into::add) {}

    void compute(std::int64_t first, std::int64_t last) {
        for (std::int64_t row = first; row < last; ++row) compute_row(row % out_.rows(), row / out_.rows());
    }

  private:
    void compute_row(std::int64_t y, std::int64_t plane) {
        const std::int64_t rows = out_.rows(), columns = out_.columns();
        const bool inside = y >= reach_.up && y + reach_.down < rows;
        const bool leave_x = x_rule_.kind == Edges::Kind::leave, leave_y = y_rule_.kind == Edges::Kind::leave;
        if (!inside && leave_y) return;
        std::int64_t begin = std::min(reach_.left, columns), end = std::max(columns - reach_.right, begin);
        if (columns < reach_.left + reach_.right + 1) begin = end = columns;
        if (!leave_x) continued(0, begin, y, plane);
        if (inside)
            direct(begin, end, y, plane);
        else
            continued(begin, end, y, plane);
        if (!leave_x) continued(end, columns, y, plane);
    }

    // All neighbours are there.
    void direct(std::int64_t begin, std::int64_t end, std::int64_t y, std::int64_t plane) const {
        const PlaneShape &from = in_.shape(), &to = out_.shape();
        const T* in = in_.data() + in_.offset(y, 0, plane);
        T* out = out_.data() + out_.offset(y, 0, plane);
        if (from.column_stride == 1 && to.column_stride == 1)
            put(in, std::integral_constant<std::int64_t, 1>{}, from.row_stride, out,
                std::integral_constant<std::int64_t, 1>{}, begin, end, y, plane);
        else
            put(in, from.column_stride, from.row_stride, out, to.column_stride, begin, end, y, plane);
    }

    // Some are beyond an edge: everything around the points is copied first.
    void continued(std::int64_t begin, std::int64_t end, std::int64_t y, std::int64_t plane) {
        if (begin >= end) return;
        const std::int64_t width = end - begin + reach_.left + reach_.right, height = 1 + reach_.up + reach_.down;
        window_.resize(static_cast<std::size_t>(width * height));
        T* to = window_.data();
        for (std::int64_t dy = -reach_.up; dy <= reach_.down; ++dy) {
            const Ghost<T> along_y = y_rule_.locate(y + dy, in_.rows());
            for (std::int64_t x = begin - reach_.left; x < end + reach_.right; ++x) {
                const Ghost<T> along_x = x_rule_.locate(x, in_.columns());
                const bool there = along_x.index >= 0 && along_y.index >= 0;
                *to++ = along_y.value(along_x.value(there ? in_(along_y.index, along_x.index, plane) : T(0)));
            }
        }
        const T* centre = window_.data() + reach_.up * width + reach_.left - begin;
        put(centre, std::integral_constant<std::int64_t, 1>{}, width, out_.data() + out_.offset(y, 0, plane),
            out_.shape().column_stride, begin, end, y, plane);
    }

    template <class InStride, class OutStride>
    void put(const T* in, InStride step, std::int64_t row_stride, T* out, OutStride out_step, std::int64_t begin,
             std::int64_t end, std::int64_t y, std::int64_t plane) const {
        if (add_) {
            for (std::int64_t x = begin; x < end; ++x)
                out[x * out_step] += function_(Neighbourhood<T>(in + x * step, step, row_stride, x, y, plane));
            return;
        }
#if defined(__GNUC__) && !defined(__clang__) && !defined(__NVCC__)
#pragma GCC ivdep // input and output do not overlap
#endif
        for (std::int64_t x = begin; x < end; ++x)
            out[x * out_step] = function_(Neighbourhood<T>(in + x * step, step, row_stride, x, y, plane));
    }

    Reach reach_;
    const Function& function_;
    PlaneView<const T, Host> in_;
    PlaneView<T, Host> out_;
    EdgeRule<T> x_rule_, y_rule_;
    bool add_;
    std::vector<T> window_;
};

} // namespace detail

template <class T, class Function>
void apply_function(const Reach& reach, const Function& function, std::type_identity_t<PlaneView<const T, Host>> in,
                    PlaneView<T, Host> out, const PlaneEdges& edges = {}, Into into = Into::replace,
                    Threads threads = {}) {
    detail::check_reach(reach);
    detail::check_apply<T>(in, out, edges);
    const std::int64_t rows = out.rows() * out.batch();
    if (rows * out.columns() < 16384 && threads.count >= 0) threads.count = 1; // waking more would cost more
    detail::for_each_share_of(rows, threads, [&](std::int64_t first, std::int64_t last) {
        detail::FunctionRows<T, Function>(reach, function, in, out, edges, into).compute(first, last);
    });
}

// Along the systems of a field: at(dx), with left and right only; at.x() is the row, at.y() the system.
template <class T, class Function>
void apply_function(const Reach& reach, const Function& function, std::type_identity_t<FieldView<const T, Host>> in,
                    FieldView<T, Host> out, const Edges& edges = Edges::leave(), Into into = Into::replace,
                    Threads threads = {}) {
    detail::require_reach_along_x(reach);
    const detail::FieldPieces pieces = detail::field_pieces({{in, "input"}, {out, "output"}});
    for (int piece = 0; piece < pieces.count; ++piece) {
        const std::int64_t first = pieces.piece[piece].first, tile = pieces.tile;
        const auto of_system = [&](const Neighbourhood<T>& at) {
            return function(at.of_system(first + at.plane() * tile + at.y()));
        };
        apply_function<T>(reach, of_system, detail::piece_of(in, pieces, piece, 0),
                          detail::piece_of(out, pieces, piece, 1), {edges, Edges::leave()}, into, threads);
    }
}

} // namespace bandmill
