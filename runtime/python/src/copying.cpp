// copying.cpp: copies and pickles tensors, and converts them to NumPy arrays.
#include "library_operator.h"
#include "objects.h"
#include "opgen/autograd/autograd.h"
#include "opgen/autograd/forward.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/shape_utils.h"
#include "opgen/view_geometry.h"

namespace opgen::python {

namespace {

LibraryOperator alias_operator("aten::alias", "",
                               "a copy of a tensor that is traced, batched, requires a gradient or "
                               "has a tangent");
LibraryOperator clone_operator("aten::clone", "", "a deep copy of a traced or batched tensor");

PyObject* storage(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const TensorBase& tensor = tensor_of(self);
    OPGEN_CHECK(tensor.has_storage(), "a tensor inside vmap has no storage of its own");
    return new_storage(tensor.storage());
  });
}

// Returns another tensor on the same bytes.
PyObject* copied(PyObject* self, PyObject*) {
  return guarded([&] {
    const TensorBase& tensor = tensor_of(self);
    if (needs_operators(tensor)) return new_tensor(alias_operator.call({tensor}).toTensor());
    return new_tensor(
        recorded_view(opgen::detail::view_with(tensor, ViewGeometry::of(tensor)), tensor));
  });
}

}  // namespace

TensorBase tensor_on(const Storage& storage, const Place& place, bool requires_grad) {
  for (std::int64_t stride : place.strides) {
    OPGEN_CHECK_VALUE(stride >= 0,
                      "a tensor cannot have negative strides: ", IntArrayRef(place.strides));
  }
  const std::size_t bytes = opgen::checked_storage_bytes(place.sizes, place.strides, place.offset,
                                                         elementSize(place.type));
  OPGEN_CHECK_VALUE(bytes <= storage.nbytes(), "sizes ", IntArrayRef(place.sizes), " and strides ",
                    IntArrayRef(place.strides), " from element ", place.offset,
                    " on do not fit into ", storage.nbytes(), " bytes");
  const Device device = storage.device();
  const DispatchKey key = compute_dispatch_key(place.type, std::nullopt, device);
  TensorBase whole = TensorBase::adopt(TensorImpl::create(
      storage, opgen::detail::keys_of_fresh_tensor(opgen::detail::default_key_set(key)), place.type,
      device));
  TensorBase tensor =
      opgen::detail::alias_with_sizes_and_strides(whole, place.sizes, place.strides, place.offset);
  if (requires_grad) autograd::set_requires_grad(tensor, true);
  return tensor;
}

namespace {

void check_bytes(const TensorBase& tensor) {
  OPGEN_CHECK(tensor.has_storage(), "a tensor inside vmap has no bytes to copy");
}

// Returns the deep copy of a tensor that belongs to another one: its gradient, or its tangent.
// Undefined with an exception set on failure.
TensorBase deep_copy_of(PyObject* module, const TensorBase& tensor, PyObject* memo) {
  Owned given(new_tensor(tensor));
  Owned made(given ? PyObject_CallMethod(module, "deepcopy", "OO", given.get(), memo) : nullptr);
  if (!made) return {};
  OPGEN_CHECK_TYPE(is_tensor(made.get()), "the deep copy of a tensor must be a tensor");
  return tensor_of(made.get());
}

// Tensors that share bytes share them in the copy too: the memo contains the storage.
PyObject* deep_copied(PyObject* self, PyObject* memo) {
  return guarded([&]() -> PyObject* {
    const TensorBase& tensor = tensor_of(self);
    if (is_transformed(tensor)) {
      return new_tensor(clone_operator.call({tensor, IValue()}).toTensor());
    }
    OPGEN_CHECK(autograd::is_leaf(tensor),
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment.");
    Owned from(new_storage(tensor.storage()));
    Owned module(PyImport_ImportModule("copy"));
    if (!from || !module) return nullptr;
    Owned to(PyObject_CallMethod(module.get(), "deepcopy", "OO", from.get(), memo));
    if (!to) return nullptr;
    // The memo may hold any object.
    OPGEN_CHECK_TYPE(Py_TYPE(to.get()) == types.storage,
                     "the deep copy of a tensor's storage must be a storage, not ",
                     Py_TYPE(to.get())->tp_name);
    const Place place{tensor.scalar_type(), DimVector(tensor.sizes()), DimVector(tensor.strides()),
                      tensor.storage_offset()};
    TensorBase copy = tensor_on(storage_in(to.get()), place, autograd::requires_grad(tensor));
    const TensorBase gradient = autograd::grad_of(tensor);
    if (gradient.defined()) {
      const TensorBase made = deep_copy_of(module.get(), gradient, memo);
      if (!made.defined()) return nullptr;
      autograd::set_grad(copy, made);
    }
    if (const TensorBase tangent = autograd::tangent_of(tensor); tangent.defined()) {
      const TensorBase made = deep_copy_of(module.get(), tangent, memo);
      if (!made.defined()) return nullptr;
      autograd::set_tangent(copy, made);
    }
    return new_tensor(std::move(copy));
  });
}

// Pickles as _rebuild_tensor(storage, dtype, sizes, strides, offset, requires_grad). The pickle has
// no history: a tensor that requires a gradient is read back as a leaf that requires one.
PyObject* reduced(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const TensorBase& tensor = tensor_of(self);
    check_bytes(tensor);
    check_elements_read(tensor, "pickle");
    Owned bytes(new_storage(tensor.storage()));
    Owned sizes(tuple_of(tensor.sizes()));
    Owned strides(tuple_of(tensor.strides()));
    if (!bytes || !sizes || !strides) return nullptr;
    return Py_BuildValue("O(OOOOLO)", types.rebuild_tensor, bytes.get(),
                         dtype_object(tensor.scalar_type()), sizes.get(), strides.get(),
                         static_cast<long long>(tensor.storage_offset()),
                         autograd::requires_grad(tensor) ? Py_True : Py_False);
  });
}

