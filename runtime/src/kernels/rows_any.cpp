// rows_any.cpp: rows for any processor.
#define OPGEN_ROWS_TARGET
#define OPGEN_ROWS_BYTES kAnyVector
#include "fold_rows.h"
#include "gemm_rows.h"
#include "moments_rows.h"
#include "softmax_rows.h"
