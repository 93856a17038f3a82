// dlpack.cpp: exchanges tensors with other libraries through DLPack capsules, without a copy.
#include "dlpack.h"

#include <algorithm>
#include <memory>

#include "library_operator.h"
#include "objects.h"
#include "opgen/autograd/autograd.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/shape_utils.h"
#include "opgen/transforms/held_storage.h"

namespace opgen::python {

namespace {

struct TypeRow {
  ScalarType type;
  dlpack::TypeCode code;
  std::uint8_t bits;
};
constexpr TypeRow kTypes[] = {
    {kByte, dlpack::kUInt, 8},        {kChar, dlpack::kInt, 8},
    {kShort, dlpack::kInt, 16},       {kInt, dlpack::kInt, 32},
    {kLong, dlpack::kInt, 64},        {kHalf, dlpack::kFloat, 16},
    {kFloat, dlpack::kFloat, 32},     {kDouble, dlpack::kFloat, 64},
    {kBFloat16, dlpack::kBfloat, 16}, {kComplexFloat, dlpack::kComplex, 64},
    {kBool, dlpack::kBool, 8},        {kComplexDouble, dlpack::kComplex, 128}};

dlpack::DataType data_type_of(ScalarType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return {row.code, row.bits, 1};
  }
  return {};
}
ScalarType scalar_type_of(dlpack::DataType type) {
  for (const TypeRow& row : kTypes) {
    if (row.code == type.code && row.bits == type.bits && type.lanes == 1) return row.type;
  }
  return ScalarType::Undefined;
}

PyObject* refuse(const char* why) {
  PyErr_SetString(PyExc_BufferError, why);
  return nullptr;
}

// ---- Export -----------------------------------------------------------------------------------

// The exported struct. It refers to no Python object, so a consumer may delete it on any thread,
// without the GIL.
template <class M>
struct Exported {
  explicit Exported(const TensorBase& tensor)
      : held(tensor.storage()),
        sizes(tensor.sizes().begin(), tensor.sizes().end()),
        strides(tensor.strides().begin(), tensor.strides().end()) {
    managed.tensor.data = tensor.numel() == 0 ? nullptr : tensor.data_ptr();
    managed.tensor.device = {dlpack::kCpu, 0};
    managed.tensor.ndim = static_cast<std::int32_t>(tensor.dim());
    managed.tensor.dtype = data_type_of(tensor.scalar_type());
    managed.tensor.shape = sizes.data();
    managed.tensor.strides = strides.data();
    managed.context = this;
    managed.deleter = [](M* self) { delete static_cast<Exported*>(self->context); };
  }
  M managed{};
  HeldStorage held;
  DimVector sizes;
  DimVector strides;
};

// Destroys a capsule. If no consumer has taken the contents, the capsule owns them.
template <class M>
void free_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, M::kName) == 0) return;
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule, M::kName));
  if (managed->deleter != nullptr) managed->deleter(managed);
}

template <class M>
PyObject* new_capsule(const TensorBase& tensor, bool copied) {
  auto exported = std::make_unique<Exported<M>>(tensor);
  if constexpr (requires(M & managed) { managed.flags; }) {
    exported->managed.major = dlpack::kMajor;
    exported->managed.flags = copied ? dlpack::kIsCopied : 0;
  }
  PyObject* capsule = PyCapsule_New(&exported->managed, M::kName, &free_capsule<M>);
  if (capsule != nullptr) (void)exported.release();
  return capsule;
}

// Returns whether the tensor can be exported; if not, sets a BufferError.
bool check_exported(const TensorBase& tensor) {
  if (!tensor.is_cpu()) {
    refuse(
        "the elements are not in the memory of the CPU, the only memory that can be shared by "
        "DLPack");
  } else if (!tensor.has_storage()) {
    refuse("the tensor has no bytes of its own: inside vmap it stands for a whole batch");
  } else if (autograd::requires_grad(tensor)) {
    refuse("the tensor requires a gradient, which other libraries do not record: detach it");
  } else {
    return true;
  }
  return false;
}

