// vectors_avx2.cpp: the loops of vectors.h for processors with AVX2, FMA and F16C.
#include <opgen/cpu/target_avx2.h>
#ifdef OPGEN_ROWS_TARGET
#include "vectors.h"
#endif
