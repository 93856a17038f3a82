// composite.cpp: helpers of the composite kernels that opgen generates.
#include "opgen/registration/composite.h"

#include "opgen/symbolic/fake_tensor.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/resize.h"

namespace opgen::detail {

TensorBase clone_or_undefined(const TensorBase& tensor, std::optional<MemoryFormat> format) {
  return tensor.defined() ? clone(tensor, format) : TensorBase();
}

void assign_output(const TensorBase& out, const TensorBase& result) {
  if (!result.defined()) return;
  OPGEN_CHECK(out.defined(), "Expected out tensor to be defined");
  OPGEN_CHECK(out.scalar_type() == result.scalar_type(), "Expected out tensor to have dtype ",
              result.scalar_type(), ", but got ", out.scalar_type(), " instead");
  OPGEN_CHECK(out.device() == result.device(), "Expected out tensor to have device ",
              result.device(), ", but got ", out.device(), " instead");
  resize_output_symint(out, result.sym_sizes());
  copy_(out, result);
}

void throw_output_count(std::size_t expected, std::size_t got) {
  OPGEN_CHECK(false, "Expected ", expected, " out tensors, but got ", got);
}

}  // namespace opgen::detail
