// composite.h: helpers of kernels that call operators, whose gradients are theirs.
#pragma once

#include "common.h"

namespace kernels {

// Converts with the operator `to`, which records the gradient; to_dtype() does not.
inline Tensor in_dtype(const Tensor& self, ScalarType dtype) {
  return self.scalar_type() == dtype ? self : self.to(dtype, false, false, std::nullopt);
}

// Copies with the operator `clone`, unless the elements are in this order in memory already.
inline Tensor in_format(const Tensor& self, MemoryFormat format = MemoryFormat::Contiguous) {
  return self.is_contiguous(format) ? self : self.clone(format);
}

}  // namespace kernels
