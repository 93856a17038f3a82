// folds.cpp: the loops of sums, products and extremes, compiled for each instruction set.
#include "kernels/fold_rows.h"
#include "kernels/with_vectors.h"
#include "opgen/cpu/reduce.h"

namespace opgen::detail {

namespace {

template <class In, class M = In>
FoldFunctions functions_of(FoldKind kind) noexcept {
  const auto find = []<class Combine>(Combine) {
    return with_vectors([]<int bytes> {
      using Rows = FoldRows<In, M, Combine, bytes>;
      return FoldFunctions{&Rows::rows, &Rows::columns,
                           sizeof(In) == 8 ? &Rows::every_second : nullptr};
    });
  };
  switch (kind) {
    case FoldKind::Largest:
      return find(LargestOf());
    case FoldKind::Smallest:
      return find(SmallestOf());
    case FoldKind::Product:
      // Rows of bfloat16 are converted for products.
      if constexpr (std::is_same_v<In, M>) return find(ProductOf());
      [[fallthrough]];
    default:
      return find(SumOf());
  }
}

FoldFunctions find_fold(ScalarType dtype, FoldKind kind) noexcept {
  switch (dtype) {
    case kDouble:
      return functions_of<double>(kind);
    case kLong:
      return functions_of<std::int64_t>(kind);
    case kBFloat16:
      return functions_of<BFloat16, float>(kind);
    default:
      return functions_of<float>(kind);
  }
}

const bool is_set = (fold_finder.store_release(&find_fold), true);

}  // namespace

}  // namespace opgen::detail
