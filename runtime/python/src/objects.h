// objects.h: the Python objects of this library, as its own files see them.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <cstdint>
#include <utility>

#include "opgen/python/call.h"
#include "opgen/python/table.h"
#include "opgen/tensor.h"

namespace opgen::python {

struct TensorObject {
  PyObject_HEAD TensorBase tensor;
};

// dtype, layout, memory_format: a number with a name; device holds a Device.
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

// Made once per process, never freed: modules come and go, their tensors stay.
struct Types {
  PyTypeObject* tensor;
  PyTypeObject* dtype;
  PyTypeObject* layout;
  PyTypeObject* memory_format;
  PyTypeObject* device;
  PyTypeObject* generator;
  PyTypeObject* function;
  PyTypeObject* storage;
  // What pickle calls, of the package that was imported first.
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

// What is being raised stays so, whatever other code of Python runs while this lives.
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

// Gives back what a tensor borrowed from Python, from whatever thread the last tensor goes in.
// After the end of Python there is nobody to give it to: it goes with the process.
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

// The exception of Python that answers to the C++ exception being handled. Returns null.
// `where`: what its message says at the end.
PyObject* raise_current(const char* where = "");
void warn_in_python(const char* text);
// What GilRelease::restore takes back; null where this thread has no GIL.
void* let_go_of_the_gil() noexcept;
template <class Work>
PyObject* guarded(Work&& work) {
  try {
    return work();
  } catch (...) {
    return raise_current();
  }
}

// A function that takes keywords, as a row of a method table holds it.
inline PyCFunction as_method(PyCFunctionWithKeywords function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

// types.cpp
int make_constants(PyObject* module);
PyObject* dtype_object(ScalarType type);  // borrowed
const char* dtype_name(ScalarType type);
// False without an exception if `object` is none.
bool find_dtype(PyObject* object, ScalarType& type);
PyObject* new_device(Device device);
// The value of a layout or memory_format, or of its name; `type` says which.
bool find_constant(PyObject* object, PyTypeObject* type, std::int64_t& value);

// tensor.cpp
int make_tensor_type();
PyObject* tuple_of(IntArrayRef values);
PyObject* to_list(const TensorBase& tensor);

// number.cpp: operators, comparisons and conversions, by the methods of that name.
extern PyType_Slot number_slots[];
void keep_operator(const Function& function);

// indexing.cpp
extern PyType_Slot indexing_slots[];

// text.cpp
PyObject* show_tensor(PyObject* self);

// buffer.cpp: the buffer protocol, by which NumPy takes and gives arrays without a copy.
extern PyType_Slot buffer_slots[];
TensorBase tensor_from_buffer(PyObject* object);
// Whether elements of that type may lie there. Complex ones are read by one instruction each, and
// so not aligned as their parts are.
[[nodiscard]] inline bool is_aligned(const void* data, ScalarType type) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) % elementSize(type) == 0;
}

// generator.cpp: class Generator and the seed of the default one.
PyTypeObject* make_generator_type();
extern PyMethodDef generator_functions[];

// contexts.cpp: dump_table, record_graph, autocast, vmap, profile.
int make_context_types(PyObject* module, const char* package);
extern PyMethodDef context_functions[];
extern std::size_t imported_packages;

// storage.cpp: class UntypedStorage; one object for each storage.
int make_storage_type();
PyObject* new_storage(Storage storage);
const Storage& storage_in(PyObject* object);
extern PyMethodDef storage_functions[];

// copying.cpp: copies, pickles, arrays.
extern PyMethodDef copying_methods[];
extern PyMethodDef copying_functions[];

// dlpack.cpp: the same with every library that speaks DLPack.
extern PyMethodDef dlpack_methods[];
extern PyMethodDef dlpack_functions[];

// data.cpp: what module functions make tensors of: numbers, lists, arrays.
extern PyMethodDef module_functions[];
// A fresh tensor, of the elements' own dtype if `type` is Undefined. Throws, or returns an
// undefined tensor with an exception of Python.
TensorBase tensor_from_data(PyObject* data, ScalarType type);

// A tensor of so many elements is worth releasing the GIL for: below, its kernel takes about as
// long as taking the GIL back.
inline constexpr std::int64_t kWorthReleasing = 16384;

// documentation.cpp
PyObject* documentation(const Function& function);
PyObject* text_signature(const Function& function);

// function.cpp
int make_function_type();
PyObject* new_function(const Function& function, PyObject* module_name);

// parser.cpp
PyObject* call_function(const Function& function, PyObject* const* args, std::size_t nargs,
                        PyObject* names, PyObject** result_types);

}  // namespace opgen::python
