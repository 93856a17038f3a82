// composite.cpp: helpers for the composite kernels that opgen generates.
#include "opgen/registration/composite.h"

namespace opgen::detail {

TensorBase clone_or_undefined(const TensorBase& tensor, std::optional<MemoryFormat> format) {
  return tensor.defined() ? clone(tensor, format) : TensorBase();
}

void assign_output(const TensorBase& out, const TensorBase& result) {
  if (!result.defined()) return;
  OPGEN_CHECK(out.defined(), "an out= tensor is undefined");
  OPGEN_CHECK(out.scalar_type() == result.scalar_type(), "Expected out tensor to have dtype ",
              result.scalar_type(), ", but got ", out.scalar_type(), " instead");
  OPGEN_CHECK(out.device() == result.device(), "Expected out tensor to have device ",
              result.device(), ", but got ", out.device(), " instead");
  resize_output(out, result.sizes());
  copy_(out, result);
}

void throw_output_count(std::size_t expected, std::size_t got) {
  OPGEN_CHECK(false, "expected ", expected, " out= tensors, one for each result, but got ", got);
}

}  // namespace opgen::detail
