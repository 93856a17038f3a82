// pointwise_binary.cpp: arithmetic on two tensors, or a tensor and a number.
#include <opgen/kernel.h>

#include <aten/ops/add.h>
#include <aten/ops/add_native.h>
#include <aten/ops/atan2_native.h>
#include <aten/ops/copysign.h>
#include <aten/ops/copysign_native.h>
#include <aten/ops/div.h>
#include <aten/ops/div_native.h>
#include <aten/ops/fill.h>
#include <aten/ops/float_power.h>
#include <aten/ops/float_power_native.h>
#include <aten/ops/floor_divide_native.h>
#include <aten/ops/fmax_native.h>
#include <aten/ops/fmin_native.h>
#include <aten/ops/fmod.h>
#include <aten/ops/fmod_native.h>
#include <aten/ops/gcd_native.h>
#include <aten/ops/heaviside_native.h>
#include <aten/ops/hypot_native.h>
#include <aten/ops/lcm_native.h>
#include <aten/ops/ldexp.h>
#include <aten/ops/ldexp_native.h>
#include <aten/ops/logaddexp2_native.h>
#include <aten/ops/logaddexp_native.h>
#include <aten/ops/maximum_native.h>
#include <aten/ops/minimum_native.h>
#include <aten/ops/mul.h>
#include <aten/ops/mul_native.h>
#include <aten/ops/nextafter_native.h>
#include <aten/ops/pow.h>
#include <aten/ops/pow_native.h>
#include <aten/ops/remainder.h>
#include <aten/ops/remainder_native.h>
#include <aten/ops/rsub_native.h>
#include <aten/ops/scalar_tensor.h>
#include <aten/ops/sub.h>
#include <aten/ops/sub_native.h>
#include <aten/ops/xlogy.h>
#include <aten/ops/xlogy_native.h>

#include "composite.h"
#include "vectors.h"

using namespace kernels;
namespace vec = opgen::vec;

namespace {

void check_alpha(ScalarType dtype, const Scalar& alpha) {
  OPGEN_CHECK(!alpha.isBoolean() || dtype == kBool,
              "Boolean alpha only supported for Boolean results.");
  OPGEN_CHECK(
      isFloatingType(dtype) || isComplexType(dtype) || alpha.isIntegral(/*include_bool=*/true),
      "For integral input tensors, argument alpha must not be a floating point number.");
  OPGEN_CHECK(isComplexType(dtype) || !alpha.isComplex(),
              "For non-complex input tensors, argument alpha must not be a complex number.");
}

}  // namespace

// ---- add, sub, mul ----

OPGEN_META_FUNC2(add, Tensor)(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
  check_alpha(dtype(), alpha);
}
OPGEN_UFUNC(add)(T self, T other, T alpha) {
  return plus_scaled(self, alpha, other);
}

OPGEN_META_FUNC2(sub, Tensor)(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  OPGEN_CHECK(
      self.scalar_type() != kBool || other.scalar_type() != kBool,
      "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
      "`logical_xor()` operator instead.");
  OPGEN_CHECK(self.scalar_type() != kBool && other.scalar_type() != kBool,
              "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
              "trying to invert a "
              "mask, use the `~` or `logical_not()` operator instead.");
  build_borrowing_binary_op(maybe_get_output(), self, other);
  check_alpha(dtype(), alpha);
}
OPGEN_IMPL_FUNC(sub_out)(const Tensor&, const Tensor&, const Scalar& alpha, const Tensor& /*out*/) {
  OPGEN_DISPATCH_ALL_BUT_BOOL(common_dtype(), "sub", [&] {
    const scalar_t factor = minus(scalar_t(0), alpha.to<scalar_t>());
    opgen::cpu_kernel(
        *this, [factor](scalar_t a, scalar_t b) -> scalar_t { return plus_scaled(a, factor, b); });
  });
}

