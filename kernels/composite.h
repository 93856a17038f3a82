// composite.h: helpers of kernels that call operators, whose gradients are theirs.
#pragma once

#include <aten/ops/clone.h>

#include "common.h"

namespace kernels {

// Converts with the operator `to`, which records the gradient; to_dtype() does not.
inline Tensor in_dtype(const Tensor& self, ScalarType dtype) {
  return self.scalar_type() == dtype ? self : self.to(dtype, false, false, std::nullopt);
}

// Writes a composite's result to its out tensor. As for all out tensors, gradients and tangents are
// refused, by clone.out.
inline Tensor& write_out(Tensor& out, const Tensor& result) {
  check_can_cast(result.scalar_type(), out.scalar_type());
  return at::clone_out(out, in_dtype(result, out.scalar_type()), std::nullopt);
}

// Copies with the operator `clone`, unless the elements are in this order in memory already.
inline Tensor in_format(const Tensor& self, MemoryFormat format = MemoryFormat::Contiguous) {
  return self.is_contiguous(format) ? self : self.clone(format);
}

}  // namespace kernels
