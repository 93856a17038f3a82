// indexing.cpp: a[1, ::2, None, ..., mask] and assignment to it. Keys other than index tensors make
// a view of the bytes. That needs no operator, unless a dispatch key above the backends (tracer,
// vmap, autograd) must see the call.
#include <algorithm>
#include <array>
#include <vector>

#include "library_operator.h"
#include "objects.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/factories.h"
#include "opgen/view_geometry.h"
#include "values.h"

namespace opgen::python {

namespace {

constexpr const char* kViews =
    "indexing a tensor that is traced, batched, requires a gradient or has a tangent";
LibraryOperator select_operator("aten::select", "int", kViews);
LibraryOperator slice_operator("aten::slice", "Tensor", kViews);
LibraryOperator unsqueeze_operator("aten::unsqueeze", "", kViews);
LibraryOperator alias_operator("aten::alias", "", kViews);
LibraryOperator index_operator("aten::index", "Tensor", "indexing by tensors");
constexpr const char* kWrites =
    "assignment to items of a tensor that is traced, batched, requires a gradient or has a tangent";
LibraryOperator copy_operator("aten::copy_", "", kWrites);
LibraryOperator fill_operator("aten::fill_", "Scalar", kWrites);
LibraryOperator index_put_operator("aten::index_put_", "", "assignment to items by tensors");

// ---- Keys --------------------------------------------------------------------------------------

enum class Kind : std::uint8_t { None, Ellipsis, Slice, Bool, Int, Tensor, Other };

// One key of an index. All keys are read before the first is applied, because an __index__ may
// change the tensor.
struct Key {
  Kind kind;
  Py_ssize_t start;  // start of a Kind::Slice; the index for Kind::Int; 0 or 1 for Kind::Bool
  Py_ssize_t stop;
  Py_ssize_t step;
  bool has_start;
  bool has_stop;
  TensorBase tensor;  // for Kind::Tensor
  // Returns how many dimensions of the indexed tensor the key consumes.
  [[nodiscard]] std::int64_t taken() const {
    if (kind == Kind::Tensor) return is_mask(tensor) ? tensor.dim() : 1;
    return kind == Kind::Int || kind == Kind::Slice ? 1 : 0;
  }
  static bool is_mask(const TensorBase& tensor) {
    return tensor.scalar_type() == kBool || tensor.scalar_type() == kByte;
  }
};

Kind kind_of(PyObject* object) {
  if (PyLong_CheckExact(object)) return Kind::Int;
  if (PySlice_Check(object)) return Kind::Slice;
  if (object == Py_None) return Kind::None;
  if (object == Py_Ellipsis) return Kind::Ellipsis;
  if (PyBool_Check(object) || is_numpy_bool(object)) return Kind::Bool;
  if (is_tensor(object)) {
    const TensorBase& tensor = tensor_of(object);
    // A batched number differs between examples, so it counts as an index tensor.
    if (tensor.dim() != 0 || !tensor.has_storage()) return Kind::Tensor;
    if (Key::is_mask(tensor)) return Kind::Bool;
    return isIntegralType(tensor.scalar_type(), false) ? Kind::Int : Kind::Tensor;
  }
  if (is_array(object)) return Kind::Tensor;
  if (PyList_Check(object) || PyTuple_Check(object)) return Kind::Tensor;
  return PyIndex_Check(object) ? Kind::Int : Kind::Other;
}

// Converts an object to an index tensor: int64, int32 or a mask. int8 and int16 are accepted as in
// NumPy.
TensorBase index_tensor(PyObject* object) {
  TensorBase tensor =
      is_tensor(object) ? tensor_of(object) : tensor_from_data(object, ScalarType::Undefined);
  if (!tensor.defined()) return tensor;
  const ScalarType type = tensor.scalar_type();
  const bool empty_list = !is_tensor(object) && tensor.numel() == 0 && type != kBool;
  if (empty_list || type == kShort || type == kChar) {
    return opgen::detail::to_dtype(tensor, kLong);
  }
  OPGEN_CHECK_INDEX(isIntegralType(type, true),
                    "a tensor is indexed by integers and masks, not by ", dtype_name(type));
  return tensor;
}

bool read_slice(PyObject* object, Key& key) {
  if (PySlice_Unpack(object, &key.start, &key.stop, &key.step) != 0) return false;
  if (key.step < 1) {
    PyErr_SetString(PyExc_ValueError,
                    "the step of a slice of a tensor must be positive: a tensor cannot have "
                    "negative strides. Reverse a copy: from_numpy(x.numpy()[::-1].copy())");
    return false;
  }
  const auto* slice = reinterpret_cast<PySliceObject*>(object);
  key.has_start = slice->start != Py_None;
  key.has_stop = slice->stop != Py_None;
  return true;
}

bool read_key(PyObject* object, Key& key) {
  key.kind = kind_of(object);
  if (key.kind == Kind::Other) {
    PyErr_Format(PyExc_TypeError,
                 "a tensor is indexed by ints, slices, None, ... and tensors, lists or arrays of "
                 "integers or booleans, not by %s",
                 Py_TYPE(object)->tp_name);
    return false;
  }
  if (key.kind == Kind::Tensor) {
    key.tensor = index_tensor(object);
    if (!key.tensor.defined()) return false;
    // A zero-dim array is a number.
    if (key.tensor.dim() == 0 && !is_tensor(object)) {
      key.kind = Key::is_mask(key.tensor) ? Kind::Bool : Kind::Int;
    }
  }
  switch (key.kind) {
    case Kind::Int:
      key.start = PyNumber_AsSsize_t(object, PyExc_IndexError);
      return key.start != -1 || PyErr_Occurred() == nullptr;
    case Kind::Bool:
      key.start = PyObject_IsTrue(object);
      return key.start >= 0;
    case Kind::Slice:
      return read_slice(object, key);
    default:
      return true;
  }
}

// ---- Views --------------------------------------------------------------------------------------

// The view under construction: `next` dimensions of the tensor are consumed, `made` dimensions of
// the view exist.
class Indexer {
 public:
  Indexer(const TensorBase& from, bool by_operators)
      : tensor_(from), by_operators_(by_operators), geometry_{{}, {}, from.storage_offset()} {}

