// dtype_errors.cpp: the error of OPGEN_DISPATCH_* for a dtype without a case.
#include "opgen/core/dispatch_macros.h"

namespace opgen::detail {

void throw_unsupported_dtype(const char* name, ScalarType dtype) {
  OPGEN_CHECK_NOT_IMPLEMENTED(false, "'", name, "' is not implemented for dtype ", dtype);
  __builtin_unreachable();
}

}  // namespace opgen::detail
