// activations.cpp: relu and its relatives, thresholds, silu, gelu, glu, mish, softplus,
// log_sigmoid, softmax and log_softmax.
#include <opgen/kernel.h>

#include <aten/ops/_log_softmax.h>
#include <aten/ops/_log_softmax_native.h>
#include <aten/ops/_prelu_kernel.h>
#include <aten/ops/_prelu_kernel_native.h>
#include <aten/ops/_softmax.h>
#include <aten/ops/_softmax_native.h>
#include <aten/ops/amax.h>
#include <aten/ops/celu_native.h>
#include <aten/ops/clamp.h>
#include <aten/ops/elu.h>
#include <aten/ops/elu_native.h>
#include <aten/ops/gelu_native.h>
#include <aten/ops/glu_native.h>
#include <aten/ops/hardshrink_native.h>
#include <aten/ops/hardsigmoid_native.h>
#include <aten/ops/hardswish_native.h>
#include <aten/ops/hardtanh.h>
#include <aten/ops/hardtanh_native.h>
#include <aten/ops/leaky_relu_native.h>
#include <aten/ops/log_sigmoid_native.h>
#include <aten/ops/log_softmax.h>
#include <aten/ops/log_softmax_native.h>
#include <aten/ops/mish_native.h>
#include <aten/ops/prelu_native.h>
#include <aten/ops/relu6_native.h>
#include <aten/ops/relu_native.h>
#include <aten/ops/selu_native.h>
#include <aten/ops/silu_native.h>
#include <aten/ops/softmax_native.h>
#include <aten/ops/softplus_native.h>
#include <aten/ops/softshrink_native.h>
#include <aten/ops/threshold_native.h>
#include <opgen/cpu/softmax.h>

#include "composite.h"
#include "devices.h"
#include "either.h"
#include "vectors.h"

using namespace kernels;

namespace {

void relu_into(Tensor& out, const Tensor& self) {
  OPGEN_CHECK(self.scalar_type() != kBool, "Boolean inputs not supported for relu");
  TensorIterator iter = TensorIterator::unary_op(out, self);
  if (out.is_meta()) return;
  OPGEN_DISPATCH_REAL(iter.common_dtype(), "relu", [&] {
    opgen::cpu_kernel(iter, [](scalar_t x) -> scalar_t { return greater_of(x, scalar_t(0)); });
  });
}

}  // namespace

OPGEN_KERNEL(relu)(const Tensor& self) {
  Tensor out = opgen::empty({0}, self.options());
  relu_into(out, self);
  return out;
}
OPGEN_KERNEL(relu_)(Tensor& self) {
  relu_into(self, self);
  return self;
}

OPGEN_META_FUNC(leaky_relu)(const Tensor& self, const Scalar& /*negative_slope*/) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(leaky_relu_out)
(const Tensor&, const Scalar& negative_slope, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING(common_dtype(), "leaky_relu", [&] {
    using wide = wide_t<scalar_t>;
    const wide slope = negative_slope.to<wide>();
    opgen::cpu_kernel(*this, [slope](scalar_t x) -> scalar_t {
      const wide w = static_cast<wide>(x);
      // Both are computed, so that compilers vectorise the loop.
      const auto y = static_cast<scalar_t>(w * slope);
      return w > 0 ? x : y;
    });
  });
}

OPGEN_META_FUNC(silu)(const Tensor& self) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(silu_out)(const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(common_dtype(), "silu", [&] {
    if constexpr (is_float_v<scalar_t>) {
      opgen::cpu_kernel_vec<scalar_t>(*this, vectors::silu());
      return;
    }
    opgen::cpu_kernel(*this, [](scalar_t x) -> scalar_t {
      auto w = widen(x);
      return narrowed<scalar_t>(w / (decltype(w)(1) + std::exp(-w)));
    });
  });
}

