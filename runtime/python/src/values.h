// values.h: convert Python objects to numbers, strings and sequences. Internal.
#pragma once

#include <string_view>

#include "objects.h"
#include "opgen/core/small_vector.h"

namespace opgen::python {

// Reads an int, a NumPy integer (by __index__) or an integral tensor of one element; not a bool.
bool find_integer(PyObject* object, std::int64_t& value);
bool find_double(PyObject* object, double& value);
// Reads a Python number, a NumPy number or a tensor of one element. Like the others, returns false
// without an exception if it is not one.
bool find_scalar(PyObject* object, Scalar& value);
bool is_numpy_bool(PyObject* object);
// Returns whether it is a NumPy array, which also may have no dimensions.
bool is_array(PyObject* object);
// An int that does not fit into 64 bits.
bool is_too_large(PyObject* object);

inline bool is_sequence(PyObject* object) {
  return PyTuple_Check(object) || PyList_Check(object);
}

// Owns the items of a list or tuple as they are at construction. Python code that runs later, such
// as an item's __index__, may change the list and drop its items. Allocates no Python object, which
// could run finalizers first.
class OwnedItems {
 public:
  explicit OwnedItems(PyObject* sequence)
      : size_(static_cast<std::size_t>(PySequence_Fast_GET_SIZE(sequence))) {
    PyObject** items = PySequence_Fast_ITEMS(sequence);
    if (PyTuple_Check(sequence)) {
      tuple_ = Owned(Py_NewRef(sequence));
      items_ = items;
      return;
    }
    copies_.reserve(size_);
    for (std::size_t i = 0; i < size_; ++i) copies_.push_back(Py_NewRef(items[i]));
    items_ = copies_.data();
  }
  OwnedItems(const OwnedItems&) = delete;
  OwnedItems& operator=(const OwnedItems&) = delete;
  ~OwnedItems() {
    for (PyObject* item : copies_) Py_DECREF(item);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] PyObject* operator[](std::size_t i) const { return items_[i]; }

 private:
  std::size_t size_;
  Owned tuple_;
  SmallVector<PyObject*, 8> copies_;
  PyObject* const* items_ = nullptr;
};

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
