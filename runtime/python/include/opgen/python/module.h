// module.h: fills a generated extension module from its tables. Needs Python.h.
#pragma once

#include <Python.h>

#include <cstddef>
#include <initializer_list>
#include <span>

#include "opgen/core/macros.h"
#include "opgen/python/table.h"

namespace opgen::python {

// Fills `module`: classes, constants, functions and submodules. Methods are added to class Tensor,
// which all modules of the process share. Returns -1, with an exception set, on failure.
OPGEN_API int init_module(PyObject* module, const char* package, const Function* functions,
                          std::size_t count);
// Does the same for functions in several tables.
OPGEN_API int init_module(PyObject* module, const char* package,
                          std::initializer_list<std::span<const Function>> tables);

// The slots of a module that the function `fill` initialises. All modules of a process share class
// Tensor and the tables of operators, and the GIL protects them. The slots therefore tell Python to
// reject sub-interpreters and to enable the GIL. If Python ignores them, init_module() rejects such
// interpreters.
struct ModuleSlots {
  explicit ModuleSlots(int (*fill)(PyObject*)) noexcept
      : slots{{Py_mod_exec, reinterpret_cast<void*>(fill)},
#ifdef Py_mod_multiple_interpreters
              {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_mod_gil
              {Py_mod_gil, Py_MOD_GIL_USED},
#endif
              {0, nullptr}} {
  }
  PyModuleDef_Slot slots[4];
};

}  // namespace opgen::python
