// module.h: a generated extension module, from its tables. Needs Python.h.
#pragma once

#include <Python.h>

#include <cstddef>
#include <initializer_list>
#include <span>

#include "opgen/macros.h"
#include "opgen/python/table.h"

namespace opgen::python {

// Fills `module`: classes, constants, functions and submodules. Methods go to class Tensor, which
// is one for the whole process. -1 with an exception set.
OPGEN_API int init_module(PyObject* module, const char* package, const Function* functions,
                          std::size_t count);
// The same, of functions in several tables.
OPGEN_API int init_module(PyObject* module, const char* package,
                          std::initializer_list<std::span<const Function>> tables);

}  // namespace opgen::python