bool read_integers(PyObject* tuple, DimVector& values) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    values.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i)));
  }
  return PyErr_Occurred() == nullptr;
}

PyObject* rebuild_tensor(PyObject*, PyObject* args) {
  PyObject* bytes = nullptr;
  PyObject* dtype = nullptr;
  PyObject* sizes = nullptr;
  PyObject* strides = nullptr;
  long long offset = 0;
  int requires_grad = 0;
  if (!PyArg_ParseTuple(args, "O!O!O!O!Lp:_rebuild_tensor", types.storage, &bytes, types.dtype,
                        &dtype, &PyTuple_Type, &sizes, &PyTuple_Type, &strides, &offset,
                        &requires_grad)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    Place place{ScalarType::Undefined, {}, {}, offset};
    find_dtype(dtype, place.type);
    if (!read_integers(sizes, place.sizes) || !read_integers(strides, place.strides)) {
      return nullptr;
    }
    return new_tensor(tensor_on(storage_in(bytes), place, requires_grad != 0));
  });
}

// ---- NumPy --------------------------------------------------------------------------------------

// Returns an array on the same bytes. NumPy has no bfloat16: it is copied to float32.
PyObject* array_on(PyObject* self, bool& is_copy) {
  const TensorBase& tensor = tensor_of(self);
  OPGEN_CHECK(!autograd::requires_grad(tensor),
              "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
              "instead.");
  check_elements_read(tensor, "numpy()");
  Owned other;
  if (tensor.scalar_type() == kBFloat16) {
    other = Owned(new_tensor(opgen::detail::to_dtype(tensor, kFloat)));
    is_copy = true;
  }
  Owned view(PyMemoryView_FromObject(other ? other.get() : self));
  Owned module(view ? PyImport_ImportModule("numpy") : nullptr);
  return module ? PyObject_CallMethod(module.get(), "asarray", "O", view.get()) : nullptr;
}

PyObject* numpy(PyObject* self, PyObject*) {
  bool ignored = false;
  return guarded([&] { return array_on(self, ignored); });
}

// __array__(dtype=None, copy=None)
PyObject* to_array(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"dtype", "copy", nullptr};
  PyObject* dtype = Py_None;
  PyObject* copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:__array__", const_cast<char**>(names),
                                   &dtype, &copy)) {
    return nullptr;
  }
  const int wanted = copy == Py_None ? -1 : PyObject_IsTrue(copy);
  if (wanted < 0 && PyErr_Occurred() != nullptr) return nullptr;
  return guarded([&]() -> PyObject* {
    bool is_copy = false;
    Owned array(array_on(self, is_copy));
    if (!array) return nullptr;
    if (dtype != Py_None) {
      Owned method(PyObject_GetAttrString(array.get(), "astype"));
      Owned positional(PyTuple_Pack(1, dtype));
      Owned options(Py_BuildValue("{s:O}", "copy", Py_False));
      if (!method || !positional || !options) return nullptr;
      Owned cast(PyObject_Call(method.get(), positional.get(), options.get()));
      if (!cast) return nullptr;
      is_copy = is_copy || cast.get() != array.get();
      array = std::move(cast);
    }
    OPGEN_CHECK_VALUE(wanted != 0 || !is_copy,
                      "an array of another dtype needs a copy, but copy is False");
    if (wanted == 1 && !is_copy) return PyObject_CallMethod(array.get(), "copy", nullptr);
    return array.release();
  });
}

}  // namespace

PyMethodDef copying_methods[] = {
    {"numpy", numpy, METH_NOARGS, "Returns a NumPy array on the same bytes."},
    {"storage", storage, METH_NOARGS, "Returns the bytes that the tensor shares with its views."},
    {"untyped_storage", storage, METH_NOARGS,
     "Returns the bytes that the tensor shares with its views."},
    {"__array__", as_method(&to_array), METH_VARARGS | METH_KEYWORDS,
     "Returns a NumPy array, on the same bytes if possible."},
    {"__copy__", copied, METH_NOARGS, "Returns another tensor on the same bytes."},
    {"__deepcopy__", deep_copied, METH_O, "Returns a copy with its own bytes."},
    {"__reduce_ex__", reduced, METH_O, "Supports pickle."},
    {nullptr, nullptr, 0, nullptr}};
PyMethodDef copying_functions[] = {{"_rebuild_tensor", rebuild_tensor, METH_VARARGS, nullptr},
                                   {nullptr, nullptr, 0, nullptr}};

}  // namespace opgen::python
