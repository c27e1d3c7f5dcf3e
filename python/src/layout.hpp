// From an array of any number of axes to the two views of a solve.
#pragma once

#include "bandmill/base/field.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace bandmill::python {

struct SolveShapes {
    FieldShape b, x;
};

// The unknowns run along `axis`; all other axes are the batch, in an order that suits both arrays. Neighbouring batch
// axes are joined where one stride can serve for both; a view has room for two that remain (its tiles). Nothing if
// there are more: the caller then makes a packed copy, which never has more than two.
std::optional<SolveShapes> solve_shapes(std::size_t axes, const std::int64_t* shape, const std::int64_t* b_strides,
                                        const std::int64_t* x_strides, std::size_t axis);

} // namespace bandmill::python
