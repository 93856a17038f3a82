// pointwise.cpp: the loops of pocket's structured pointwise operators. The classes derive from
// ATen's meta functions, which determine shapes and dtypes and check arguments.

#include <ATen/OpMathType.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/Pow.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/sum.h>
#include <opgen/dispatch_macros.h>
#include <opgen/kernel_macros.h>
#include <pocket/ops/add_native.h>
#include <pocket/ops/addcdiv_native.h>
#include <pocket/ops/addcmul_native.h>
#include <pocket/ops/clamp_max_native.h>
#include <pocket/ops/clamp_min_native.h>
#include <pocket/ops/clamp_native.h>
#include <pocket/ops/cos_native.h>
#include <pocket/ops/div_native.h>
#include <pocket/ops/eq_native.h>
#include <pocket/ops/erf_native.h>
#include <pocket/ops/exp_native.h>
#include <pocket/ops/floor_native.h>
#include <pocket/ops/ge_native.h>
#include <pocket/ops/gelu_native.h>
#include <pocket/ops/gt_native.h>
#include <pocket/ops/le_native.h>
#include <pocket/ops/leaky_relu_native.h>
#include <pocket/ops/lerp_native.h>
#include <pocket/ops/log_native.h>
#include <pocket/ops/lt_native.h>
#include <pocket/ops/maximum_native.h>
#include <pocket/ops/minimum_native.h>
#include <pocket/ops/mse_loss_native.h>
#include <pocket/ops/mul_native.h>
#include <pocket/ops/ne_native.h>
#include <pocket/ops/neg_native.h>
#include <pocket/ops/pow_native.h>
#include <pocket/ops/reciprocal_native.h>
#include <pocket/ops/rsqrt_native.h>
#include <pocket/ops/sigmoid_backward_native.h>
#include <pocket/ops/sigmoid_native.h>
#include <pocket/ops/silu_backward_native.h>
#include <pocket/ops/silu_native.h>
#include <pocket/ops/sin_native.h>
#include <pocket/ops/sqrt_native.h>
#include <pocket/ops/sub_native.h>
#include <pocket/ops/tanh_backward_native.h>
#include <pocket/ops/tanh_native.h>
#include <pocket/ops/threshold_backward_native.h>
#include <pocket/ops/threshold_native.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

#include "device.h"

namespace pocket {

namespace {

// The type for computations: float for Half and BFloat16, and the dtype itself for all others.
template <class T>
using Math = at::opmath_type<T>;

// A loop whose function computes in Math<T> and rounds each element to T.
template <class T, class F>
void unary(at::TensorIteratorBase& iter, F function) {
  pointwise(iter, [function](T a) -> T { return static_cast<T>(function(Math<T>(a))); });
}
template <class T, class F>
void binary(at::TensorIteratorBase& iter, F function) {
  pointwise(iter,
            [function](T a, T b) -> T { return static_cast<T>(function(Math<T>(a), Math<T>(b))); });
}
template <class T, class F>
void ternary(at::TensorIteratorBase& iter, F function) {
  pointwise(iter, [function](T a, T b, T c) -> T {
    return static_cast<T>(function(Math<T>(a), Math<T>(b), Math<T>(c)));
  });
}

template <class F>
void floating(at::TensorIteratorBase& iter, const char* name, F function) {
  opgen::dispatch<opgen::FloatingTypes>(iter.common_dtype(), name,
                                        [&]<class scalar_t> { unary<scalar_t>(iter, function); });
}

template <class T>
bool is_nan(T value) {
  return value != value;
}

}  // namespace

// Arithmetic.

// The meta function checks alpha against the dtype of out=, which only on the CPU is the common
// dtype.
OPGEN_IMPL_FUNC(add_out)(const Tensor&, const Tensor&, const Scalar& alpha, const Tensor&) {
  at::native::alpha_check(common_dtype(), alpha);
  opgen::dispatch<opgen::NumberTypes, bool>(common_dtype(), "add", [&]<class scalar_t> {
    const auto factor = alpha.to<Math<scalar_t>>();
    binary<scalar_t>(*this, [factor](auto a, auto b) { return a + factor * b; });
  });
}
OPGEN_IMPL_FUNC(sub_out)(const Tensor&, const Tensor&, const Scalar& alpha, const Tensor&) {
  at::native::alpha_check(common_dtype(), alpha);
  opgen::dispatch<opgen::NumberTypes, bool>(common_dtype(), "sub", [&]<class scalar_t> {
    const auto factor = alpha.to<Math<scalar_t>>();
    binary<scalar_t>(*this, [factor](auto a, auto b) { return a - factor * b; });
  });
}
OPGEN_IMPL_FUNC(mul_out)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<opgen::NumberTypes, bool>(common_dtype(), "mul", [&]<class scalar_t> {
    binary<scalar_t>(*this, [](auto a, auto b) { return a * b; });
  });
}
OPGEN_IMPL_FUNC(div_out)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<opgen::FloatingTypes, opgen::ComplexTypes>(
      common_dtype(), "div",
      [&]<class scalar_t> { binary<scalar_t>(*this, [](auto a, auto b) { return a / b; }); });
}
OPGEN_IMPL_FUNC(neg_out)(const Tensor&, const Tensor&) {
  opgen::dispatch<opgen::NumberTypes>(common_dtype(), "neg", [&]<class scalar_t> {
    unary<scalar_t>(*this, [](auto a) { return -a; });
  });
}
OPGEN_IMPL_FUNC(maximum_out)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<opgen::RealTypes, bool>(common_dtype(), "maximum", [&]<class scalar_t> {
    binary<scalar_t>(*this, [](auto a, auto b) { return is_nan(a) || a > b ? a : b; });
  });
}
OPGEN_IMPL_FUNC(minimum_out)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<opgen::RealTypes, bool>(common_dtype(), "minimum", [&]<class scalar_t> {
    binary<scalar_t>(*this, [](auto a, auto b) { return is_nan(a) || a < b ? a : b; });
  });
}
OPGEN_IMPL_FUNC(pow_Tensor_Tensor_out)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<opgen::RealTypes>(common_dtype(), "pow", [&]<class scalar_t> {
    binary<scalar_t>(*this, [](auto a, auto b) {
      if constexpr (std::is_integral_v<decltype(a)>)
        return at::native::powi(a, b);
      else
        return std::pow(a, b);
    });
  });
}
OPGEN_IMPL_FUNC(pow_Tensor_Scalar_out)(const Tensor&, const Scalar& exponent, const Tensor&) {
  opgen::dispatch<opgen::RealTypes, bool>(common_dtype(), "pow", [&]<class scalar_t> {
    const auto power = exponent.to<Math<scalar_t>>();
    unary<scalar_t>(*this, [power](auto a) {
      if constexpr (std::is_same_v<decltype(a), bool>)
        return a || !power;
      else if constexpr (std::is_integral_v<decltype(a)>)
        return at::native::powi(a, power);
      else
        return std::pow(a, power);
    });
  });
}

