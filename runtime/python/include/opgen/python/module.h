// module.h: fill a generated extension module from its tables. Needs Python.h.
#pragma once

#include <Python.h>

#include <cstddef>
#include <initializer_list>
#include <span>

#include "opgen/core/macros.h"
#include "opgen/python/table.h"

namespace opgen::python {

// Fills `module`: classes, constants, functions and submodules. Methods go to class Tensor, which
// is one for the whole process. -1 with an exception set.
OPGEN_API int init_module(PyObject* module, const char* package, const Function* functions,
                          std::size_t count);
// The same, for functions in several tables.
OPGEN_API int init_module(PyObject* module, const char* package,
                          std::initializer_list<std::span<const Function>> tables);

// The slots of a module that `fill` fills. Class Tensor and the tables of operators are one for the
// whole process, and the GIL guards them: the slots tell Python to refuse sub-interpreters and to
// enable the GIL; init_module() refuses them if Python does not.
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
