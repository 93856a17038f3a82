// pointwise.cpp: our own metas for ATen's element-wise operators, and kernels that call its out=
// operators. The metas reject what ATen's reject.
#include <opgen/kernel.h>

#include <slice/ops/addcmul_native.h>
#include <slice/ops/atan2_native.h>
#include <slice/ops/bitwise_and_native.h>
#include <slice/ops/bitwise_not_native.h>
#include <slice/ops/ceil_native.h>
#include <slice/ops/copysign_native.h>
#include <slice/ops/div_native.h>
#include <slice/ops/elu_native.h>
#include <slice/ops/erf_native.h>
#include <slice/ops/exp_native.h>
#include <slice/ops/floor_native.h>
#include <slice/ops/fmax_native.h>
#include <slice/ops/fmod_native.h>
#include <slice/ops/frac_native.h>
#include <slice/ops/gcd_native.h>
#include <slice/ops/ge_native.h>
#include <slice/ops/gelu_native.h>
#include <slice/ops/hardsigmoid_native.h>
#include <slice/ops/hypot_native.h>
#include <slice/ops/isposinf_native.h>
#include <slice/ops/leaky_relu_native.h>
#include <slice/ops/log1p_native.h>
#include <slice/ops/lt_native.h>
#include <slice/ops/maximum_native.h>
#include <slice/ops/minimum_native.h>
#include <slice/ops/mish_native.h>
#include <slice/ops/ne_native.h>
#include <slice/ops/neg_native.h>
#include <slice/ops/nextafter_native.h>
#include <slice/ops/pow_native.h>
#include <slice/ops/reciprocal_native.h>
#include <slice/ops/remainder_native.h>
#include <slice/ops/round_native.h>
#include <slice/ops/rsqrt_native.h>
#include <slice/ops/sgn_native.h>
#include <slice/ops/sigmoid_backward_native.h>
#include <slice/ops/sign_native.h>
#include <slice/ops/signbit_native.h>
#include <slice/ops/silu_backward_native.h>
#include <slice/ops/silu_native.h>
#include <slice/ops/sin_native.h>
#include <slice/ops/sub_native.h>
#include <slice/ops/tanh_backward_native.h>
#include <slice/ops/tanh_native.h>
#include <slice/ops/trunc_native.h>
#include <slice/ops/xlogy_native.h>

#include <ATen/ops/addcmul.h>
#include <ATen/ops/atan2.h>
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/bitwise_not.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/copysign.h>
#include <ATen/ops/div.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/erf.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/fmax.h>
#include <ATen/ops/fmod.h>
#include <ATen/ops/frac.h>
#include <ATen/ops/gcd.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/hardsigmoid.h>
#include <ATen/ops/hypot.h>
#include <ATen/ops/isposinf.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/nextafter.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/round.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sgn.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/signbit.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tanh_backward.h>
#include <ATen/ops/trunc.h>
#include <ATen/ops/xlogy.h>

#include "pointwise.h"

// ---- one operand ----

UNARY(
    neg, build_borrowing_unary_op,
    OPGEN_CHECK(self.scalar_type() != kBool,
                "Negation, the `-` operator, on a bool tensor is not supported. If you are trying "
                "to invert a mask, use the `~` or `logical_not()` operator instead."))
UNARY(sgn, build_borrowing_unary_op, NOTHING)
UNARY(frac, build_borrowing_unary_op, NOTHING)
UNARY(bitwise_not, build_borrowing_unary_op, NOTHING)
UNARY(floor, build_borrowing_unary_op, NOT_COMPLEX(floor))
UNARY(ceil, build_borrowing_unary_op, NOT_COMPLEX(ceil))
UNARY(trunc, build_borrowing_unary_op, NOT_COMPLEX(trunc))
OPGEN_META_FUNC(round)(const Tensor& self) {
  build_borrowing_unary_op(maybe_get_output(), self);
  NOT_COMPLEX(round);
}
OPGEN_IMPL_FUNC(round_out_cpu)(const Tensor& self, const Tensor& out) {
  at::round_out(writable(out), self);
}
UNARY(sign, build_borrowing_unary_op,
      OPGEN_CHECK_NOT_IMPLEMENTED(
          !self.is_complex(),
          "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use "
          "torch.sgn instead."))
UNARY(exp, build_borrowing_unary_float_op, NOTHING)
UNARY(log1p, build_borrowing_unary_float_op, NOTHING)
UNARY(rsqrt, build_borrowing_unary_float_op, NOTHING)
UNARY(sin, build_borrowing_unary_float_op, NOTHING)
UNARY(tanh, build_borrowing_unary_float_op, NOTHING)
UNARY(reciprocal, build_borrowing_unary_float_op, NOTHING)
UNARY(erf, build_borrowing_unary_float_op, NOTHING)
UNARY(signbit, build_borrowing_unary_force_boolean_op,
      OPGEN_CHECK_NOT_IMPLEMENTED(!self.is_complex(),
                                  "signbit is not implemented for complex tensors.");
      OPGEN_CHECK(!maybe_get_output().defined() || maybe_get_output().scalar_type() == kBool,
                  "signbit does not support non-boolean outputs."))
