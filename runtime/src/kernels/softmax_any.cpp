// softmax_any.cpp: the rows of softmax_rows.h for any processor.
#define OPGEN_ROWS_TARGET
#include "softmax_rows.h"

namespace opgen::detail {
OPGEN_COMPILE_SOFTMAX(kAnyVector);
}
