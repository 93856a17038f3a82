// autograd_fallback.h: kernels for operators without a gradient of their own: what they return
// still requires one, and backward says which operator lacks it.
//
//   OPGEN_LIBRARY_IMPL(myops, Autograd, m) { m.impl("op", autogradNotImplementedFallback()); }
//   OPGEN_LIBRARY_IMPL(_, AutogradCPU, m) { m.fallback(autogradNotImplementedFallback()); }
#pragma once

#include "opgen/library.h"

namespace opgen {

// For the key Autograd. Without it, such an operator drops the history of its arguments silently.
[[nodiscard]] OPGEN_API CppFunction autogradNotImplementedFallback();
// For the key ADInplaceOrView. The runtime does the same for every operator whose schema has alias
// annotations; to register it says so in the operator's table.
[[nodiscard]] OPGEN_API CppFunction autogradNotImplementedInplaceOrViewFallback();

}  // namespace opgen
