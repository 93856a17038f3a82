// rows_avx2.cpp: rows for processors with AVX2, FMA and F16C.
#include "opgen/cpu/target_avx2.h"
#ifdef OPGEN_ROWS_TARGET
#include "fold_rows.h"
#include "gemm_rows.h"
#include "moments_rows.h"
#include "softmax_rows.h"
#endif