  // Applies a key. `left` is the number of dimensions that the keys after it consume.
  bool apply(const Key& key, std::int64_t left);
  void keep(std::int64_t count);
  TensorBase view();
  [[nodiscard]] std::int64_t left() const { return tensor_.dim() - at(); }
  // Index tensors by dimension of the view; a mask stands for all dimensions that it consumes.
  std::vector<IValue> places;

 private:
  // The position of the next dimension in tensor_. If operators are used, tensor_ already has the
  // dimensions of the view.
  [[nodiscard]] std::int64_t at() const { return by_operators_ ? made_ : next_; }
  bool pick(Py_ssize_t index);
  void cut(const Key& key);
  void add_one();
  void add_places(TensorBase tensor, std::int64_t taken);

  TensorBase tensor_;
  bool by_operators_;
  bool changed_ = false;
  ViewGeometry geometry_;
  std::int64_t next_ = 0;
  std::int64_t made_ = 0;
  std::int64_t masked_ = 0;  // dimensions consumed by masks, beyond the first of each mask
};

void Indexer::keep(std::int64_t count) {
  made_ += count;
  if (by_operators_) return;
  for (; count > 0; --count, ++next_) {
    geometry_.append(tensor_.size(next_), tensor_.stride(next_));
  }
}

void Indexer::add_one() {
  if (by_operators_) {
    tensor_ = unsqueeze_operator.call({tensor_, made_}).toTensor();
    changed_ = true;
  } else {
    geometry_.append(1, ViewGeometry::unsqueezed_stride(tensor_.sizes(), tensor_.strides(), next_));
  }
  ++made_;
}

void Indexer::add_places(TensorBase tensor, std::int64_t taken) {
  places.resize(static_cast<std::size_t>(made_ - taken - masked_));
  places.emplace_back(std::move(tensor));
  masked_ += taken - 1;
}

bool Indexer::pick(Py_ssize_t index) {
  const std::int64_t size = tensor_.sizes()[static_cast<std::size_t>(at())];
  if (index < -size || index >= size) {
    PyErr_Format(PyExc_IndexError, "index %zd is out of range for dimension %lld of size %lld",
                 index, static_cast<long long>(at()), static_cast<long long>(size));
    return false;
  }
  if (by_operators_) {
    tensor_ = select_operator.call({tensor_, made_, index}).toTensor();
    changed_ = true;
    return true;
  }
  geometry_.storage_offset += (index < 0 ? index + size : index) * tensor_.stride(next_);
  ++next_;
  return true;
}

void Indexer::cut(const Key& key) {
  if (by_operators_) {
    // Pass the bounds as written, so that a recorded graph also fits tensors of other sizes.
    const bool whole = !key.has_start && !key.has_stop && key.step == 1;
    if (!whole) {
      tensor_ = slice_operator
                    .call({tensor_, made_, key.has_start ? IValue(key.start) : IValue(),
                           key.has_stop ? IValue(key.stop) : IValue(), key.step})
                    .toTensor();
      changed_ = true;
    }
    ++made_;
    return;
  }
  const auto dim = static_cast<std::size_t>(next_);
  Py_ssize_t start = key.start;
  Py_ssize_t stop = key.stop;
  const Py_ssize_t count = PySlice_AdjustIndices(tensor_.sizes()[dim], &start, &stop, key.step);
  if (count != 0) geometry_.storage_offset += start * tensor_.strides()[dim];
  geometry_.append(count, ViewGeometry::stepped_stride(tensor_.strides()[dim], key.step));
  ++next_;
  ++made_;
}

bool Indexer::apply(const Key& key, std::int64_t taken_after) {
  if (key.taken() > left()) {
    PyErr_Format(PyExc_IndexError, "too many indices for a tensor of %lld dimensions",
                 static_cast<long long>(tensor_.dim()));
    return false;
  }
  switch (key.kind) {
    case Kind::Int:
      return pick(key.start);
    case Kind::Slice:
      cut(key);
      return true;
    case Kind::Ellipsis:
      keep(std::max<std::int64_t>(left() - taken_after, 0));
      return true;
    case Kind::None:
      add_one();
      return true;
    case Kind::Bool:
      // True and False become a dimension of size one or zero.
      add_one();
      add_places(opgen::detail::full({key.start}, 0, TensorOptions(kLong)), 1);
      return true;
    case Kind::Tensor: {
      const std::int64_t taken = key.taken();
      keep(taken);
      add_places(key.tensor, taken);
      return true;
    }
    case Kind::Other:
      break;
  }
  return false;
}

TensorBase Indexer::view() {
  if (!by_operators_) {
    return recorded_view(opgen::detail::view_with(tensor_, geometry_), tensor_);
  }
  return changed_ || !places.empty() ? tensor_ : alias_operator.call({tensor_}).toTensor();
}

struct Selection {
  TensorBase view;
  std::vector<IValue> places;  // empty if there are no index tensors
};

bool select_items(const TensorBase& tensor, PyObject* object, Selection& selection) {
  const bool several = PyTuple_Check(object) != 0;
  const std::size_t count = several ? static_cast<std::size_t>(PyTuple_GET_SIZE(object)) : 1;
  std::array<Key, 4> few;
  std::vector<Key> many(count > few.size() ? count : 0);
  Key* keys = many.empty() ? few.data() : many.data();
  int ellipses = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Key& key = keys[i];
    PyObject* one = several ? PyTuple_GET_ITEM(object, static_cast<Py_ssize_t>(i)) : object;
    if (!read_key(one, key)) return false;
    if (key.kind == Kind::Ellipsis && ++ellipses > 1) {
      PyErr_SetString(PyExc_IndexError, "an index can have only one '...'");
      return false;
    }
  }
  std::int64_t left = 0;
  bool batched = false;
  for (std::size_t i = 0; i < count; ++i) {
    const Key& key = keys[i];
    batched = batched || (key.kind == Kind::Tensor && needs_operators(key.tensor));
    left += key.taken();
  }
  Indexer indexer(tensor, batched || needs_operators(tensor));
  for (std::size_t i = 0; i < count; ++i) {
    left -= keys[i].taken();
    if (!indexer.apply(keys[i], left)) return false;
  }
  indexer.keep(indexer.left());
  selection.view = indexer.view();
  selection.places = std::move(indexer.places);
  return true;
}

PyObject* get_item(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    Selection items;
    if (!select_items(tensor_of(self), key, items)) return nullptr;
    if (items.places.empty()) return new_tensor(std::move(items.view));
    return new_tensor(
        index_operator.call({std::move(items.view), std::move(items.places)}).toTensor());
  });
}