// Functions.

OPGEN_IMPL_FUNC(exp_out)(const Tensor&, const Tensor&) {
  floating(*this, "exp", [](auto a) { return std::exp(a); });
}
OPGEN_IMPL_FUNC(log_out)(const Tensor&, const Tensor&) {
  floating(*this, "log", [](auto a) { return std::log(a); });
}
OPGEN_IMPL_FUNC(sqrt_out)(const Tensor&, const Tensor&) {
  floating(*this, "sqrt", [](auto a) { return std::sqrt(a); });
}
OPGEN_IMPL_FUNC(rsqrt_out)(const Tensor&, const Tensor&) {
  floating(*this, "rsqrt", [](auto a) { return 1 / std::sqrt(a); });
}
OPGEN_IMPL_FUNC(reciprocal_out)(const Tensor&, const Tensor&) {
  floating(*this, "reciprocal", [](auto a) { return 1 / a; });
}
OPGEN_IMPL_FUNC(sin_out)(const Tensor&, const Tensor&) {
  floating(*this, "sin", [](auto a) { return std::sin(a); });
}
OPGEN_IMPL_FUNC(cos_out)(const Tensor&, const Tensor&) {
  floating(*this, "cos", [](auto a) { return std::cos(a); });
}
OPGEN_IMPL_FUNC(erf_out)(const Tensor&, const Tensor&) {
  floating(*this, "erf", [](auto a) { return std::erf(a); });
}
OPGEN_IMPL_FUNC(floor_out)(const Tensor&, const Tensor&) {
  opgen::dispatch<opgen::RealTypes>(common_dtype(), "floor", [&]<class scalar_t> {
    unary<scalar_t>(*this, [](auto a) {
      if constexpr (std::is_integral_v<decltype(a)>)
        return a;
      else
        return std::floor(a);
    });
  });
}
OPGEN_IMPL_FUNC(tanh_out)(const Tensor&, const Tensor&) {
  floating(*this, "tanh", [](auto a) { return std::tanh(a); });
}
OPGEN_IMPL_FUNC(tanh_backward_grad_input)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<opgen::FloatingTypes>(common_dtype(), "tanh_backward", [&]<class scalar_t> {
    binary<scalar_t>(*this, [](auto grad, auto tanh) { return grad * (1 - tanh * tanh); });
  });
}
OPGEN_IMPL_FUNC(sigmoid_out)(const Tensor&, const Tensor&) {
  floating(*this, "sigmoid", [](auto a) { return 1 / (1 + std::exp(-a)); });
}
OPGEN_IMPL_FUNC(sigmoid_backward_grad_input)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<opgen::FloatingTypes>(common_dtype(), "sigmoid_backward", [&]<class scalar_t> {
    binary<scalar_t>(*this, [](auto grad, auto output) { return grad * (1 - output) * output; });
  });
}

