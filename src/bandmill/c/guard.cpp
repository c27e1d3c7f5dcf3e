#include "bandmill/c/guard.hpp"

#include "bandmill/base/array.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace bandmill::c {
namespace {

// Plain memory: keeping a text cannot fail. Texts are a few hundred characters; a longer one is cut.
struct LastError {
    char text[2048];
    std::int64_t row;
};
thread_local LastError last_error{"", -1};

int remember(int status, const char* text, std::int64_t row = -1) noexcept {
    const std::size_t length = std::min(std::strlen(text), sizeof last_error.text - 1);
    std::memmove(last_error.text, text, length); // it may be the end of the last text
    last_error.text[length] = '\0';
    last_error.row = row;
    return status;
}

} // namespace

int remember_exception() noexcept {
    try {
        throw;
    } catch (const InvalidArgument& error) {
        return remember(BANDMILL_INVALID_ARGUMENT, error.what());
    } catch (const InvalidMatrix& error) {
        return remember(BANDMILL_INVALID_MATRIX, error.what(), error.row());
    } catch (const SingularMatrix& error) {
        return remember(BANDMILL_SINGULAR_MATRIX, error.what(), error.row());
    } catch (const BackendUnavailable& error) {
        return remember(BANDMILL_BACKEND_UNAVAILABLE, error.what());
    } catch (const DeviceError& error) {
        return remember(BANDMILL_DEVICE_ERROR, error.what());
    } catch (const OutOfMemory& error) {
        return remember(BANDMILL_OUT_OF_MEMORY, error.what());
    } catch (const std::bad_alloc&) {
        return remember(BANDMILL_OUT_OF_MEMORY,
                        "there is not enough memory (the system has no more): use smaller matrices or batches");
    } catch (const std::exception& error) {
        return remember(BANDMILL_INTERNAL_ERROR, error.what());
    } catch (...) {
        return remember(BANDMILL_INTERNAL_ERROR, "an unknown exception was thrown: please report it");
    }
}

bool on_cpu(int place) {
    if (place < BANDMILL_CPU)
        throw InvalidArgument("there is no place " + std::to_string(place) +
                              ": use BANDMILL_CPU (-1), or the index of a GPU, from 0 up");
    return place == BANDMILL_CPU;
}

Boundary as_boundary(int boundary) {
    if (boundary != BANDMILL_OPEN && boundary != BANDMILL_PERIODIC)
        throw InvalidArgument("boundary " + std::to_string(boundary) +
                              " is not known: use BANDMILL_OPEN (0) or BANDMILL_PERIODIC (1)");
    return boundary == BANDMILL_OPEN ? Boundary::open : Boundary::periodic;
}

int from_boundary(Boundary boundary) { return boundary == Boundary::open ? BANDMILL_OPEN : BANDMILL_PERIODIC; }

bool is_double(int precision) {
    if (precision != BANDMILL_F64 && precision != BANDMILL_F32)
        throw InvalidArgument("precision " + std::to_string(precision) +
                              " is not known: use BANDMILL_F64 (64) or BANDMILL_F32 (32)");
    return precision == BANDMILL_F64;
}

void require_gpu(int place) {
    static const int count = static_cast<int>(cuda_devices().size());
    if (place >= count) synchronize(Device{place}); // says what is missing
}

void refuse_stream(const void* stream) {
    if (stream != nullptr)
        throw InvalidArgument("a stream was given for work on the CPU, which has none: pass NULL, or use a GPU");
}

Stream as_stream(void* stream) { return static_cast<CUstream_st*>(stream); }

} // namespace bandmill::c

extern "C" {

const char* bandmill_status_name(int status) {
    switch (status) {
    case BANDMILL_OK: return "ok";
    case BANDMILL_INVALID_ARGUMENT: return "invalid argument";
    case BANDMILL_INVALID_MATRIX: return "invalid matrix";
    case BANDMILL_SINGULAR_MATRIX: return "singular matrix";
    case BANDMILL_BACKEND_UNAVAILABLE: return "backend unavailable";
    case BANDMILL_DEVICE_ERROR: return "device error";
    case BANDMILL_OUT_OF_MEMORY: return "out of memory";
    case BANDMILL_INTERNAL_ERROR: return "internal error";
    }
    return "unknown status";
}

const char* bandmill_last_error(void) { return bandmill::c::last_error.text; }
int64_t bandmill_last_error_row(void) { return bandmill::c::last_error.row; }
int bandmill_set_last_error(int status, const char* text) {
    return bandmill::c::remember(status, text != nullptr ? text : "");
}
}
