// row_major.h: finds out whether elements are in row-major order. Internal.
#pragma once

#include "opgen/tensor/tensor_impl.h"

namespace opgen::detail {

// Also compares dimensions of size one, because their strides decide the order of an iterator's
// output.
inline bool has_row_major_strides(const TensorImpl* t) noexcept {
  std::int64_t expected = 1;
  for (std::size_t d = t->sizes().size(); d-- > 0;) {
    if (t->strides()[d] != expected) return false;
    expected *= t->sizes()[d];
  }
  return true;
}

}  // namespace opgen::detail
