// pointwise_ternary.cpp: clamp, where, lerp, addcmul.
#include <opgen/kernel.h>

#include <aten/ops/_to_copy.h>
#include <aten/ops/addcdiv_native.h>
#include <aten/ops/addcmul_native.h>
#include <aten/ops/clamp_max_native.h>
#include <aten/ops/clamp_min_native.h>
#include <aten/ops/clamp_native.h>
#include <aten/ops/lerp_native.h>
#include <aten/ops/nonzero_numpy.h>
#include <aten/ops/scalar_tensor.h>
#include <aten/ops/where.h>
#include <aten/ops/where_native.h>

#include "common.h"
#include "either.h"

using namespace kernels;

// ---- clamp: a NaN bound makes the result NaN ----

namespace {

void build_clamp(TensorIteratorBase& iter, const Tensor& self, OptionalScalarRef min,
                 OptionalScalarRef max) {
  OPGEN_CHECK(!self.is_complex(), "clamp is not supported for complex types");
  opgen::ResultTypeState state = opgen::update_result_type(self, {});
  if (min.has_value()) state = opgen::update_result_type(min.get(), state);
  if (max.has_value()) state = opgen::update_result_type(max.get(), state);
  const ScalarType common = opgen::result_type(state);
  OPGEN_CHECK(!isComplexType(common), "clamp is not supported for complex types");
  // The common dtype must be castable to the output's dtype.
  const TensorBase& out = iter.maybe_get_output();
  if (out.defined()) check_can_cast(common, out.scalar_type());
  iter.build_unary_op(out, to_dtype(self, common));
}

void clamp_into(TensorIteratorBase& iter, OptionalScalarRef min, OptionalScalarRef max) {
  OPGEN_DISPATCH_REAL(iter.common_dtype(), "clamp", [&] {
    // A bound that is missing is one that no number passes.
    using Limits = std::numeric_limits<wide_t<scalar_t>>;
    constexpr auto most = is_float_v<scalar_t> ? Limits::infinity() : Limits::max();
    constexpr auto least = is_float_v<scalar_t> ? -Limits::infinity() : Limits::lowest();
    const scalar_t low = min.has_value() ? min.get().to<scalar_t>() : static_cast<scalar_t>(least);
    const scalar_t high = max.has_value() ? max.get().to<scalar_t>() : static_cast<scalar_t>(most);
    if (is_nan(low) || is_nan(high)) {
      const scalar_t nan = is_nan(low) ? low : high;
      return opgen::cpu_kernel(iter, [nan](scalar_t) -> scalar_t { return nan; });
    }
    opgen::cpu_kernel(iter, [low, high](scalar_t x) -> scalar_t {
      if constexpr (is_half_v<scalar_t>) return lesser_of(greater_of(x, low), high);
      // One instruction each.
      const scalar_t raised = x < low ? low : x;
      return raised > high ? high : raised;
    });
  });
}

}  // namespace

OPGEN_META_FUNC(clamp)(const Tensor& self, OptionalScalarRef min, OptionalScalarRef max) {
  OPGEN_CHECK(min.has_value() || max.has_value(),
              "torch.clamp: At least one of 'min' or 'max' must not be None");
  build_clamp(*this, self, min, max);
}
OPGEN_IMPL_FUNC(clamp_out)
(const Tensor&, OptionalScalarRef min, OptionalScalarRef max, const Tensor& /*out*/) {
  clamp_into(*this, min, max);
}

OPGEN_META_FUNC2(clamp, Tensor)(const Tensor& self, OptionalTensorRef min, OptionalTensorRef max) {
  OPGEN_CHECK(min.has_value() || max.has_value(),
              "torch.clamp: At least one of 'min' or 'max' must not be None");
  OPGEN_CHECK(!self.is_complex(), "clamp is not supported for complex types");
  opgen::TensorIteratorConfig config;
  config.add_output(maybe_get_output()).add_const_input(self);
  for (const OptionalTensorRef& bound : {min, max}) {
    if (!bound.has_value()) continue;
    OPGEN_CHECK(!bound->is_complex(), "clamp is not supported for complex types");
    config.add_const_input(*bound);
  }
  config.set_check_mem_overlap(true)
      .promote_inputs_to_common_dtype(true)
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true)
      .allow_cpu_scalars(true);
  build(config);
}
OPGEN_IMPL_FUNC(clamp_Tensor_out)
(const Tensor&, OptionalTensorRef min, OptionalTensorRef max, const Tensor& /*out*/) {
  if (min.has_value() && max.has_value()) {
    OPGEN_DISPATCH_REAL(common_dtype(), "clamp", [&] {
      opgen::cpu_kernel(*this, [](scalar_t x, scalar_t low, scalar_t high) -> scalar_t {
        return lesser_of(greater_of(x, low), high);
      });
    });
    return;
  }
  OPGEN_DISPATCH_REAL_AND_BOOL(common_dtype(), "clamp", [&] {
    if (min.has_value()) {
      opgen::cpu_kernel(*this,
                        [](scalar_t x, scalar_t low) -> scalar_t { return greater_of(x, low); });
    } else {
      opgen::cpu_kernel(*this,
                        [](scalar_t x, scalar_t high) -> scalar_t { return lesser_of(x, high); });
    }
  });
}

