// pointwise_unary.cpp: functions of one tensor, element by element.
#include <opgen/kernel.h>

#include <bit>

#include <aten/ops/abs.h>
#include <aten/ops/abs_native.h>
#include <aten/ops/acos_native.h>
#include <aten/ops/acosh_native.h>
#include <aten/ops/asin_native.h>
#include <aten/ops/asinh_native.h>
#include <aten/ops/atan_native.h>
#include <aten/ops/atanh_native.h>
#include <aten/ops/bitwise_not_native.h>
#include <aten/ops/ceil_native.h>
#include <aten/ops/conj_physical.h>
#include <aten/ops/conj_physical_native.h>
#include <aten/ops/cos_native.h>
#include <aten/ops/cosh_native.h>
#include <aten/ops/deg2rad.h>
#include <aten/ops/deg2rad_native.h>
#include <aten/ops/digamma_native.h>
#include <aten/ops/empty.h>
#include <aten/ops/eq.h>
#include <aten/ops/erf_native.h>
#include <aten/ops/erfc_native.h>
#include <aten/ops/erfinv_native.h>
#include <aten/ops/exp2_native.h>
#include <aten/ops/exp_native.h>
#include <aten/ops/expm1_native.h>
#include <aten/ops/floor_native.h>
#include <aten/ops/frac_native.h>
#include <aten/ops/i0_native.h>
#include <aten/ops/isfinite_native.h>
#include <aten/ops/isinf_native.h>
#include <aten/ops/isnan_native.h>
#include <aten/ops/isneginf_native.h>
#include <aten/ops/isposinf_native.h>
#include <aten/ops/lgamma_native.h>
#include <aten/ops/log10_native.h>
#include <aten/ops/log1p_native.h>
#include <aten/ops/log2_native.h>
#include <aten/ops/log_native.h>
#include <aten/ops/logical_not.h>
#include <aten/ops/logical_not_native.h>
#include <aten/ops/logit.h>
#include <aten/ops/logit_native.h>
#include <aten/ops/mul.h>
#include <aten/ops/nan_to_num.h>
#include <aten/ops/nan_to_num_native.h>
#include <aten/ops/neg_native.h>
#include <aten/ops/polygamma.h>
#include <aten/ops/polygamma_native.h>
#include <aten/ops/pow.h>
#include <aten/ops/rad2deg.h>
#include <aten/ops/rad2deg_native.h>
#include <aten/ops/reciprocal_native.h>
#include <aten/ops/round_native.h>
#include <aten/ops/rsqrt_native.h>
#include <aten/ops/sigmoid_native.h>
#include <aten/ops/sign_native.h>
#include <aten/ops/signbit_native.h>
#include <aten/ops/sin_native.h>
#include <aten/ops/sinc_native.h>
#include <aten/ops/sinh_native.h>
#include <aten/ops/special_entr_native.h>
#include <aten/ops/special_i1_native.h>
#include <aten/ops/sqrt_native.h>
#include <aten/ops/square_native.h>
#include <aten/ops/tan_native.h>
#include <aten/ops/tanh_native.h>
#include <aten/ops/trunc_native.h>
#include <aten/ops/zeros_like.h>

#include "common.h"
#include "either.h"
#include "special.h"
#include "vectors.h"

using namespace kernels;

