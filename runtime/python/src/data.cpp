// data.cpp: makes tensors from Python numbers, nested lists, other sequences, and arrays.
#include <cstring>
#include <optional>
#include <vector>

#include "library_operator.h"
#include "objects.h"
#include "opgen/autograd/forward.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/promotion.h"
#include "values.h"

namespace opgen::python {

namespace {

bool has_buffer(PyObject* object) {
  return PyObject_CheckBuffer(object) != 0 && PyBytes_Check(object) == 0;
}
// NumPy's numbers have buffers, too, but are numbers here.
bool is_array_like(PyObject* object) {
  Scalar ignored;
  return is_array(object) || (has_buffer(object) && !find_scalar(object, ignored));
}
bool is_list(PyObject* object) {
  return PyList_Check(object) || PyTuple_Check(object);
}
// Returns whether an object is neither a number nor a list, and contains numbers: a tensor or an
// array with dimensions, a range, a Series.
bool has_numbers(PyObject* object) {
  if (is_list(object) || PyUnicode_Check(object) || PyBytes_Check(object)) return false;
  return is_tensor(object) || has_buffer(object) || PySequence_Check(object) != 0 ||
         PyObject_HasAttrString(object, "__array__") != 0;
}

// Copies of numbers have no history. Says so, because a gradient that is zero is easily overlooked.
void check_copied(const TensorBase& tensor) {
  OPGEN_CHECK_NOT_IMPLEMENTED(tensor.has_storage(),
                              "tensor() does not work inside vmap, where a tensor stands for a "
                              "whole batch: use clone()");
  if ((GradMode::is_enabled() && autograd::requires_grad(tensor)) ||
      autograd::has_tangent(tensor)) {
    OPGEN_WARN(
        "a tensor is made from the numbers of one that requires a gradient or has a tangent, which "
        "the result does not have: use clone(), or detach() to say so");
  } else if (is_transformed(tensor)) {
    check_elements_read(tensor, "tensor()");
  }
}

// Flattens nested lists of numbers and checks their sizes.
struct Nested {
  DimVector sizes;
  std::vector<Scalar> numbers;
  bool is_bool = true;
  bool is_integer = true;
  bool is_complex = false;
  // The dtype that all zero-dim tensors among the numbers convert to.
  ScalarType of_tensors = ScalarType::Undefined;
  std::size_t tensors = 0;
  // Whether collect() failed at an item that has several numbers.
  bool has_others = false;

  // Reads the sizes from the first items; collect() compares the other items with them. Runs no
  // Python code.
  bool measure(PyObject* data) {
    while (is_list(data)) {
      if (sizes.size() == 64) {
        PyErr_SetString(PyExc_ValueError, "the list is nested too deeply for a tensor");
        return false;
      }
      sizes.push_back(PySequence_Fast_GET_SIZE(data));
      if (sizes.back() == 0) break;
      data = PySequence_Fast_GET_ITEM(data, 0);
    }
    return true;
  }
  bool collect(PyObject* data, std::size_t dim) {
    const bool list = is_list(data);
    if (dim == sizes.size()) return !list ? number(data) : uneven(dim);
    if (!list) {
      has_others = has_numbers(data);
      return uneven(dim);
    }
    const OwnedItems items(data);
    if (items.size() != static_cast<std::size_t>(sizes[dim])) return uneven(dim);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!collect(items[i], dim + 1)) return false;
    }
    return true;
  }
  [[nodiscard]] ScalarType dtype() const {
    if (numbers.empty()) return get_default_dtype();
    if (numbers.size() == tensors) return of_tensors;
    const ScalarType of_numbers = is_complex   ? toComplexType(get_default_dtype())
                                  : is_bool    ? kBool
                                  : is_integer ? kLong
                                               : get_default_dtype();
    return tensors == 0 ? of_numbers : promote_types(of_numbers, of_tensors);
  }

