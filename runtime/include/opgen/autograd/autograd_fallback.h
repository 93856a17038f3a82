// autograd_fallback.h: kernels for operators without a gradient: their results still require one,
// and backward() throws an error that names the operator.
//
// The runtime has this fallback for every operator that has no kernel for its key of autograd. A
// registration makes it visible in the operator's table:
//
//   OPGEN_LIBRARY_IMPL(myops, Autograd, m) { m.impl("op", autogradNotImplementedFallback()); }
//
// An operator whose results have no derivative, although they are of floating-point dtype, opts
// out:
//
//   OPGEN_LIBRARY_IMPL(myops, Autograd, m) { m.impl("op", CppFunction::makeFallthrough()); }
#pragma once

#include "opgen/schema/library.h"

namespace opgen {

// For the key Autograd.
[[nodiscard]] OPGEN_API CppFunction autogradNotImplementedFallback();
// For the key ADInplaceOrView. The runtime does the same for every operator whose schema has alias
// annotations; a registration makes it visible in the operator's table.
[[nodiscard]] OPGEN_API CppFunction autogradNotImplementedInplaceOrViewFallback();

}  // namespace opgen