namespace {

// `f` takes float, double or std::complex. Half types are computed in float, integers in the
// default dtype (the iterator converts them).
template <class F>
void map_floating_or_complex(TensorIteratorBase& iter, const char* name, F f) {
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(iter.common_dtype(), name, [&] {
    opgen::cpu_kernel(iter,
                      [f](scalar_t x) -> scalar_t { return narrowed<scalar_t>(f(widen(x))); });
  });
}

template <class F>
void map_floating(TensorIteratorBase& iter, const char* name, F f) {
  OPGEN_DISPATCH_FLOATING(iter.common_dtype(), name, [&] {
    opgen::cpu_kernel(iter,
                      [f](scalar_t x) -> scalar_t { return static_cast<scalar_t>(f(widen(x))); });
  });
}

// Floats, half types as floats, and doubles if `v` takes them, are computed by `v`, a function of
// vectors; others by `f`.
template <class T, class F, class V>
void map_by_vectors(TensorIteratorBase& iter, F f, V v) {
  if constexpr (std::is_same_v<wide_t<T>, float> ||
                (std::is_same_v<T, double> && vectors::OfDoubles<V>)) {
    opgen::cpu_kernel_vec<T>(iter, vectors::form_of<T>(v));
  } else {
    opgen::cpu_kernel(iter, [f](T x) -> T { return narrowed<T>(f(widen(x))); });
  }
}
template <class F, class V>
void map_floating_or_complex(TensorIteratorBase& iter, const char* name, F f, V v) {
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(iter.common_dtype(), name,
                                      [&] { map_by_vectors<scalar_t>(iter, f, v); });
}
template <class F, class V>
void map_floating(TensorIteratorBase& iter, const char* name, F f, V v) {
  OPGEN_DISPATCH_FLOATING(iter.common_dtype(), name, [&] { map_by_vectors<scalar_t>(iter, f, v); });
}

template <class V>
void map_vectors(TensorIteratorBase& iter, const char* name, V v) {
  OPGEN_DISPATCH_FLOATING(iter.common_dtype(), name, [&] {
    opgen::cpu_kernel_vec<scalar_t>(iter, vectors::form_of<scalar_t>(v));
  });
}

struct Expm1 {
  template <class T>
  T operator()(T x) const {
    return std::expm1(x);
  }
  // exp(z) - 1 cancels near zero: its real part is expm1(x) cos y - 2 sin(y / 2)^2. The special
  // cases are those of the array API standard.
  template <class T>
  std::complex<T> operator()(std::complex<T> z) const {
    const T grown = std::expm1(z.real());
    if (z.imag() == 0) return {grown + T(0), z.imag()};
    if (std::isinf(z.real()) && !std::isfinite(z.imag())) {
      return {grown, grown < 0 ? T(0) : std::numeric_limits<T>::quiet_NaN()};
    }
    const T half = std::sin(z.imag() / 2);
    return {grown * std::cos(z.imag()) - 2 * half * half, (grown + 1) * std::sin(z.imag())};
  }
};

struct Exp2 {
  template <class T>
  T operator()(T x) const {
    return std::exp2(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> z) const {
    return std::exp(z * T(0.69314718055994530942));
  }
};

struct Log2 {
  template <class T>
  T operator()(T x) const {
    return std::log2(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> z) const {
    return std::log(z) / T(0.69314718055994530942);
  }
};

}  // namespace

// Integers are computed as the default floating dtype.
#define OPGEN_UNARY_FLOAT(op, map, ...)                                      \
  OPGEN_META_FUNC(op)(const Tensor& self) {                                  \
    build_borrowing_unary_float_op(maybe_get_output(), self);                \
  }                                                                          \
  OPGEN_IMPL_FUNC(op##_out)(const Tensor& /*self*/, const Tensor& /*out*/) { \
    map(*this, #op, __VA_ARGS__);                                            \
  }
#define OPGEN_STD(name) [](auto x) { return std::name(x); }

OPGEN_UNARY_FLOAT(exp, map_floating_or_complex, OPGEN_STD(exp), vectors::exp())
OPGEN_UNARY_FLOAT(log, map_floating_or_complex, OPGEN_STD(log), vectors::log())
OPGEN_UNARY_FLOAT(log1p, map_floating_or_complex, Log1p(), vectors::log1p())
OPGEN_UNARY_FLOAT(sqrt, map_floating_or_complex, OPGEN_STD(sqrt))
OPGEN_UNARY_FLOAT(rsqrt, map_floating_or_complex,
                  [](auto x) { return decltype(x)(1) / std::sqrt(x); })
OPGEN_UNARY_FLOAT(
    reciprocal, map_floating_or_complex, [](auto x) { return decltype(x)(1) / x; },
    vectors::Reciprocal())
OPGEN_UNARY_FLOAT(sin, map_floating_or_complex, OPGEN_STD(sin), vectors::sin())
OPGEN_UNARY_FLOAT(cos, map_floating_or_complex, OPGEN_STD(cos), vectors::cos())
OPGEN_UNARY_FLOAT(atan, map_floating_or_complex, OPGEN_STD(atan), vectors::atan())
OPGEN_UNARY_FLOAT(tanh, map_floating_or_complex, OPGEN_STD(tanh), vectors::tanh())
OPGEN_UNARY_FLOAT(
    sigmoid, map_floating_or_complex,
    [](auto x) { return decltype(x)(1) / (decltype(x)(1) + std::exp(-x)); }, vectors::sigmoid())
OPGEN_UNARY_FLOAT(erf, map_vectors, vectors::erf())
OPGEN_UNARY_FLOAT(erfc, map_vectors, vectors::erfc())
OPGEN_UNARY_FLOAT(expm1, map_floating_or_complex, Expm1(), vectors::expm1())
OPGEN_UNARY_FLOAT(exp2, map_floating_or_complex, Exp2(), vectors::exp2())
OPGEN_UNARY_FLOAT(log2, map_floating_or_complex, Log2(), vectors::log2())
OPGEN_UNARY_FLOAT(log10, map_floating_or_complex, OPGEN_STD(log10), vectors::log10())
OPGEN_UNARY_FLOAT(asin, map_floating_or_complex, OPGEN_STD(asin), vectors::asin())
OPGEN_UNARY_FLOAT(acos, map_floating_or_complex, OPGEN_STD(acos), vectors::acos())
OPGEN_UNARY_FLOAT(tan, map_floating_or_complex, OPGEN_STD(tan), vectors::tan())
OPGEN_UNARY_FLOAT(sinh, map_floating_or_complex, OPGEN_STD(sinh), vectors::sinh())
OPGEN_UNARY_FLOAT(cosh, map_floating_or_complex, OPGEN_STD(cosh), vectors::cosh())
OPGEN_UNARY_FLOAT(asinh, map_floating_or_complex, OPGEN_STD(asinh))
OPGEN_UNARY_FLOAT(acosh, map_floating_or_complex, OPGEN_STD(acosh))
OPGEN_UNARY_FLOAT(atanh, map_floating_or_complex, OPGEN_STD(atanh), vectors::atanh())
OPGEN_UNARY_FLOAT(lgamma, map_floating, OPGEN_STD(lgamma), vectors::lgamma())
OPGEN_UNARY_FLOAT(digamma, map_vectors, vectors::digamma())
OPGEN_UNARY_FLOAT(erfinv, map_vectors, vectors::erfinv())
OPGEN_UNARY_FLOAT(
    sinc, map_floating_or_complex,
    [](auto x) {
      using T = decltype(x);
      if (x == T(0)) return T(1);
      const T angle = x * T(static_cast<real_t<T>>(pi));
      return std::sin(angle) / angle;
    },
    vectors::sinc())
OPGEN_UNARY_FLOAT(i0, map_vectors, vectors::bessel_i0())
OPGEN_UNARY_FLOAT(special_i1, map_vectors, vectors::bessel_i1())
OPGEN_UNARY_FLOAT(special_entr, map_vectors, vectors::Entropy())

#undef OPGEN_STD
#undef OPGEN_UNARY_FLOAT

OPGEN_META_FUNC(polygamma)(int64_t n, const Tensor& self) {
  OPGEN_CHECK(n >= 0, "polygamma(n, x) does not support negative n.");
  build_borrowing_unary_float_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(polygamma_out)(int64_t n, const Tensor& /*self*/, const Tensor& /*out*/) {
  if (n == 0) {
    map_vectors(*this, "polygamma", vectors::digamma());
  } else if (n == 1) {
    map_vectors(*this, "polygamma", vectors::trigamma());
  } else {
    map_floating(*this, "polygamma",
                 [n](auto x) { return static_cast<decltype(x)>(kernels::polygamma(n, x)); });
  }
}
OPGEN_KERNEL(polygamma_)(Tensor& self, int64_t n) {
  return at::polygamma_out(self, n, self);
}

// ---- logit ----

OPGEN_KERNEL(logit_out)(const Tensor& self, std::optional<double> eps, Tensor& out) {
  TensorIterator iter = TensorIterator::unary_float_op(out, self);
  if (out.is_meta()) return out;
  // Without eps, no number is out of the limits.
  const double from = eps.value_or(-std::numeric_limits<double>::infinity());
  OPGEN_DISPATCH_FLOATING(iter.common_dtype(), "logit", [&] {
    using wide = wide_t<scalar_t>;
    opgen::cpu_kernel_vec<scalar_t>(iter, vectors::Logit<wide>{static_cast<wide>(from)});
  });
  return out;
}
OPGEN_KERNEL(logit)(const Tensor& self, std::optional<double> eps) {
  const ScalarType dtype = isIntegralType(self.scalar_type(), /*include_bool=*/true)
                               ? opgen::get_default_dtype()
                               : self.scalar_type();
  Tensor out = opgen::empty({0}, self.options().dtype(dtype));
  return at::logit_out(out, self, eps);
}
OPGEN_KERNEL(logit_)(Tensor& self, std::optional<double> eps) {
  return at::logit_out(self, self, eps);
}

// ---- conj_physical ----

OPGEN_KERNEL(conj_physical_out)(const Tensor& self, Tensor& out) {
  TensorIterator iter = TensorIterator::unary_op(out, self);
  if (out.is_meta()) return out;
  if (!self.is_complex()) {
    if (!out.is_same(self)) opgen::copy_(out, self);
    return out;
  }
  OPGEN_DISPATCH_COMPLEX(iter.common_dtype(), "conj_physical", [&] {
    opgen::cpu_kernel(iter, [](scalar_t z) -> scalar_t { return scalar_t(z.real(), -z.imag()); });
  });
  return out;
}
OPGEN_KERNEL(conj_physical_)(Tensor& self) {
  return self.is_complex() ? at::conj_physical_out(self, self) : self;
}
OPGEN_KERNEL(conj_physical)(const Tensor& self) {
  return self.is_complex() ? self.clone(std::nullopt).conj_physical_() : self;
}

// ---- Functions that keep the dtype ----

OPGEN_META_FUNC(neg)(const Tensor& self) {
  OPGEN_CHECK(self.scalar_type() != kBool,
              "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
              "invert a "
              "mask, use the `~` or `logical_not()` operator instead.");
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(neg_out)(const Tensor& /*self*/, const Tensor& /*out*/) {
  OPGEN_DISPATCH_ALL_BUT_BOOL(common_dtype(), "neg", [&] {
    opgen::cpu_kernel(*this, [](scalar_t x) -> scalar_t {
      if constexpr (std::is_integral_v<scalar_t>) {
        return minus(scalar_t(0), x);
      } else {
        return -x;
      }
    });
  });
}

namespace {

void build_rounding(TensorIteratorBase& iter, const char* name, const TensorBase& self) {
  OPGEN_CHECK(!self.is_complex(), name, " is not supported for complex inputs");
  iter.build_borrowing_unary_op(iter.maybe_get_output(), self);
}
// Returns integers unchanged.
template <class F>
void round_into(TensorIteratorBase& iter, const char* name, const Tensor& self, const Tensor& out,
                F f) {
  if (isIntegralType(self.scalar_type(), /*include_bool=*/false)) {
    opgen::copy_(out, self);
  } else {
    map_floating(iter, name, f);
  }
}

}  // namespace

OPGEN_META_FUNC(floor)(const Tensor& self) {
  build_rounding(*this, "floor", self);
}
OPGEN_IMPL_FUNC(floor_out)(const Tensor& self, const Tensor& out) {
  round_into(*this, "floor", self, out, [](auto x) { return std::floor(x); });
}

OPGEN_META_FUNC(ceil)(const Tensor& self) {
  build_rounding(*this, "ceil", self);
}
OPGEN_IMPL_FUNC(ceil_out)(const Tensor& self, const Tensor& out) {
  round_into(*this, "ceil", self, out, [](auto x) { return std::ceil(x); });
}

OPGEN_META_FUNC(trunc)(const Tensor& self) {
  build_rounding(*this, "trunc", self);
}
OPGEN_IMPL_FUNC(trunc_out)(const Tensor& self, const Tensor& out) {
  round_into(*this, "trunc", self, out, [](auto x) { return std::trunc(x); });
}

OPGEN_META_FUNC(round)(const Tensor& self) {
  build_rounding(*this, "round", self);
}
OPGEN_IMPL_FUNC(round_out)(const Tensor& self, const Tensor& out) {
  round_into(*this, "round", self, out, [](auto x) { return std::nearbyint(x); });
}

OPGEN_META_FUNC2(round, decimals)(const Tensor& self, int64_t /*decimals*/) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(round_decimals_out)
(const Tensor& /*self*/, int64_t decimals, const Tensor& /*out*/) {
  map_floating(*this, "round", [decimals](auto x) {
    using T = decltype(x);
    const T scale = std::pow(T(10), std::abs(static_cast<T>(decimals)));
    return decimals < 0 ? std::nearbyint(x / scale) * scale : std::nearbyint(x * scale) / scale;
  });
}

OPGEN_META_FUNC(sign)(const Tensor& self) {
  OPGEN_CHECK(!self.is_complex(),
              "sign is not supported for complex tensors; their direction is x / |x|");
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(sign_out)(const Tensor& /*self*/, const Tensor& /*out*/) {
  OPGEN_DISPATCH_REAL_AND_BOOL(common_dtype(), "sign", [&] {
    opgen::cpu_kernel(*this, [](scalar_t x) -> scalar_t { return sign_of(x); });
  });
}

OPGEN_META_FUNC(bitwise_not)(const Tensor& self) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(bitwise_not_out)(const Tensor& /*self*/, const Tensor& /*out*/) {
  OPGEN_DISPATCH_INTEGRAL_AND_BOOL(common_dtype(), "bitwise_not", [&] {
    opgen::cpu_kernel(*this, [](scalar_t x) -> scalar_t { return inverted(x); });
  });
}

// ---- abs: the modulus of a complex number is real ----

OPGEN_KERNEL(abs)(const Tensor& self) {
  Tensor out = opgen::empty({0}, self.options().dtype(toRealValueType(self.scalar_type())));
  return at::abs_out(out, self);
}
OPGEN_KERNEL(abs_)(Tensor& self) {
  OPGEN_CHECK(!self.is_complex(), "In-place abs is not supported for complex tensors.");
  return at::abs_out(self, self);
}
OPGEN_KERNEL(abs_out)(const Tensor& self, Tensor& out) {
  if (self.is_complex() && out.is_complex()) {
    Tensor modulus = at::abs(self);
    resize_out(out, modulus.sizes());
    opgen::copy_(out, modulus);
    return out;
  }
  if (!self.is_complex()) {
    TensorIterator iter = TensorIterator::unary_op(out, self);
    if (out.is_meta()) return out;
    OPGEN_DISPATCH_REAL(iter.common_dtype(), "abs", [&] {
      opgen::cpu_kernel(iter, [](scalar_t x) -> scalar_t { return magnitude_of(x); });
    });
    return out;
  }
  check_can_cast(toRealValueType(self.scalar_type()), out.scalar_type());
  if (out.scalar_type() != toRealValueType(self.scalar_type())) {
    Tensor modulus = at::abs(self);
    resize_out(out, modulus.sizes());
    opgen::copy_(out, modulus);
    return out;
  }
  TensorIterator iter = opgen::TensorIteratorConfig()
                            .add_output(out)
                            .add_const_input(self)
                            .check_all_same_dtype(false)
                            .build();
  if (out.is_meta()) return out;
  OPGEN_DISPATCH_COMPLEX(self.scalar_type(), "abs", [&] {
    using real = real_t<scalar_t>;
    opgen::cpu_kernel(iter, [](scalar_t z) -> real { return std::hypot(z.real(), z.imag()); });
  });
  return out;
}

// ---- Results that are bool ----

namespace {

template <class F>
void map_to_bool(const Tensor& out, const Tensor& self, const char* name, F f) {
  TensorIterator iter = TensorIterator::unary_force_boolean_op(out, self);
  if (out.is_meta()) return;
  OPGEN_DISPATCH_ALL(self.scalar_type(), name,
                     [&] { opgen::cpu_kernel(iter, [f](scalar_t x) -> bool { return f(x); }); });
}

}  // namespace

OPGEN_KERNEL(logical_not)(const Tensor& self) {
  Tensor out = opgen::empty({0}, self.options().dtype(kBool));
  return at::logical_not_out(out, self);
}
OPGEN_KERNEL(logical_not_)(Tensor& self) {
  return at::logical_not_out(self, self);
}
OPGEN_KERNEL(logical_not_out)(const Tensor& self, Tensor& out) {
  map_to_bool(out, self, "logical_not", [](auto x) {
    if constexpr (std::is_same_v<decltype(x), bool>) {
      return inverted(x);
    } else {
      return x == decltype(x)(0);
    }
  });
  return out;
}

OPGEN_KERNEL(isnan)(const Tensor& self) {
  Tensor out = opgen::empty({0}, self.options().dtype(kBool));
  map_to_bool(out, self, "isnan", [](auto x) { return is_nan(x); });
  return out;
}

OPGEN_KERNEL(isfinite)(const Tensor& self) {
  if (!self.is_floating_point() && !self.is_complex()) {
    return opgen::full_like(self, Scalar(true), kBool);
  }
  Tensor out = opgen::empty({0}, self.options().dtype(kBool));
  // An infinity minus itself is NaN, as NaN is.
  map_to_bool(out, self, "isfinite", [](auto x) { return !is_nan(minus(x, x)); });
  return out;
}

OPGEN_KERNEL(square)(const Tensor& self) {
  return at::pow(self, Scalar(2));
}
OPGEN_KERNEL(square_)(Tensor& self) {
  return self.pow_(Scalar(2));
}
OPGEN_KERNEL(square_out)(const Tensor& self, Tensor& out) {
  return at::pow_out(out, self, Scalar(2));
}

// ---- Degrees and radians ----

namespace {

constexpr double radians_per_degree = pi / 180;

// Integers become the default floating dtype.
Tensor& times_into(Tensor& out, const Tensor& self, double factor, const char* name) {
  OPGEN_CHECK(!self.is_complex(), name, " is not supported for complex tensors.");
  return at::mul_out(out, self, number(Scalar(factor)));
}
Tensor times_number(const Tensor& self, double factor, const char* name) {
  OPGEN_CHECK(!self.is_complex(), name, " is not supported for complex tensors.");
  return at::mul(self, number(Scalar(factor)));
}

}  // namespace

OPGEN_KERNEL(deg2rad)(const Tensor& self) {
  return times_number(self, radians_per_degree, "deg2rad");
}
OPGEN_KERNEL(deg2rad_)(Tensor& self) {
  return times_into(self, self, radians_per_degree, "deg2rad");
}
OPGEN_KERNEL(deg2rad_out)(const Tensor& self, Tensor& out) {
  return times_into(out, self, radians_per_degree, "deg2rad");
}
OPGEN_KERNEL(rad2deg)(const Tensor& self) {
  return times_number(self, 1 / radians_per_degree, "rad2deg");
}
OPGEN_KERNEL(rad2deg_)(Tensor& self) {
  return times_into(self, self, 1 / radians_per_degree, "rad2deg");
}
OPGEN_KERNEL(rad2deg_out)(const Tensor& self, Tensor& out) {
  return times_into(out, self, 1 / radians_per_degree, "rad2deg");
}

// ---- frac ----

OPGEN_META_FUNC(frac)(const Tensor& self) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(frac_out)(const Tensor& /*self*/, const Tensor& /*out*/) {
  map_floating(*this, "frac", [](auto x) { return x - std::trunc(x); });
}

// ---- Infinities and signs ----

namespace {

// Writes f(x) as a bool; f takes float or double.
template <class F>
void test_floats_into(TensorIteratorBase& iter, ScalarType dtype, const char* name, F f) {
  OPGEN_DISPATCH_FLOATING(dtype, name, [&] {
    opgen::cpu_kernel(iter, [f](scalar_t x) -> bool { return f(widen(x)); });
  });
}

void build_test(TensorIteratorBase& iter, const TensorBase& self, const char* name) {
  OPGEN_CHECK(!self.is_complex(), name, " does not support complex inputs.");
  const TensorBase& out = iter.maybe_get_output();
  OPGEN_CHECK(!out.defined() || out.scalar_type() == kBool, name,
              " does not support non-boolean outputs.");
  iter.build_borrowing_unary_force_boolean_op(out, self);
}

}  // namespace

OPGEN_META_FUNC(isposinf)(const Tensor& self) {
  build_test(*this, self, "isposinf");
}
OPGEN_IMPL_FUNC(isposinf_out)(const Tensor& self, const Tensor& out) {
  if (isIntegralType(self.scalar_type(), /*include_bool=*/true)) {
    return opgen::fill_(out, Scalar(false));
  }
  test_floats_into(*this, self.scalar_type(), "isposinf",
                   [](auto x) { return std::isinf(x) && x > 0; });
}

OPGEN_META_FUNC(isneginf)(const Tensor& self) {
  build_test(*this, self, "isneginf");
}
OPGEN_IMPL_FUNC(isneginf_out)(const Tensor& self, const Tensor& out) {
  if (isIntegralType(self.scalar_type(), /*include_bool=*/true)) {
    return opgen::fill_(out, Scalar(false));
  }
  test_floats_into(*this, self.scalar_type(), "isneginf",
                   [](auto x) { return std::isinf(x) && x < 0; });
}

namespace {

// By its bits: g++ 12 fails with an internal error when it vectorises std::signbit.
bool has_sign_bit(float x) {
  return std::bit_cast<std::int32_t>(x) < 0;
}
bool has_sign_bit(double x) {
  return std::bit_cast<std::int64_t>(x) < 0;
}

}  // namespace

OPGEN_META_FUNC(signbit)(const Tensor& self) {
  build_test(*this, self, "signbit");
}
OPGEN_IMPL_FUNC(signbit_out)(const Tensor& self, const Tensor& out) {
  const ScalarType dtype = self.scalar_type();
  if (dtype == kBool) return opgen::fill_(out, Scalar(false));
  if (isIntegralType(dtype, /*include_bool=*/false)) {
    OPGEN_DISPATCH_INTEGRAL(dtype, "signbit", [&] {
      opgen::cpu_kernel(*this, [](scalar_t x) -> bool { return x < scalar_t(0); });
    });
    return;
  }
  test_floats_into(*this, dtype, "signbit", [](auto x) { return has_sign_bit(x); });
}

namespace {

template <class T>
bool is_infinite([[maybe_unused]] T x) {
  if constexpr (is_complex_v<T>) {
    return is_infinite(x.real()) | is_infinite(x.imag());
  } else if constexpr (is_float_v<T>) {
    return std::abs(widen(x)) == std::numeric_limits<wide_t<T>>::infinity();
  } else {
    return false;
  }
}

}  // namespace

OPGEN_KERNEL(isinf)(const Tensor& self) {
  if (isIntegralType(self.scalar_type(), /*include_bool=*/true)) {
    return at::zeros_like(self, self.options().dtype(kBool));
  }
  // A complex number is infinite if one of its parts is.
  Tensor out = opgen::empty({0}, self.options().dtype(kBool));
  map_to_bool(out, self, "isinf", [](auto x) { return is_infinite(x); });
  return out;
}

// ---- nan_to_num ----

namespace {

template <class T>
T largest() {
  // Half types have no numeric_limits.
  if constexpr (std::is_same_v<T, BFloat16>) return static_cast<T>(3.38953138925153547e38f);
  if constexpr (std::is_same_v<T, Half>) return static_cast<T>(65504.0f);
  return static_cast<T>(std::numeric_limits<wide_t<T>>::max());
}

// T is a real type.
template <class T>
struct Replacements {
  T nan, posinf, neginf;

  Replacements(std::optional<double> of_nan, std::optional<double> of_posinf,
               std::optional<double> of_neginf)
      : nan(static_cast<T>(of_nan.value_or(0))),
        posinf(of_posinf.has_value() ? static_cast<T>(*of_posinf) : largest<T>()),
        neginf(of_neginf.has_value() ? static_cast<T>(*of_neginf)
                                     : static_cast<T>(-widen(largest<T>()))) {}

  // Without branches, so that compilers vectorise the loop.
  T operator()(T x) const {
    if constexpr (is_half_v<T>) {
      // By their bits: vectors of 16-bit numbers hold twice as many as vectors of floats.
      constexpr std::int16_t infinity = std::is_same_v<T, Half> ? 0x7c00 : 0x7f80;
      const auto bits = static_cast<std::int16_t>(x.x);
      const auto magnitude = static_cast<std::int16_t>(bits & 0x7fff);
      const T infinite = either(bits < 0, neginf, posinf);
      const T known = either(magnitude == infinity, infinite, x);
      return either(magnitude > infinity, nan, known);
    } else {
      constexpr T infinity = std::numeric_limits<T>::infinity();
      const T finite = either(x == -infinity, neginf, either(x == infinity, posinf, x));
      return either(x != x, nan, finite);  // NOLINT(misc-redundant-expression)
    }
  }
  opgen::complex<T> operator()(opgen::complex<T> z) const {
    return opgen::complex<T>((*this)(z.real()), (*this)(z.imag()));
  }
};

}  // namespace

OPGEN_KERNEL(nan_to_num_out)
(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
 std::optional<double> neginf, Tensor& out) {
  OPGEN_CHECK(self.scalar_type() == out.scalar_type(),
              "nan_to_num: dtype of out: ", out.scalar_type(),
              " should be same as input: ", self.scalar_type());
  if (isIntegralType(self.scalar_type(), /*include_bool=*/true)) {
    if (out.is_same(self)) return out;
    resize_out(out, self.sizes());
    opgen::copy_(out, self);
    return out;
  }
  TensorIterator iter = TensorIterator::unary_op(out, self);
  if (out.is_meta()) return out;
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(iter.common_dtype(), "nan_to_num", [&] {
    const Replacements<real_t<scalar_t>> replaced(nan, posinf, neginf);
    opgen::cpu_kernel(iter, [replaced](scalar_t x) -> scalar_t { return replaced(x); });
  });
  return out;
}
OPGEN_KERNEL(nan_to_num)
(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
 std::optional<double> neginf) {
  Tensor out = opgen::empty_like(self);
  return at::nan_to_num_out(out, self, nan, posinf, neginf);
}
OPGEN_KERNEL(nan_to_num_)
(Tensor& self, std::optional<double> nan, std::optional<double> posinf,
 std::optional<double> neginf) {
  return at::nan_to_num_out(self, self, nan, posinf, neginf);
}