 private:
  bool number(PyObject* data) {
    Scalar value;
    if (!find_scalar(data, value)) {
      has_others = has_numbers(data);
      if (is_too_large(data)) {
        PyErr_Format(PyExc_OverflowError, "%R is too large: ints have 64 bits here", data);
      } else {
        PyErr_Format(PyExc_TypeError, "a tensor is made from numbers, not from %s",
                     Py_TYPE(data)->tp_name);
      }
      return false;
    }
    if (is_tensor(data)) {
      check_copied(tensor_of(data));
      const ScalarType type = tensor_of(data).scalar_type();
      of_tensors = tensors++ == 0 ? type : promote_types(of_tensors, type);
      numbers.push_back(value);
      return true;
    }
    is_bool = is_bool && value.isBoolean();
    is_integer = is_integer && value.isIntegral(true);
    is_complex = is_complex || value.isComplex();
    numbers.push_back(value);
    return true;
  }
  static bool uneven(std::size_t dim) {
    PyErr_Format(PyExc_ValueError, "the lists of dimension %zu do not all have the same length",
                 dim);
    return false;
  }
};

// Converts a number to T. Floating-point types round it, possibly to infinity; other types must be
// able to represent it.
template <class T>
T element(const Scalar& number) {
  if constexpr (std::is_same_v<T, complex<float>>) {
    return T(element<float>(number));
  } else if constexpr (std::is_same_v<T, double> || is_complex_type<T>::value) {
    return number.to<T>();
  } else if constexpr (isFloatingType(scalar_type_of<T>)) {
    return static_cast<T>(static_cast<float>(number.toDouble()));
  } else {
    return number.to<T>();
  }
}

template <class T>
TensorBase filled(const Nested& nested, ScalarType type) {
  TensorBase tensor = opgen::detail::empty_contiguous(nested.sizes, type, kCPU);
  T* to = static_cast<T*>(tensor.data_ptr());
  for (const Scalar& number : nested.numbers) *to++ = element<T>(number);
  return tensor;
}

TensorBase from_numbers(const Nested& nested, ScalarType type) {
  if (nested.is_complex) {
    OPGEN_CHECK_TYPE(isComplexType(type), "complex numbers cannot be converted to dtype ",
                     dtype_name(type));
    return opgen::detail::to_dtype(filled<complex<double>>(nested, kComplexDouble), type);
  }
  switch (type) {
#define OPGEN_CASE(cpp_type, name, number) \
  case ScalarType::name:                   \
    return filled<cpp_type>(nested, type);
    OPGEN_FORALL_SCALAR_TYPES(OPGEN_CASE)
#undef OPGEN_CASE
    case ScalarType::Undefined:
      break;
  }
  return {};
}

// A read-only array, or one with negative strides, is copied by NumPy first.
TensorBase copy_of_buffer(PyObject* data) {
  const bool copies = PyObject_HasAttrString(data, "copy") != 0;
  Owned copied(copies ? PyObject_CallMethod(data, "copy", nullptr) : (Py_INCREF(data), data));
  if (!copied) return {};
  TensorBase tensor = tensor_from_buffer(copied.get());
  return PyErr_Occurred() != nullptr ? TensorBase() : tensor;
}

// Returns the only tensor for an object of which has_numbers() is true.
TensorBase tensor_from_other(PyObject* data, ScalarType type) {
  if (PyObject_HasAttrString(data, "__array__") != 0) {
    Owned array(PyObject_CallMethod(data, "__array__", nullptr));
    if (!array) return {};
    OPGEN_CHECK_TYPE(has_buffer(array.get()), Py_TYPE(data)->tp_name,
                     ".__array__() returned no array, but ", Py_TYPE(array.get())->tp_name);
    return tensor_from_data(array.get(), type);
  }
  // A sequence may contain itself.
  if (Py_EnterRecursiveCall(" in a sequence of numbers") != 0) return {};
  const Owned items(PySequence_List(data));
  TensorBase result = items ? tensor_from_data(items.get(), type) : TensorBase();
  Py_LeaveRecursiveCall();
  return result;
}

