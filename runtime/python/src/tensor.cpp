// tensor.cpp: attributes and methods of class Tensor that do not depend on operators.
#include <cstring>
#include <new>
#include <vector>

#include "library_operator.h"
#include "objects.h"
#include "opgen/device/blocking.h"
#include "opgen/tensor/copy.h"
#include "values.h"

namespace opgen::python {

namespace {

// Keeps freed wrappers for reuse, because most calls create one and free another. The GIL protects
// the list.
constexpr std::size_t kKept = 64;
PyObject* kept[kKept];
std::size_t kept_count = 0;

PyObject*& weak_references(PyObject* self) {
  return reinterpret_cast<TensorObject*>(self)->weak_references;
}

void free_tensor(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (weak_references(self) != nullptr) PyObject_ClearWeakRefs(self);
  tensor_of(self).~TensorBase();
  if (kept_count < kKept) {
    kept[kept_count++] = self;
  } else {
    type->tp_free(self);
  }
  Py_DECREF(type);
}

PyObject* shape(PyObject* self, void*) {
  return tuple_of(tensor_of(self).sizes());
}
PyObject* dtype(PyObject* self, void*) {
  return wrap_dtype(tensor_of(self).scalar_type());
}
PyObject* device(PyObject* self, void*) {
  return guarded([&] { return new_device(tensor_of(self).device()); });
}
PyObject* ndim(PyObject* self, void*) {
  return PyLong_FromLongLong(tensor_of(self).dim());
}
PyObject* itemsize(PyObject* self, void*) {
  return PyLong_FromSize_t(tensor_of(self).itemsize());
}
PyObject* nbytes(PyObject* self, void*) {
  return PyLong_FromSize_t(tensor_of(self).nbytes());
}
PyObject* version(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromLongLong(tensor_of(self)._version()); });
}
PyGetSetDef attributes[] = {
    {"shape", shape, nullptr, "The size of each dimension.", nullptr},
    {"dtype", dtype, nullptr, "The type of the elements.", nullptr},
    {"device", device, nullptr, "The device on which the elements are.", nullptr},
    {"ndim", ndim, nullptr, "The number of dimensions.", nullptr},
    {"itemsize", itemsize, nullptr, "The size of an element in bytes.", nullptr},
    {"nbytes", nbytes, nullptr, "The size of all elements in bytes.", nullptr},
    {"_version", version, nullptr, "The number of in-place changes of the bytes.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

// Returns all values, or the one of a dimension. Reads `values` last, because an __index__ may
// change the tensor.
PyObject* sizes_or_one(PyObject* self, PyObject* args, PyObject* keywords,
                       IntArrayRef (*values)(const TensorBase&)) {
  static const char* names[] = {"dim", nullptr};
  PyObject* dim = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O", const_cast<char**>(names), &dim)) {
    return nullptr;
  }
  if (dim == nullptr) return tuple_of(values(tensor_of(self)));
  const Py_ssize_t wanted = PyNumber_AsSsize_t(dim, PyExc_IndexError);
  if (wanted == -1 && PyErr_Occurred() != nullptr) return nullptr;
  return guarded([&] {
    const std::int64_t at = maybe_wrap_dim(wanted, tensor_of(self).dim(), false);
    return PyLong_FromLongLong(values(tensor_of(self))[static_cast<std::size_t>(at)]);
  });
}
PyObject* size(PyObject* self, PyObject* args, PyObject* keywords) {
  return sizes_or_one(self, args, keywords,
                      [](const TensorBase& tensor) { return tensor.sizes(); });
}
PyObject* stride(PyObject* self, PyObject* args, PyObject* keywords) {
  return sizes_or_one(self, args, keywords,
                      [](const TensorBase& tensor) { return tensor.strides(); });
}
PyObject* dim(PyObject* self, PyObject*) {
  return ndim(self, nullptr);
}
PyObject* numel(PyObject* self, PyObject*) {
  return PyLong_FromLongLong(tensor_of(self).numel());
}
PyObject* element_size(PyObject* self, PyObject*) {
  return itemsize(self, nullptr);
}
PyObject* storage_offset(PyObject* self, PyObject*) {
  return PyLong_FromLongLong(tensor_of(self).storage_offset());
}
PyObject* data_ptr(PyObject* self, PyObject*) {
  return PyLong_FromVoidPtr(tensor_of(self).data_ptr());
}
PyObject* is_contiguous(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"memory_format", nullptr};
  PyObject* format = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:is_contiguous", const_cast<char**>(names),
                                   &format)) {
    return nullptr;
  }
  std::int64_t value = static_cast<std::int64_t>(MemoryFormat::Contiguous);
  if (format != nullptr && !find_constant(format, types.memory_format, value)) {
    return PyErr_Format(PyExc_TypeError, "argument 'memory_format' must be a memory_format, not %R",
                        format);
  }
  return guarded(
      [&] { return wrap_bool(tensor_of(self).is_contiguous(static_cast<MemoryFormat>(value))); });
}
PyObject* item(PyObject* self, PyObject*) {
  const TensorBase& tensor = tensor_of(self);
  if (tensor.numel() != 1) {
    return PyErr_Format(PyExc_ValueError, "item() needs a tensor of exactly one element, not %lld",
                        static_cast<long long>(tensor.numel()));
  }
  return guarded([&] { return wrap_scalar(item_of(tensor)); });
}
PyObject* tolist(PyObject* self, PyObject*) {
  return guarded([&] { return to_list(tensor_of(self)); });
}
PyObject* format(PyObject* self, PyObject* spec) {
  if (tensor_of(self).dim() != 0) {
    return PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyBaseObject_Type), "__format__", "OO",
                               self, spec);
  }
  Owned number(item(self, nullptr));
  return number ? PyObject_Format(number.get(), spec) : nullptr;
}
PyObject* as_complex(PyObject* self, PyObject*) {
  Owned number(item(self, nullptr));
  if (!number) return nullptr;
  return PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyComplex_Type), "O", number.get());
}
// Calls the library's operator round.
PyObject* rounded(PyObject* self, PyObject* args) {
  PyObject* digits = Py_None;
  if (!PyArg_ParseTuple(args, "|O:__round__", &digits)) return nullptr;
  if (digits == Py_None) return PyObject_CallMethod(self, "round", nullptr);
  Owned method(PyObject_GetAttrString(self, "round"));
  Owned none(PyTuple_New(0));
  Owned options(Py_BuildValue("{s:O}", "decimals", digits));
  if (!method || !none || !options) return nullptr;
  return PyObject_Call(method.get(), none.get(), options.get());
}
// to_device(device, /, *, stream=None), of the array API standard
PyObject* to_device(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"", "stream", nullptr};
  PyObject* wanted = nullptr;
  PyObject* stream = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$O:to_device", const_cast<char**>(names),
                                   &wanted, &stream)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    OPGEN_CHECK_VALUE(stream == Py_None, "to_device() supports no stream");
    Device device = kCPU;
    if (!find_device(wanted, device)) {
      return PyErr_Format(PyExc_TypeError, "unknown device %R", wanted);
    }
    if (needs_operators(tensor_of(self))) return PyObject_CallMethod(self, "to", "O", wanted);
    return new_tensor(opgen::detail::to_device(tensor_of(self), device));
  });
}
// Returns the package's module array_api.
PyObject* array_namespace(PyObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"api_version", nullptr};
  PyObject* version = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$O:__array_namespace__",
                                   const_cast<char**>(names), &version)) {
    return nullptr;
  }
  Owned package(PyObject_GetAttrString(reinterpret_cast<PyObject*>(types.tensor), "__module__"));
  Owned name(package ? PyUnicode_FromFormat("%U.array_api", package.get()) : nullptr);
  Owned module(name ? PyImport_Import(name.get()) : nullptr);
  if (!module) return nullptr;
  return PyObject_CallMethod(module.get(), "_of_version", "O", version);
}
// These methods exist in all libraries. A library's operator of the same name takes precedence.
PyMethodDef methods[] = {
    {"size", as_method(size), METH_VARARGS | METH_KEYWORDS,
     "Returns the size of each dimension, or of the given dimension."},
    {"stride", as_method(stride), METH_VARARGS | METH_KEYWORDS,
     "Returns the stride, in elements, of each dimension or of the given dimension."},
    {"dim", dim, METH_NOARGS, "Returns the number of dimensions."},
    {"numel", numel, METH_NOARGS, "Returns the number of elements."},
    {"element_size", element_size, METH_NOARGS, "Returns the size of an element in bytes."},
    {"storage_offset", storage_offset, METH_NOARGS,
     "Returns the position of the first element in the storage, in elements."},
    {"data_ptr", data_ptr, METH_NOARGS, "Returns the address of the first element."},
    {"is_contiguous", as_method(is_contiguous), METH_VARARGS | METH_KEYWORDS,
     "Returns whether the elements are contiguous, in row-major order or in that of a "
     "memory_format."},
    {"item", item, METH_NOARGS, "Returns the only element as a Python number."},
    {"tolist", tolist, METH_NOARGS, "Returns the elements as nested lists."},
    {"to_device", as_method(to_device), METH_VARARGS | METH_KEYWORDS,
     "to_device(device, /, *, stream=None): returns the tensor on a device."},
    {"__array_namespace__", as_method(array_namespace), METH_VARARGS | METH_KEYWORDS,
     "__array_namespace__(*, api_version=None): returns the module with the functions of the array "
     "API standard."},
    {"__format__", format, METH_O, "Formats the only element, or else the tensor."},
    {"__complex__", as_complex, METH_NOARGS, "Returns the only element as a complex number."},
    {"__round__", rounded, METH_VARARGS,
     "Rounds the elements to integers, or to the given number of decimals."},
    {nullptr, nullptr, 0, nullptr}};

