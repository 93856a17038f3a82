// objects.h: declarations of this library's Python objects. Internal.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "opgen/autograd/autograd.h"
#include "opgen/python/call.h"
#include "opgen/python/table.h"
#include "opgen/tensor/tensor.h"

namespace opgen::autograd {
using NodeRef = Ref<Node>;
}

namespace opgen::python {

struct TensorObject {
  PyObject_HEAD TensorBase tensor;
  PyObject* weak_references;
};

// dtype, layout and memory_format hold a number with a name; device holds a Device.
struct ConstantObject {
  PyObject_HEAD const char* name;
  std::int64_t value;
};
struct DeviceObject {
  PyObject_HEAD Device device;
};
struct GeneratorObject {
  PyObject_HEAD Generator generator;
};

// The classes. Created once per process and never freed, because tensors outlive modules.
struct Types {
  PyTypeObject* tensor;
  PyTypeObject* dtype;
  PyTypeObject* layout;
  PyTypeObject* memory_format;
  PyTypeObject* device;
  PyTypeObject* generator;
  PyTypeObject* function;
  PyTypeObject* storage;
  PyTypeObject* node;
  PyTypeObject* handle;
  // The functions that pickle calls, from the package that was imported first.
  PyObject* rebuild_tensor;
  PyObject* rebuild_storage;
};
extern Types types;

class Owned {
 public:
  Owned() = default;
  explicit Owned(PyObject* object) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { Py_XDECREF(object_); }
  [[nodiscard]] PyObject* get() const { return object_; }
  [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == types.tensor || PyObject_TypeCheck(object, types.tensor);
}
inline TensorBase& tensor_of(PyObject* object) {
  return reinterpret_cast<TensorObject*>(object)->tensor;
}
PyObject* new_tensor(TensorBase tensor);  // tensor.cpp

// Saves the current Python exception while other Python code runs in this scope, and restores it at
// the end.
class KeptException {
 public:
#if PY_VERSION_HEX >= 0x030C0000
  KeptException() : exception_(PyErr_GetRaisedException()) {}
  ~KeptException() {
    PyErr_SetRaisedException(exception_);
  }
#else
  KeptException() {
    PyErr_Fetch(&type_, &exception_, &traceback_);
  }
  ~KeptException() {
    PyErr_Restore(type_, exception_, traceback_);
  }
#endif
  KeptException(const KeptException&) = delete;
  KeptException& operator=(const KeptException&) = delete;

 private:
  PyObject* exception_ = nullptr;
#if PY_VERSION_HEX < 0x030C0000
  PyObject* type_ = nullptr;
  PyObject* traceback_ = nullptr;
#endif
};

// Runs `work`, which releases an object that a tensor borrowed from Python, with the GIL. May be
// called on any thread. After Python has ended, the object leaks.
template <class Work>
void give_back(Work&& work) {
  if (Py_IsInitialized() == 0) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  {
    KeptException raised;
    work();
  }
  PyGILState_Release(state);
}

// A Python exception that passes through C++ frames, for example from a hook through backward(). It
// is not a std::exception, because C++ code adds text to those, and this exception must not change.
class PythonError final {
 public:
  // Takes over the current Python exception. Needs the GIL.
  PythonError();
  // Raises it again. Needs the GIL.
  void restore() const noexcept;

 private:
  struct Raised;
  std::shared_ptr<Raised> raised_;
};

// Holds the GIL in this scope, on a thread that may have released it.
class GilHeld {
 public:
  GilHeld();
  ~GilHeld();
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;

