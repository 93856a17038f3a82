// vectors_avx512.cpp: the loops of vectors.h for processors with AVX-512.
#include <opgen/cpu/target_avx512.h>
#ifdef OPGEN_ROWS_TARGET
#include "vectors.h"
#endif