// Returns the attributes in one table, whose address the type keeps.
PyGetSetDef* all_attributes() {
  static std::vector<PyGetSetDef> all;
  for (const PyGetSetDef* some :
       {attributes, view_attributes, autograd_attributes, hook_attributes}) {
    for (; some->name != nullptr; ++some) all.push_back(*some);
  }
  all.push_back({nullptr, nullptr, nullptr, nullptr, nullptr});
  return all.data();
}
PyMethodDef* all_methods() {
  static std::vector<PyMethodDef> all;
  for (const PyMethodDef* some :
       {methods, cast_methods, autograd_methods, hook_methods, copying_methods, dlpack_methods}) {
    for (; some->ml_name != nullptr; ++some) all.push_back(*some);
  }
  all.push_back({nullptr, nullptr, 0, nullptr});
  return all.data();
}

}  // namespace

PyObject* new_tensor(TensorBase tensor) {
  PyObject* self = nullptr;
  if (kept_count != 0) {
    self = PyObject_Init(kept[--kept_count], types.tensor);
  } else {
    self = types.tensor->tp_alloc(types.tensor, 0);
    if (self == nullptr) return nullptr;
  }
  new (&tensor_of(self)) TensorBase(std::move(tensor));
  weak_references(self) = nullptr;
  return self;
}

