// indexing.cpp: a[1, ::2, None, ...] and assignment to it, without operators: views of the bytes.
#include "objects.h"
#include "opgen/copy.h"

namespace opgen::python {

namespace {

// The view that is being built: dimensions before `next` are done.
struct Indexer {
  const TensorBase& tensor;
  DimVector sizes;
  DimVector strides;
  std::int64_t offset;
  std::int64_t next = 0;

  explicit Indexer(const TensorBase& from) : tensor(from), offset(from.storage_offset()) {}

  void keep(std::int64_t count) {
    for (; count > 0; --count, ++next) {
      sizes.push_back(tensor.sizes()[static_cast<std::size_t>(next)]);
      strides.push_back(tensor.strides()[static_cast<std::size_t>(next)]);
    }
  }
  bool pick(PyObject* key);
  bool cut(PyObject* key);
  bool apply(PyObject* key, std::int64_t left);
};

bool Indexer::pick(PyObject* key) {
  const Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred() != nullptr) return false;
  const std::int64_t size = tensor.sizes()[static_cast<std::size_t>(next)];
  if (index < -size || index >= size) {
    PyErr_Format(PyExc_IndexError, "index %zd is out of range for dimension %lld of size %lld",
                 index, static_cast<long long>(next), static_cast<long long>(size));
    return false;
  }
  offset += (index < 0 ? index + size : index) * tensor.strides()[static_cast<std::size_t>(next)];
  ++next;
  return true;
}

bool Indexer::cut(PyObject* key) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(key, &start, &stop, &step) != 0) return false;
  if (step < 1) {
    PyErr_SetString(PyExc_ValueError, "the step of a slice of a tensor must be positive");
    return false;
  }
  const auto dim = static_cast<std::size_t>(next);
  const Py_ssize_t count = PySlice_AdjustIndices(tensor.sizes()[dim], &start, &stop, step);
  if (count != 0) offset += start * tensor.strides()[dim];
  sizes.push_back(count);
  strides.push_back(step * tensor.strides()[dim]);
  ++next;
  return true;
}

// `left`: how many dimensions the keys after this one take.
bool Indexer::apply(PyObject* key, std::int64_t left) {
  if (key == Py_None) {
    sizes.push_back(1);
    strides.push_back(1);
    return true;
  }
  if (key == Py_Ellipsis) {
    keep(tensor.dim() - next - left);
    return true;
  }
  if (next >= tensor.dim()) {
    PyErr_Format(PyExc_IndexError, "too many indices for a tensor of %lld dimensions",
                 static_cast<long long>(tensor.dim()));
    return false;
  }
  if (PySlice_Check(key)) return cut(key);
  const bool whole = is_tensor(key) && tensor_of(key).dim() != 0;
  if (!PyBool_Check(key) && PyIndex_Check(key) && !whole) return pick(key);
  PyErr_Format(PyExc_TypeError, "a tensor is indexed by ints, slices, None and ..., not by %s",
               Py_TYPE(key)->tp_name);
  return false;
}

std::int64_t taken(PyObject* keys, Py_ssize_t from) {
  std::int64_t count = 0;
  for (Py_ssize_t i = from; i < PyTuple_GET_SIZE(keys); ++i) {
    PyObject* key = PyTuple_GET_ITEM(keys, i);
    count += key != Py_None && key != Py_Ellipsis ? 1 : 0;
  }
  return count;
}

bool view_of(PyObject* self, PyObject* key, TensorBase& view) {
  Owned keys(PyTuple_Check(key) ? (Py_INCREF(key), key) : PyTuple_Pack(1, key));
  if (!keys) return false;
  Indexer indexer(tensor_of(self));
  int ellipses = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys.get()); ++i) {
    PyObject* one = PyTuple_GET_ITEM(keys.get(), i);
    if (one == Py_Ellipsis && ++ellipses > 1) {
      PyErr_SetString(PyExc_IndexError, "an index can have only one '...'");
      return false;
    }
    if (!indexer.apply(one, taken(keys.get(), i + 1))) return false;
  }
  indexer.keep(tensor_of(self).dim() - indexer.next);
  view = opgen::detail::alias_with_sizes_and_strides(tensor_of(self), indexer.sizes,
                                                     indexer.strides, indexer.offset);
  return true;
}

PyObject* get_item(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    TensorBase view;
    return view_of(self, key, view) ? new_tensor(std::move(view)) : nullptr;
  });
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  if (value == nullptr) {
    PyErr_SetString(PyExc_TypeError, "elements of a tensor cannot be deleted");
    return -1;
  }
  Owned done(guarded([&]() -> PyObject* {
    TensorBase view;
    if (!view_of(self, key, view)) return nullptr;
    Scalar number;
    if (is_tensor(value)) {
      opgen::detail::copy_(view, tensor_of(value));
    } else if (find_scalar(value, number)) {
      opgen::detail::fill_(view, number);
    } else {
      return PyErr_Format(PyExc_TypeError, "an item is set to a Tensor or a number, not to %s",
                          Py_TYPE(value)->tp_name);
    }
    view.bump_version();
    Py_RETURN_NONE;
  }));
  return done ? 0 : -1;
}

Py_ssize_t length(PyObject* self) {
  if (tensor_of(self).dim() == 0) {
    PyErr_SetString(PyExc_TypeError, "a tensor without dimensions has no length");
    return -1;
  }
  return tensor_of(self).sizes()[0];
}

// Items in turn until there are no more.
PyObject* iterate(PyObject* self) {
  return length(self) < 0 ? nullptr : PySeqIter_New(self);
}
PyObject* item_at(PyObject* self, Py_ssize_t index) {
  if (length(self) < 0) return nullptr;
  Owned key(PyLong_FromSsize_t(index));
  return key ? get_item(self, key.get()) : nullptr;
}

}  // namespace

PyType_Slot indexing_slots[] = {{Py_mp_subscript, reinterpret_cast<void*>(&get_item)},
                                {Py_mp_ass_subscript, reinterpret_cast<void*>(&set_item)},
                                {Py_mp_length, reinterpret_cast<void*>(&length)},
                                {Py_tp_iter, reinterpret_cast<void*>(&iterate)},
                                {Py_sq_item, reinterpret_cast<void*>(&item_at)},
                                {0, nullptr}};

}  // namespace opgen::python
