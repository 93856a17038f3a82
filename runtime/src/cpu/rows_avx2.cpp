// rows_avx2.cpp: rows for processors with AVX2, FMA and F16C.
#if defined(__x86_64__)
#define OPGEN_ROWS_TARGET __attribute__((target("avx2,fma,f16c")))
#ifndef __clang__
#pragma GCC target("avx2,fma,f16c")
#endif
#include "moments_rows.h"

namespace opgen::detail {
OPGEN_COMPILE_MOMENTS(32);
}  // namespace opgen::detail
#endif
