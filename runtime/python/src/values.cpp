// values.cpp: convert Python objects to numbers.
#include "values.h"

#include <cstring>

#include "library_operator.h"

namespace opgen::python {

bool find_integer(PyObject* object, std::int64_t& value) {
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
  }
  if (PyBool_Check(object)) return false;
  if (is_tensor(object)) {
    const TensorBase& tensor = tensor_of(object);
    if (tensor.numel() != 1 || !isIntegralType(tensor.scalar_type(), false) || !tensor.is_cpu()) {
      return false;
    }
    value = item_of(tensor).toLong();
    return true;
  }
  if (!PyIndex_Check(object)) return false;
  Owned number(PyNumber_Index(object));
  if (!number) {
    PyErr_Clear();  // an array of several elements has the method too
    return false;
  }
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  return overflow == 0;
}

bool find_double(PyObject* object, double& value) {
  if (PyFloat_Check(object)) {
    value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyLong_Check(object)) {
    value = PyLong_AsDouble(object);
    if (value != -1.0 || PyErr_Occurred() == nullptr) return true;
    PyErr_Clear();  // larger than any double
    return false;
  }
  Scalar scalar;
  if (!find_scalar(object, scalar) || scalar.isComplex()) return false;
  value = scalar.toDouble();
  return true;
}

bool is_too_large(PyObject* object) {
  std::int64_t ignored = 0;
  return PyLong_Check(object) && !PyBool_Check(object) && !find_integer(object, ignored);
}

bool is_array(PyObject* object) {
  return std::strcmp(Py_TYPE(object)->tp_name, "numpy.ndarray") == 0;
}

// NumPy's booleans can only be recognised by their name.
bool is_numpy_bool(PyObject* object) {
  const char* name = Py_TYPE(object)->tp_name;
  return std::strcmp(name, "numpy.bool_") == 0 || std::strcmp(name, "numpy.bool") == 0;
}

bool find_scalar(PyObject* object, Scalar& value) {
  if (PyFloat_Check(object)) {
    value = Scalar(PyFloat_AS_DOUBLE(object));
  } else if (PyBool_Check(object)) {
    value = Scalar(object == Py_True);
  } else if (PyComplex_Check(object)) {
    const Py_complex number = PyComplex_AsCComplex(object);
    value = Scalar(complex<double>(number.real, number.imag));
  } else if (is_tensor(object)) {
    const TensorBase& tensor = tensor_of(object);
    // Inside vmap, a tensor is a batch of numbers, without a storage.
    if (tensor.dim() != 0 || !tensor.is_cpu() || !tensor.has_storage()) return false;
    value = item_of(tensor);
  } else if (std::int64_t number = 0; find_integer(object, number)) {
    value = Scalar(number);
  } else if (is_numpy_bool(object)) {
    value = Scalar(PyObject_IsTrue(object) == 1);
  } else if (std::strncmp(Py_TYPE(object)->tp_name, "numpy.", 6) == 0 &&
             Py_TYPE(object)->tp_as_number != nullptr && !PySequence_Check(object) &&
             Py_TYPE(object)->tp_as_number->nb_float != nullptr) {
    // NumPy's float16 and float32 are not Python floats.
    const double real = PyFloat_AsDouble(object);
    if (real == -1.0 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
    value = Scalar(real);
  } else {
    return false;
  }
  return true;
}

}  // namespace opgen::python
