// What every function of the C interface is wrapped in: exceptions become a status and a text of the calling thread.
#pragma once

#include "bandmill/band/matrix.hpp"
#include "bandmill/base/error.hpp"
#include "bandmill/base/field.hpp"
#include "bandmill/base/space.hpp"
#include "bandmill/c/bandmill.h"

#include <string>

namespace bandmill::c {

// The status of the exception being handled, whose text and row are kept for bandmill_last_error.
int remember_exception() noexcept;

template <class Call> int guarded(const Call& call) noexcept {
    try {
        call();
        return BANDMILL_OK;
    } catch (...) {
        return remember_exception();
    }
}

// The same for a call that returns what is to be created, which is NULL if it fails.
template <class Handle, class Call> int create(Handle** handle, const Call& call) noexcept {
    return guarded([&] {
        if (handle == nullptr)
            throw InvalidArgument("the pointer that is to take the new object is NULL: pass the address of one");
        *handle = nullptr;
        *handle = new Handle(call());
    });
}

template <class Pointer> Pointer* require(Pointer* pointer, const char* what) {
    if (pointer == nullptr) throw InvalidArgument(std::string("the ") + what + " is NULL: it has to be given");
    return pointer;
}

// Throws InvalidArgument below BANDMILL_CPU.
bool on_cpu(int place);
Boundary as_boundary(int boundary); // throws InvalidArgument
int from_boundary(Boundary boundary);
bool is_double(int precision); // throws InvalidArgument
// Throws BackendUnavailable. For calls that learn from the data alone which GPU they run on.
void require_gpu(int place);
// On the CPU there are no streams: whoever gives one has another place in mind.
void refuse_stream(const void* stream);
Stream as_stream(void* stream);

template <class T> [[noreturn]] void refuse_precision(const char* what) {
    throw InvalidArgument(std::string("the ") + what + " is not " + (sizeof(T) == 8 ? "f64" : "f32") +
                          ", the precision of this call: make it with that precision, or make the other call");
}

inline FieldShape as_shape(const bandmill_shape& shape) {
    return {shape.rows, shape.batch, shape.row_stride, shape.batch_stride, shape.tile, shape.tile_stride};
}
template <class Space, class T> FieldView<T, Space> as_view(T* data, const bandmill_shape& shape, const char* what) {
    if (shape.rows > 0 && shape.batch > 0) require(data, what);
    return {data, as_shape(shape)};
}

} // namespace bandmill::c
