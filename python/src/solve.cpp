#include "solve.hpp"

#include "fork.hpp"
#include "layout.hpp"
#include "torch.hpp"

#include "bandmill/band/solve.hpp"
#include "bandmill/base/array.hpp"
#include "bandmill/base/error.hpp"

#include <nanobind/ndarray.h>

#if defined(BANDMILL_WITH_NUMPY)
#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#include <numpy/ndarraytypes.h>
#endif

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace bandmill::python {
namespace {

namespace nb = nanobind;
using ReadArray = nb::ndarray<nb::ro>;
using WriteArray = nb::ndarray<>;

// An array as a solve sees it; its owner lives elsewhere. Strides count elements.
struct Operand {
    void* data;
    std::size_t axes;
    const std::int64_t *shape, *strides;
    nb::dlpack::dtype type;
    int device;
};

[[noreturn]] void refuse_type(const std::string& text) { throw nb::type_error(text.c_str()); }

std::string text_of(nb::handle value) { return nb::str(value).c_str(); }

std::string shape_text(const Operand& array) {
    std::string text = "(";
    for (std::size_t k = 0; k < array.axes; ++k) text += (k > 0 ? ", " : "") + std::to_string(array.shape[k]);
    return text + (array.axes == 1 ? ",)" : ")");
}

std::string dtype_text(nb::dlpack::dtype type) {
    const char* kind = "elements of ";
    switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Int: kind = "int"; break;
    case nb::dlpack::dtype_code::UInt: kind = "uint"; break;
    case nb::dlpack::dtype_code::Float: kind = "float"; break;
    case nb::dlpack::dtype_code::Bfloat: kind = "bfloat"; break;
    case nb::dlpack::dtype_code::Complex: kind = "complex"; break;
    case nb::dlpack::dtype_code::Bool: return "bool";
    default: break;
    }
    return kind + std::to_string(type.bits);
}

std::string device_text(int device) { return device == cpu ? "cpu" : "cuda:" + std::to_string(device); }

// The exporter says no to what DLPack has no word for (foreign byte order, objects, strides that are no multiple of an
// element, read-only memory that should be written); nanobind keeps its reason to itself.
template <class Array> Array through_dlpack(nb::handle source, const char* name) {
    Array array;
    if (nb::try_cast(source, array)) return array;
    std::string text = std::string(name) + " is of type " + text_of(source.type().attr("__name__"));
    if (nb::hasattr(source, "dtype")) text += " with dtype " + text_of(source.attr("dtype"));
    if constexpr (std::is_same_v<Array, WriteArray>)
        text += ", which cannot be written through DLPack (is it read-only?): pass an array that can be written";
    else
        text += ", which cannot be read through DLPack: pass a copy of it with elements of float32 or float64";
    refuse_type(text);
}

int device_index(int kind, int index, const char* name) {
    switch (kind) {
    case nb::device::cpu::value:
    case nb::device::cuda_host::value: return cpu;
    case nb::device::cuda::value:
    case nb::device::cuda_managed::value: return index;
    default:
        throw InvalidArgument(std::string(name) + " is on a device of DLPack's kind " + std::to_string(kind) +
                              " (bandmill solves on the CPU and on NVIDIA GPUs): move it there");
    }
}

template <class Array> Operand operand(const Array& array, const char* name) {
    return {const_cast<void*>(static_cast<const void*>(array.data())),
            array.ndim(),
            array.shape_ptr(),
            array.stride_ptr(),
            array.dtype(),
            device_index(array.device_type(), array.device_id(), name)};
}

// DLPack's functions in C, which a type of arrays may offer: the head of its table, and what of it is used here.
struct ExchangeTable {
    std::uint32_t major, minor;
    const ExchangeTable* earlier; // of an older major version
    void *allocate, *from_object, *to_object;
    // Both: 0, or -1 with a Python error.
    int (*view)(void* object, nb::dlpack::dltensor* out); // owns nothing
    int (*current_stream)(std::int32_t device_type, std::int32_t device, void** stream);
};

// Null where a type has none. It does not say what is read-only: arrays that could be (NumPy's) have a buffer, and are
// not taken this way. Types of one framework are asked for again and again: the last answer is kept.
const ExchangeTable* exchange_table(nb::handle source) {
    const nb::handle type = source.type();
    static PyObject* last = nullptr; // held, so that no other type can come to lie where it is
    static const ExchangeTable* table = nullptr;
    if (type.ptr() == last) return table;
    const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
    const ExchangeTable* found = nullptr;
    if (PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") != 0)
        found = static_cast<const ExchangeTable*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (found != nullptr && found->major > 1) found = found->earlier;
    if (found != nullptr && (found->major != 1 || found->view == nullptr || found->current_stream == nullptr))
        found = nullptr;
    if (PyObject_CheckBuffer(source.ptr()) != 0) found = nullptr;
    Py_XDECREF(last);
    last = type.inc_ref().ptr();
    return table = found;
}

// A np.ndarray, and no subclass.
bool is_numpy(nb::handle object) {
    static PyObject* const array_type = nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
    return object.type().ptr() == array_type;
}

// An argument that is imported when it is asked for: as NumPy's own structure if it can be, by DLPack otherwise.
class Argument {
  public:
    Argument(nb::handle source, const char* name, bool writable) {
        if (from_numpy(source, writable) || from_table(source, name)) return;
        if (writable) {
            write_ = through_dlpack<WriteArray>(source, name);
            view_ = operand(*write_, name);
        } else {
            read_ = through_dlpack<ReadArray>(source, name);
            view_ = operand(*read_, name);
        }
        mend_strides();
    }
    Argument(const Argument&) = delete; // view_ points into it
    const Operand& view() const { return view_; }
    // The stream that the array's framework works on, if its table tells.
    std::uintptr_t stream(std::uintptr_t otherwise) const {
        if (table_ == nullptr || view_.device == cpu) return otherwise;
        void* current = nullptr;
        if (table_->current_stream(nb::device::cuda::value, view_.device, &current) != 0) throw nb::python_error();
        return reinterpret_cast<std::uintptr_t>(current);
    }

  private:
    // After a large solve the caches are cold, and DLPack's protocol, once for b and once for x, took 14 us of the 50
    // that were added to a solve of 65,536 x 256. Arrays of more axes than most_axes take that way all the same.
    bool from_numpy([[maybe_unused]] nb::handle source, [[maybe_unused]] bool writable) {
#if defined(BANDMILL_WITH_NUMPY)
        if (!is_numpy(source)) return false;
        auto* array = reinterpret_cast<PyArrayObject*>(source.ptr());
        const int flags = PyArray_FLAGS(array), type = PyArray_TYPE(array), axes = PyArray_NDIM(array);
        const auto bytes = static_cast<std::int64_t>(type == NPY_FLOAT ? sizeof(float) : sizeof(double));
        if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISNBO(PyArray_DESCR(array)->byteorder) ||
            (flags & NPY_ARRAY_ALIGNED) == 0 || (writable && (flags & NPY_ARRAY_WRITEABLE) == 0) || axes > most_axes)
            return false;
        for (int k = 0; k < axes; ++k) {
            shape_[k] = PyArray_DIM(array, k);
            strides_[k] = PyArray_STRIDE(array, k) / bytes;
            if (PyArray_STRIDE(array, k) % bytes != 0) return false;
        }
        view_ = {PyArray_DATA(array),
                 static_cast<std::size_t>(axes),
                 shape_,
                 strides_,
                 type == NPY_FLOAT ? nb::dtype<float>() : nb::dtype<double>(),
                 cpu};
        return true;
#else
        return false;
#endif
    }

    // torch has had such a table since 2.10. Its capsules took 10 us more, the caches being cold.
    bool from_table(nb::handle source, const char* name) {
        table_ = exchange_table(source);
        if (table_ == nullptr) return false;
        nb::dlpack::dltensor tensor{};
        if (table_->view(source.ptr(), &tensor) != 0) {
            const nb::python_error error;
            const std::string why = text_of(error.value()); // its first line; torch goes on with what called what
            refuse_type(std::string(name) + " cannot be read through DLPack (" + why.substr(0, why.find('\n')) +
                        "): pass a dense array in the memory of the CPU or of a GPU");
        }
        view_ = {static_cast<char*>(tensor.data) + tensor.byte_offset,
                 static_cast<std::size_t>(tensor.ndim),
                 tensor.shape,
                 tensor.strides,
                 tensor.dtype,
                 device_index(tensor.device.device_type, tensor.device.device_id, name)};
        return true;
    }

    // CuPy divides a stride in bytes by the size of an element as if it had no sign, so that negative ones come as
    // numbers near 2^61. Multiplied back they wrap around to what they are; others stay as they are.
    void mend_strides() {
        const std::int64_t bytes = view_.type.bits / 8;
        if (view_.axes > most_axes || bytes == 0) return;
        for (std::size_t k = 0; k < view_.axes; ++k)
            strides_[k] = static_cast<std::int64_t>(static_cast<std::uint64_t>(view_.strides[k]) *
                                                    static_cast<std::uint64_t>(bytes)) /
                          bytes;
        view_.strides = strides_;
    }

    static constexpr int most_axes = 8;
    std::int64_t shape_[most_axes], strides_[most_axes];
    std::optional<WriteArray> write_; // optional, since even empty ones are destroyed by a call
    std::optional<ReadArray> read_;
    const ExchangeTable* table_ = nullptr;
    Operand view_;
};

// What does not depend on where the solution goes.
struct Problem {
    std::size_t axis;
    int bits;
    int device;
};

Problem check_b(const Plan& plan, const Operand& b, std::int64_t axis) {
    const nb::dlpack::dtype type = b.type;
    if (type != nb::dtype<float>() && type != nb::dtype<double>())
        refuse_type("b holds " + dtype_text(type) +
                    " (bandmill solves float32 and float64): convert it to one of them first");
    const auto axes = static_cast<std::int64_t>(b.axes);
    if (axes == 0)
        throw InvalidArgument("b has no axes (a right-hand side needs one for the unknowns): pass an array of shape (" +
                              std::to_string(plan.matrix().size()) + ",) or more");
    if (axis < -axes || axis >= axes)
        throw InvalidArgument("b has shape " + shape_text(b) + ", so axis=" + std::to_string(axis) +
                              " does not exist: pass the axis of the unknowns, from " + std::to_string(-axes) + " to " +
                              std::to_string(axes - 1));
    const auto at = static_cast<std::size_t>(axis < 0 ? axis + axes : axis);
    if (b.shape[at] != plan.matrix().size())
        throw InvalidArgument("b has shape " + shape_text(b) + ", so " + std::to_string(b.shape[at]) +
                              " unknowns along axis " + std::to_string(at) + ", but the matrix has " +
                              std::to_string(plan.matrix().size()) +
                              " rows: pass axis= for the axis of the unknowns, or an array of the matrix's size");
    if (plan.options().device != any_device && plan.options().device != b.device)
        throw InvalidArgument("b is on " + device_text(b.device) + ", but this plan was made for " +
                              device_text(plan.options().device) + ": move b, or make a plan without device=");
    return {at, type.bits, b.device};
}

void check_x(const Operand& b, const Operand& x) {
    if (x.type != b.type)
        refuse_type("out holds " + dtype_text(x.type) + " and b " + dtype_text(b.type) + ": pass an out of b's dtype");
    bool same = x.axes == b.axes; // not std::equal: one more cold function
    for (std::size_t k = 0; same && k < b.axes; ++k) same = x.shape[k] == b.shape[k];
    if (!same)
        throw InvalidArgument("out has shape " + shape_text(x) + " and b has shape " + shape_text(b) +
                              ": pass an out of b's shape");
    if (x.device != b.device)
        throw InvalidArgument("out is on " + device_text(x.device) + " and b on " + device_text(b.device) +
                              ": pass an out on b's device");
}

thread_local double solve_seconds = 0; // see last_seconds()

template <class T>
void solve_views(Plan& plan, int device, const SolveShapes& shapes, const void* b, void* x, std::uintptr_t stream) {
    const auto* from = static_cast<const T*>(b);
    auto* to = static_cast<T*>(x);
    if (device == cpu)
        bandmill::solve(plan.on_host<T>(), FieldView<const T, Host>(from, shapes.b), FieldView<T, Host>(to, shapes.x),
                        forked ? Threads{1} : plan.options().threads);
    else
        bandmill::solve(plan.on_gpu<T>(device), FieldView<const T, Cuda>(from, shapes.b),
                        FieldView<T, Cuda>(to, shapes.x), Stream(reinterpret_cast<CUstream_st*>(stream)));
}

void solve_views(Plan& plan, const Problem& problem, const SolveShapes& shapes, const void* b, void* x,
                 std::uintptr_t stream) {
    if (problem.bits == 32)
        solve_views<float>(plan, problem.device, shapes, b, x, stream);
    else
        solve_views<double>(plan, problem.device, shapes, b, x, stream);
}

// A new packed array with the solution, which owns its memory.
template <class T, class Space>
nb::object solve_new(Plan& plan, const ReadArray& b, const Problem& problem, Array<T, Space> memory) {
    std::vector<std::size_t> shape(b.ndim());
    std::vector<std::int64_t> strides(b.ndim());
    std::int64_t stride = 1;
    for (std::size_t k = b.ndim(); k-- > 0; stride *= static_cast<std::int64_t>(shape[k])) {
        shape[k] = b.shape(k);
        strides[k] = stride;
    }
    const auto shapes = solve_shapes(b.ndim(), b.shape_ptr(), b.stride_ptr(), strides.data(), problem.axis);
    if (!shapes)
        throw InvalidArgument("b of shape " + shape_text(operand(b, "b")) +
                              " is not packed (its axes have more strides than a solve "
                              "can follow): pass a packed copy");
    {
        const nb::gil_scoped_release unlocked;
        solve_views<T>(plan, problem.device, *shapes, b.data(), memory.data(), 0);
        if constexpr (std::is_same_v<Space, Cuda>) synchronize(Device{problem.device});
    }
    auto* kept = new Array<T, Space>(std::move(memory));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Array<T, Space>*>(p); });
    const bool gpu = problem.device != cpu;
    const nb::ndarray<nb::jax> x(kept->data(), b.ndim(), shape.data(), owner, strides.data(), b.dtype(),
                                 gpu ? nb::device::cuda::value : nb::device::cpu::value, gpu ? problem.device : 0);
    return nb::cast(x);
}

