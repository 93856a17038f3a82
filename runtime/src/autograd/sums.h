// sums.h: the kernels of two primitives. Internal.
#pragma once

#include "opgen/core/array_ref.h"
#include "opgen/tensor/tensor.h"

namespace opgen::primitive {

[[nodiscard]] TensorBase add_kernel(const TensorBase& a, const TensorBase& b);
[[nodiscard]] TensorBase sum_to_kernel(const TensorBase& self, IntArrayRef sizes);

}  // namespace opgen::primitive