namespace {

// Returns the second operand of half types as a float, and removes it, if it is a number: rounded
// to the half type, it would give another result.
template <class T>
std::optional<float> wide_number(TensorIteratorBase& iter) {
  if (!is_half_v<T> || !iter.is_cpu_scalar(2) || !iter.operand(2).replaced) return std::nullopt;
  // A number that is out of the type's range becomes an infinity.
  const double number = opgen::item(iter.operand(2).original_tensor()).toDouble();
  iter.remove_operand(2);
  return static_cast<float>(number);
}

// Computes f(a, b), for half types in float.
template <class T, class F>
void map_wide(TensorIteratorBase& iter, F f) {
  using wide = wide_t<T>;
  if constexpr (is_half_v<T>) {
    if (const std::optional<float> b = wide_number<T>(iter)) {
      opgen::cpu_kernel(
          iter, [f, b = *b](T a) -> T { return static_cast<T>(f(static_cast<wide>(a), b)); });
      return;
    }
  }
  opgen::cpu_kernel(iter, [f](T a, T b) -> T {
    return static_cast<T>(f(static_cast<wide>(a), static_cast<wide>(b)));
  });
}

// `v` is a function of vectors; half types are computed in float.
template <class T, class V>
void map_two_by_vectors(TensorIteratorBase& iter, V v) {
  if constexpr (is_half_v<T>) {
    if (const std::optional<float> second = wide_number<T>(iter)) {
      return opgen::cpu_kernel_vec<T>(iter, vectors::with_number<V>(*second));
    }
  }
  opgen::cpu_kernel_vec<T>(iter, v);
}
template <class V>
void map_two(TensorIteratorBase& iter, const char* name, V v) {
  OPGEN_DISPATCH_FLOATING(iter.common_dtype(), name,
                          [&] { map_two_by_vectors<scalar_t>(iter, v); });
}

}  // namespace

