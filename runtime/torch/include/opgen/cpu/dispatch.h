// dispatch.h: the runtime's dispatch, for ATen's dtypes.
#pragma once

#include "../../../../include/opgen/cpu/dispatch.h"
#include "opgen/core/error.h"

namespace opgen::detail {

// The runtime declares this function and defines it in its library. Here every translation unit
// may define it.
[[noreturn]] __attribute__((weak)) void throw_unsupported_dtype(const char* name,
                                                                ScalarType dtype) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "\"", name, "\" not implemented for '", dtype, "'");
}

}  // namespace opgen::detail
