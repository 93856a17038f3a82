// rows_avx512.cpp: rows for processors with AVX-512.
#include "opgen/cpu/target_avx512.h"
#ifdef OPGEN_ROWS_TARGET
#include "fold_rows.h"
#include "gemm_rows.h"
#include "moments_rows.h"
#include "softmax_rows.h"
#endif
