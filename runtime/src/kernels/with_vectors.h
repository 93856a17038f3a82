// with_vectors.h: calls rows with the largest vectors that this processor has. The files …_rows.h
// contain them; rows_any.cpp beside them compiles them for any processor, rows_avx2.cpp and
// rows_avx512.cpp for one instruction set each (opgen/cpu/vector_rows.h says why).
#pragma once

#include "opgen/cpu/convert_rows.h"
#include "opgen/cpu/vector_folds.h"

namespace opgen::detail {

// Calls f<bytes>() with the bytes of a vector.
template <class F>
auto with_vectors(const F& f) {
#if OPGEN_LOOPS_AVX2
  if (use_avx512()) return f.template operator()<64>();
  if (use_fma()) return f.template operator()<32>();
#endif
  return f.template operator()<kAnyVector>();
}

}  // namespace opgen::detail