// Comparisons read elements in the common dtype and write bool.

#define POCKET_COMPARISON(name, compare)                                                 \
  OPGEN_IMPL_FUNC(name##_Tensor_out)(const Tensor&, const Tensor&, const Tensor&) {      \
    opgen::dispatch<opgen::RealTypes, bool>(common_dtype(), #name, [&]<class scalar_t> { \
      pointwise(*this, [](scalar_t a, scalar_t b) -> bool { return a compare b; });      \
    });                                                                                  \
  }                                                                                      \
  OPGEN_IMPL_FUNC(name##_Scalar_out)(const Tensor&, const Scalar&, const Tensor&) {      \
    opgen::dispatch<opgen::RealTypes, bool>(common_dtype(), #name, [&]<class scalar_t> { \
      pointwise(*this, [](scalar_t a, scalar_t b) -> bool { return a compare b; });      \
    });                                                                                  \
  }
POCKET_COMPARISON(eq, ==)
POCKET_COMPARISON(ne, !=)
POCKET_COMPARISON(lt, <)
POCKET_COMPARISON(le, <=)
POCKET_COMPARISON(gt, >)
POCKET_COMPARISON(ge, >=)
#undef POCKET_COMPARISON

// Functions for PyTorch's installed structured kernels, which do not change integers.

namespace {

void ceil(at::TensorIteratorBase& iter) {
  floating(iter, "ceil", [](auto a) { return std::ceil(a); });
}
void trunc(at::TensorIteratorBase& iter) {
  floating(iter, "trunc", [](auto a) { return std::trunc(a); });
}

}  // namespace

// Operators with three operands, and operators with one operand and numbers.

OPGEN_IMPL_FUNC(addcmul_out)
(const Tensor&, const Tensor&, const Tensor&, const Scalar& value, const Tensor&) {
  opgen::dispatch<opgen::NumberTypes>(common_dtype(), "addcmul", [&]<class scalar_t> {
    const auto factor = value.to<Math<scalar_t>>();
    ternary<scalar_t>(*this, [factor](auto a, auto b, auto c) { return a + factor * b * c; });
  });
}
OPGEN_IMPL_FUNC(addcdiv_out)
(const Tensor&, const Tensor&, const Tensor&, const Scalar& value, const Tensor&) {
  opgen::dispatch<opgen::FloatingTypes, opgen::ComplexTypes>(
      common_dtype(), "addcdiv", [&]<class scalar_t> {
        const auto factor = value.to<Math<scalar_t>>();
        ternary<scalar_t>(*this, [factor](auto a, auto b, auto c) { return a + factor * b / c; });
      });
}
OPGEN_IMPL_FUNC(lerp_Tensor_out)(const Tensor&, const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<opgen::FloatingTypes>(common_dtype(), "lerp", [&]<class scalar_t> {
    ternary<scalar_t>(*this, [](auto a, auto b, auto weight) {
      return std::abs(weight) < 0.5 ? a + weight * (b - a) : b - (b - a) * (1 - weight);
    });
  });
}
OPGEN_IMPL_FUNC(lerp_Scalar_out)
(const Tensor&, const Tensor&, const Scalar& scalar, const Tensor&) {
  opgen::dispatch<opgen::FloatingTypes>(common_dtype(), "lerp", [&]<class scalar_t> {
    const auto weight = scalar.to<Math<scalar_t>>();
    binary<scalar_t>(*this, [weight](auto a, auto b) {
      return std::abs(weight) < 0.5 ? a + weight * (b - a) : b - (b - a) * (1 - weight);
    });
  });
}
OPGEN_IMPL_FUNC(clamp_out)
(const Tensor&, OptionalScalarRef min, OptionalScalarRef max, const Tensor&) {
  opgen::dispatch<opgen::RealTypes>(common_dtype(), "clamp", [&]<class scalar_t> {
    using limits = std::numeric_limits<scalar_t>;
    const bool has_min = min.has_value();
    const bool has_max = max.has_value();
    const scalar_t low = has_min ? min.get().to<scalar_t>() : limits::lowest();
    const scalar_t high = has_max ? max.get().to<scalar_t>() : limits::max();
    const bool nan = is_nan(low) || is_nan(high);
    unary<scalar_t>(*this, [=](auto a) -> scalar_t {
      if (nan) return limits::quiet_NaN();
      if (has_min && a < low) a = low;
      return has_max && a > high ? high : scalar_t(a);
    });
  });
}
OPGEN_IMPL_FUNC(clamp_min_out)(const Tensor&, const Scalar& min, const Tensor&) {
  opgen::dispatch<opgen::RealTypes>(common_dtype(), "clamp_min", [&]<class scalar_t> {
    const Math<scalar_t> low = min.to<scalar_t>();
    unary<scalar_t>(*this, [low](auto a) { return is_nan(low) || a < low ? low : a; });
  });
}
OPGEN_IMPL_FUNC(clamp_max_out)(const Tensor&, const Scalar& max, const Tensor&) {
  opgen::dispatch<opgen::RealTypes>(common_dtype(), "clamp_max", [&]<class scalar_t> {
    const Math<scalar_t> high = max.to<scalar_t>();
    unary<scalar_t>(*this, [high](auto a) { return is_nan(high) || a > high ? high : a; });
  });
}

