// gradients_pointwise.cpp: gradients of activations and of dropout.
#include <opgen/kernel.h>

#include <aten/ops/_softmax_backward_data_meta.h>
#include <aten/ops/_softmax_backward_data_native.h>
#include <aten/ops/gelu_backward_meta.h>
#include <aten/ops/gelu_backward_native.h>
#include <aten/ops/leaky_relu_backward_meta.h>
#include <aten/ops/leaky_relu_backward_native.h>
#include <aten/ops/mul.h>
#include <aten/ops/native_dropout_backward_native.h>
#include <aten/ops/sgn_meta.h>
#include <aten/ops/sgn_native.h>
#include <aten/ops/sigmoid_backward_meta.h>
#include <aten/ops/sigmoid_backward_native.h>
#include <aten/ops/silu_backward_meta.h>
#include <aten/ops/silu_backward_native.h>
#include <aten/ops/tanh_backward_meta.h>
#include <aten/ops/tanh_backward_native.h>
#include <aten/ops/threshold_backward_meta.h>
#include <aten/ops/threshold_backward_native.h>

#include <opgen/cpu/softmax.h>

#include "common.h"
#include "devices.h"

using namespace kernels;

namespace {

template <class W>
W conjugate(W w) {
  if constexpr (is_complex_v<W>) {
    return std::conj(w);
  } else {
    return w;
  }
}

// x / |x|, and 0 for 0.
template <class T>
T direction_of(T x) {
  if constexpr (is_complex_v<T>) {
    const auto w = widen(x);
    const auto modulus = std::abs(w);
    return modulus == 0 ? T(0) : narrowed<T>(w / modulus);
  } else {
    return sign_of(x);
  }
}

}  // namespace

// ---- sgn ----

OPGEN_META_FUNC(sgn)(const Tensor& self) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(sgn_out)(const Tensor& /*self*/, const Tensor& /*out*/) {
  OPGEN_DISPATCH_ALL(common_dtype(), "sgn", [&] {
    opgen::cpu_kernel(*this, [](scalar_t x) -> scalar_t { return direction_of(x); });
  });
}

// ---- Activations: the gradient of the result comes first, as an operand ----

OPGEN_META_FUNC(threshold_backward)
(const Tensor& grad_output, const Tensor& self, const Scalar& /*threshold*/) {
  build_borrowing_binary_op(maybe_get_output(), self, grad_output);
}
OPGEN_IMPL_FUNC(threshold_backward_out)
(const Tensor&, const Tensor&, const Scalar& threshold, const Tensor& /*grad_input*/) {
  OPGEN_DISPATCH_REAL(common_dtype(), "threshold_backward", [&] {
    const scalar_t limit = threshold.to<scalar_t>();
    // Compilers vectorise the conversions of bfloat16, but not those of half.
    if constexpr (std::is_same_v<scalar_t, Half>) {
      opgen::cpu_kernel_vec<scalar_t>(*this, [limit = static_cast<float>(limit)](auto x, auto g) {
        using V = decltype(x);
        return select(x <= V(limit), V(0.0f), g);
      });
      return;
    }
    opgen::cpu_kernel(*this, [limit](scalar_t x, scalar_t g) -> scalar_t {
      return x <= limit ? scalar_t(0) : g;
    });
  });
}

OPGEN_META_FUNC(leaky_relu_backward)
(const Tensor& grad_output, const Tensor& self, const Scalar& negative_slope, bool self_is_result) {
  OPGEN_CHECK(
      !self_is_result || negative_slope.to<double>() >= 0,
      "leaky_relu_backward: with a negative slope, the result does not tell the sign of the "
      "argument; got negative_slope=",
      negative_slope.to<double>());
  build_borrowing_binary_op(maybe_get_output(), self, grad_output);
}
OPGEN_IMPL_FUNC(leaky_relu_backward_out)
(const Tensor&, const Tensor&, const Scalar& negative_slope, bool /*self_is_result*/,
 const Tensor& /*grad_input*/) {
  OPGEN_DISPATCH_FLOATING(common_dtype(), "leaky_relu_backward", [&] {
    using wide = wide_t<scalar_t>;
    const wide slope = negative_slope.to<wide>();
    opgen::cpu_kernel(*this, [slope](scalar_t x, scalar_t g) -> scalar_t {
      return static_cast<wide>(x) > 0 ? g : static_cast<scalar_t>(static_cast<wide>(g) * slope);
    });
  });
}

OPGEN_META_FUNC(silu_backward)(const Tensor& grad_output, const Tensor& self) {
  build_borrowing_binary_op(maybe_get_output(), grad_output, self);
}
OPGEN_IMPL_FUNC(silu_backward_out)(const Tensor&, const Tensor&, const Tensor& /*grad_input*/) {
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(common_dtype(), "silu_backward", [&] {
    opgen::cpu_kernel(*this, [](scalar_t g, scalar_t x) -> scalar_t {
      const auto w = widen(x);
      using wide = std::remove_const_t<decltype(w)>;
      const wide s = wide(1) / (wide(1) + std::exp(-w));
      return narrowed<scalar_t>(widen(g) * (s * (wide(1) + w * (wide(1) - s))));
    });
  });
}