OPGEN_META_FUNC2(mul, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(mul_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_ALL(common_dtype(), "mul", [&] {
    map_wide<scalar_t>(*this, [](auto a, auto b) { return times(a, b); });
  });
}

OPGEN_KERNEL(add)(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return at::add(self, number(other), alpha);
}
OPGEN_KERNEL(add_)(Tensor& self, const Scalar& other, const Scalar& alpha) {
  return self.add_(number(other), alpha);
}
OPGEN_KERNEL(sub)(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return at::sub(self, number(other), alpha);
}
OPGEN_KERNEL(sub_)(Tensor& self, const Scalar& other, const Scalar& alpha) {
  return self.sub_(number(other), alpha);
}
OPGEN_KERNEL(mul)(const Tensor& self, const Scalar& other) {
  return at::mul(self, number(other));
}
OPGEN_KERNEL(mul_)(Tensor& self, const Scalar& other) {
  return self.mul_(number(other));
}

// ---- div: true, rounded toward zero, rounded down ----

OPGEN_META_FUNC2(div, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_float_op(maybe_get_output(), self, other);
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

namespace {

void div_true(TensorIteratorBase& iter) {
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(iter.common_dtype(), "div", [&] {
    map_wide<scalar_t>(iter, [](auto a, auto b) { return a / b; });
  });
}

void div_rounded(TensorIteratorBase& iter, bool down) {
  const char* name = down ? "div_floor" : "div_trunc";
  if (isIntegralType(iter.common_dtype(), /*include_bool=*/false)) {
    OPGEN_DISPATCH_INTEGRAL(iter.common_dtype(), name, [&] {
      opgen::cpu_kernel(iter, opgen::OneByOne{[down](scalar_t a, scalar_t b) -> scalar_t {
                          OPGEN_CHECK(b != 0, "ZeroDivisionError");
                          return down ? divide_floor(a, b) : divide_trunc(a, b);
                        }});
    });
    return;
  }
  // Truncates the quotient rounded to its dtype; if one number divides all elements, truncates the
  // unrounded quotient, as PyTorch does.
  const bool one_divisor = iter.is_scalar(2);
  OPGEN_DISPATCH_FLOATING(iter.common_dtype(), name, [&] {
    using wide = wide_t<scalar_t>;
    if (down) return map_two_by_vectors<scalar_t>(iter, vectors::divide_floor());
    map_wide<scalar_t>(iter, [one_divisor](auto x, auto y) {
      return std::trunc(one_divisor ? x / y : static_cast<wide>(static_cast<scalar_t>(x / y)));
    });
  });
}

}  // namespace

OPGEN_IMPL_FUNC(div_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  div_true(*this);
}
OPGEN_IMPL_FUNC(div_out_mode)
(const Tensor&, const Tensor&, std::optional<std::string_view> rounding_mode,
 const Tensor& /*out*/) {
  if (!rounding_mode.has_value()) {
    div_true(*this);
  } else {
    div_rounded(*this, *rounding_mode == "floor");
  }
}

OPGEN_KERNEL(div)(const Tensor& self, const Scalar& other) {
  return at::div(self, number(other));
}
OPGEN_KERNEL(div_)(Tensor& self, const Scalar& other) {
  return self.div_(number(other));
}
OPGEN_KERNEL(div)
(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return at::div(self, number(other), rounding_mode);
}
OPGEN_KERNEL(div_)
(Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return self.div_(number(other), rounding_mode);
}

// ---- remainder: with the sign of the divisor, as in Python ----

OPGEN_META_FUNC2(remainder, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(remainder_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  if (isIntegralType(common_dtype(), /*include_bool=*/false)) {
    OPGEN_DISPATCH_INTEGRAL(common_dtype(), "remainder", [&] {
      opgen::cpu_kernel(*this, opgen::OneByOne{[](scalar_t a, scalar_t b) -> scalar_t {
        OPGEN_CHECK(b != 0, "ZeroDivisionError");
        return modulo(a, b);
      }});
    });
    return;
  }
  OPGEN_DISPATCH_FLOATING(common_dtype(), "remainder",
                          [&] { opgen::cpu_kernel_vec<scalar_t>(*this, vectors::remainder()); });
}
OPGEN_KERNEL(remainder)(const Tensor& self, const Scalar& other) {
  return at::remainder(self, number(other));
}
OPGEN_KERNEL(remainder)(const Scalar& self, const Tensor& other) {
  return at::remainder(number(self), other);
}
OPGEN_KERNEL(remainder_)(Tensor& self, const Scalar& other) {
  return self.remainder_(number(other));
}
OPGEN_KERNEL(remainder_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::remainder_out(out, self, number(other));
}

// ---- maximum, minimum ----

OPGEN_META_FUNC(maximum)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(!self.is_complex() && !other.is_complex(),
              "maximum not implemented for complex tensors.");
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(maximum_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_REAL_AND_BOOL(common_dtype(), "maximum", [&] {
    opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t { return greater_of(a, b); });
  });
}

OPGEN_META_FUNC(minimum)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(!self.is_complex() && !other.is_complex(),
              "minimum not implemented for complex tensors.");
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(minimum_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_REAL_AND_BOOL(common_dtype(), "minimum", [&] {
    opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t { return lesser_of(a, b); });
  });
}

// ---- pow ----

namespace {

void power(TensorIteratorBase& iter) {
  if (isIntegralType(iter.common_dtype(), /*include_bool=*/false)) {
    OPGEN_DISPATCH_INTEGRAL(iter.common_dtype(), "pow", [&] {
      opgen::cpu_kernel(iter,
                        [](scalar_t a, scalar_t b) -> scalar_t { return power_integer(a, b); });
    });
    return;
  }
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(iter.common_dtype(), "pow", [&] {
    if constexpr (is_complex_v<scalar_t>) {
      opgen::cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t {
        return narrowed<scalar_t>(std::pow(widen(a), widen(b)));
      });
    } else {
      opgen::cpu_kernel_vec<scalar_t>(iter, vectors::pow());
    }
  });
}

}  // namespace

