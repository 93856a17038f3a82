// rows_any.cpp: rows for any processor.
#define OPGEN_ROWS_TARGET
#include "gemm_rows.h"
#include "softmax_rows.h"

namespace opgen::detail {
OPGEN_COMPILE_GEMM(kAnyVector);
OPGEN_COMPILE_SOFTMAX(kAnyVector);
}  // namespace opgen::detail