PyObject* tuple_of(IntArrayRef values) {
  Owned tuple(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (std::size_t i = 0; tuple && i < values.size(); ++i) {
    PyObject* item = PyLong_FromLongLong(values[i]);
    if (item == nullptr) return nullptr;
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), item);
  }
  return tuple.release();
}

int make_tensor_type() {
  std::vector<PyType_Slot> slots = {
      {Py_tp_dealloc, reinterpret_cast<void*>(&free_tensor)},
      {Py_tp_repr, reinterpret_cast<void*>(&show_tensor)},
      {Py_tp_getset, all_attributes()},
      {Py_tp_members, members},
      {Py_tp_methods, all_methods()},
      {Py_tp_doc, const_cast<char*>(
                      "A tensor of the opgen runtime. Its methods are the libraries' operators.")}};
  for (const PyType_Slot* some : {number_slots, indexing_slots, buffer_slots}) {
    for (; some->slot != 0; ++some) slots.push_back(*some);
  }
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"opgen.Tensor", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  types.tensor = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (types.tensor == nullptr) return -1;
  set_warning_handler(&warn_in_python);
  set_blocking_hooks(&let_go_of_the_gil, &GilRelease::restore);
  // Makes NumPy numbers leave the operation to the tensor on the right, so that the result is a
  // tensor.
  Owned priority(PyFloat_FromDouble(1000));
  PyObject* type = reinterpret_cast<PyObject*>(types.tensor);
  return priority ? PyObject_SetAttrString(type, "__array_priority__", priority.get()) : -1;
}

}  // namespace opgen::python
