// types.cpp: dtype, layout, memory_format and device.
#include <cstring>

#include "objects.h"
#include "opgen/schema/nearest_name.h"
#include "values.h"

namespace opgen::python {

namespace {

struct DtypeName {
  ScalarType type;
  const char* name;
  const char* alias;
};
constexpr DtypeName kDtypes[] = {{kByte, "uint8", nullptr},
                                 {kChar, "int8", nullptr},
                                 {kShort, "int16", "short"},
                                 {kInt, "int32", "int"},
                                 {kLong, "int64", "long"},
                                 {kHalf, "float16", "half"},
                                 {kFloat, "float32", "float"},
                                 {kDouble, "float64", "double"},
                                 {kComplexFloat, "complex64", "cfloat"},
                                 {kComplexDouble, "complex128", "cdouble"},
                                 {kBool, "bool", nullptr},
                                 {kBFloat16, "bfloat16", nullptr}};
constexpr std::size_t kDtypeCount = sizeof(kDtypes) / sizeof(kDtypes[0]);
PyObject* dtypes[kDtypeCount];

struct ConstantName {
  const char* name;
  std::int64_t value;
};
constexpr ConstantName kLayouts[] = {{"strided", 0},    {"sparse_coo", 1}, {"sparse_csr", 2},
                                     {"_mkldnn", 3},    {"sparse_csc", 4}, {"sparse_bsr", 5},
                                     {"sparse_bsc", 6}, {"jagged", 7}};
constexpr ConstantName kFormats[] = {{"contiguous_format", 0},
                                     {"preserve_format", 1},
                                     {"channels_last", 2},
                                     {"channels_last_3d", 3}};

PyObject* show_constant(PyObject* self) {
  return PyUnicode_FromString(reinterpret_cast<ConstantObject*>(self)->name);
}
// Pickles and copies a constant by its name, because each constant has one object.
PyObject* reduce_constant(PyObject* self, PyObject*) {
  return Py_BuildValue("O(s)", Py_TYPE(self), reinterpret_cast<ConstantObject*>(self)->name);
}
ScalarType dtype_value(PyObject* self) {
  return static_cast<ScalarType>(reinterpret_cast<ConstantObject*>(self)->value);
}
PyObject* dtype_itemsize(PyObject* self, void*) {
  return PyLong_FromSize_t(elementSize(dtype_value(self)));
}
PyObject* dtype_is_floating(PyObject* self, void*) {
  return wrap_bool(isFloatingType(dtype_value(self)));
}
PyObject* dtype_is_complex(PyObject* self, void*) {
  return wrap_bool(isComplexType(dtype_value(self)));
}
PyGetSetDef dtype_attributes[] = {
    {"itemsize", dtype_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"is_floating_point", dtype_is_floating, nullptr, nullptr, nullptr},
    {"is_complex", dtype_is_complex, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyGetSetDef no_attributes[] = {{nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef constant_methods[] = {{"__reduce__", reduce_constant, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};

PyObject* find_dtype_by_name(PyTypeObject*, PyObject* args, PyObject*) {
  PyObject* name = nullptr;
  if (!PyArg_ParseTuple(args, "O:dtype", &name)) return nullptr;
  ScalarType type = ScalarType::Undefined;
  if (!find_dtype(name, type)) {
    PyErr_SetString(PyExc_TypeError, unknown_dtype(name).c_str());
    return nullptr;
  }
  return wrap_dtype(type);
}

PyObject* layouts[sizeof(kLayouts) / sizeof(kLayouts[0])];
PyObject* formats[sizeof(kFormats) / sizeof(kFormats[0])];

// layout("strided"): pickle recreates constants by name.
PyObject* find_constant_by_name(PyTypeObject* type, PyObject* args, PyObject*) {
  const char* name = nullptr;
  if (!PyArg_ParseTuple(args, "s", &name)) return nullptr;
  const auto find = [&](const auto& rows, PyObject** made) -> PyObject* {
    for (const ConstantName& row : rows) {
      if (std::strcmp(row.name, name) == 0) return *made;
      ++made;
    }
    return nullptr;
  };
  PyObject* found = type == types.layout ? find(kLayouts, layouts) : find(kFormats, formats);
  if (found == nullptr) return PyErr_Format(PyExc_ValueError, "there is no %s", name);
  Py_INCREF(found);
  return found;
}

PyTypeObject* make_constant_type(const char* name, PyGetSetDef* attributes, newfunc make) {
  PyType_Slot slots[] = {{Py_tp_repr, reinterpret_cast<void*>(&show_constant)},
                         {Py_tp_getset, attributes},
                         {Py_tp_methods, constant_methods},
                         {Py_tp_new, reinterpret_cast<void*>(make)},
                         {0, nullptr}};
  PyType_Spec spec = {name, sizeof(ConstantObject), 0, Py_TPFLAGS_DEFAULT, slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

PyObject* new_constant(PyTypeObject* type, const char* name, std::int64_t value) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  reinterpret_cast<ConstantObject*>(self)->name = name;
  reinterpret_cast<ConstantObject*>(self)->value = value;
  return self;
}

// device("cpu"), device("cuda:1"), device("cuda", 1)
PyObject* make_device(PyTypeObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"type", "index", nullptr};
  const char* type = nullptr;
  int index = -1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|i:device", const_cast<char**>(names), &type,
                                   &index)) {
    return nullptr;
  }
  return guarded([&] {
    Device device{std::string_view(type)};
    if (index >= 0) device = Device(device.type(), static_cast<DeviceIndex>(index));
    return new_device(device);
  });
}
Device device_of(PyObject* self) {
  return reinterpret_cast<DeviceObject*>(self)->device;
}
PyObject* device_text(PyObject* self) {
  const Device device = device_of(self);
  if (!device.has_index()) return PyUnicode_FromString(toString(device.type()));
  return PyUnicode_FromFormat("%s:%d", toString(device.type()), int(device.index()));
}
PyObject* show_device(PyObject* self) {
  Owned text(device_text(self));
  return text ? PyUnicode_FromFormat("device(%R)", text.get()) : nullptr;
}
PyObject* compare_devices(PyObject* a, PyObject* b, int how) {
  if (Py_TYPE(b) != types.device || (how != Py_EQ && how != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return wrap_bool((device_of(a) == device_of(b)) == (how == Py_EQ));
}
Py_hash_t hash_device(PyObject* self) {
  return static_cast<int>(device_of(self).type()) * 257 + device_of(self).index() + 2;
}
PyObject* device_type(PyObject* self, void*) {
  return PyUnicode_FromString(toString(device_of(self).type()));
}
PyObject* device_index(PyObject* self, void*) {
  if (!device_of(self).has_index()) Py_RETURN_NONE;
  return PyLong_FromLong(device_of(self).index());
}
PyObject* reduce_device(PyObject* self, PyObject*) {
  return Py_BuildValue("O(N)", types.device, device_text(self));
}
PyGetSetDef device_attributes[] = {{"type", device_type, nullptr, nullptr, nullptr},
                                   {"index", device_index, nullptr, nullptr, nullptr},
                                   {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef device_methods[] = {{"__reduce__", reduce_device, METH_NOARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};
PyType_Slot device_slots[] = {{Py_tp_new, reinterpret_cast<void*>(&make_device)},
                              {Py_tp_repr, reinterpret_cast<void*>(&show_device)},
                              {Py_tp_str, reinterpret_cast<void*>(&device_text)},
                              {Py_tp_richcompare, reinterpret_cast<void*>(&compare_devices)},
                              {Py_tp_hash, reinterpret_cast<void*>(&hash_device)},
                              {Py_tp_getset, device_attributes},
                              {Py_tp_methods, device_methods},
                              {0, nullptr}};
PyType_Spec device_spec = {"opgen.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT,
                           device_slots};

int make_types() {
  types.dtype = make_constant_type("opgen.dtype", dtype_attributes, find_dtype_by_name);
  types.layout = make_constant_type("opgen.layout", no_attributes, find_constant_by_name);
  types.memory_format =
      make_constant_type("opgen.memory_format", no_attributes, find_constant_by_name);
  types.device = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&device_spec));
  types.generator = make_generator_type();
  if (PyErr_Occurred() != nullptr) return -1;
  for (std::size_t i = 0; i < kDtypeCount; ++i) {
    dtypes[i] =
        new_constant(types.dtype, kDtypes[i].name, static_cast<std::int64_t>(kDtypes[i].type));
    if (dtypes[i] == nullptr) return -1;
  }
  return 0;
}

}  // namespace

PyObject* dtype_object(ScalarType type) {
  for (std::size_t i = 0; i < kDtypeCount; ++i) {
    if (kDtypes[i].type == type) return dtypes[i];
  }
  return Py_None;
}
const char* dtype_name(ScalarType type) {
  for (const DtypeName& dtype : kDtypes) {
    if (dtype.type == type) return dtype.name;
  }
  return "undefined";
}

// Reads a dtype, its name, a Python type (float, int, bool, complex), or a NumPy dtype or type.
bool find_dtype(PyObject* object, ScalarType& type) {
  if (Py_TYPE(object) == types.dtype) {
    type = dtype_value(object);
    return true;
  }
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return type = kDouble, true;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return type = kLong, true;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return type = kBool, true;
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) return type = kComplexDouble, true;
  Owned name;
  if (PyUnicode_Check(object)) {
    Py_INCREF(object);
    name = Owned(object);
  } else if (std::strncmp(Py_TYPE(object)->tp_name, "numpy.dtype", 11) == 0) {
    name = Owned(PyObject_GetAttrString(object, "name"));
  } else if (PyType_Check(object) &&
             std::strncmp(reinterpret_cast<PyTypeObject*>(object)->tp_name, "numpy.", 6) == 0) {
    name = Owned(PyObject_GetAttrString(object, "__name__"));
  }
  const char* text = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    return false;
  }
  for (const DtypeName& dtype : kDtypes) {
    const bool same = std::strcmp(text, dtype.name) == 0;
    if (same || (dtype.alias != nullptr && std::strcmp(text, dtype.alias) == 0)) {
      type = dtype.type;
      return true;
    }
  }
  return false;
}

std::string unknown_dtype(PyObject* object) {
  Owned shown(PyObject_Repr(object));
  PyErr_Clear();
  std::string text = "there is no dtype " + std::string(shown ? text_of(shown.get()) : "");
  if (!PyUnicode_Check(object)) return text;
  opgen::detail::NearestName nearest(text_of(object));
  for (const DtypeName& dtype : kDtypes) {
    nearest.offer(dtype.name);
    if (dtype.alias != nullptr) nearest.offer(dtype.alias);
  }
  if (nearest.name.empty()) return text;
  return text + "; did you mean " + std::string(nearest.name) + "?";
}

bool find_device(PyObject* object, Device& device) {
  if (Py_TYPE(object) == types.device) {
    device = device_of(object);
  } else if (PyUnicode_Check(object)) {
    device = Device(text_of(object));
  } else {
    return false;
  }
  // There is only one CPU: "cpu:0" means "cpu".
  if (device.is_cpu() || device.is_meta()) device = Device(device.type());
  return true;
}

bool find_constant(PyObject* object, PyTypeObject* type, std::int64_t& value) {
  if (Py_TYPE(object) == type) {
    value = reinterpret_cast<ConstantObject*>(object)->value;
    return true;
  }
  if (!PyUnicode_Check(object)) return false;
  const auto find = [&](const auto& rows) {
    for (const ConstantName& row : rows) {
      if (PyUnicode_CompareWithASCIIString(object, row.name) == 0) return value = row.value, true;
    }
    return false;
  };
  return type == types.layout ? find(kLayouts) : find(kFormats);
}

PyObject* new_device(Device device) {
  PyObject* self = types.device->tp_alloc(types.device, 0);
  if (self != nullptr) reinterpret_cast<DeviceObject*>(self)->device = device;
  return self;
}

int make_constants(PyObject* module) {
  if (types.dtype == nullptr && make_types() != 0) return -1;
  for (std::size_t i = 0; i < kDtypeCount; ++i) {
    if (PyModule_AddObjectRef(module, kDtypes[i].name, dtypes[i]) != 0) return -1;
    const char* alias = kDtypes[i].alias;
    if (alias != nullptr && PyModule_AddObjectRef(module, alias, dtypes[i]) != 0) return -1;
  }
  const auto add = [&](PyTypeObject* type, const auto& rows, PyObject** made) {
    for (const ConstantName& row : rows) {
      if (*made == nullptr) *made = new_constant(type, row.name, row.value);
      if (*made == nullptr || PyModule_AddObjectRef(module, row.name, *made++) != 0) return false;
    }
    return true;
  };
  if (!add(types.layout, kLayouts, layouts) || !add(types.memory_format, kFormats, formats)) {
    return -1;
  }
  PyTypeObject* all[] = {types.dtype, types.layout, types.memory_format, types.device,
                         types.generator};
  for (PyTypeObject* type : all) {
    if (PyModule_AddType(module, type) != 0) return -1;
  }
  return 0;
}

}  // namespace opgen::python