OPGEN_META_FUNC(gelu_backward)
(const Tensor& grad_output, const Tensor& self, std::string_view approximate) {
  OPGEN_CHECK(approximate == "none" || approximate == "tanh",
              "approximate argument must be either none or tanh.");
  build_borrowing_binary_op(maybe_get_output(), grad_output, self);
}
OPGEN_IMPL_FUNC(gelu_backward_out_cpu)
(const Tensor&, const Tensor&, std::string_view approximate, const Tensor& /*grad_input*/) {
  const bool by_tanh = approximate == "tanh";
  OPGEN_DISPATCH_FLOATING(common_dtype(), "gelu_backward", [&] {
    using wide = wide_t<scalar_t>;
    constexpr wide sqrt_half = static_cast<wide>(0.70710678118654752440);
    constexpr wide sqrt_two_over_pi = static_cast<wide>(0.79788456080286535588);
    constexpr wide density_at_0 = static_cast<wide>(0.39894228040143267794);
    constexpr wide cubic = static_cast<wide>(0.044715);
    opgen::cpu_kernel(*this, [by_tanh](scalar_t g, scalar_t element) -> scalar_t {
      const wide x = static_cast<wide>(element);
      if (!by_tanh) {
        // The distribution function of the normal distribution, and x times its density.
        const wide below = std::erfc(-x * sqrt_half) / 2;
        const wide density = density_at_0 * std::exp(-x * x / 2);
        return static_cast<scalar_t>(static_cast<wide>(g) * (below + x * density));
      }
      const wide t = std::tanh(sqrt_two_over_pi * (x + cubic * x * x * x));
      const wide inner = sqrt_two_over_pi * (1 + 3 * cubic * x * x);
      return static_cast<scalar_t>(static_cast<wide>(g) *
                                   ((1 + t) / 2 + x * (1 - t * t) * inner / 2));
    });
  });
}

OPGEN_META_FUNC(sigmoid_backward)(const Tensor& grad_output, const Tensor& output) {
  build_borrowing_binary_op(maybe_get_output(), grad_output, output);
}
OPGEN_IMPL_FUNC(sigmoid_backward_out)(const Tensor&, const Tensor&, const Tensor& /*grad_input*/) {
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(common_dtype(), "sigmoid_backward", [&] {
    opgen::cpu_kernel(*this, [](scalar_t g, scalar_t y) -> scalar_t {
      auto w = widen(y);
      return narrowed<scalar_t>(times(widen(g), conjugate(times(decltype(w)(1) - w, w))));
    });
  });
}

OPGEN_META_FUNC(tanh_backward)(const Tensor& grad_output, const Tensor& output) {
  build_borrowing_binary_op(maybe_get_output(), grad_output, output);
}
OPGEN_IMPL_FUNC(tanh_backward_out)(const Tensor&, const Tensor&, const Tensor& /*grad_input*/) {
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(common_dtype(), "tanh_backward", [&] {
    opgen::cpu_kernel(*this, [](scalar_t g, scalar_t y) -> scalar_t {
      auto w = widen(y);
      return narrowed<scalar_t>(times(widen(g), conjugate(decltype(w)(1) - times(w, w))));
    });
  });
}

// ---- softmax: y (g - sum of g y) ----

OPGEN_META_FUNC(_softmax_backward_data)
(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype) {
  wrap_dim(dim, grad_output.dim());
  OPGEN_CHECK(same_sizes(grad_output.sizes(), output.sizes()),
              "_softmax_backward_data: expected grad_output and output of the same sizes, got ",
              grad_output.sizes(), " and ", output.sizes());
  check_same_device("_softmax_backward_data", grad_output, output);
  OPGEN_CHECK(grad_output.numel() == 0 || grad_output.scalar_type() == output.scalar_type(),
              "_softmax_backward_data: expected grad_output and output of one dtype, got ",
              grad_output.scalar_type(), " and ", output.scalar_type());
  // A gradient in float of a softmax of half precision becomes half again.
  TensorOptions options = grad_output.options();
  if (grad_output.scalar_type() == kFloat && input_dtype == kHalf) options = options.dtype(kHalf);
  set_output_raw_strided(0, grad_output.sizes(), {},
                         options.memory_format(MemoryFormat::Contiguous));
}
OPGEN_IMPL_FUNC(softmax_backward_cpu_out)
(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType /*input_dtype*/,
 const Tensor& grad_input) {
  if (grad_output.numel() == 0) return;
  OPGEN_CHECK(grad_input.scalar_type() == output.scalar_type(),
              "_softmax_backward_data: expected tensors of one dtype, got ", output.scalar_type(),
              " and ", grad_input.scalar_type());
  dim = wrap_dim(dim, grad_output.dim());
  OPGEN_DISPATCH_FLOATING(output.scalar_type(), "_softmax_backward_data", [&] {
    opgen::cpu_softmax_backward<scalar_t>(grad_input, grad_output, output, dim);
  });
}

// ---- dropout ----

OPGEN_KERNEL(native_dropout_backward)
(const Tensor& grad_output, const Tensor& mask, double scale) {
  return at::mul(at::mul(grad_output, mask), Scalar(scale));
}