OPGEN_META_FUNC(clamp_min)(const Tensor& self, const Scalar& min) {
  build_clamp(*this, self, min, {});
}
OPGEN_IMPL_FUNC(clamp_min_out)(const Tensor&, const Scalar& min, const Tensor& /*out*/) {
  clamp_into(*this, min, {});
}
OPGEN_META_FUNC2(clamp_min, Tensor)(const Tensor& self, const Tensor& min) {
  OPGEN_CHECK(!self.is_complex() && !min.is_complex(), "clamp is not supported for complex types");
  build_borrowing_binary_op(maybe_get_output(), self, min);
}
OPGEN_IMPL_FUNC(clamp_min_Tensor_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_REAL_AND_BOOL(common_dtype(), "clamp_min", [&] {
    opgen::cpu_kernel(*this,
                      [](scalar_t x, scalar_t min) -> scalar_t { return greater_of(x, min); });
  });
}

OPGEN_META_FUNC(clamp_max)(const Tensor& self, const Scalar& max) {
  build_clamp(*this, self, {}, max);
}
OPGEN_IMPL_FUNC(clamp_max_out)(const Tensor&, const Scalar& max, const Tensor& /*out*/) {
  clamp_into(*this, {}, max);
}
OPGEN_META_FUNC2(clamp_max, Tensor)(const Tensor& self, const Tensor& max) {
  OPGEN_CHECK(!self.is_complex() && !max.is_complex(), "clamp is not supported for complex types");
  build_borrowing_binary_op(maybe_get_output(), self, max);
}
OPGEN_IMPL_FUNC(clamp_max_Tensor_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_REAL_AND_BOOL(common_dtype(), "clamp_max", [&] {
    opgen::cpu_kernel(*this,
                      [](scalar_t x, scalar_t max) -> scalar_t { return lesser_of(x, max); });
  });
}

// ---- where ----

namespace {

// Converts both operands to their common dtype and the condition to bool.
struct WhereOperands {
  Tensor condition, self, other;
};

WhereOperands where_operands(const Tensor& condition, const Tensor& self, const Tensor& other) {
  const ScalarType kind = condition.scalar_type();
  OPGEN_CHECK(kind == kBool || kind == kByte,
              "where expected condition to be a boolean tensor, but got a tensor with dtype ",
              kind);
  const ScalarType common = opgen::result_type_of(self, other);
  // Moves numbers to the device of the condition.
  const auto placed = [&](const Tensor& operand) {
    const bool moves = operand.dim() == 0 && operand.device() != condition.device();
    return to_dtype(
        moves ? at::_to_copy(operand, TensorOptions().device(condition.device())) : Tensor(operand),
        common);
  };
  return {to_dtype(condition, kBool), placed(self), placed(other)};
}

// Converts a number to the common dtype of both operands; throws if it overflows.
Tensor operand_of(const Scalar& value, const Tensor& condition, ScalarType common) {
  return at::scalar_tensor(value, condition.options().dtype(common));
}

template <class T>
void select_elements(TensorIteratorBase& iter) {
  opgen::cpu_kernel(iter, [](bool chosen, T a, T b) -> T { return either(chosen, a, b); });
}

}  // namespace

OPGEN_KERNEL(where_self_out)
(const Tensor& condition, const Tensor& self, const Tensor& other, Tensor& out) {
  const WhereOperands operands = where_operands(condition, self, other);
  const ScalarType common = operands.self.scalar_type();
  OPGEN_CHECK(out.scalar_type() == common, "Expected out type to be ", common, " but got ",
              out.scalar_type());
  TensorIterator iter = opgen::TensorIteratorConfig()
                            .set_check_mem_overlap(true)
                            .check_all_same_dtype(false)
                            .add_output(out)
                            .add_const_input(operands.condition)
                            .add_const_input(operands.self)
                            .add_const_input(operands.other)
                            .build();
  if (out.is_meta()) return out;
  OPGEN_DISPATCH_ALL(common, "where", [&] { select_elements<scalar_t>(iter); });
  return out;
}
OPGEN_KERNEL2(where, self)(const Tensor& condition, const Tensor& self, const Tensor& other) {
  Tensor out = opgen::empty({0}, condition.options().dtype(opgen::result_type_of(self, other)));
  return at::where_out(out, condition, self, other);
}
OPGEN_KERNEL2(where, ScalarSelf)(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return at::where(condition, operand_of(self, condition, opgen::result_type_of(self, other)),
                   other);
}
OPGEN_KERNEL2(where, ScalarOther)
(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return at::where(condition, self,
                   operand_of(other, condition, opgen::result_type_of(self, other)));
}
OPGEN_KERNEL2(where, Scalar)(const Tensor& condition, const Scalar& self, const Scalar& other) {
  const ScalarType common = opgen::result_type_of(self, other);
  return at::where(condition, operand_of(self, condition, common),
                   operand_of(other, condition, common));
}
OPGEN_KERNEL2(where, default)(const Tensor& condition) {
  return at::nonzero_numpy(condition);
}

