// module.cpp: fills a module from tables: classes, functions, submodules, methods.
#include "opgen/python/module.h"

#include <string>

#include "objects.h"
#include "opgen/registration/registration_tables.h"

namespace opgen::python {

namespace {

// Returns the submodule `name` of `module`; creates it if there is none.
Owned submodule(PyObject* module, const char* package, const char* name) {
  if (*name == 0) return Owned(Py_NewRef(module));
  if (PyObject_HasAttrString(module, name) != 0) {
    return Owned(PyObject_GetAttrString(module, name));
  }
  Owned full(PyUnicode_FromFormat("%s.%s", package, name));
  const char* text = full ? PyUnicode_AsUTF8(full.get()) : nullptr;
  Owned made(text == nullptr ? nullptr : Py_XNewRef(PyImport_AddModule(text)));
  if (!made || PyModule_AddObjectRef(module, name, made.get()) != 0) return {};
  return made;
}

int add_function(PyObject* module, const char* package, const Function& function) {
  const Owned name(PyUnicode_FromString(package));
  if (!name) return -1;
  if (function.method) return add_method(function, name.get());
  const Owned place(submodule(module, package, function.module));
  if (!place) return -1;
  const Owned object(new_function(function, name.get()));
  return object ? PyObject_SetAttrString(place.get(), function.name, object.get()) : -1;
}

// Sets __module__ of the types to the package that was imported first; pickle finds them there.
int name_types(const char* package) {
  Owned name(PyUnicode_FromString(package));
  if (!name) return -1;
  for (PyTypeObject* type : {types.tensor, types.dtype, types.layout, types.memory_format,
                             types.device, types.generator, types.storage}) {
    PyObject* object = reinterpret_cast<PyObject*>(type);
    if (PyObject_SetAttrString(object, "__module__", name.get()) != 0) return -1;
  }
  return 0;
}

// Rejects sub-interpreters and free-threaded Python. Python before 3.12, and interpreters created
// with the old API, would load the module in any interpreter.
int check_interpreter(const char* package) {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_Format(PyExc_ImportError, "module %s does not support loading in subinterpreters",
                 package);
    return -1;
  }
#ifdef Py_GIL_DISABLED
  // With PYTHON_GIL=0, Python ignores the module's slot for the GIL.
  PyObject* asked = PySys_GetObject("_is_gil_enabled");
  Owned enabled(asked == nullptr ? nullptr : PyObject_CallNoArgs(asked));
  if (!enabled) return -1;
  if (enabled.get() != Py_True) {
    PyErr_Format(PyExc_ImportError, "module %s does not support running without the GIL", package);
    return -1;
  }
#endif
  return 0;
}

}  // namespace

int init_module(PyObject* module, const char* package, const Function* functions,
                std::size_t count) {
  return init_module(module, package, {std::span<const Function>(functions, count)});
}

int init_module(PyObject* module, const char* package,
                std::initializer_list<std::span<const Function>> tables) {
  if (check_interpreter(package) != 0) return -1;
  if (const std::string refused = why_refused(package); !refused.empty()) {
    PyErr_SetString(PyExc_ImportError, refused.c_str());
    return -1;
  }
  const bool first = types.tensor == nullptr;
  if (make_constants(module) != 0) return -1;
  if (first && (make_function_type() != 0 || make_tensor_type() != 0)) return -1;
  if (first && make_storage_type() != 0) return -1;
  if (first && name_types(package) != 0) return -1;
  if (PyModule_AddType(module, types.tensor) != 0) return -1;
  if (PyModule_AddType(module, types.storage) != 0) return -1;
  for (PyMethodDef* some :
       {module_functions, text_functions, dlpack_functions, storage_functions, copying_functions,
        generator_functions, context_functions, autograd_functions, autograd_function_functions,
        boxed_call_functions}) {
    if (PyModule_AddFunctions(module, some) != 0) return -1;
  }
  if (make_context_types(module, package) != 0) return -1;
  if (make_autograd_types(module, package) != 0) return -1;
  if (first) {
    types.rebuild_tensor = PyObject_GetAttrString(module, "_rebuild_tensor");
    types.rebuild_storage = PyObject_GetAttrString(module, "_rebuild_storage");
  }
  for (const std::span<const Function>& functions : tables) {
    for (const Function& function : functions) {
      if (add_function(module, package, function) != 0) return -1;
    }
  }
  return 0;
}

}  // namespace opgen::python