OPGEN_META_FUNC2(pow, Tensor_Tensor)(const Tensor& self, const Tensor& exponent) {
  build_borrowing_binary_op(maybe_get_output(), self, exponent);
}
OPGEN_IMPL_FUNC(pow_Tensor_Tensor_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  power(*this);
}

OPGEN_META_FUNC2(pow, Tensor_Scalar)(const Tensor& self, const Scalar& exponent) {
  OPGEN_CHECK(!(isIntegralType(self.scalar_type(), /*include_bool=*/true) &&
                exponent.isIntegral(true) && exponent.toLong() < 0),
              "Integers to negative integer powers are not allowed.");
  const ScalarType common = opgen::result_type_of(self, exponent);
  opgen::TensorIteratorConfig config;
  config.add_output(maybe_get_output()).add_owned_const_input(to_dtype(self, common));
  config.promote_inputs_to_common_dtype(true)
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true);
  build(config);
}
OPGEN_IMPL_FUNC(pow_Tensor_Scalar_out)
(const Tensor&, const Scalar& exponent, const Tensor& /*out*/) {
  if (exponent.equal(0.0) || exponent.equal(false) || exponent.equal(0)) {
    opgen::fill_(output(), Scalar(1));
    return;
  }
  if (exponent.equal(1.0) || exponent.equal(true) || exponent.equal(1)) {
    opgen::copy_(output(), input());
    return;
  }
  if (isIntegralType(common_dtype(), /*include_bool=*/false)) {
    OPGEN_DISPATCH_INTEGRAL(common_dtype(), "pow", [&] {
      const int64_t n = exponent.to<scalar_t>();
      opgen::cpu_kernel(*this, [n](scalar_t a) -> scalar_t {
        return static_cast<scalar_t>(power_integer(static_cast<int64_t>(a), n));
      });
    });
    return;
  }
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(common_dtype(), "pow", [&] {
    // Special exponents are computed in closed form, which is more accurate than std::pow.
    const double n =
        exponent.isComplex() ? std::numeric_limits<double>::quiet_NaN() : exponent.toDouble();
    if (n == 2) {
      if constexpr (is_complex_v<scalar_t>) {
        opgen::cpu_kernel(*this, [](scalar_t x) -> scalar_t { return times(x, x); });
      } else {
        opgen::cpu_kernel_vec<scalar_t>(*this, vectors::Square());
      }
    } else if (n == 3) {
      opgen::cpu_kernel(*this, [](scalar_t x) -> scalar_t {
        using wide = wide_t<scalar_t>;
        const wide w = static_cast<wide>(x);
        return static_cast<scalar_t>(times(times(w, w), w));
      });
    } else if (n == -2) {
      opgen::cpu_kernel(*this, [](scalar_t x) -> scalar_t {
        auto w = widen(x);
        return narrowed<scalar_t>(decltype(w)(1) / (w * w));
      });
    } else if ((n == 0.5 || n == -0.5) && !std::is_same_v<scalar_t, Half>) {
      opgen::cpu_kernel(*this, [n](scalar_t x) -> scalar_t {
        auto root = std::sqrt(widen(x));
        return narrowed<scalar_t>(n > 0 ? root : decltype(root)(1) / root);
      });
    } else if (n == -1) {
      opgen::cpu_kernel(*this, [](scalar_t x) -> scalar_t {
        auto w = widen(x);
        return narrowed<scalar_t>(decltype(w)(1) / w);
      });
    } else if (std::is_same_v<scalar_t, float> && n == std::trunc(n) && std::abs(n) > 0x1p24 &&
               std::abs(n) < 0x1p63) {
      // Compute in double: a large odd exponent, rounded to float, would become even, and the
      // result would lose its sign.
      opgen::cpu_kernel(*this, [n](scalar_t x) -> scalar_t {
        return narrowed<scalar_t>(std::pow(widen(x), widen(n)));
      });
    } else {
      const auto power = widen(exponent.to<scalar_t>());
      if constexpr (is_complex_v<scalar_t>) {
        opgen::cpu_kernel(*this, [power](scalar_t x) -> scalar_t {
          return narrowed<scalar_t>(std::pow(widen(x), power));
        });
      } else {
        opgen::cpu_kernel_vec<scalar_t>(*this, vectors::with_number<vectors::pow>(power));
      }
    }
  });
}

