// fold_rows.h: sums, products and extremes of rows and of columns, by vectors of `bytes`
// (with_vectors.h).
#pragma once

#include <cstdint>

#include "opgen/cpu/vector_folds.h"
#include "opgen/cpu/vector_rows.h"

namespace opgen::detail {

// The functions of FoldFunctions. In is M or, for floats, BFloat16.
template <class In, class M, class Combine, int bytes>
struct FoldRows {
  using Fold = VectorFold<M, M, Unchanged, Combine, In>;
  OPGEN_ROWS static void rows(const void* fold, const char* at, std::int64_t n, std::int64_t step,
                              std::int64_t count, void* states);
  OPGEN_ROWS static void columns(const void* fold, const char* const* rows, std::int64_t n,
                                 std::int64_t count, void* states);
  OPGEN_ROWS static void every_second(const void* fold, const char* at, std::int64_t n,
                                      void* state);
};

#ifdef OPGEN_ROWS_TARGET
template <class In, class M, class Combine, int bytes>
OPGEN_ROWS void FoldRows<In, M, Combine, bytes>::rows(const void* fold, const char* at,
                                                      std::int64_t n, std::int64_t step,
                                                      std::int64_t count, void* states) {
  // A copy, which stores of states cannot change.
  const Fold held = *static_cast<const Fold*>(fold);
  held.template rows<bytes>(at, n, step, count, static_cast<M*>(states));
}
template <class In, class M, class Combine, int bytes>
OPGEN_ROWS void FoldRows<In, M, Combine, bytes>::columns(const void* fold, const char* const* rows,
                                                         std::int64_t n, std::int64_t count,
                                                         void* states) {
  const Fold held = *static_cast<const Fold*>(fold);
  held.template columns<bytes>(rows, n, count, static_cast<M*>(states));
}
// Of elements with 8 bytes, because collecting them takes longer than folding.
template <class In, class M, class Combine, int bytes>
OPGEN_ROWS void FoldRows<In, M, Combine, bytes>::every_second(const void* fold, const char* at,
                                                              std::int64_t n, void* state) {
  if constexpr (sizeof(In) == 8) {
    const Fold held = *static_cast<const Fold*>(fold);
    held.template every_second<bytes>(at, n, static_cast<M*>(state));
  }
}

template struct FoldRows<float, float, SumOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<float, float, ProductOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<float, float, LargestOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<float, float, SmallestOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<double, double, SumOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<double, double, ProductOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<double, double, LargestOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<double, double, SmallestOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<std::int64_t, std::int64_t, SumOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<std::int64_t, std::int64_t, ProductOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<std::int64_t, std::int64_t, LargestOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<std::int64_t, std::int64_t, SmallestOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<BFloat16, float, SumOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<BFloat16, float, LargestOf, OPGEN_ROWS_BYTES>;
template struct FoldRows<BFloat16, float, SmallestOf, OPGEN_ROWS_BYTES>;
#endif

}  // namespace opgen::detail