UNARY(isposinf, build_borrowing_unary_force_boolean_op,
      OPGEN_CHECK(!self.is_complex(), "isposinf does not support complex inputs.");
      OPGEN_CHECK(!maybe_get_output().defined() || maybe_get_output().scalar_type() == kBool,
                  "isposinf does not support non-boolean outputs."))
UNARY(silu, build_borrowing_unary_op, NOTHING)
UNARY(mish, build_borrowing_unary_op, NOTHING)
UNARY(hardsigmoid, build_borrowing_unary_op, NOTHING)

OPGEN_META_FUNC(gelu)(const Tensor& self, std::string_view /*approximate*/) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(gelu_out_cpu)
(const Tensor& self, std::string_view approximate, const Tensor& out) {
  at::gelu_out(writable(out), self, approximate);
}

OPGEN_META_FUNC(leaky_relu)(const Tensor& self, const Scalar& /*negative_slope*/) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(leaky_relu_out_cpu)
(const Tensor& self, const Scalar& negative_slope, const Tensor& out) {
  at::leaky_relu_out(writable(out), self, negative_slope);
}

OPGEN_META_FUNC(elu)
(const Tensor& self, const Scalar& /*alpha*/, const Scalar& /*scale*/,
 const Scalar& /*input_scale*/) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(elu_out_cpu)
(const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
 const Tensor& out) {
  at::elu_out(writable(out), self, alpha, scale, input_scale);
}

// ---- two operands ----

BINARY_TENSOR(copysign, build_borrowing_binary_float_op)
BINARY_TENSOR_OUT(bitwise_and, build_borrowing_binary_op)
BINARY_TENSOR_OUT(fmod, build_borrowing_binary_op)
BINARY_TENSOR_OUT(remainder, build_borrowing_binary_op)
BINARY_TENSOR_OUT(ne, build_borrowing_comparison_op)
BINARY_TENSOR_OUT(lt, build_borrowing_comparison_op)
BINARY_TENSOR_OUT(ge, build_borrowing_comparison_op)
BINARY(atan2, build_borrowing_binary_float_op, NOTHING)
BINARY(hypot, build_borrowing_binary_op, NOTHING)
BINARY(gcd, build_borrowing_binary_op, NOTHING)
BINARY(nextafter, build_borrowing_binary_op, NOTHING)
BINARY(maximum, build_borrowing_binary_op, NONE_COMPLEX(maximum))
BINARY(minimum, build_borrowing_binary_op, NONE_COMPLEX(minimum))
BINARY(fmax, build_borrowing_binary_op,
       OPGEN_CHECK(!self.is_complex() && !other.is_complex(),
                   "fmax not implemented for complex tensors."))
BINARY_FUNC(xlogy, OPGEN_META_FUNC2(xlogy, Tensor), xlogy_OutTensor_cpu,
            build_borrowing_binary_float_op, NOTHING)
BINARY_FUNC(pow, OPGEN_META_FUNC2(pow, Tensor_Tensor), pow_Tensor_Tensor_out_cpu,
            build_borrowing_binary_op, NOTHING)

OPGEN_META_FUNC2(sub, Tensor)
(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  OPGEN_CHECK(self.scalar_type() != kBool && other.scalar_type() != kBool,
              "Subtraction, the `-` operator, with a bool tensor is not supported.");
  build_borrowing_binary_op(maybe_get_output(), self, other);
  check_alpha(common_dtype(), alpha);
}
OPGEN_IMPL_FUNC(sub_out_cpu)
(const Tensor& self, const Tensor& other, const Scalar& alpha, const Tensor& out) {
  at::sub_out(writable(out), self, other, alpha);
}

OPGEN_META_FUNC2(div, Tensor_mode)
(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode.has_value()) {
    build_borrowing_binary_float_op(maybe_get_output(), self, other);
    return;
  }
  OPGEN_CHECK(*rounding_mode == "trunc" || *rounding_mode == "floor",
              "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '",
              *rounding_mode, "'");
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(div_out_mode_cpu)
(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode,
 const Tensor& out) {
  at::div_out(writable(out), self, other, rounding_mode);
}

#define BACKWARD(op, ...)                                                      \
  OPGEN_META_FUNC(op)(const Tensor& grad_output, const Tensor& given) {        \
    build_borrowing_binary_op(maybe_get_output(), grad_output, given);         \
  }                                                                            \
  OPGEN_IMPL_FUNC(op##_grad_input_cpu)                                         \
  (const Tensor& grad_output, const Tensor& given, const Tensor& grad_input) { \
    at::op##_out(writable(grad_input), grad_output, given);                    \
  }
BACKWARD(sigmoid_backward)
BACKWARD(tanh_backward)
BACKWARD(silu_backward)

// ---- three operands ----

OPGEN_META_FUNC(addcmul)
(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& /*value*/) {
  build_ternary_op(maybe_get_output(), self, tensor1, tensor2);
}
OPGEN_IMPL_FUNC(addcmul_out_cpu)
(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value,
 const Tensor& out) {
  at::addcmul_out(writable(out), self, tensor1, tensor2, value);
}