OPGEN_META_FUNC2(pow, Scalar)(const Scalar& self, const Tensor& exponent) {
  const TensorBase& out = maybe_get_output();
  const ScalarType dtype =
      out.defined() ? out.scalar_type() : opgen::result_type_of(self, exponent);
  set_output_raw_strided(0, exponent.sizes(), {}, exponent.options().dtype(dtype));
}
OPGEN_IMPL_FUNC(pow_Scalar_out)(const Scalar& self, const Tensor& exponent, const Tensor& out) {
  if (!self.isBoolean() && (self.equal(1.0) || self.equal(1))) {
    opgen::fill_(out, Scalar(1));
    return;
  }
  Tensor target = out;
  at::pow_out(target, number(self), exponent);
}

// ---- rsub, floor_divide ----

OPGEN_KERNEL(rsub)(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return at::sub(other, self, alpha);
}
OPGEN_KERNEL(rsub)(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return at::sub(number(other), self, alpha);
}

OPGEN_KERNEL(floor_divide)(const Tensor& self, const Tensor& other) {
  return at::div(self, other, "floor");
}
OPGEN_KERNEL(floor_divide_)(Tensor& self, const Tensor& other) {
  return self.div_(other, "floor");
}
OPGEN_KERNEL(floor_divide_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::div_out(out, self, other, "floor");
}
OPGEN_KERNEL(floor_divide)(const Tensor& self, const Scalar& other) {
  return at::div(self, number(other), "floor");
}
OPGEN_KERNEL(floor_divide_)(Tensor& self, const Scalar& other) {
  return self.div_(number(other), "floor");
}

// ---- Functions of two floating numbers; half types are computed in float ----

OPGEN_META_FUNC(atan2)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_float_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(atan2_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  map_two(*this, "atan2", vectors::atan2());
}

OPGEN_META_FUNC(hypot)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(hypot_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  map_two(*this, "hypot", vectors::hypot());
}