// Joins the tensors of nested lists whose items are not all numbers.
TensorBase stacked(PyObject* data, ScalarType type, int depth) {
  if (!is_list(data)) return tensor_from_data(data, type);
  OPGEN_CHECK_VALUE(depth < 64, "the list is nested too deeply for a tensor");
  const OwnedItems items(data);
  std::vector<TensorBase> parts;
  for (std::size_t i = 0; i < items.size(); ++i) {
    parts.push_back(stacked(items[i], type, depth + 1));
    if (!parts.back().defined()) return {};
    OPGEN_CHECK_VALUE(parts[i].sizes() == parts[0].sizes(), "the items of a list have the shapes ",
                      parts[0].sizes(), " and ", parts[i].sizes(), ": they must be equal");
  }
  if (parts.empty()) return tensor_from_data(data, type);
  if (type == ScalarType::Undefined) {
    type = parts[0].scalar_type();
    for (const TensorBase& part : parts) type = promote_types(type, part.scalar_type());
  }
  DimVector sizes(parts[0].sizes());
  sizes.insert(sizes.begin(), static_cast<std::int64_t>(parts.size()));
  TensorBase result = opgen::detail::empty_contiguous(sizes, type, kCPU);
  char* to = static_cast<char*>(result.data_ptr());
  for (const TensorBase& part : parts) {
    const TensorBase from = opgen::detail::contiguous(
        opgen::detail::to_dtype(opgen::detail::to_device(part, kCPU), type));
    if (from.nbytes() != 0) std::memcpy(to, from.data_ptr(), from.nbytes());
    to += from.nbytes();
  }
  return result;
}

// A dtype and a device as arguments; Undefined and empty for None.
struct Options {
  ScalarType type = ScalarType::Undefined;
  std::optional<Device> device;

  bool read(PyObject* dtype, PyObject* where) {
    if (dtype != Py_None && !find_dtype(dtype, type)) {
      PyErr_SetString(PyExc_TypeError, unknown_dtype(dtype).c_str());
      return false;
    }
    if (where == Py_None) return true;
    Device found = kCPU;
    if (!find_device(where, found)) {
      PyErr_Format(PyExc_TypeError, "unknown device %R", where);
      return false;
    }
    device = found;
    return true;
  }
};

// tensor(data, *, dtype=None, device=None, requires_grad=False)
PyObject* make_tensor(PyObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"data", "dtype", "device", "requires_grad", nullptr};
  PyObject* data = nullptr;
  PyObject* wanted = Py_None;
  PyObject* where = Py_None;
  int requires_grad = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OOp:tensor", const_cast<char**>(names),
                                   &data, &wanted, &where, &requires_grad)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    Options options;
    if (!options.read(wanted, where)) return nullptr;
    TensorBase tensor = tensor_from_data(data, options.type);
    if (!tensor.defined()) return nullptr;
    tensor = opgen::detail::to_device(tensor, options.device.value_or(kCPU));
    if (requires_grad != 0) set_requires_grad(tensor, true, AskedBy::Factory);
    return new_tensor(std::move(tensor));
  });
}

enum class Sharing : std::uint8_t { Never, IfPossible, Always };

// Returns a tensor on the bytes of an array. Undefined, without an exception, if it needs a copy.
TensorBase shared_buffer(PyObject* data) {
  try {
    TensorBase tensor = tensor_from_buffer(data);
    PyErr_Clear();
    return tensor;
  } catch (const Error&) {
    return {};
  }
}

// Returns `data` itself if it is a tensor with these options, else a tensor, on the same bytes if
// possible.
PyObject* as_tensor_of(PyObject* data, const Options& options, Sharing sharing) {
  TensorBase from;
  if (is_tensor(data)) {
    from = tensor_of(data);
  } else if (sharing != Sharing::Never && is_array_like(data)) {
    from = shared_buffer(data);
  }
  const bool is_shared = from.defined();
  if (!is_shared) from = tensor_from_data(data, options.type);
  if (!from.defined()) return nullptr;
  const ScalarType type = options.type == ScalarType::Undefined ? from.scalar_type() : options.type;
  const Device device = options.device.value_or(from.device());
  const bool fits = type == from.scalar_type() && device == from.device();
  OPGEN_CHECK_VALUE(sharing != Sharing::Always || (is_shared && fits),
                    "copy=False, but these data, or this dtype or device, need a copy");
  if (is_tensor(data) && fits && sharing != Sharing::Never) return Py_NewRef(data);
  if (is_tensor(data) && needs_operators(from)) {
    Owned where(new_device(device));
    Owned method(where ? PyObject_GetAttrString(data, "to") : nullptr);
    Owned given(method ? PyTuple_Pack(2, where.get(), dtype_object(type)) : nullptr);
    Owned copy(given
                   ? Py_BuildValue("{s:O}", "copy", sharing == Sharing::Never ? Py_True : Py_False)
                   : nullptr);
    return copy ? PyObject_Call(method.get(), given.get(), copy.get()) : nullptr;
  }
  TensorBase result = opgen::detail::to_device(opgen::detail::to_dtype(from, type), device);
  if (is_tensor(data) && result.is_same(from)) result = opgen::detail::clone(from);
  return new_tensor(std::move(result));
}

