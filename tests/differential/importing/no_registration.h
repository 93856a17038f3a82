// no_registration.h: included before a source to compile its kernels without its TORCH_LIBRARY
// blocks, whose text is not changed.
#pragma once

#include <Python.h>

#include <ATen/core/op_registration/op_registration.h>
#include <torch/csrc/stable/library.h>
#include <torch/library.h>

#undef TORCH_LIBRARY
#undef TORCH_LIBRARY_FRAGMENT
#undef TORCH_LIBRARY_IMPL
#undef STABLE_TORCH_LIBRARY
#undef STABLE_TORCH_LIBRARY_FRAGMENT
#undef STABLE_TORCH_LIBRARY_IMPL
#undef PyModule_Create

#define OPGEN_TEST_UNUSED_(Library, m, n) [[maybe_unused]] static void unused_##n(Library& m)
#define OPGEN_TEST_UNUSED(Library, m, n) OPGEN_TEST_UNUSED_(Library, m, n)
#define TORCH_LIBRARY(ns, m) OPGEN_TEST_UNUSED(torch::Library, m, __COUNTER__)
#define TORCH_LIBRARY_FRAGMENT(ns, m) OPGEN_TEST_UNUSED(torch::Library, m, __COUNTER__)
#define TORCH_LIBRARY_IMPL(ns, key, m) OPGEN_TEST_UNUSED(torch::Library, m, __COUNTER__)
#define STABLE_TORCH_LIBRARY(ns, m) \
  OPGEN_TEST_UNUSED(torch::stable::detail::StableLibrary, m, __COUNTER__)
#define STABLE_TORCH_LIBRARY_FRAGMENT(ns, m) \
  OPGEN_TEST_UNUSED(torch::stable::detail::StableLibrary, m, __COUNTER__)
#define STABLE_TORCH_LIBRARY_IMPL(ns, key, m) \
  OPGEN_TEST_UNUSED(torch::stable::detail::StableLibrary, m, __COUNTER__)
// For a module's init function, which is never called: the library is not linked with Python.
#define PyModule_Create(module) nullptr

namespace torch {

struct NoOperators {
  template <class... Arguments>
  NoOperators&& op(Arguments&&...) && {
    return std::move(*this);
  }
};

}  // namespace torch

#define RegisterOperators NoOperators