// Sets `other` to whether a device other than the CPU is given. Returns false, with an exception
// set, if the argument is invalid.
bool names_other_device(PyObject* device, bool& other) {
  other = false;
  if (device == Py_None) return true;
  int type = 0;
  int id = 0;
  if (!PyTuple_Check(device) || !PyArg_ParseTuple(device, "ii", &type, &id)) {
    PyErr_Clear();
    PyErr_SetString(PyExc_TypeError, "dl_device must be a tuple (device_type, device_id) or None");
    return false;
  }
  other = type != dlpack::kCpu;
  return true;
}

// __dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)
PyObject* to_dlpack(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
  PyObject* stream = Py_None;
  PyObject* max_version = Py_None;
  PyObject* device = Py_None;
  PyObject* copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:__dlpack__", const_cast<char**>(names),
                                   &stream, &max_version, &device, &copy)) {
    return nullptr;
  }
  if (stream != Py_None) return refuse("a tensor in the memory of the CPU has no stream");
  long major = 0;
  if (max_version != Py_None) {
    Owned first(PySequence_GetItem(max_version, 0));
    major = first ? PyLong_AsLong(first.get()) : -1;
    if (PyErr_Occurred() != nullptr) return nullptr;
  }
  bool other = false;
  if (!names_other_device(device, other)) return nullptr;
  if (other) return refuse("elements cannot be copied to another device: pass (1, 0), the CPU");
  const int copied = copy == Py_None ? 0 : PyObject_IsTrue(copy);
  if (copied < 0) return nullptr;
  return guarded([&]() -> PyObject* {
    if (!check_exported(tensor_of(self))) return nullptr;
    check_elements_read(tensor_of(self), "DLPack");
    const TensorBase tensor =
        copied != 0 ? opgen::detail::clone(tensor_of(self)) : TensorBase(tensor_of(self));
    return major >= 1 ? new_capsule<dlpack::ManagedVersioned>(tensor, copied != 0)
                      : new_capsule<dlpack::Managed>(tensor, copied != 0);
  });
}

PyObject* dlpack_device(PyObject* self, PyObject*) {
  if (!tensor_of(self).is_cpu()) {
    return refuse(
        "the elements are not in the memory of the CPU, the only memory that can be shared by "
        "DLPack");
  }
  return Py_BuildValue("(ii)", int(dlpack::kCpu), 0);
}

// ---- From others --------------------------------------------------------------------------------

