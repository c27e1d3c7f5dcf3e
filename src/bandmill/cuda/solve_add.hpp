// x += A^-1 b for an interleaved batch, in one pass over memory.
#pragma once

#include "bandmill/band/factor.hpp"
#include "bandmill/base/field.hpp"

namespace bandmill::cuda {

// b and x are apart, and of one shape. False if no kernel adds for this factor, layout or device: nothing was done
// then.
template <class T>
bool solve_and_add(const Factor<T, Cuda>& factor, const FieldView<const T, Cuda>& b, const FieldView<T, Cuda>& x,
                   Stream stream = {});

} // namespace bandmill::cuda
