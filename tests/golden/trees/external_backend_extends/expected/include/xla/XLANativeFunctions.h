// XLANativeFunctions.h: the kernels of backend XLA; define these members of XLAKernels. Generated
// by
// opgen; do not edit.
#pragma once

#include <aten/TensorBody.h>
#include <opgen/operator.h>

static_assert(OPGEN_RUNTIME_ABI == 1, "generate this file again: it needs ABI 1 of the runtime");

namespace torch_xla::kernels {
using namespace opgen::types;

struct XLAKernels {
  // add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  static Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha);
  // add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  static Tensor& add_out(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out);
  // neg(Tensor self) -> Tensor
  static Tensor neg(const Tensor& self);
};

}  // namespace torch_xla::kernels
