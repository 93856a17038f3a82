// values.h: Python objects as numbers, texts and sequences. Internal.
#pragma once

#include <string_view>

#include "objects.h"

namespace opgen::python {

// An int, a NumPy integer (by __index__) or an integral tensor of one element; no bool.
bool find_integer(PyObject* object, std::int64_t& value);
bool find_double(PyObject* object, double& value);
// A number of Python, one of NumPy or a tensor of one element. Like the others: false without an
// exception if it is none.
bool find_scalar(PyObject* object, Scalar& value);
bool is_numpy_bool(PyObject* object);
// An int that does not fit into 64 bits.
bool is_too_large(PyObject* object);

inline bool is_sequence(PyObject* object) {
  return PyTuple_Check(object) || PyList_Check(object);
}

inline std::size_t sequence_size(PyObject* object) {
  return static_cast<std::size_t>(PySequence_Fast_GET_SIZE(object));
}

// None behind the end: an __index__ of an item may have shortened its list.
inline PyObject* sequence_item(PyObject* object, std::size_t i) {
  if (i >= sequence_size(object)) return Py_None;
  return PySequence_Fast_GET_ITEM(object, static_cast<Py_ssize_t>(i));
}

inline std::string_view text_of(PyObject* text) {
  Py_ssize_t size = 0;
  const char* words = PyUnicode_AsUTF8AndSize(text, &size);
  if (words == nullptr) {
    PyErr_Clear();  // a lone surrogate
    return {};
  }
  return {words, static_cast<std::size_t>(size)};
}

}  // namespace opgen::python
