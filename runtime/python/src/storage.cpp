// storage.cpp: class UntypedStorage, the bytes that a tensor and its views share.
#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "objects.h"
#include "opgen/transforms/held_storage.h"

namespace opgen::python {

namespace {

struct StorageObject {
  PyObject_HEAD Storage storage;
};
Storage& storage_of(PyObject* self) {
  return reinterpret_cast<StorageObject*>(self)->storage;
}

// Maps each storage to its Python object, so that pickle and deepcopy, which identify objects by
// address, see which tensors share bytes. Use it with the GIL held.
std::unordered_map<const StorageImpl*, PyObject*>& objects() {
  static std::unordered_map<const StorageImpl*, PyObject*> all;
  return all;
}

void free_storage(PyObject* self) {
  objects().erase(storage_of(self).unsafeGetStorageImpl());
  storage_of(self).~Storage();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* nbytes(PyObject* self, void*) {
  return PyLong_FromSize_t(storage_of(self).nbytes());
}
PyObject* storage_device(PyObject* self, void*) {
  return new_device(storage_of(self).device());
}
PyObject* data_ptr(PyObject* self, PyObject*) {
  return PyLong_FromVoidPtr(storage_of(self).mutable_data());
}
PyObject* resizable(PyObject* self, PyObject*) {
  return wrap_bool(storage_of(self).resizable());
}
Py_ssize_t number_of_bytes(PyObject* self) {
  return static_cast<Py_ssize_t>(storage_of(self).nbytes());
}
PyObject* show(PyObject* self) {
  return PyUnicode_FromFormat("<UntypedStorage of %zu bytes on %s>", storage_of(self).nbytes(),
                              toString(storage_of(self).device().type()));
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Storage& storage = storage_of(self);
  if (!storage.device().is_cpu()) {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, "the bytes are not in the memory of the CPU");
    return -1;
  }
  const auto size = static_cast<Py_ssize_t>(storage.nbytes());
  if (PyBuffer_FillInfo(view, self, storage.mutable_data(), size, 0, flags) != 0) return -1;
  view->internal = new HeldStorage(storage);
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) {
  delete static_cast<HeldStorage*>(view->internal);
}

Storage copy_of(const Storage& from) {
  Storage to(from.nbytes(), from.device());
  if (from.device().is_cpu() && from.nbytes() != 0) {
    std::memcpy(to.mutable_data(), from.data(), from.nbytes());
  }
  return to;
}
void check_bytes(const Storage& storage, const char* what) {
  OPGEN_CHECK_NOT_IMPLEMENTED(storage.device().is_cpu() || storage.device().is_meta(), what,
                              " of a tensor on ", storage.device(),
                              ": the bytes are not in the memory of the CPU");
}
PyObject* deep_copy(PyObject* self, PyObject*) {
  return guarded([&] {
    check_bytes(storage_of(self), "a deep copy");
    return new_storage(copy_of(storage_of(self)));
  });
}

// Pickles as _rebuild_storage(bytes, nbytes, device). With protocol 5 or later, the bytes need not
// be copied.
PyObject* reduce(PyObject* self, PyObject* protocol) {
  const long version = PyLong_AsLong(protocol);
  if (version == -1 && PyErr_Occurred() != nullptr) return nullptr;
  return guarded([&]() -> PyObject* {
    const Storage& storage = storage_of(self);
    check_bytes(storage, "a pickle");
    Owned bytes(storage.device().is_meta() ? (Py_INCREF(Py_None), Py_None)
                : version >= 5             ? PyPickleBuffer_FromObject(self)
                                           : PyBytes_FromObject(self));
    Owned place(new_device(storage.device()));
    if (!bytes || !place) return nullptr;
    return Py_BuildValue("O(OnO)", types.rebuild_storage, bytes.get(),
                         static_cast<Py_ssize_t>(storage.nbytes()), place.get());
  });
}

void release_view(void* context) {
  give_back([context] {
    std::unique_ptr<Py_buffer> view(static_cast<Py_buffer*>(context));
    PyBuffer_Release(view.get());
  });
}

// Makes a storage on a bytes-like object. Shares writable bytes; copies others.
PyObject* storage_on(PyObject* object) {
  auto view = std::make_unique<Py_buffer>();
  const bool writable = PyObject_GetBuffer(object, view.get(), PyBUF_WRITABLE) == 0;
  if (!writable) {
    PyErr_Clear();
    if (PyObject_GetBuffer(object, view.get(), PyBUF_SIMPLE) != 0) return nullptr;
  }
  constexpr std::uintptr_t kAlignment = 16;
  const auto size = static_cast<std::size_t>(view->len);
  if (writable && reinterpret_cast<std::uintptr_t>(view->buf) % kAlignment == 0) {
    void* data = view->buf;
    return new_storage(Storage(DataPtr{data, view.release(), &release_view, Device(kCPU)}, size));
  }
  Storage storage(size, Device(kCPU));
  if (size != 0) std::memcpy(storage.mutable_data(), view->buf, size);
  PyBuffer_Release(view.get());
  return new_storage(std::move(storage));
}

PyObject* rebuild_storage(PyObject*, PyObject* args) {
  PyObject* bytes = nullptr;
  Py_ssize_t size = 0;
  PyObject* place = nullptr;
  if (!PyArg_ParseTuple(args, "OnO!:_rebuild_storage", &bytes, &size, types.device, &place)) {
    return nullptr;
  }
  return guarded([&] {
    if (bytes != Py_None) return storage_on(bytes);
    OPGEN_CHECK_VALUE(size >= 0, "a storage cannot have ", size, " bytes");
    return new_storage(
        Storage(static_cast<std::size_t>(size), reinterpret_cast<DeviceObject*>(place)->device));
  });
}

PyGetSetDef storage_attributes[] = {
    {"nbytes", nbytes, nullptr, "The number of bytes.", nullptr},
    {"device", storage_device, nullptr, "The device on which the bytes are.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef storage_methods[] = {
    {"data_ptr", data_ptr, METH_NOARGS, "Returns the address of the first byte."},
    {"resizable", resizable, METH_NOARGS, "Returns whether the storage can grow."},
    {"__deepcopy__", deep_copy, METH_O, "Returns a copy."},
    {"__reduce_ex__", reduce, METH_O, "Supports pickle."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot storage_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(&free_storage)},
    {Py_tp_repr, reinterpret_cast<void*>(&show)},
    {Py_tp_getset, storage_attributes},
    {Py_tp_methods, storage_methods},
    {Py_mp_length, reinterpret_cast<void*>(&number_of_bytes)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
    {Py_tp_doc, const_cast<char*>("The bytes that a tensor and its views share.")},
    {0, nullptr}};
PyType_Spec storage_spec = {"opgen.UntypedStorage", sizeof(StorageObject), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, storage_slots};

}  // namespace

int make_storage_type() {
  types.storage = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&storage_spec));
  return types.storage == nullptr ? -1 : 0;
}

PyObject* new_storage(Storage storage) {
  PyObject*& known = objects()[storage.unsafeGetStorageImpl()];
  if (known != nullptr) {
    Py_INCREF(known);
    return known;
  }
  PyObject* self = types.storage->tp_alloc(types.storage, 0);
  if (self == nullptr) {
    objects().erase(storage.unsafeGetStorageImpl());
    return nullptr;
  }
  known = self;
  new (&storage_of(self)) Storage(std::move(storage));
  return self;
}

const Storage& storage_in(PyObject* object) {
  return storage_of(object);
}

PyMethodDef storage_functions[] = {{"_rebuild_storage", rebuild_storage, METH_VARARGS, nullptr},
                                   {nullptr, nullptr, 0, nullptr}};

}  // namespace opgen::python
