// dtype_errors.cpp: the error of dispatch() for a dtype that is not in its list.
#include "opgen/cpu/dispatch.h"

namespace opgen::detail {

void throw_unsupported_dtype(const char* name, ScalarType dtype) {
  OPGEN_CHECK_NOT_IMPLEMENTED(false, "'", name, "' is not implemented for dtype ", dtype);
  __builtin_unreachable();
}

}  // namespace opgen::detail