OPGEN_META_FUNC2(copysign, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_float_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(copysign_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING(common_dtype(), "copysign", [&] {
    opgen::cpu_kernel(*this, [](scalar_t x, scalar_t y) -> scalar_t { return with_sign_of(x, y); });
  });
}
OPGEN_KERNEL(copysign)(const Tensor& self, const Scalar& other) {
  return at::copysign(self, number(other));
}
OPGEN_KERNEL(copysign_)(Tensor& self, const Scalar& other) {
  return self.copysign_(number(other));
}
OPGEN_KERNEL(copysign_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::copysign_out(out, self, number(other));
}

namespace {

struct LogAddExpOfComplex {
  // The number with the larger real part is the larger one.
  template <class T>
  opgen::complex<T> operator()(opgen::complex<T> x, opgen::complex<T> y) const {
    constexpr T nan = std::numeric_limits<T>::quiet_NaN();
    if (is_nan(x) || is_nan(y)) return {nan, nan};
    const auto least = widen(x.real() < y.real() ? x : y),
               most = widen(x.real() < y.real() ? y : x);
    if (!std::isfinite(least.real()) && least.real() == most.real()) {
      // Two numbers of modulus 0, or two infinite ones.
      if (least.real() < 0) return narrowed<opgen::complex<T>>(least);
      return narrowed<opgen::complex<T>>(std::log(std::exp(least) + std::exp(most)));
    }
    return narrowed<opgen::complex<T>>(most + Log1p()(std::exp(least - most)));
  }
};

}  // namespace

OPGEN_META_FUNC(logaddexp)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(logaddexp_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(common_dtype(), "logaddexp", [&] {
    if constexpr (is_complex_v<scalar_t>) {
      map_wide<scalar_t>(*this, LogAddExpOfComplex());
    } else {
      map_two_by_vectors<scalar_t>(*this, vectors::log_add_exp());
    }
  });
}

OPGEN_META_FUNC(logaddexp2)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(logaddexp2_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  map_two(*this, "logaddexp2", vectors::log_add_exp2());
}

OPGEN_META_FUNC2(xlogy, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_float_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(xlogy_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  map_two(*this, "xlogy", vectors::xlogy());
}
OPGEN_KERNEL(xlogy)(const Scalar& self, const Tensor& other) {
  return at::xlogy(number(self), other);
}
OPGEN_KERNEL(xlogy)(const Tensor& self, const Scalar& other) {
  return at::xlogy(self, number(other));
}
OPGEN_KERNEL(xlogy_)(Tensor& self, const Scalar& other) {
  return self.xlogy_(number(other));
}
OPGEN_KERNEL(xlogy_out)(const Scalar& self, const Tensor& other, Tensor& out) {
  return at::xlogy_out(out, number(self), other);
}
OPGEN_KERNEL(xlogy_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::xlogy_out(out, self, number(other));
}

// ---- fmod: with the sign of the dividend, as in C ----

OPGEN_META_FUNC2(fmod, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(fmod_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  if (isIntegralType(common_dtype(), /*include_bool=*/false)) {
    OPGEN_DISPATCH_INTEGRAL(common_dtype(), "fmod", [&] {
      opgen::cpu_kernel(*this, opgen::OneByOne{[](scalar_t a, scalar_t b) -> scalar_t {
        OPGEN_CHECK(b != 0, "ZeroDivisionError");
        // The least integer divided by -1 overflows.
        if constexpr (std::is_signed_v<scalar_t>) {
          if (b == -1) return 0;
        }
        return static_cast<scalar_t>(a % b);
      }});
    });
    return;
  }
  map_two(*this, "fmod", vectors::fmod());
}
OPGEN_KERNEL(fmod)(const Tensor& self, const Scalar& other) {
  return at::fmod(self, number(other));
}
OPGEN_KERNEL(fmod_)(Tensor& self, const Scalar& other) {
  return self.fmod_(number(other));
}
OPGEN_KERNEL(fmod_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::fmod_out(out, self, number(other));
}

// ---- fmax, fmin: as maximum and minimum, but NaN only if both numbers are ----

OPGEN_META_FUNC(fmax)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(!self.is_complex() && !other.is_complex(),
              "fmax not implemented for complex tensors.");
  build_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(fmax_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_REAL_AND_BOOL(common_dtype(), "fmax", [&] {
    opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t {
      if constexpr (std::is_same_v<scalar_t, bool>) return greater_of(a, b);
      return (widen(a) < widen(b)) | is_nan(a) ? b : a;
    });
  });
}

OPGEN_META_FUNC(fmin)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(!self.is_complex() && !other.is_complex(),
              "fmin not implemented for complex tensors.");
  build_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(fmin_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_REAL_AND_BOOL(common_dtype(), "fmin", [&] {
    opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t {
      if constexpr (std::is_same_v<scalar_t, bool>) return lesser_of(a, b);
      return (widen(b) < widen(a)) | is_nan(a) ? b : a;
    });
  });
}

// ---- heaviside ----

OPGEN_META_FUNC(heaviside)(const Tensor& self, const Tensor& values) {
  const TensorBase& out = maybe_get_output();
  OPGEN_CHECK(!self.is_complex() && !values.is_complex() && (!out.defined() || !out.is_complex()),
              "heaviside is not yet implemented for complex tensors.");
  OPGEN_CHECK(self.scalar_type() == values.scalar_type() &&
                  (!out.defined() || out.scalar_type() == self.scalar_type()),
              "heaviside is not yet implemented for tensors with different dtypes.");
  build_binary_op(out, self, values);
}
OPGEN_IMPL_FUNC(heaviside_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  if (common_dtype() == kBool) {
    opgen::cpu_kernel(*this, [](bool x, bool value) -> bool { return x | value; });
    return;
  }
  OPGEN_DISPATCH_REAL(common_dtype(), "heaviside", [&] {
    opgen::cpu_kernel(*this, [](scalar_t x, scalar_t value) -> scalar_t {
      if (x == scalar_t(0)) return value;
      return static_cast<scalar_t>(x > scalar_t(0));
    });
  });
}

// ---- gcd, lcm ----

namespace {

// The greatest common divisor. The smallest number has no magnitude, and keeps its sign.
template <class T>
T common_divisor(T a, T b) {
  a = magnitude_of(a);
  b = magnitude_of(b);
  while (a != 0) {
    const T rest = static_cast<T>(b % a);
    b = a;
    a = rest;
  }
  return b;
}

}  // namespace

OPGEN_META_FUNC(gcd)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(gcd_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_INTEGRAL(common_dtype(), "gcd", [&] {
    opgen::cpu_kernel(*this,
                      [](scalar_t a, scalar_t b) -> scalar_t { return common_divisor(a, b); });
  });
}

OPGEN_META_FUNC(lcm)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(lcm_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_INTEGRAL(common_dtype(), "lcm", [&] {
    // The product of narrow integers wraps around after the magnitude is taken, as PyTorch's does.
    using wide = decltype(scalar_t() * scalar_t());
    opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t {
      const scalar_t divisor = common_divisor(a, b);
      if (divisor == 0) return 0;
      const wide part = divide_trunc(static_cast<wide>(a), static_cast<wide>(divisor));
      return static_cast<scalar_t>(magnitude_of(times(part, static_cast<wide>(b))));
    });
  });
}