// as_tensor(data, dtype=None, device=None)
PyObject* as_tensor(PyObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"data", "dtype", "device", nullptr};
  PyObject* data = nullptr;
  PyObject* wanted = Py_None;
  PyObject* where = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:as_tensor", const_cast<char**>(names),
                                   &data, &wanted, &where)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    Options options;
    return options.read(wanted, where) ? as_tensor_of(data, options, Sharing::IfPossible) : nullptr;
  });
}

// asarray(obj, /, *, dtype=None, device=None, copy=None)
PyObject* as_array(PyObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"", "dtype", "device", "copy", nullptr};
  PyObject* data = nullptr;
  PyObject* wanted = Py_None;
  PyObject* where = Py_None;
  PyObject* copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OOO:asarray", const_cast<char**>(names),
                                   &data, &wanted, &where, &copy)) {
    return nullptr;
  }
  const int copies = copy == Py_None ? 0 : PyObject_IsTrue(copy);
  if (copies < 0) return nullptr;
  const Sharing sharing = copy == Py_None ? Sharing::IfPossible
                          : copies != 0   ? Sharing::Never
                                          : Sharing::Always;
  return guarded([&]() -> PyObject* {
    Options options;
    return options.read(wanted, where) ? as_tensor_of(data, options, sharing) : nullptr;
  });
}

PyObject* from_numpy(PyObject*, PyObject* array) {
  return guarded([&]() -> PyObject* {
    TensorBase tensor = tensor_from_buffer(array);
    return PyErr_Occurred() != nullptr ? nullptr : new_tensor(std::move(tensor));
  });
}

}  // namespace

TensorBase tensor_from_data(PyObject* data, ScalarType type) {
  if (is_tensor(data) || is_array_like(data)) {
    if (is_tensor(data)) check_copied(tensor_of(data));
    const TensorBase from = is_tensor(data) ? tensor_of(data) : copy_of_buffer(data);
    if (!from.defined()) return from;
    TensorBase result =
        opgen::detail::to_dtype(from, type == ScalarType::Undefined ? from.scalar_type() : type);
    return result.is_same(from) ? opgen::detail::clone(from) : result;
  }
  Nested nested;
  if (nested.measure(data) && nested.collect(data, 0)) {
    return from_numbers(nested, type == ScalarType::Undefined ? nested.dtype() : type);
  }
  if (!nested.has_others) return {};
  PyErr_Clear();
  return is_list(data) ? stacked(data, type, 0) : tensor_from_other(data, type);
}

PyMethodDef module_functions[] = {
    {"tensor", as_method(&make_tensor), METH_VARARGS | METH_KEYWORDS,
     "tensor(data, *, dtype=None, device=None, requires_grad=False): makes a tensor from a number, "
     "nested lists or other sequences, tensors or an array. Always copies."},
    {"as_tensor", as_method(&as_tensor), METH_VARARGS | METH_KEYWORDS,
     "as_tensor(data, dtype=None, device=None): like tensor(), but returns a tensor itself, and "
     "shares the bytes of an array, if no conversion is necessary."},
    {"asarray", as_method(&as_array), METH_VARARGS | METH_KEYWORDS,
     "asarray(obj, /, *, dtype=None, device=None, copy=None): like as_tensor(). copy=True always "
     "copies; with copy=False, it is an error if a copy is necessary."},
    {"from_numpy", from_numpy, METH_O,
     "from_numpy(array): makes a tensor that shares the memory of a writable array."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace opgen::python
