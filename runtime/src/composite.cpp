// composite.cpp: helpers of the kernels that opgen writes itself.
#include "opgen/composite.h"

namespace opgen::detail {

TensorBase clone_or_undefined(const TensorBase& tensor, std::optional<MemoryFormat> format) {
  return tensor.defined() ? clone(tensor, format) : TensorBase();
}

void assign_output(const TensorBase& out, const TensorBase& result) {
  if (!result.defined()) return;
  OPGEN_CHECK(out.defined(), "an out= tensor is undefined");
  resize_output(out, result.sizes());
  copy_(out, result);
}

void throw_output_count(std::size_t expected, std::size_t got) {
  OPGEN_CHECK(false, "expected ", expected, " out= tensors, one for each result, but got ", got);
}

}  // namespace opgen::detail