template <class T> nb::object solve_new(Plan& plan, const ReadArray& b, const Problem& problem) {
    const auto size = static_cast<std::int64_t>(b.size());
    if (problem.device == cpu) return solve_new(plan, b, problem, Array<T, Host>(size));
    return solve_new(plan, b, problem, Array<T, Cuda>(size, Device{problem.device}));
}

Outcome solve(Plan& plan, nb::handle b_object, nb::handle x_object, std::int64_t axis, std::uintptr_t stream,
              bool counting) {
    // In place one import serves for both; it must be one that may be written.
    const bool in_place = b_object.is(x_object);
    const Argument b_argument(b_object, "b", in_place);
    std::optional<Argument> x_argument;
    if (!in_place) x_argument.emplace(x_object, "out", true);
    const Operand &b = b_argument.view(), &x = in_place ? b : x_argument->view();
    const Problem problem = check_b(plan, b, axis);
    if (!in_place) check_x(b, x);
    if (plan.options().bits != 0 && plan.options().bits != problem.bits) return Outcome::other_precision;
    const auto shapes = solve_shapes(b.axes, b.shape, b.strides, x.strides, problem.axis);
    if (!shapes) return Outcome::needs_copy;
    stream = b_argument.stream(stream);
    if (counting && !count_writing(x_object)) return Outcome::not_counted;
    const nb::gil_scoped_release unlocked;
    const auto start = std::chrono::steady_clock::now();
    solve_views(plan, problem, *shapes, b.data, x.data, stream);
    solve_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return Outcome::solved;
}

} // namespace

Outcome solve(Plan& plan, nb::handle b, nb::handle x, std::int64_t axis, std::uintptr_t stream) {
    return solve(plan, b, x, axis, stream, false);
}

bool solve_plain(Plan& plan, nb::handle b, nb::handle x, std::int64_t axis) {
    const bool numpy = is_numpy(b);
    if (numpy ? !is_numpy(x) : !is_plain_tensor(b) || (!x.is(b) && !is_plain_tensor(x))) return false;
    return solve(plan, b, x, axis, 0, !numpy) == Outcome::solved;
}

double last_seconds() { return solve_seconds; }

nb::object solve_jax(Plan& plan, nb::handle b_object, std::int64_t axis) {
    const ReadArray b = through_dlpack<ReadArray>(b_object, "b");
    const Problem problem = check_b(plan, operand(b, "b"), axis);
    if (plan.options().bits != 0 && plan.options().bits != problem.bits) return nb::none();
    return problem.bits == 32 ? solve_new<float>(plan, b, problem) : solve_new<double>(plan, b, problem);
}

} // namespace bandmill::python
