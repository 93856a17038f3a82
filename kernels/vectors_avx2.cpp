// vectors_avx2.cpp: the loops of vectors.h for processors with AVX2, FMA and F16C.
#if defined(__x86_64__)
#define OPGEN_ROWS_TARGET __attribute__((target("avx2,fma,f16c")))
#define KERNELS_VECTOR_BYTES 32
#ifndef __clang__
#pragma GCC target("avx2,fma,f16c")
#endif
#include "vectors.h"
#endif
