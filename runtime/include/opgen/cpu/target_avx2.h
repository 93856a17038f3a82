// target_avx2.h: the rest of a source is compiled for processors with AVX2, FMA and F16C, with
// vectors of 32 bytes. Nothing is defined where there are no such processors. vector_rows.h says
// what for.
#pragma once

#if defined(__x86_64__)
#define OPGEN_ROWS_TARGET __attribute__((target("avx2,fma,f16c")))
#define OPGEN_ROWS_BYTES 32
#ifndef __clang__
#pragma GCC target("avx2,fma,f16c")
#endif
#endif