OPGEN_META_FUNC(gelu)(const Tensor& self, std::string_view approximate) {
  OPGEN_CHECK(approximate == "none" || approximate == "tanh",
              "approximate argument must be either none or tanh.");
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(gelu_out_cpu)(const Tensor&, std::string_view approximate, const Tensor& /*out*/) {
  const bool by_tanh = approximate == "tanh";
  OPGEN_DISPATCH_FLOATING(common_dtype(), "gelu", [&] {
    if (by_tanh) {
      opgen::cpu_kernel_vec<scalar_t>(*this, vectors::gelu_tanh());
    } else {
      opgen::cpu_kernel_vec<scalar_t>(*this, vectors::form_of<scalar_t>(vectors::gelu()));
    }
  });
}

OPGEN_META_FUNC(elu)
(const Tensor& self, const Scalar& /*alpha*/, const Scalar& /*scale*/,
 const Scalar& /*input_scale*/) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(elu_out)
(const Tensor&, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
 const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING(common_dtype(), "elu", [&] {
    using wide = wide_t<scalar_t>;
    const wide above = scale.to<wide>(), inner = input_scale.to<wide>();
    const wide below = alpha.to<wide>() * above;
    opgen::cpu_kernel_vec<scalar_t>(*this, vectors::Elu<wide>{inner, below, above});
  });
}

OPGEN_META_FUNC(mish)(const Tensor& self) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(mish_out)(const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING(common_dtype(), "mish",
                          [&] { opgen::cpu_kernel_vec<scalar_t>(*this, vectors::mish()); });
}

OPGEN_META_FUNC(softplus)
(const Tensor& self, const Scalar& /*beta*/, const Scalar& /*threshold*/) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(softplus_out)
(const Tensor&, const Scalar& beta, const Scalar& threshold, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING(common_dtype(), "softplus", [&] {
    using wide = wide_t<scalar_t>;
    const wide steepness = beta.to<wide>(), linear_from = threshold.to<wide>();
    opgen::cpu_kernel_vec<scalar_t>(*this, vectors::Softplus<wide>{steepness, linear_from});
  });
}

namespace {

Tensor& hardswish_into(Tensor& out, const Tensor& self) {
  TensorIterator iter = TensorIterator::unary_op(out, self);
  if (out.is_meta()) return out;
  OPGEN_DISPATCH_FLOATING(iter.common_dtype(), "hardswish",
                          [&] { opgen::cpu_kernel_vec<scalar_t>(iter, vectors::Hardswish()); });
  return out;
}

void check_hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  OPGEN_CHECK(self.scalar_type() != kBool, "Bool inputs not supported for hardtanh");
  OPGEN_CHECK(self.scalar_type() != kByte || min_val.toDouble() > -1,
              "cannot do hardtanh on an unsigned type with negative limits");
  OPGEN_CHECK(min_val.toDouble() <= max_val.toDouble(), "min_val cannot be greater than max_val");
}

// The limits have the dtype of the tensor, so that the result has it, too.
Scalar limit_for(const Tensor& self, const Scalar& limit) {
  return isIntegralType(self.scalar_type(), /*include_bool=*/false) ? Scalar(limit.to<int64_t>())
                                                                    : limit;
}

}  // namespace

OPGEN_KERNEL(hardswish)(const Tensor& self) {
  Tensor out = opgen::empty({0}, self.options());
  return hardswish_into(out, self);
}
OPGEN_KERNEL(hardswish_)(Tensor& self) {
  return hardswish_into(self, self);
}
OPGEN_KERNEL(hardswish_out)(const Tensor& self, Tensor& out) {
  return hardswish_into(out, self);
}

OPGEN_KERNEL(hardtanh_out)
(const Tensor& self, const Scalar& min_val, const Scalar& max_val, Tensor& out) {
  check_hardtanh(self, min_val, max_val);
  return at::clamp_out(out, self, limit_for(self, min_val), limit_for(self, max_val));
}
OPGEN_KERNEL(hardtanh)(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  Tensor out = opgen::empty({0}, self.options());
  return at::hardtanh_out(out, self, min_val, max_val);
}
OPGEN_KERNEL(hardtanh_)(Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  return at::hardtanh_out(self, self, min_val, max_val);
}

// ---- Thresholds ----

OPGEN_META_FUNC(threshold)
(const Tensor& self, const Scalar& /*threshold*/, const Scalar& /*value*/) {
  opgen::TensorIteratorConfig config;
  config.add_output(maybe_get_output())
      .add_const_input(self)
      .promote_inputs_to_common_dtype(true)
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true)
      .allow_cpu_scalars(true);
  build(config);
}
OPGEN_IMPL_FUNC(threshold_out)
(const Tensor&, const Scalar& threshold, const Scalar& value, const Tensor& /*out*/) {
  OPGEN_DISPATCH_REAL(common_dtype(), "threshold", [&] {
    using wide = wide_t<scalar_t>;
    const wide limit = static_cast<wide>(threshold.to<scalar_t>());
    const scalar_t other = value.to<scalar_t>();
    // Compilers vectorise the conversions of bfloat16, but not those of half.
    if constexpr (std::is_same_v<scalar_t, Half>) {
      opgen::cpu_kernel_vec<scalar_t>(*this, [=, other = static_cast<wide>(other)](auto x) {
        using V = decltype(x);
        return select(x <= V(limit), V(other), x);
      });
      return;
    }
    opgen::cpu_kernel(*this, [=](scalar_t x) -> scalar_t {
      return either(static_cast<wide>(x) <= limit, other, x);
    });
  });
}

