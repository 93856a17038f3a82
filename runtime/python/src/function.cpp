// function.cpp: a generated function as a Python object, called by vectorcall: no tuple or dict is
// created.
#include <cstring>
#include <string>
#include <vector>

#include "objects.h"

namespace opgen::python {

namespace {

struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  const Function* function;
  PyObject* module_name;
  PyObject* other_module;   // null, or that of another package with a method of this name
  PyObject** result_types;  // one per overload, null if the results have no names
  bool finds_results;       // at the first call: creating a class takes as long as many calls
};

FunctionObject* of(PyObject* object) {
  return reinterpret_cast<FunctionObject*>(object);
}

// Finds the named tuples of a function's results in its package. Returns false with an exception
// set on failure.
bool find_results(FunctionObject* object) {
  Owned name(PyUnicode_FromFormat("%U.return_types", object->module_name));
  Owned module(name ? PyImport_Import(name.get()) : nullptr);
  if (!module) return false;
  for (std::size_t i = 0; i < object->function->count; ++i) {
    const char* result = object->function->overloads[i]->result;
    if (result == nullptr) continue;
    Owned found(PyObject_GetAttrString(module.get(), result));
    if (!found) return false;
    // If another thread has already set it, that object may be in use: keep it.
    if (object->result_types[i] == nullptr) object->result_types[i] = found.release();
  }
  object->finds_results = false;
  return true;
}

PyObject* call(PyObject* self, PyObject* const* args, std::size_t nargsf, PyObject* names) {
  const FunctionObject* object = of(self);
  const std::size_t nargs = static_cast<std::size_t>(PyVectorcall_NARGS(nargsf));
  if (object->function->method && (nargs == 0 || !is_tensor(args[0]))) {
    return PyErr_Format(PyExc_TypeError, "Tensor.%s is called on a Tensor, not on %s",
                        object->function->name, nargs == 0 ? "nothing" : Py_TYPE(args[0])->tp_name);
  }
  if (object->finds_results && !find_results(of(self))) return nullptr;
  return call_function(*object->function, args, nargs, names, object->result_types);
}

// The call of a method that two packages have: which of them is meant must not depend on the order
// in which they are imported.
PyObject* call_ambiguous(PyObject* self, PyObject* const*, std::size_t, PyObject*) {
  const FunctionObject* object = of(self);
  const char* name = object->function->name;
  return PyErr_Format(PyExc_TypeError,
                      "both %U and %U have a method Tensor.%s: call the function of one of them, "
                      "such as %U.%s(...)",
                      object->module_name, object->other_module, name, object->module_name, name);
}

PyObject* bind(PyObject* self, PyObject* instance, PyObject*) {
  if (instance == nullptr || !of(self)->function->method) {
    Py_INCREF(self);
    return self;
  }
  return PyMethod_New(self, instance);
}

void free_function(PyObject* self) {
  FunctionObject* object = of(self);
  for (std::size_t i = 0; i < object->function->count; ++i) Py_XDECREF(object->result_types[i]);
  delete[] object->result_types;
  Py_XDECREF(object->module_name);
  Py_XDECREF(object->other_module);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* show_function(PyObject* self) {
  const Function& function = *of(self)->function;
  return PyUnicode_FromFormat("<%s %s>", function.method ? "method" : "function", function.name);
}

PyObject* name_of(PyObject* self, void*) {
  return PyUnicode_FromString(of(self)->function->name);
}
PyObject* qualified_name(PyObject* self, void*) {
  const Function& function = *of(self)->function;
  return PyUnicode_FromFormat("%s%s", function.method ? "Tensor." : "", function.name);
}
PyObject* doc_of(PyObject* self, void*) {
  return documentation(*of(self)->function);
}
PyObject* text_signature_of(PyObject* self, void*) {
  return text_signature(*of(self)->function);
}
PyObject* module_of(PyObject* self, void*) {
  Py_INCREF(of(self)->module_name);
  return of(self)->module_name;
}

PyGetSetDef function_attributes[] = {
    {"__name__", name_of, nullptr, nullptr, nullptr},
    {"__qualname__", qualified_name, nullptr, nullptr, nullptr},
    {"__doc__", doc_of, nullptr, nullptr, nullptr},
    {"__text_signature__", text_signature_of, nullptr, nullptr, nullptr},
    {"__module__", module_of, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot function_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&free_function)},
                                {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                                {Py_tp_descr_get, reinterpret_cast<void*>(&bind)},
                                {Py_tp_repr, reinterpret_cast<void*>(&show_function)},
                                {Py_tp_getset, function_attributes},
                                {Py_tp_members, members},
                                {0, nullptr}};
PyType_Spec function_spec = {"opgen.Function", sizeof(FunctionObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                                 Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             function_slots};

}  // namespace

int make_function_type() {
  types.function = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&function_spec));
  return types.function == nullptr ? -1 : 0;
}

PyObject* new_function(const Function& function, PyObject* module_name) {
  PyObject* self = types.function->tp_alloc(types.function, 0);
  if (self == nullptr) return nullptr;
  FunctionObject* object = of(self);
  object->vectorcall = &call;
  object->function = &function;
  Py_INCREF(module_name);
  object->module_name = module_name;
  object->result_types = new PyObject*[function.count]();
  for (std::size_t i = 0; i < function.count; ++i) {
    if (function.overloads[i]->result != nullptr) object->finds_results = true;
  }
  return self;
}

int add_method(const Function& function, PyObject* module_name) {
  PyObject* type = reinterpret_cast<PyObject*>(types.tensor);
  const Owned name(PyUnicode_FromString(function.name));
  PyObject* found = name ? PyDict_GetItemWithError(types.tensor->tp_dict, name.get()) : nullptr;
  if (found == nullptr && PyErr_Occurred() != nullptr) return -1;
  if (found != nullptr && Py_TYPE(found) == types.function) {
    FunctionObject* object = of(found);
    const int same = PyObject_RichCompareBool(object->module_name, module_name, Py_EQ);
    if (same < 0) return -1;
    if (same == 0) {
      Py_XSETREF(object->other_module, Py_NewRef(module_name));
      object->vectorcall = &call_ambiguous;
      keep_operator(function, found);
      return 0;
    }
  }
  const Owned made(new_function(function, module_name));
  if (!made || PyObject_SetAttr(type, name.get(), made.get()) != 0) return -1;
  keep_operator(function, nullptr);
  return 0;
}

}  // namespace opgen::python
