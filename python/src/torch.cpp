#include "torch.hpp"

namespace bandmill::python {
namespace {

namespace nb = nanobind;

// Gives one tensor. A tuple and its iterator would do, with five times as many cold lines of Python's code.
struct OneTensor {
    PyObject_HEAD PyObject* tensor; // borrowed
};

PyObject* next_tensor(PyObject* self) {
    PyObject* tensor = reinterpret_cast<OneTensor*>(self)->tensor;
    reinterpret_cast<OneTensor*>(self)->tensor = nullptr;
    Py_XINCREF(tensor);
    return tensor;
}

// The functions in C behind torch's attributes, held forever. After a large solve the caches are cold, and the way to
// these functions through Python cost twice what they do themselves.
struct Torch {
    PyObject* tensor_type = nullptr;
    getter requires_grad = nullptr;
    void* closure = nullptr;
    PyCFunction is_neg = nullptr;
    PyCFunction increment_version = nullptr;
    PyObject* module = nullptr; // its first argument
    OneTensor* one = nullptr;
} torch;

bool is_false(PyObject* value) {
    if (value == nullptr) PyErr_Clear(); // the way through Python asks again
    Py_XDECREF(value);
    return value == Py_False;
}

} // namespace

void know_torch(nb::handle tensor_type, nb::handle increment_version) {
    const nb::object gradient = tensor_type.attr("requires_grad"), negated = tensor_type.attr("is_neg");
    if (Py_TYPE(gradient.ptr()) != &PyGetSetDescr_Type || Py_TYPE(negated.ptr()) != &PyMethodDescr_Type ||
        !PyCFunction_CheckExact(increment_version.ptr()))
        return;
    const PyGetSetDef& property = *reinterpret_cast<PyGetSetDescrObject*>(gradient.ptr())->d_getset;
    const PyMethodDef& method = *reinterpret_cast<PyMethodDescrObject*>(negated.ptr())->d_method;
    if (method.ml_flags != METH_NOARGS || PyCFunction_GetFlags(increment_version.ptr()) != METH_O) return;

    PyType_Slot slots[] = {{Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                           {Py_tp_iternext, reinterpret_cast<void*>(next_tensor)},
                           {0, nullptr}};
    PyType_Spec spec{"bandmill._bandmill.OneTensor", sizeof(OneTensor), 0, Py_TPFLAGS_DEFAULT, slots};
    const nb::object type = nb::steal(PyType_FromSpec(&spec));
    auto* one = type.is_valid() ? PyObject_New(OneTensor, reinterpret_cast<PyTypeObject*>(type.ptr())) : nullptr;
    if (one == nullptr) throw nb::python_error();
    one->tensor = nullptr;

    for (const nb::handle kept : {tensor_type, nb::handle(gradient), nb::handle(negated), increment_version})
        kept.inc_ref();
    torch = {tensor_type.ptr(),
             property.get,
             property.closure,
             method.ml_meth,
             PyCFunction_GetFunction(increment_version.ptr()),
             PyCFunction_GetSelf(increment_version.ptr()),
             one};
}

bool is_plain_tensor(nb::handle object) {
    return object.type().ptr() == torch.tensor_type && is_false(torch.requires_grad(object.ptr(), torch.closure)) &&
           is_false(torch.is_neg(object.ptr(), nullptr));
}

bool count_writing(nb::handle tensor) {
    torch.one->tensor = tensor.ptr();
    PyObject* none = torch.increment_version(torch.module, reinterpret_cast<PyObject*>(torch.one));
    if (none == nullptr) PyErr_Clear(); // as above
    Py_XDECREF(none);
    return none != nullptr && torch.one->tensor == nullptr;
}

} // namespace bandmill::python
