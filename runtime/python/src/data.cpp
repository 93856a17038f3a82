// data.cpp: makes tensors from Python numbers, nested lists and arrays.
#include <vector>

#include "objects.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/factories.h"
#include "values.h"

namespace opgen::python {

namespace {

// Flattens nested lists and checks their sizes.
struct Nested {
  DimVector sizes;
  std::vector<Scalar> numbers;
  bool is_bool = true;
  bool is_integer = true;
  bool is_complex = false;

  // Reads the sizes from the first items; collect() compares the other items with them. Runs no
  // Python code.
  bool measure(PyObject* data) {
    while (PyList_Check(data) || PyTuple_Check(data)) {
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
    const bool list = PyList_Check(data) || PyTuple_Check(data);
    if (dim == sizes.size()) return !list ? number(data) : uneven(dim);
    if (!list) return uneven(dim);
    const OwnedItems items(data);
    if (items.size() != static_cast<std::size_t>(sizes[dim])) return uneven(dim);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!collect(items[i], dim + 1)) return false;
    }
    return true;
  }
  [[nodiscard]] ScalarType dtype() const {
    if (numbers.empty()) return get_default_dtype();
    if (is_complex) return toComplexType(get_default_dtype());
    return is_bool ? kBool : is_integer ? kLong : get_default_dtype();
  }

 private:
  bool number(PyObject* data) {
    Scalar value;
    if (!find_scalar(data, value)) {
      PyErr_Format(PyExc_TypeError, "a tensor is made from numbers, not from %s",
                   Py_TYPE(data)->tp_name);
      return false;
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

bool has_buffer(PyObject* object) {
  return PyObject_CheckBuffer(object) != 0 && PyBytes_Check(object) == 0;
}

// A read-only array, or one with negative strides, is copied by NumPy first.
TensorBase copy_of_buffer(PyObject* data) {
  const bool copies = PyObject_HasAttrString(data, "copy") != 0;
  Owned copied(copies ? PyObject_CallMethod(data, "copy", nullptr) : (Py_INCREF(data), data));
  if (!copied) return {};
  TensorBase tensor = tensor_from_buffer(copied.get());
  return PyErr_Occurred() != nullptr ? TensorBase() : tensor;
}

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
  ScalarType type = ScalarType::Undefined;
  if (wanted != Py_None && !find_dtype(wanted, type)) {
    PyErr_SetString(PyExc_TypeError, unknown_dtype(wanted).c_str());
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    Device device = kCPU;
    if (where != Py_None && !find_device(where, device)) {
      return PyErr_Format(PyExc_TypeError, "unknown device %R", where);
    }
    TensorBase tensor = tensor_from_data(data, type);
    if (tensor.defined()) tensor = opgen::detail::to_device(tensor, device);
    if (!tensor.defined()) return nullptr;
    if (requires_grad != 0) set_requires_grad(tensor, true, AskedBy::Factory);
    return new_tensor(std::move(tensor));
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
  Scalar number;
  if (is_tensor(data) || (has_buffer(data) && !find_scalar(data, number))) {
    const TensorBase from = is_tensor(data) ? tensor_of(data) : copy_of_buffer(data);
    if (!from.defined()) return from;
    TensorBase result =
        opgen::detail::to_dtype(from, type == ScalarType::Undefined ? from.scalar_type() : type);
    return result.is_same(from) ? opgen::detail::clone(from) : result;
  }
  Nested nested;
  if (!nested.measure(data) || !nested.collect(data, 0)) return {};
  return from_numbers(nested, type == ScalarType::Undefined ? nested.dtype() : type);
}

PyMethodDef module_functions[] = {
    {"tensor", as_method(&make_tensor), METH_VARARGS | METH_KEYWORDS,
     "tensor(data, *, dtype=None, device=None, requires_grad=False): makes a tensor from a number, "
     "nested lists or an array. Always copies."},
    {"from_numpy", from_numpy, METH_O,
     "from_numpy(array): makes a tensor that shares the memory of a writable array."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace opgen::python
