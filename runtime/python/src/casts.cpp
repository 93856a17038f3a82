// casts.cpp: x.float(), x.long(), x.bool(): conversions to a dtype by its name.
#include "library_operator.h"
#include "objects.h"
#include "opgen/tensor/copy.h"
#include "values.h"

namespace opgen::python {

namespace {

// Returns the tensor itself if it has the dtype already. The library's operator `to` is called if
// a key above the backends must see the call, and for a memory format.
template <ScalarType type>
PyObject* cast(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"memory_format", nullptr};
  PyObject* format = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O", const_cast<char**>(names), &format)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    const TensorBase& tensor = tensor_of(self);
    if (format == Py_None) {
      if (tensor.scalar_type() == type) return Py_NewRef(self);
      if (!needs_operators(tensor)) return new_tensor(opgen::detail::to_dtype(tensor, type));
    }
    Owned method(PyObject_GetAttrString(self, "to"));
    Owned positional(Py_BuildValue("(N)", wrap_dtype(type)));
    Owned options(format == Py_None ? PyDict_New() : Py_BuildValue("{s:O}", names[0], format));
    if (!method || !positional || !options) return nullptr;
    return PyObject_Call(method.get(), positional.get(), options.get());
  });
}

template <ScalarType type>
PyMethodDef method_of(const char* name, const char* documentation) {
  return {name, as_method(cast<type>), METH_VARARGS | METH_KEYWORDS, documentation};
}

}  // namespace

PyMethodDef cast_methods[] = {
    method_of<kBool>("bool",
                     "Converts the elements to bool. Like all of these methods, returns "
                     "the tensor itself if it has the dtype already."),
    method_of<kByte>("byte", "Converts the elements to uint8."),
    method_of<kChar>("char", "Converts the elements to int8."),
    method_of<kShort>("short", "Converts the elements to int16."),
    method_of<kInt>("int", "Converts the elements to int32."),
    method_of<kLong>("long", "Converts the elements to int64."),
    method_of<kHalf>("half", "Converts the elements to float16."),
    method_of<kBFloat16>("bfloat16", "Converts the elements to bfloat16."),
    method_of<kFloat>("float", "Converts the elements to float32."),
    method_of<kDouble>("double", "Converts the elements to float64."),
    method_of<kComplexFloat>("cfloat", "Converts the elements to complex64."),
    method_of<kComplexDouble>("cdouble", "Converts the elements to complex128."),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace opgen::python
