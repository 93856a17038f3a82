// dispatch_macros.h: OPGEN_DISPATCH_*, as for the runtime, over ATen's dtypes.
#pragma once

#include "../../../include/opgen/dispatch_macros.h"
#include "opgen/error.h"

namespace opgen::detail {

// Declared for a library, defined here: every unit may have it.
[[noreturn]] __attribute__((weak)) void throw_unsupported_dtype(const char* name,
                                                                ScalarType dtype) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "\"", name, "\" not implemented for '", dtype, "'");
}

}  // namespace opgen::detail