// Called when the last tensor on the bytes is destroyed. Producers expect the GIL.
template <class M>
void release_managed(void* context) {
  give_back([context] {
    auto* managed = static_cast<M*>(context);
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
}

struct Layout {
  ScalarType type = ScalarType::Undefined;
  DimVector sizes;
  DimVector strides;
  char* data = nullptr;
};

// Of the sizes that are read. A capsule does not say how long its arrays are, and no library makes
// tensors with more.
constexpr std::int32_t kMostDims = 64;

// Returns whether all elements have addresses. Wherever they end, memory begins below 2^63.
bool has_addresses(const dlpack::Tensor& from, const Layout& layout) {
  std::size_t bytes = 0;
  try {
    bytes = opgen::checked_storage_bytes(layout.sizes, layout.strides, 0,
                                         opgen::elementSize(layout.type));
  } catch (const Error&) {
    return false;
  }
  const auto first = reinterpret_cast<std::uintptr_t>(from.data);
  std::uint64_t end = 0;
  return !__builtin_add_overflow(first, from.byte_offset, &end) &&
         !__builtin_add_overflow(end, bytes, &end) && end <= std::uint64_t(INT64_MAX);
}

bool read_sizes(const dlpack::Tensor& from, Layout& to) {
  for (std::int32_t i = 0; i < from.ndim; ++i) {
    const std::int64_t size = from.shape[i];
    const std::int64_t stride = from.strides == nullptr ? 0 : from.strides[i];
    if (size < 0) return false;
    // The stride of a dimension of size one does not matter.
    if (stride < 0 && size > 1) return false;
    to.sizes.push_back(size);
    to.strides.push_back(stride < 0 ? 1 : stride);
  }
  if (from.strides == nullptr) to.strides = opgen::contiguous_strides(to.sizes);
  return true;
}

// Sets a BufferError for tensors that cannot be imported.
bool read_layout(const dlpack::Tensor& from, Layout& to) {
  const std::int32_t device = from.device.type;
  if (device != dlpack::kCpu && device != dlpack::kCudaHost && device != dlpack::kRocmHost) {
    PyErr_Format(PyExc_BufferError,
                 "the elements are on DLPack's device (%d, %d), not in the memory of the CPU",
                 int(device), int(from.device.id));
    return false;
  }
  to.type = scalar_type_of(from.dtype);
  if (to.type == ScalarType::Undefined) {
    PyErr_Format(PyExc_BufferError,
                 "no dtype matches DLPack's type code %d with %d bits and %d lanes",
                 int(from.dtype.code), int(from.dtype.bits), int(from.dtype.lanes));
    return false;
  }
  if (from.ndim < 0 || (from.ndim > 0 && from.shape == nullptr)) {
    refuse("the capsule has no sizes");
    return false;
  }
  if (from.ndim > kMostDims) {
    PyErr_Format(PyExc_BufferError, "the capsule has %d dimensions, more than %d", int(from.ndim),
                 int(kMostDims));
    return false;
  }
  if (!read_sizes(from, to)) {
    refuse(
        "a tensor cannot have negative sizes, or negative strides as array[::-1] has: copy the "
        "array first");
    return false;
  }
  if (from.data == nullptr && std::find(to.sizes.begin(), to.sizes.end(), 0) == to.sizes.end()) {
    refuse("the capsule has elements, but no address");
    return false;
  }
  if (!has_addresses(from, to)) {
    refuse("the sizes, strides and byte_offset of the capsule reach beyond all memory");
    return false;
  }
  to.data = static_cast<char*>(from.data);
  if (to.data != nullptr) to.data += from.byte_offset;
  if (!is_aligned(to.data, to.type)) {
    refuse("the elements are not aligned to their size: copy the array first");
    return false;
  }
  return true;
}

enum class Copy : std::uint8_t { IfNeeded, Always, Never };

template <class M>
PyObject* take(PyObject* capsule, Copy copy) {
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule, M::kName));
  bool copied = false;
  if constexpr (requires { managed->flags; }) {
    if (managed->major != dlpack::kMajor) {
      return PyErr_Format(PyExc_BufferError, "DLPack %u.%u is not supported, only 1.x",
                          unsigned(managed->major), unsigned(managed->minor));
    }
    copied = (managed->flags & dlpack::kIsCopied) != 0;
    if ((managed->flags & dlpack::kReadOnly) != 0 && copy != Copy::Always) {
      return refuse("the array is read-only, but tensors can be written to: pass copy=True");
    }
  }
  if (copied && copy == Copy::Never) return refuse("the array was copied, but copy is False");
  Layout layout;
  if (!read_layout(managed->tensor, layout)) return nullptr;
  if (PyCapsule_SetName(capsule, M::kUsedName) != 0) return nullptr;
  TensorBase tensor =
      opgen::detail::from_blob(layout.data, layout.sizes, layout.strides,
                               TensorOptions(layout.type), managed, &release_managed<M>);
  if (copy == Copy::Always && !copied) tensor = opgen::detail::clone(tensor);
  return new_tensor(std::move(tensor));
}

PyObject* take_capsule(PyObject* capsule, Copy copy) {
  return guarded([&]() -> PyObject* {
    if (PyCapsule_IsValid(capsule, dlpack::ManagedVersioned::kName) != 0) {
      return take<dlpack::ManagedVersioned>(capsule, copy);
    }
    if (PyCapsule_IsValid(capsule, dlpack::Managed::kName) != 0) {
      return take<dlpack::Managed>(capsule, copy);
    }
    const char* name = PyCapsule_CheckExact(capsule) ? PyCapsule_GetName(capsule) : nullptr;
    return PyErr_Format(
        PyExc_ValueError, "expected a DLPack capsule that was not used before, but got %s%s",
        name != nullptr ? "one named " : "something else", name != nullptr ? name : "");
  });
}