// ---- Assignment ---------------------------------------------------------------------------------

// Removes leading dimensions of size one from `value` until it has `dims` dimensions, as NumPy
// does.
TensorBase without_leading_ones(const TensorBase& value, std::int64_t dims) {
  std::size_t extra = 0;
  while (value.dim() - static_cast<std::int64_t>(extra) > dims && value.sizes()[extra] == 1)
    ++extra;
  if (extra == 0) return value;
  return opgen::detail::alias_with_sizes_and_strides(
      value, value.sizes().slice(extra), value.strides().slice(extra), value.storage_offset());
}

// An operator also refuses to change a base that requires a gradient through a view that was made
// where nothing is recorded.
bool write_needs_operator(const TensorBase& view) {
  if (needs_operators(view)) return true;
  const TensorBase base = GradMode::is_enabled() ? view_base(view) : TensorBase();
  return base.defined() && autograd::requires_grad(base);
}

void assign(const TensorBase& view, TensorBase value) {
  if (write_needs_operator(view) || needs_operators(value)) {
    copy_operator.call({view, std::move(value), false});
    return;
  }
  // Copy an overlapping value before it is overwritten.
  if (value.is_alias_of(view)) value = opgen::detail::clone(value);
  opgen::copy_(view, without_leading_ones(value, view.dim()));
  view.bump_version();
}

