// vectors_avx512.cpp: the loops of vectors.h for processors with AVX-512.
#if defined(__x86_64__)
#define OPGEN_ROWS_TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,f16c")))
#define KERNELS_VECTOR_BYTES 64
#ifndef __clang__
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,fma,f16c")
#endif
#include "vectors.h"
#endif
