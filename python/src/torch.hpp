// What a solve asks torch about its tensors, and tells it.
#pragma once

#include <nanobind/nanobind.h>

namespace bandmill::python {

// Names torch.Tensor, and torch's function that raises the versions of tensors. Where this torch has them in another
// form than expected nothing is kept, and no tensor is plain.
void know_torch(nanobind::handle tensor_type, nanobind::handle increment_version);

// A torch.Tensor (no subclass) that wants no gradients and is not stored negated: its memory may be used as it is.
bool is_plain_tensor(nanobind::handle object);

// So that autograd notices if it has kept the old values of a plain tensor. False where torch did not take it.
bool count_writing(nanobind::handle tensor);

} // namespace bandmill::python