// ---- nextafter ----

namespace {

// The bits of a number, as an integer, are larger by one for the next number away from zero.
template <class T>
T next_after(T x, T y) {
  if constexpr (is_half_v<T>) {
    const float a = static_cast<float>(x), b = static_cast<float>(y);
    if (std::isnan(a)) return x;
    if (std::isnan(b) || a == b) return y;
    if (a == 0) return T::from_bits(static_cast<uint16_t>(b < 0 ? 0x8001 : 1));
    return T::from_bits(static_cast<uint16_t>((a < b) == (a > 0) ? x.x + 1 : x.x - 1));
  } else {
    using Bits = std::conditional_t<sizeof(T) == sizeof(uint32_t), uint32_t, uint64_t>;
    constexpr Bits sign = Bits(1) << (8 * sizeof(T) - 1);
    const Bits bits = std::bit_cast<Bits>(x), goal = std::bit_cast<Bits>(y);
    // All cases are computed, so that compilers vectorise the loop.
    Bits next = bits + ((x < y) == (x > 0) ? Bits(1) : ~Bits(0));
    next = x == 0 ? (goal & sign) | 1 : next;
    next = x == y ? goal : next;
    next = (x != x) | (y != y) ? std::bit_cast<Bits>(x + y) : next;  // NOLINT
    return std::bit_cast<T>(next);
  }
}

}  // namespace

OPGEN_META_FUNC(nextafter)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(nextafter_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  OPGEN_DISPATCH_FLOATING(common_dtype(), "nextafter", [&] {
    opgen::cpu_kernel(*this, [](scalar_t x, scalar_t y) -> scalar_t { return next_after(x, y); });
  });
}

// ---- ldexp, float_power ----

