// empty.h: new tensors, by the runtime's names.
#pragma once

#include <ATen/ops/empty.h>

#include "opgen/tensor.h"

namespace opgen::detail {

[[nodiscard]] inline Tensor empty(IntArrayRef sizes, const TensorOptions& options = {}) {
  return at::empty(sizes, options);
}

}  // namespace opgen::detail
