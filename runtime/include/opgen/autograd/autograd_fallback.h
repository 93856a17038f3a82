// autograd_fallback.h: kernels for operators without a gradient: their results still require one,
// and backward() throws an error that names the operator.
//
//   OPGEN_LIBRARY_IMPL(myops, Autograd, m) { m.impl("op", autogradNotImplementedFallback()); }
//   OPGEN_LIBRARY_IMPL(_, AutogradCPU, m) { m.fallback(autogradNotImplementedFallback()); }
#pragma once

#include "opgen/dispatch/library.h"

namespace opgen {

// For the key Autograd. Without it, such an operator silently drops the history of its arguments.
[[nodiscard]] OPGEN_API CppFunction autogradNotImplementedFallback();
// For the key ADInplaceOrView. The runtime does the same for every operator whose schema has alias
// annotations; a registration makes it visible in the operator's table.
[[nodiscard]] OPGEN_API CppFunction autogradNotImplementedInplaceOrViewFallback();

}  // namespace opgen
