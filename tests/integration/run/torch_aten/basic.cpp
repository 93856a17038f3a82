// basic.cpp: some of ATen's element-wise operators, which semantics.py uses.
#include <opgen/kernel.h>

#include <slice/ops/add_native.h>
#include <slice/ops/clamp_native.h>
#include <slice/ops/div_native.h>
#include <slice/ops/eq_native.h>
#include <slice/ops/mul_native.h>
#include <slice/ops/sigmoid_native.h>
#include <slice/ops/sqrt_native.h>

#include <ATen/ops/add.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/div.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sqrt.h>

#include "pointwise.h"

UNARY(sigmoid, build_borrowing_unary_float_op, NOTHING)
UNARY(sqrt, build_borrowing_unary_float_op, NOTHING)
BINARY_TENSOR(mul, build_borrowing_binary_op)
BINARY_TENSOR(div, build_borrowing_binary_float_op)
BINARY_TENSOR_OUT(eq, build_borrowing_comparison_op)

OPGEN_META_FUNC2(add, Tensor)
(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
  check_alpha(common_dtype(), alpha);
}
OPGEN_IMPL_FUNC(add_out_cpu)
(const Tensor& self, const Tensor& other, const Scalar& alpha, const Tensor& out) {
  at::add_out(writable(out), self, other, alpha);
}

OPGEN_META_FUNC2(clamp, Tensor)
(const Tensor& self, OptionalTensorRef min, OptionalTensorRef max) {
  OPGEN_CHECK(min.has_value() || max.has_value(),
              "torch.clamp: At least one of 'min' or 'max' must not be None");
  OPGEN_CHECK_NOT_IMPLEMENTED(!isComplexType(self.scalar_type()),
                              "clamp is not supported for complex types");
  if (min.has_value() && max.has_value()) {
    build_ternary_op(maybe_get_output(), self, *min, *max);
  } else {
    build_borrowing_binary_op(maybe_get_output(), self, min.has_value() ? *min : *max);
  }
}
OPGEN_IMPL_FUNC(clamp_Tensor_out_cpu)
(const Tensor& self, OptionalTensorRef min, OptionalTensorRef max, const Tensor& out) {
  at::clamp_out(writable(out), self, given(min), given(max));
}