// Asks `producer` for a capsule. Producers from before DLPack 1.0 do not take the arguments, so the
// second attempt passes none.
PyObject* ask(PyObject* producer, bool to_cpu, Copy copy) {
  Owned method(PyObject_GetAttrString(producer, "__dlpack__"));
  Owned none(PyTuple_New(0));
  Owned keywords(Py_BuildValue("{s:(ii)}", "max_version", int(dlpack::kMajor), 0));
  Owned device(Py_BuildValue("(ii)", int(dlpack::kCpu), 0));
  if (!method || !none || !keywords || !device) return nullptr;
  if (to_cpu && PyDict_SetItemString(keywords.get(), "dl_device", device.get()) != 0) {
    return nullptr;
  }
  if (copy == Copy::Never && PyDict_SetItemString(keywords.get(), "copy", Py_False) != 0) {
    return nullptr;
  }
  PyObject* capsule = PyObject_Call(method.get(), none.get(), keywords.get());
  if (capsule != nullptr || to_cpu || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return capsule;
  PyErr_Clear();
  return PyObject_CallObject(method.get(), nullptr);
}

// Returns 1 if the producer must copy its elements to the CPU and the caller allows it, 0 if they
// are there, and -1 with an exception set on failure.
int needs_cpu(PyObject* producer, bool wished) {
  Owned device(PyObject_CallMethod(producer, "__dlpack_device__", nullptr));
  int type = 0;
  int id = 0;
  if (!device) return -1;
  if (!PyTuple_Check(device.get())) {
    PyErr_Format(PyExc_TypeError,
                 "__dlpack_device__() must return a tuple (device_type, device_id), not %s",
                 Py_TYPE(device.get())->tp_name);
    return -1;
  }
  if (!PyArg_ParseTuple(device.get(), "ii", &type, &id)) return -1;
  if (type == dlpack::kCpu || type == dlpack::kCudaHost || type == dlpack::kRocmHost) return 0;
  if (wished) return 1;
  PyErr_Format(PyExc_BufferError,
               "the elements are on DLPack's device (%d, %d): pass device=\"cpu\" to copy them to "
               "the memory of the CPU",
               type, id);
  return -1;
}

// Returns whether `device` is None or the CPU, given as an object or by name. Sets an exception for
// any other device.
bool check_cpu(PyObject* device) {
  if (device == Py_None) return true;
  Owned text(PyObject_Str(device));
  const char* words = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (words == nullptr) return false;
  Owned done(guarded([&]() -> PyObject* {
    if (Device(std::string_view(words)).is_cpu()) Py_RETURN_NONE;
    return PyErr_Format(PyExc_BufferError, "DLPack can import elements to the CPU only, not to %s",
                        words);
  }));
  return static_cast<bool>(done);
}

// from_dlpack(x, /, *, device=None, copy=None)
PyObject* from_dlpack(PyObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"", "device", "copy", nullptr};
  PyObject* producer = nullptr;
  PyObject* device = Py_None;
  PyObject* wanted = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OO:from_dlpack", const_cast<char**>(names),
                                   &producer, &device, &wanted) ||
      !check_cpu(device)) {
    return nullptr;
  }
  const int copied = wanted == Py_None ? 0 : PyObject_IsTrue(wanted);
  if (copied < 0) return nullptr;
  const Copy copy = wanted == Py_None ? Copy::IfNeeded : copied != 0 ? Copy::Always : Copy::Never;
  if (PyCapsule_CheckExact(producer)) return take_capsule(producer, copy);
  const int to_cpu = needs_cpu(producer, device != Py_None);
  if (to_cpu < 0) return nullptr;
  Owned capsule(ask(producer, to_cpu != 0, copy));
  return capsule ? take_capsule(capsule.get(), copy) : nullptr;
}

}  // namespace

PyMethodDef dlpack_methods[] = {
    {"__dlpack__", as_method(&to_dlpack), METH_VARARGS | METH_KEYWORDS,
     "Returns a DLPack capsule on the same bytes."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS,
     "Returns the device in DLPack's numbers: (device_type, device_id)."},
    {nullptr, nullptr, 0, nullptr}};
PyMethodDef dlpack_functions[] = {
    {"from_dlpack", as_method(&from_dlpack), METH_VARARGS | METH_KEYWORDS,
     "from_dlpack(x, /, *, device=None, copy=None): makes a tensor on the bytes of another "
     "library's array, or of a DLPack capsule."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace opgen::python
