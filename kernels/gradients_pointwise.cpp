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

#include <opgen/cpu/row_buffers.h>

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
namespace {

// Adjacent lines that are computed together.
constexpr int64_t kLines = 256;

// Adds g * y to `sums`, or to the only one for a line of adjacent elements.
template <class T>
void add_products(const T* g, const T* y, int64_t n, T* sums) {
  for (int64_t k = 0; k < n; ++k) sums[k] += g[k] * y[k];
}
template <class T>
T sum_of_line(const T* g, const T* y, int64_t n) {
  constexpr int64_t lanes = 8;
  T sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (int64_t k = 0; k < lanes; ++k) sums[k] += g[i + k] * y[i + k];
  }
  for (int64_t k = 0; i < n; ++i, ++k) sums[k] += g[i] * y[i];
  T total = 0;
  for (T sum : sums) total += sum;
  return total;
}

// The gradients of a line, or of up to kLines lines that lie next to each other in memory, where
// `steps` are the strides of the softmax's dimension.
template <class T>
void softmax_backward_lines(const T* g, const T* y, T* to, int64_t count, int64_t lines,
                            const std::array<int64_t, 3>& steps) {
  using wide = wide_t<T>;
  wide sums[kLines] = {}, g_buffer[kLines], y_buffer[kLines];
  const auto g_row = [&](int64_t i) {
    return opgen::row_as<wide>(g + i * steps[0], lines, g_buffer);
  };
  const auto y_row = [&](int64_t i) {
    return opgen::row_as<wide>(y + i * steps[1], lines, y_buffer);
  };
  for (int64_t i = 0; i < count; ++i) add_products(g_row(i), y_row(i), lines, sums);
  for (int64_t i = 0; i < count; ++i) {
    const wide *x = g_row(i), *z = y_row(i);
    wide results[kLines];
    for (int64_t k = 0; k < lines; ++k) results[k] = (x[k] - sums[k]) * z[k];
    opgen::store_row_as(to + i * steps[2], results, lines);
  }
}
template <class T>
void softmax_backward_line(const T* g, const T* y, T* to, int64_t count) {
  using wide = wide_t<T>;
  wide g_buffer[kLines], y_buffer[kLines], results[kLines], sum = 0;
  for (int64_t i = 0; i < count; i += kLines) {
    const int64_t n = std::min(kLines, count - i);
    sum += sum_of_line(opgen::row_as<wide>(g + i, n, g_buffer),
                       opgen::row_as<wide>(y + i, n, y_buffer), n);
  }
  for (int64_t i = 0; i < count; i += kLines) {
    const int64_t n = std::min(kLines, count - i);
    const wide* x = opgen::row_as<wide>(g + i, n, g_buffer);
    const wide* z = opgen::row_as<wide>(y + i, n, y_buffer);
    for (int64_t k = 0; k < n; ++k) results[k] = (x[k] - sum) * z[k];
    opgen::store_row_as(to + i, results, n);
  }
}

template <class T>
void softmax_backward_into(const Tensor& grad_output, const Tensor& output, int64_t dim,
                           const Tensor& grad_input) {
  const std::array<const Tensor*, 3> tensors = {&grad_output, &output, &grad_input};
  const int64_t ndim = grad_output.dim();
  DimVector sizes(grad_output.sizes());
  std::array<IntArrayRef, 3> strides;
  std::array<int64_t, 3> steps = {1, 1, 1};
  for (size_t k = 0; k < 3; ++k) {
    strides[k] = tensors[k]->strides();
    if (ndim != 0) steps[k] = strides[k][static_cast<size_t>(dim)];
  }
  const auto adjacent = [&](int64_t d) {
    return std::all_of(tensors.begin(), tensors.end(),
                       [d](const Tensor* tensor) { return tensor->stride(d) == 1; });
  };
  const int64_t count = ndim == 0 ? 1 : sizes[static_cast<size_t>(dim)];
  const bool is_line = ndim == 0 || adjacent(dim);
  // The dimension in which lines lie next to each other.
  int64_t across = -1;
  for (int64_t d = 0; d < ndim; ++d) {
    if (!is_line && d != dim && sizes[static_cast<size_t>(d)] > 1 && adjacent(d)) across = d;
  }
  const int64_t width = across < 0 ? 1 : sizes[static_cast<size_t>(across)];
  if (ndim != 0) sizes[static_cast<size_t>(dim)] = 1;
  if (across >= 0) sizes[static_cast<size_t>(across)] = 1;
  const T* g = grad_output.const_data_ptr<T>();
  const T* y = output.const_data_ptr<T>();
  T* to = grad_input.mutable_data_ptr<T>();
  for_each_index<3>(
      sizes, strides,
      [&](const std::array<int64_t, 3>& at) {
        if (is_line) return softmax_backward_line(g + at[0], y + at[1], to + at[2], count);
        for (int64_t k = 0; k < width; k += kLines) {
          softmax_backward_lines(g + at[0] + k, y + at[1] + k, to + at[2] + k, count,
                                 std::min(kLines, width - k), steps);
        }
      },
      count * width);
}

}  // namespace

OPGEN_IMPL_FUNC(softmax_backward_cpu_out)
(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType /*input_dtype*/,
 const Tensor& grad_input) {
  if (grad_output.numel() == 0) return;
  OPGEN_CHECK(grad_input.scalar_type() == output.scalar_type(),
              "_softmax_backward_data: expected tensors of one dtype, got ", output.scalar_type(),
              " and ", grad_input.scalar_type());
  dim = wrap_dim(dim, grad_output.dim());
  OPGEN_DISPATCH_FLOATING(output.scalar_type(), "_softmax_backward_data", [&] {
    softmax_backward_into<scalar_t>(opgen::contiguous(grad_output), opgen::contiguous(output), dim,
                                    grad_input);
  });
}

// ---- dropout ----

OPGEN_KERNEL(native_dropout_backward)
(const Tensor& grad_output, const Tensor& mask, double scale) {
  return at::mul(at::mul(grad_output, mask), Scalar(scale));
}
