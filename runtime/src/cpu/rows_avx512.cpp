// rows_avx512.cpp: rows for processors with AVX-512.
#if defined(__x86_64__)
#define OPGEN_ROWS_TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,f16c")))
#ifndef __clang__
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,fma,f16c")
#endif
#include "moments_rows.h"

namespace opgen::detail {
OPGEN_COMPILE_MOMENTS(64);
}  // namespace opgen::detail
#endif