namespace {

// An integer exponent does not change the dtype of floating numbers.
bool keeps_dtype(const Tensor& self, const Tensor& other) {
  return self.is_floating_point() && isIntegralType(other.scalar_type(), /*include_bool=*/false);
}

Tensor power_of_two(const Tensor& self, const Tensor& other) {
  if (keeps_dtype(self, other)) return at::pow(Scalar(2.0), in_dtype(other, kDouble));
  // A complex power, in the dtype of a tensor of no dimensions and the exponent.
  if (self.is_complex()) {
    return at::pow(at::scalar_tensor(Scalar(2.0), self.options()), other);
  }
  return at::pow(Scalar(2.0), other);
}

}  // namespace

OPGEN_KERNEL(ldexp)(const Tensor& self, const Tensor& other) {
  const Tensor product = at::mul(self, power_of_two(self, other));
  return keeps_dtype(self, other) ? to_dtype(product, self.scalar_type()) : product;
}
OPGEN_KERNEL(ldexp_)(Tensor& self, const Tensor& other) {
  return at::ldexp_out(self, self, other);
}
OPGEN_KERNEL(ldexp_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::mul_out(out, self, power_of_two(self, other));
}

namespace {

// float_power computes in these.
ScalarType widest(bool is_complex) {
  return is_complex ? opgen::kComplexDouble : kDouble;
}

Scalar widest(const Scalar& value, ScalarType dtype) {
  return isComplexType(dtype) ? Scalar(value.toComplexDouble()) : Scalar(value.toDouble());
}

void check_float_power(const char* what, const TensorBase& self, ScalarType dtype) {
  OPGEN_CHECK(self.scalar_type() == dtype, what, ": the output given to float_power has dtype ",
              self.scalar_type(), " but the operation's result requires dtype ", dtype);
}

}  // namespace

OPGEN_KERNEL(float_power)(const Tensor& self, const Tensor& exponent) {
  const ScalarType dtype = widest(self.is_complex() || exponent.is_complex());
  return at::pow(in_dtype(self, dtype), in_dtype(exponent, dtype));
}
OPGEN_KERNEL(float_power)(const Scalar& self, const Tensor& exponent) {
  const ScalarType dtype = widest(self.isComplex() || exponent.is_complex());
  return at::pow(widest(self, dtype), in_dtype(exponent, dtype));
}
OPGEN_KERNEL(float_power)(const Tensor& self, const Scalar& exponent) {
  const ScalarType dtype = widest(self.is_complex() || exponent.isComplex());
  return at::pow(in_dtype(self, dtype), widest(exponent, dtype));
}
OPGEN_KERNEL(float_power_out)(const Tensor& self, const Tensor& exponent, Tensor& out) {
  const ScalarType dtype = widest(self.is_complex() || exponent.is_complex());
  check_float_power("float_power", out, dtype);
  return at::pow_out(out, in_dtype(self, dtype), in_dtype(exponent, dtype));
}
OPGEN_KERNEL(float_power_out)(const Scalar& self, const Tensor& exponent, Tensor& out) {
  const ScalarType dtype = widest(self.isComplex() || exponent.is_complex());
  check_float_power("float_power", out, dtype);
  return at::pow_out(out, widest(self, dtype), in_dtype(exponent, dtype));
}
OPGEN_KERNEL(float_power_out)(const Tensor& self, const Scalar& exponent, Tensor& out) {
  const ScalarType dtype = widest(self.is_complex() || exponent.isComplex());
  check_float_power("float_power", out, dtype);
  return at::pow_out(out, in_dtype(self, dtype), widest(exponent, dtype));
}
OPGEN_KERNEL(float_power_)(Tensor& self, const Tensor& exponent) {
  const ScalarType dtype = widest(self.is_complex() || exponent.is_complex());
  check_float_power("float_power_", self, dtype);
  return self.pow_(in_dtype(exponent, dtype));
}
OPGEN_KERNEL(float_power_)(Tensor& self, const Scalar& exponent) {
  const ScalarType dtype = widest(self.is_complex() || exponent.isComplex());
  check_float_power("float_power_", self, dtype);
  return self.pow_(widest(exponent, dtype));
}