void assign(const TensorBase& view, const Scalar& number) {
  if (write_needs_operator(view)) {
    fill_operator.call({view, number});
    return;
  }
  opgen::fill_(view, number);
  view.bump_version();
}

void assign_places(Selection& items, TensorBase value) {
  const ScalarType type = items.view.scalar_type();
  if (value.scalar_type() != type && value.has_storage()) {
    value = opgen::detail::to_dtype(value, type);
  }
  if (value.is_alias_of(items.view)) value = opgen::detail::clone(value);
  if (!needs_operators(value)) {
    // The remaining dimensions of the view, and one or more for the indices.
    std::int64_t dims = items.view.dim();
    std::int64_t widest = 0;
    for (const IValue& place : items.places) {
      if (place.isNone()) continue;
      const TensorBase tensor = place.toTensor();
      dims -= Key::is_mask(tensor) ? tensor.dim() : 1;
      widest = std::max(widest, Key::is_mask(tensor) ? 1 : tensor.dim());
    }
    value = without_leading_ones(value, dims + widest);
  }
  index_put_operator.call(
      {std::move(items.view), std::move(items.places), std::move(value), false});
}

// Converts a number (to the tensor's dtype), a list or an array to a tensor. Returns an undefined
// tensor, with an exception set, on failure.
TensorBase value_tensor(PyObject* value, ScalarType type) {
  if (is_tensor(value)) return tensor_of(value);
  Scalar number;
  if (!find_scalar(value, number)) return tensor_from_data(value, ScalarType::Undefined);
  TensorBase tensor = opgen::detail::empty_contiguous({}, type, kCPU);
  opgen::fill_(tensor, number);
  return tensor;
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  if (value == nullptr) {
    PyErr_SetString(PyExc_TypeError, "elements of a tensor cannot be deleted");
    return -1;
  }
  Owned done(guarded([&]() -> PyObject* {
    Selection items;
    if (!select_items(tensor_of(self), key, items)) return nullptr;
    Scalar number;
    if (items.places.empty() && !is_tensor(value) && find_scalar(value, number)) {
      assign(items.view, number);
      Py_RETURN_NONE;
    }
    TensorBase from = value_tensor(value, items.view.scalar_type());
    if (!from.defined()) return nullptr;
    if (items.places.empty()) {
      assign(items.view, std::move(from));
    } else {
      assign_places(items, std::move(from));
    }
    Py_RETURN_NONE;
  }));
  return done ? 0 : -1;
}

// ---- Length and iteration -----------------------------------------------------------------------

Py_ssize_t length(PyObject* self) {
  if (tensor_of(self).dim() == 0) {
    PyErr_SetString(PyExc_TypeError, "a tensor without dimensions has no length");
    return -1;
  }
  return tensor_of(self).sizes()[0];
}

// Returns an iterator over the items of the first dimension.
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