OPGEN_META_FUNC(hardshrink)(const Tensor& self, const Scalar& /*lambd*/) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(hardshrink_out)(const Tensor&, const Scalar& lambd, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING(common_dtype(), "hardshrink", [&] {
    using wide = wide_t<scalar_t>;
    const wide limit = static_cast<wide>(lambd.to<scalar_t>());
    opgen::cpu_kernel(*this, [limit](scalar_t x) -> scalar_t {
      const wide w = static_cast<wide>(x);
      return w >= -limit && w <= limit ? scalar_t(0) : x;
    });
  });
}

OPGEN_META_FUNC(softshrink)(const Tensor& self, const Scalar& lambd) {
  OPGEN_CHECK(lambd.to<double>() >= 0, "lambda must be greater or equal to 0, but found to be ",
              lambd.to<double>(), ".");
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(softshrink_out)(const Tensor&, const Scalar& lambd, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING(common_dtype(), "softshrink", [&] {
    using wide = wide_t<scalar_t>;
    const wide limit = static_cast<wide>(lambd.to<scalar_t>());
    opgen::cpu_kernel(*this, [limit](scalar_t element) -> scalar_t {
      const wide x = static_cast<wide>(element);
      // NaN stays NaN.
      return static_cast<scalar_t>(x > limit ? x - limit : x < -limit ? x + limit : x * wide(0));
    });
  });
}

OPGEN_META_FUNC(hardsigmoid)(const Tensor& self) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(hardsigmoid_out)(const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING(common_dtype(), "hardsigmoid",
                          [&] { opgen::cpu_kernel_vec<scalar_t>(*this, vectors::Hardsigmoid()); });
}

// ---- Composites of the above ----

OPGEN_KERNEL(celu)(const Tensor& self, const Scalar& alpha) {
  OPGEN_CHECK(alpha.to<double>() != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
  return at::elu(self, alpha, 1, Scalar(1 / alpha.to<double>()));
}
OPGEN_KERNEL(celu_)(Tensor& self, const Scalar& alpha) {
  OPGEN_CHECK(alpha.to<double>() != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
  return at::elu_(self, alpha, 1, Scalar(1 / alpha.to<double>()));
}

namespace {

// With these, a layer keeps the mean 0 and the variance 1 of its input.
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

}  // namespace

OPGEN_KERNEL(selu)(const Tensor& self) {
  return at::elu(self, kSeluAlpha, kSeluScale, 1);
}
OPGEN_KERNEL(selu_)(Tensor& self) {
  return at::elu_(self, kSeluAlpha, kSeluScale, 1);
}
OPGEN_KERNEL(relu6)(const Tensor& self) {
  return at::hardtanh(self, 0, 6);
}
OPGEN_KERNEL(relu6_)(Tensor& self) {
  return at::hardtanh_(self, 0, 6);
}

// ---- prelu ----

OPGEN_KERNEL(_prelu_kernel)(const Tensor& self, const Tensor& weight) {
  OPGEN_CHECK(self.scalar_type() == weight.scalar_type(),
              "prelu: Type promoting not supported. Got ", self.scalar_type(), " and ",
              weight.scalar_type());
  Tensor out = opgen::empty_like(self);
  TensorIterator iter = TensorIterator::binary_op(out, self, weight);
  if (out.is_meta()) return out;
  OPGEN_DISPATCH_FLOATING(iter.common_dtype(), "prelu", [&] {
    using wide = wide_t<scalar_t>;
    opgen::cpu_kernel(iter, [](scalar_t x, scalar_t slope) -> scalar_t {
      const wide w = static_cast<wide>(x);
      const auto y = static_cast<scalar_t>(w * static_cast<wide>(slope));
      return w > 0 ? x : y;
    });
  });
  return out;
}
OPGEN_KERNEL(prelu)(const Tensor& self, const Tensor& weight) {
  OPGEN_CHECK(self.scalar_type() == weight.scalar_type(),
              "prelu: Type promoting not supported. Got ", self.scalar_type(), " and ",
              weight.scalar_type());
  if (weight.numel() != 1) {
    OPGEN_CHECK(self.dim() > 0, "Not allow zero-dim input tensor.");
    const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
    OPGEN_CHECK(weight.numel() == channels,
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
                weight.numel(), " and channel size = ", channels, ".");
  }
  OPGEN_CHECK(
      weight.dim() <= 1,
      "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  if (self.dim() == weight.dim()) return at::_prelu_kernel(self, weight);
  DimVector shape(static_cast<size_t>(self.dim()), 1);
  if (self.dim() > 1) shape[1] = weight.numel();
  return at::_prelu_kernel(self, weight.reshape(shape));
}

// ---- glu, log_sigmoid ----

OPGEN_META_FUNC(glu)(const Tensor& self, int64_t dim) {
  OPGEN_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  const int64_t along = wrap_dim(dim, self.dim()), size = self.size(along);
  OPGEN_CHECK(size % 2 == 0, "Halving dimension must be even, but dimension ", along, " is size ",
              size);
  build_binary_op(maybe_get_output(), self.narrow(along, 0, size / 2),
                  self.narrow(along, size / 2, size / 2));
}
OPGEN_IMPL_FUNC(glu_out)(const Tensor&, int64_t /*dim*/, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING(common_dtype(), "glu",
                          [&] { opgen::cpu_kernel_vec<scalar_t>(*this, vectors::Glu()); });
}

namespace {

void log_sigmoid_into(Tensor& out, const Tensor& self) {
  TensorIterator iter = TensorIterator::unary_op(out, self);
  if (out.is_meta()) return;
  OPGEN_DISPATCH_FLOATING(iter.common_dtype(), "log_sigmoid",
                          [&] { opgen::cpu_kernel_vec<scalar_t>(iter, vectors::LogSigmoid()); });
}

}  // namespace

OPGEN_KERNEL(log_sigmoid)(const Tensor& self) {
  Tensor out = opgen::empty(self.sizes(), self.options());
  log_sigmoid_into(out, self);
  return out;
}
OPGEN_KERNEL(log_sigmoid_out)(const Tensor& self, Tensor& out) {
  OPGEN_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"log_sigmoid\" not implemented for '",
                              self.scalar_type(), "'");
  OPGEN_CHECK(out.scalar_type() == self.scalar_type(), "expected scalar type ", self.scalar_type(),
              " but found ", out.scalar_type());
  check_same_device("log_sigmoid", self, out);
  resize_out(out, self.sizes());
  log_sigmoid_into(out, self);
  return out;
}

// ---- softmax ----

OPGEN_META_FUNC(_softmax)(const Tensor& self, int64_t dim, bool half_to_float) {
  OPGEN_CHECK(!half_to_float, "softmax with half to float conversion is not supported on CPU");
  wrap_dim(dim, self.dim());
  set_output_raw_strided(0, self.sizes(), {},
                         self.options().memory_format(MemoryFormat::Contiguous));
}
OPGEN_IMPL_FUNC(softmax_cpu_out)
(const Tensor& self, int64_t dim, bool /*half_to_float*/, const Tensor& out) {
  if (self.numel() == 0) return;
  dim = wrap_dim(dim, self.dim());
  OPGEN_DISPATCH_FLOATING(self.scalar_type(), "softmax",
                          [&] { opgen::cpu_softmax<scalar_t>(out, self, dim); });
}

OPGEN_KERNEL(softmax)(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return at::_softmax(in_dtype(self, dtype.value_or(self.scalar_type())), dim, false);
}
OPGEN_KERNEL(softmax_out)
(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, Tensor& out) {
  return at::_softmax_out(out, in_dtype(self, dtype.value_or(self.scalar_type())), dim, false);
}

// ---- log_softmax ----

OPGEN_META_FUNC(_log_softmax)(const Tensor& self, int64_t dim, bool half_to_float) {
  OPGEN_CHECK(!half_to_float, "log_softmax with half to float conversion is not supported on CPU");
  wrap_dim(dim, self.dim());
  set_output_raw_strided(0, self.sizes(), {},
                         self.options().memory_format(MemoryFormat::Contiguous));
}
OPGEN_IMPL_FUNC(log_softmax_cpu_out)
(const Tensor& self, int64_t dim, bool /*half_to_float*/, const Tensor& out) {
  if (self.numel() == 0) return;
  dim = wrap_dim(dim, self.dim());
  OPGEN_DISPATCH_FLOATING(self.scalar_type(), "log_softmax",
                          [&] { opgen::cpu_log_softmax<scalar_t>(out, self, dim); });
}

OPGEN_KERNEL(log_softmax)(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return at::_log_softmax(in_dtype(self, dtype.value_or(self.scalar_type())), dim, false);
}
OPGEN_KERNEL(log_softmax_out)
(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, Tensor& out) {
  return at::_log_softmax_out(out, in_dtype(self, dtype.value_or(self.scalar_type())), dim, false);
}
