// row_major.h: whether elements lie in the order of their indices. Internal.
#pragma once

#include "opgen/tensor/tensor_impl.h"

namespace opgen::detail {

// Compares dimensions of size one too: their strides decide the order of an iterator's output.
inline bool has_row_major_strides(const TensorImpl* t) noexcept {
  std::int64_t expected = 1;
  for (std::size_t d = t->sizes().size(); d-- > 0;) {
    if (t->strides()[d] != expected) return false;
    expected *= t->sizes()[d];
  }
  return true;
}

}  // namespace opgen::detail