 private:
  PyGILState_STATE state_;
};

// Sets a Python exception for the C++ exception that is being handled, and returns null. `where` is
// appended to the message.
PyObject* raise_current(const char* where = "");
void warn_in_python(const char* text);
// Releases the GIL. Returns the thread state for GilRelease::restore; null if this thread does not
// hold the GIL.
void* let_go_of_the_gil() noexcept;
template <class Work>
PyObject* guarded(Work&& work) {
  try {
    return work();
  } catch (...) {
    return raise_current();
  }
}

// Casts a function that takes keywords for a method table.
inline PyCFunction as_method(PyCFunctionWithKeywords function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

// types.cpp
int make_constants(PyObject* module);
PyObject* dtype_object(ScalarType type);  // borrowed
const char* dtype_name(ScalarType type);
// Returns false, and sets no exception, if `object` is not a dtype.
bool find_dtype(PyObject* object, ScalarType& type);
// Returns the message for an object that is not a dtype or the name of one. It suggests the most
// similar name.
std::string unknown_dtype(PyObject* object);
// Reads a device or its name. Returns false without an exception if it is neither; throws Error if
// a string is not the name of a device.
bool find_device(PyObject* object, Device& device);
PyObject* new_device(Device device);
// Reads an object of class `type` (layout or memory_format), or its name.
bool find_constant(PyObject* object, PyTypeObject* type, std::int64_t& value);

// tensor.cpp
int make_tensor_type();
PyObject* tuple_of(IntArrayRef values);
PyObject* to_list(const TensorBase& tensor);

// number.cpp: Python's operators, comparisons and conversions, which call methods.
extern PyType_Slot number_slots[];
// `both` is null, or the method of this name that two packages have: a call raises TypeError.
void keep_operator(const Function& function, PyObject* both);

// indexing.cpp
extern PyType_Slot indexing_slots[];

// text.cpp
PyObject* show_tensor(PyObject* self);
extern PyMethodDef text_functions[];

// buffer.cpp: the buffer protocol, which lets NumPy share arrays without a copy.
extern PyType_Slot buffer_slots[];
TensorBase tensor_from_buffer(PyObject* object);
// Returns whether the address is aligned for the type. Complex elements are read by one instruction
// each, so they need the alignment of both parts.
[[nodiscard]] inline bool is_aligned(const void* data, ScalarType type) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) % elementSize(type) == 0;
}

// generator.cpp: class Generator, and the seed of the default Generator.
PyTypeObject* make_generator_type();
extern PyMethodDef generator_functions[];

// autograd.cpp: the attributes and methods of class Tensor for gradients, and functions of the
// package's module autograd.
extern PyGetSetDef autograd_attributes[];
extern PyMethodDef autograd_methods[];
extern PyMethodDef autograd_functions[];
int make_autograd_types(PyObject* module, const char* package);
// boxed_call.cpp: calls of any operator by its name.
extern PyMethodDef boxed_call_functions[];

// autograd_function.cpp: what autograd.Function and autograd.functional call.
extern PyMethodDef autograd_function_functions[];
enum class AskedBy : std::uint8_t { Attribute, Method, Factory };
// Throws Error, with PyTorch's message, if the tensor cannot require a gradient, or must.
void set_requires_grad(const TensorBase& tensor, bool value, AskedBy by);

// hooks.cpp: Python functions that backward() calls, and class RemovableHandle.
extern PyGetSetDef hook_attributes[];
extern PyMethodDef hook_methods[];
int make_handle_type();
PyObject* register_node_prehook(autograd::Node& node, PyObject* hook);
PyObject* register_node_hook(autograd::Node& node, PyObject* hook);

// nodes.cpp: class Node, a recorded operator.
int make_node_type();
// Returns the Python object of a node; None for null. A node has the same object as long as that is
// referenced.
PyObject* new_node(autograd::NodeRef node);

// contexts.cpp: dump_table, record_graph, autocast, vmap, profile.
int make_context_types(PyObject* module, const char* package);
extern PyMethodDef context_functions[];
extern std::size_t imported_packages;

// storage.cpp: class UntypedStorage. Each storage has one Python object.
int make_storage_type();
PyObject* new_storage(Storage storage);
const Storage& storage_in(PyObject* object);
extern PyMethodDef storage_functions[];

// views.cpp: transposes, and parts of complex numbers.
extern PyGetSetDef view_attributes[];

// copying.cpp: copies, pickles, arrays.
struct Place {
  ScalarType type;
  DimVector sizes;
  DimVector strides;
  std::int64_t offset;
};
// Makes a tensor on the elements of a storage. Throws Error if they do not fit into it.
TensorBase tensor_on(const Storage& storage, const Place& place, bool requires_grad);
extern PyMethodDef cast_methods[];
extern PyMethodDef copying_methods[];
extern PyMethodDef copying_functions[];

// dlpack.cpp: exchange of bytes with libraries that support DLPack.
extern PyMethodDef dlpack_methods[];
extern PyMethodDef dlpack_functions[];

// data.cpp: tensors from numbers, lists and arrays.
extern PyMethodDef module_functions[];
// Makes a tensor from Python data. If `type` is Undefined, the data determine the dtype. On
// failure, throws or returns an undefined tensor with a Python exception set.
TensorBase tensor_from_data(PyObject* data, ScalarType type);

// A call on at least this many elements releases the GIL. With fewer, the kernel takes about as
// long as acquiring the GIL again.
inline constexpr std::int64_t kWorthReleasing = 16384;

// documentation.cpp
PyObject* documentation(const Function& function);
PyObject* text_signature(const Function& function);

// function.cpp
int make_function_type();
PyObject* new_function(const Function& function, PyObject* module_name);
// Adds a method to class Tensor; a call is an error if another package has one of the same name.
int add_method(const Function& function, PyObject* module_name);

// parser.cpp
PyObject* call_function(const Function& function, PyObject* const* args, std::size_t nargs,
                        PyObject* names, PyObject** result_types);

}  // namespace opgen::python
