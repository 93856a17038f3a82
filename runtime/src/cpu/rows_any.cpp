// rows_any.cpp: rows for any processor.
#define OPGEN_ROWS_TARGET
#include "moments_rows.h"

namespace opgen::detail {
OPGEN_COMPILE_MOMENTS(kAnyVector);
}  // namespace opgen::detail
