// target_avx512.h: the rest of a source is compiled for processors with AVX-512, with vectors of
// 64 bytes. Nothing is defined where there are no such processors. vector_rows.h says what for.
#pragma once

#if defined(__x86_64__)
#define OPGEN_ROWS_TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,f16c")))
#define OPGEN_ROWS_BYTES 64
#ifndef __clang__
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,fma,f16c")
#define OPGEN_ROWS_AVX512  // Functions may name single instructions.
#endif
#endif