// ---- lerp ----

namespace {

// Computes from the nearer end, so that weight 1 returns `end` exactly.
template <class T, class W>
T interpolate(T start, T end, W weight) {
  const T step = end - start;
  return std::abs(weight) < real_t<decltype(std::abs(weight))>(0.5) ? start + weight * step
                                                                    : end - step * (W(1) - weight);
}

}  // namespace

OPGEN_META_FUNC2(lerp, Scalar)(const Tensor& self, const Tensor& end, const Scalar& /*weight*/) {
  OPGEN_CHECK(self.scalar_type() == end.scalar_type(), "expected dtype ", self.scalar_type(),
              " for `end` but got dtype ", end.scalar_type());
  build_binary_op(maybe_get_output(), self, end);
}
OPGEN_IMPL_FUNC(lerp_Scalar_out)
(const Tensor&, const Tensor&, const Scalar& weight, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(common_dtype(), "lerp", [&] {
    const auto w = widen(weight.to<wide_t<scalar_t>>());
    opgen::cpu_kernel(*this, [w](scalar_t start, scalar_t end) -> scalar_t {
      return narrowed<scalar_t>(interpolate(widen(start), widen(end), w));
    });
  });
}

OPGEN_META_FUNC2(lerp, Tensor)(const Tensor& self, const Tensor& end, const Tensor& weight) {
  OPGEN_CHECK(self.scalar_type() == end.scalar_type(), "expected dtype ", self.scalar_type(),
              " for `end` but got dtype ", end.scalar_type());
  // A weight for all elements may have any dtype, as a number may.
  const bool one_weight = weight.dim() == 0;
  OPGEN_CHECK(one_weight || self.scalar_type() == weight.scalar_type(), "expected dtype ",
              self.scalar_type(), " for `weight` but got dtype ", weight.scalar_type());
  opgen::TensorIteratorConfig config;
  config.add_output(maybe_get_output())
      .add_const_input(self)
      .add_const_input(end)
      .add_const_input(weight);
  config.set_check_mem_overlap(true).allow_cpu_scalars(true);
  if (one_weight) {
    config.promote_inputs_to_common_dtype(true)
        .cast_common_dtype_to_outputs(true)
        .enforce_safe_casting_to_output(true);
  }
  build(config);
}
OPGEN_IMPL_FUNC(lerp_Tensor_out)
(const Tensor&, const Tensor&, const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(common_dtype(), "lerp", [&] {
    opgen::cpu_kernel(*this, [](scalar_t start, scalar_t end, scalar_t weight) -> scalar_t {
      return narrowed<scalar_t>(interpolate(widen(start), widen(end), widen(weight)));
    });
  });
}

// ---- addcmul, addcdiv ----

namespace {

void build_ternary(TensorIteratorBase& iter, const Tensor& self, const Tensor& tensor1,
                   const Tensor& tensor2) {
  opgen::TensorIteratorConfig config;
  config.add_output(iter.maybe_get_output())
      .add_const_input(self)
      .add_const_input(tensor1)
      .add_const_input(tensor2);
  config.set_check_mem_overlap(true)
      .allow_cpu_scalars(true)
      .promote_inputs_to_common_dtype(true)
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true);
  iter.build(config);
}

}  // namespace

OPGEN_META_FUNC(addcmul)
(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& /*value*/) {
  build_ternary(*this, self, tensor1, tensor2);
}
OPGEN_IMPL_FUNC(addcmul_out)
(const Tensor&, const Tensor&, const Tensor&, const Scalar& value, const Tensor& /*out*/) {
  OPGEN_DISPATCH_ALL_BUT_BOOL(common_dtype(), "addcmul", [&] {
    using wide = wide_t<scalar_t>;
    const wide factor = value.to<wide>();
    opgen::cpu_kernel(*this, [factor](scalar_t x, scalar_t a, scalar_t b) -> scalar_t {
      return static_cast<scalar_t>(plus(
          static_cast<wide>(x), times(times(factor, static_cast<wide>(a)), static_cast<wide>(b))));
    });
  });
}

OPGEN_META_FUNC(addcdiv)
(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& /*value*/) {
  OPGEN_CHECK(!(isIntegralType(tensor1.scalar_type(), /*include_bool=*/true) &&
                isIntegralType(tensor2.scalar_type(), /*include_bool=*/true)),
              "addcdiv of two integer tensors is not supported: divide them first, with div() and "
              "the rounding_mode that you want");
  build_ternary(*this, self, tensor1, tensor2);
}
OPGEN_IMPL_FUNC(addcdiv_out)
(const Tensor&, const Tensor&, const Tensor&, const Scalar& value, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(common_dtype(), "addcdiv", [&] {
    const auto factor = widen(value.to<wide_t<scalar_t>>());
    opgen::cpu_kernel(*this, [factor](scalar_t x, scalar_t a, scalar_t b) -> scalar_t {
      return narrowed<scalar_t>(widen(x) + factor * widen(a) / widen(b));
    });
  });
}