// Activations and losses.

OPGEN_IMPL_FUNC(threshold_out)
(const Tensor&, const Scalar& threshold, const Scalar& value, const Tensor&) {
  opgen::dispatch<opgen::RealTypes>(common_dtype(), "threshold", [&]<class scalar_t> {
    const Math<scalar_t> at_most = threshold.to<scalar_t>();
    const Math<scalar_t> instead = value.to<scalar_t>();
    binary<scalar_t>(*this, [=](auto a, auto) { return a <= at_most ? instead : a; });
  });
}
OPGEN_IMPL_FUNC(threshold_backward_grad_input)
(const Tensor&, const Tensor&, const Scalar& threshold, const Tensor&) {
  opgen::dispatch<opgen::RealTypes>(common_dtype(), "threshold_backward", [&]<class scalar_t> {
    const Math<scalar_t> at_most = threshold.to<scalar_t>();
    binary<scalar_t>(
        *this, [at_most](auto a, auto grad) { return a <= at_most ? decltype(grad){0} : grad; });
  });
}
OPGEN_IMPL_FUNC(leaky_relu_out)(const Tensor&, const Scalar& negative_slope, const Tensor&) {
  opgen::dispatch<opgen::FloatingTypes>(common_dtype(), "leaky_relu", [&]<class scalar_t> {
    const auto slope = negative_slope.to<Math<scalar_t>>();
    unary<scalar_t>(*this, [slope](auto a) { return a > 0 ? a : a * slope; });
  });
}
OPGEN_IMPL_FUNC(silu_out)(const Tensor&, const Tensor&) {
  floating(*this, "silu", [](auto a) { return a / (1 + std::exp(-a)); });
}
OPGEN_IMPL_FUNC(silu_backward_grad_input)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<opgen::FloatingTypes>(common_dtype(), "silu_backward", [&]<class scalar_t> {
    binary<scalar_t>(*this, [](auto grad, auto a) {
      const auto sigmoid = 1 / (1 + std::exp(-a));
      return grad * sigmoid * (1 + a * (1 - sigmoid));
    });
  });
}
OPGEN_IMPL_FUNC(gelu_out)(const Tensor&, std::string_view approximate, const Tensor&) {
  const bool tanh = approximate == "tanh";
  floating(*this, "gelu", [tanh](auto a) {
    using T = decltype(a);
    const T inner = T(M_SQRT2 * M_2_SQRTPI * 0.5) * (a + T(0.044715) * a * a * a);
    return T(0.5) * a * (1 + (tanh ? std::tanh(inner) : std::erf(a * T(M_SQRT1_2))));
  });
}
OPGEN_IMPL_FUNC(mse_loss_out)
(const Tensor& self, const Tensor& target, std::int64_t reduction, const Tensor& out) {
  const auto square = [](at::TensorIteratorBase& iter) {
    opgen::dispatch<opgen::FloatingTypes>(iter.common_dtype(), "mse_loss", [&]<class scalar_t> {
      binary<scalar_t>(iter, [](auto a, auto b) { return (a - b) * (a - b); });
    });
  };
  // The meta function has prepared an iteration only if nothing is reduced.
  if (reduction == at::Reduction::None) return square(*this);
  Tensor losses;
  auto iter = at::TensorIterator::borrowing_binary_op(losses, self, target);
  square(iter);
  Tensor result = out;
  if (reduction == at::Reduction::Mean) at::mean_out(result, iter.output(), IntArrayRef());
  if (reduction == at::Reduction::Sum) at::sum_out(result, iter.output(), IntArrayRef());
}

}  // namespace pocket

namespace at::native {

REGISTER_PRIVATEUSE1_DISPATCH(ceil_stub, &pocket::ceil)
REGISTER_PRIVATEUSE1_DISPATCH(trunc_stub, &pocket::trunc)

}  // namespace at::native
