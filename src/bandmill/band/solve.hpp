// solve: x = A^-1 b for every system of a batch.
//
// In place (one view) or out of place (two views, of any two layouts). Nothing is allocated (but for the factor's own
// workspace where a GPU needs two passes) and, on CUDA, nothing is synchronised: the work is put on the stream and may
// be captured in a graph. A system's solution depends on its own right-hand side, the matrix, the precision and the
// backend, never on the batch around it. A batch of zero systems is allowed and does nothing. Bad input throws
// InvalidArgument before anything is written.
#pragma once

#include "bandmill/band/factor.hpp"
#include "bandmill/base/field.hpp"
#include "bandmill/base/space.hpp"

#include <type_traits>

namespace bandmill {

template <class T>
void solve(const Factor<T, Host>& factor, std::type_identity_t<FieldView<const T, Host>> b,
           std::type_identity_t<FieldView<T, Host>> x, Threads threads = {});

template <class T>
void solve(const Factor<T, Cuda>& factor, std::type_identity_t<FieldView<const T, Cuda>> b,
           std::type_identity_t<FieldView<T, Cuda>> x, Stream stream = {});

template <class T>
void solve(const Factor<T, Host>& factor, std::type_identity_t<FieldView<T, Host>> x, Threads threads = {}) {
    solve(factor, FieldView<const T, Host>(x), x, threads);
}

template <class T>
void solve(const Factor<T, Cuda>& factor, std::type_identity_t<FieldView<T, Cuda>> x, Stream stream = {}) {
    solve(factor, FieldView<const T, Cuda>(x), x, stream);
}

} // namespace bandmill
