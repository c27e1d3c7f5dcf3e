// plan.solve: arrays of any framework in, checked, and solved without Python's lock.
#pragma once

#include "plan.hpp"

#include <nanobind/nanobind.h>

#include <cstdint>

namespace bandmill::python {

enum class Outcome {
    solved,
    needs_copy,      // the batch axes have too many strides
    other_precision, // the plan was made for another precision than that of b
    not_counted,     // torch did not take x as written
};

// b and x: arrays, or DLPack capsules of arrays; the same object to solve in place. A negative axis counts from the
// end. Raises before anything is written. On a GPU the work is put on the stream, or on the one that the framework of b
// names itself, and nothing waits.
Outcome solve(Plan& plan, nanobind::handle b, nanobind::handle x, std::int64_t axis, std::uintptr_t stream);

// The same for NumPy's arrays, and for tensors of torch that are plain (see torch.hpp), and counts the writing of
// those. False where it could not, or for anything else.
bool solve_plain(Plan& plan, nanobind::handle b, nanobind::handle x, std::int64_t axis);

// The solution as a new array of JAX, which has no arrays that could be written. Waits until it is there.
// Nothing (None) where the plan was made for another precision.
nanobind::object solve_jax(Plan& plan, nanobind::handle b, std::int64_t axis);

// Seconds that the library's own call took in this thread's last solve(): for bench/python_overhead.py.
double last_seconds();

} // namespace bandmill::python
