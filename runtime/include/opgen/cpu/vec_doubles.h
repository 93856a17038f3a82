// vec_doubles.h: functions of vectors of doubles, with all of their digits. In namespace
// opgen::vec, beside those of floats with the same names (vec_math.h, vec_functions.h,
// vec_special.h):
//
//   log, log2, log10, log1p, expm1, exp2, sinh, cosh, tanh, atanh, sin, cos, tan, asin, acos, erf,
//   erfc, erfinv, digamma, trigamma, bessel_i0, bessel_i1, gelu, softplus, atan2(y, x), hypot(x,
//   y), log_add_exp(x, y), log_add_exp2(x, y), xlogy(x, y), pow(x, y), fmod(x, y), remainder(x, y),
//   divide_floor(x, y)
//
// The errors, in units in the last place, are in docs/reference/loops.md. Polynomials are nearly
// minimax: interpolated at Chebyshev's points with 60 digits.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "opgen/cpu/vec_special.h"

namespace opgen::vec {

namespace detail {

// log(1 + f) is f - f^2 / 2 + result, for 1 + f from sqrt(1/2) to sqrt(2). With s = f / (2 + f), it
// is 2 s + s * polynomial(s^2).
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> log_rest(const Doubles<bytes>& f,
                                            const Doubles<bytes>& half_square) noexcept {
  using V = Doubles<bytes>;
  constexpr double c[] = {0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476ba1p-2,
                          0x1.c71c72017a15cp-3, 0x1.745cf8f6c9119p-3, 0x1.3b1c38474d3eep-3,
                          0x1.0fbe478772696p-3, 0x1.0c06cf14c641bp-3};
  const V s = f / (f + V(2.0));
  const V z = s * s;
  return s * multiply_add(z, polynomial(z, c), half_square);
}
// log(2^e (1 + f)). `error`: what log(1 + f) lacks.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> log_of(const Doubles<bytes>& e, const Doubles<bytes>& f,
                                          const Doubles<bytes>& error) noexcept {
  using V = Doubles<bytes>;
  const V half_square = f * f * V(0.5);
  const V rest = log_rest(f, half_square) + multiply_add(e, V(kLowerLn2), error);
  return multiply_add(e, V(kUpperLn2), f - (half_square - rest));
}
// The fraction and the exponent of a number that may be subnormal.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> any_log_fraction(const Doubles<bytes>& x,
                                                    Doubles<bytes>& e) noexcept {
  using V = Doubles<bytes>;
#ifdef OPGEN_ROWS_AVX512
  if constexpr (bytes == 64) return log_parts(x, e);
#endif
  const typename V::Mask small = x < V(0x1p-1022);
  WideUnsigned<bytes> biased;
  const V f = log_fraction(select(small, x * V(0x1p54), x), biased);
  e = exponent_of<bytes>(biased) - select(small, V(54.0), V(0.0));
  return f;
}
// A logarithm of another base: the logarithms of e and of 2 in that base, each in two parts, of
// which the first have 30 and 42 bits.
struct LogBase {
  double upper_e, lower_e, upper_2, lower_2;
};
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> log_in_base(const Doubles<bytes>& x,
                                               const LogBase& base) noexcept {
  using V = Doubles<bytes>;
  V e;
  const V f = any_log_fraction(x, e);
  const V half_square = f * f * V(0.5);
  // log(1 + f) in two parts, the first of which has 21 bits.
  const V upper = V::from_bits((f - half_square).bits() & std::int64_t(0xffffffff00000000));
  const V lower = log_rest(f, half_square) + ((f - upper) - half_square);
  const V power = e * V(base.upper_2), product = upper * V(base.upper_e);
  V rest = multiply_add(lower, V(base.upper_e), (lower + upper) * V(base.lower_e));
  rest = multiply_add(e, V(base.lower_2), rest);
  const V sum = power + product;
  return log_or_special(x, sum + (rest + ((power - sum) + product)));
}

// x is n pi/2 + r + lower, for |x| < 2^20; returns r. The low bits of `quarter` are n.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> angle_rest(const Doubles<bytes>& x, Doubles<bytes>& lower,
                                              typename Doubles<bytes>::Mask& quarter) noexcept {
  using V = Doubles<bytes>;
  // pi/2 in four parts; products with the first three are exact.
  constexpr double parts[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69,
                              0x1.b839a252049c1p-104};
  const V sum = multiply_add(x, V(0x1.45f306dc9c883p-1), V(kWideRounder));
  const V n = sum - V(kWideRounder);
  quarter = sum.bits();
  const V first = x - n * V(parts[0]);
  const V second = n * V(parts[1]), third = n * V(parts[2]);
  const V y = first - second;
  const V y_error = (first - y) - second;
  const V z = y - third;
  const V z_error = ((y - z) - third) + y_error;
  const V rest = z_error - n * V(parts[3]);
  const V r = z + rest;
  lower = (z - r) + rest;
  return r;
}
// sin(r + lower) and cos(r + lower), for |r| up to pi/4.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> sine_of_rest(const Doubles<bytes>& r, const Doubles<bytes>& z,
                                                const Doubles<bytes>& lower) noexcept {
  using V = Doubles<bytes>;
  constexpr double c[] = {-0x1.5555555555555p-3, 0x1.1111111110bb1p-7,   -0x1.a01a019e8357dp-13,
                          0x1.71de37961e4c6p-19, -0x1.ae600a926c89ap-26, 0x1.5e0af186af739p-33};
  return r + multiply_add(r * z, polynomial(z, c), lower * multiply_add(z, V(-0.5), V(1.0)));
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> cosine_of_rest(const Doubles<bytes>& r, const Doubles<bytes>& z,
                                                  const Doubles<bytes>& lower) noexcept {
  using V = Doubles<bytes>;
  constexpr double c[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16966p-10, 0x1.a01a019f4e867p-16,
                          -0x1.27e4fa17a41b4p-22, 0x1.1eeb68b109173p-29,  -0x1.907d7aebd5e3dp-37};
  const V half = z * V(0.5), near = V(1.0) - half;
  return near + (((V(1.0) - near) - half) + multiply_add(z * z, polynomial(z, c), -(r * lower)));
}
// sin(x) for a `shift` of 0, cos(x) for 1, for |x| < 2^20.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> precise_sine_of(const Doubles<bytes>& x,
                                                   std::int64_t shift) noexcept {
  using V = Doubles<bytes>;
  V lower;
  typename V::Mask quarter;
  const V r = angle_rest(x, lower, quarter);
  const V z = r * r;
  quarter = quarter + shift;
  const V chosen =
      select((quarter & 1) == 0, sine_of_rest(r, z, lower), cosine_of_rest(r, z, lower));
  return V::from_bits(chosen.bits() ^ ((quarter & 2) << 62));
}
inline constexpr double kMostWideAngle = 0x1p20;

// 2^(n + rest), for |rest| up to 1/2, where kWideRounder + n is `sum`.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> exp2_from(const Doubles<bytes>& rest, const Doubles<bytes>& n,
                                             const Doubles<bytes>& sum) noexcept {
  using V = Doubles<bytes>;
  // The product with ln 2 in two parts.
  const V r = multiply_add(rest, V(kLowerLn2), rest * V(kUpperLn2));
  return times_power(multiply_add(r * r, exp_polynomial(r), r) + V(1.0), n, sum);
}

// `x` without its last 27 bits: products of two such numbers are exact.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> leading(const Doubles<bytes>& x) noexcept {
  return Doubles<bytes>::from_bits(x.bits() & std::int64_t(0xfffffffff8000000));
}

// asin(s) = s + result, where s is t up to 1/2, and from there on the root of (1 - t) / 2, less
// `lost`, for t from 0 to 1.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> asin_rest(const Doubles<bytes>& t,
                                             typename Doubles<bytes>::Mask& near, Doubles<bytes>& s,
                                             Doubles<bytes>& lost) noexcept {
  using V = Doubles<bytes>;
  constexpr double c[] = {0x1.5555555555556p-3, 0x1.3333333332ecap-4, 0x1.6db6db6e31f13p-5,
                          0x1.f1c71c1db0623p-6, 0x1.6e8bb1c8209a2p-6, 0x1.1c4d35cf95421p-6,
                          0x1.c9cf07674736ap-7, 0x1.782651caa6547p-7, 0x1.52420b04b37bep-7,
                          0x1.65a9c4dfcf8b2p-8, 0x1.1d189408314eep-6, -0x1.e6aaa8a0a04ccp-7,
                          0x1.d72b2bc8155f8p-6};
  near = t <= V(0.5);
  const V z = select(near, t * t, (V(1.0) - t) * V(0.5));
  const V whole = root(z), upper = leading(whole);
  s = select(near, t, upper);
  lost = select(near | (z == V(0.0)), V(0.0), (z - upper * upper) / (whole + upper));
  return select(near, t, whole) * z * polynomial(z, c);
}

// factor * exp(x + rest), which may be finite where the exponential is not.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> times_exp(const Doubles<bytes>& factor, const Doubles<bytes>& x,
                                             const Doubles<bytes>& rest) noexcept {
  using V = Doubles<bytes>;
  const V sum = multiply_add(x + rest, V(0x1.71547652b82fep+0), V(kWideRounder));
  const V n = sum - V(kWideRounder);
  const V r = multiply_add(n, V(-kUpperLn2), x) + multiply_add(n, V(-kLowerLn2), rest);
  const V tail = multiply_add(r * r, exp_polynomial(r), r);
  return times_power(multiply_add(factor, tail, factor), n, sum);
}
// factor * exp(-t^2 scale) for a scale of 1 or 1/2, without the rounding of t^2.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> times_normal(const Doubles<bytes>& factor,
                                                const Doubles<bytes>& t, double scale) noexcept {
  using V = Doubles<bytes>;
  const V upper = leading(t);
  return times_exp(factor, upper * upper * V(-scale), (t - upper) * (t + upper) * V(-scale));
}
// A modified Bessel function for x >= 0: `near` up to 8, and then the exponential over the root,
// times a polynomial in 16 / x - 1.
template <int bytes, std::size_t n>
OPGEN_ALWAYS_INLINE Doubles<bytes> bessel_from(const Doubles<bytes>& given,
                                               const Doubles<bytes>& near,
                                               const double (&far)[n]) noexcept {
  using V = Doubles<bytes>;
  // From 714 on, the result is infinite; NaN stays.
  const V x = min(V(720.0), given);
  const typename V::Mask small = x <= V(8.0);
  if (!any(~small)) return near;
  const V u = V(1.0) / x;
  const V factor = polynomial(multiply_add(u, V(16.0), V(-1.0)), far) * root(u);
  return select(small, near, times_exp(factor, x, V(0.0)));
}
// exp(t^2) erfc(t), for t from 0 to 27.5.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> scaled_erfc(const Doubles<bytes>& t) noexcept {
  using V = Doubles<bytes>;
  // Its product with t + 4, as a function of (t - 4) / (t + 4).
  constexpr double c[] = {
      0x1.18932bf08e154p+0,   -0x1.f3fe31ecb49c0p-1,  0x1.8be202d26c709p-1,   -0x1.14eacb1ad02bcp-1,
      0x1.52cac2370ffacp-2,   -0x1.645fd8a4c060fp-3,  0x1.38dbd2c8eb2aep-4,   -0x1.b00c052a0cf34p-6,
      0x1.908f471e53b04p-8,   -0x1.269b56f1541ccp-12, -0x1.dd2842fbc237ap-12, 0x1.72cddb73cd3c8p-13,
      -0x1.e7ed4b7276ef7p-19, -0x1.3c744838b39c2p-16, 0x1.3b0ec6d286146p-18,  0x1.7f0840bd4be5fp-20,
      -0x1.c66e999c61370p-21, -0x1.53da0ae41c8a4p-24, 0x1.0a75c304358a4p-23,  0x1.e4ae3e3ec9545p-29,
      -0x1.058f96d05e2d6p-26, -0x1.7f5abc3e41d06p-31, 0x1.e8dce9a84d06fp-31};
  const V u = V(1.0) / (t + V(4.0));
  return u * polynomial((t - V(4.0)) * u, c);
}
// erf(t), for t from 0 to 0.95.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> small_erf(const Doubles<bytes>& t) noexcept {
  constexpr double c[] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e7p-2,  0x1.ce2f21a042ba6p-4,
                          -0x1.b82ce3128746ap-6,  0x1.565bcd0e21a38p-8,   -0x1.c02db3ef1322ap-11,
                          0x1.f9a3245de4a5ep-14,  -0x1.f4d2182cce608p-17, 0x1.b9e2074359d26p-20,
                          -0x1.5f397071fa250p-23, 0x1.f8eb6c5ce8969p-27,  -0x1.3cac9e05bba30p-30,
                          0x1.11df26886e02cp-34};
  return multiply_add(t, polynomial(t * t, c), t);
}

// log2(a) = result + lower, with 64 bits, for a positive, finite number; the result has 26 bits.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> long_log2(const Doubles<bytes>& a,
                                             Doubles<bytes>& lower) noexcept {
  using V = Doubles<bytes>;
  // (3 atanh(s) / s - 3 - s^2) / s^4, as a function of s^2.
  constexpr double c[] = {0x1.3333333333333p-1, 0x1.b6db6db6db7b3p-2, 0x1.555555552fe55p-2,
                          0x1.1745d19c01c1fp-2, 0x1.d89d60acc1b30p-3, 0x1.99a52ee5894f6p-3,
                          0x1.679d44d5d580bp-3, 0x1.68262ba2328f9p-3};
  constexpr double factor = 0x1.ec709d8p-1, factor_lacks = 0x1.0e80ff5d27f05p-27;
  V e;
  const V f = any_log_fraction(a, e);
  // With s = f / (2 + f), log2(1 + f) is 2 / (3 log(2)) s (3 + s^2 + rest).
  const V below = f + V(2.0), upper_below = leading(below);
  const V inverse = V(1.0) / below;
  const V s = f * inverse, upper_s = leading(s);
  const V rest_s = (f - upper_s * upper_below) - upper_s * (f - (upper_below - V(2.0)));
  const V lower_s = rest_s * inverse;
  const V z = s * s, square = upper_s * upper_s;
  const V rest = multiply_add(z * z, polynomial(z, c), lower_s * (upper_s + s));
  const V sum = leading((square + V(3.0)) + rest);
  const V lower_sum = rest - ((sum - V(3.0)) - square);
  const V product = upper_s * sum;
  const V rest_product = multiply_add(lower_s, sum, lower_sum * s);
  const V upper_product = leading(product + rest_product);
  const V lower_product = rest_product - (upper_product - product);
  const V scaled = upper_product * V(factor);
  const V rest_scaled =
      multiply_add(upper_product, V(factor_lacks), lower_product * V(factor + factor_lacks));
  const V upper = leading((scaled + rest_scaled) + e);
  lower = rest_scaled - ((upper - e) - scaled);
  return upper;
}

// The integer next to a / b, and a - b times it, which is exact, for quotients below 2^25.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> nearest_rest(const Doubles<bytes>& a, const Doubles<bytes>& b,
                                                Doubles<bytes>& whole) noexcept {
  using V = Doubles<bytes>;
  whole = (a / b + V(kWideRounder)) - V(kWideRounder);
  const V upper = leading(b);
  return (a - whole * upper) - whole * (b - upper);
}
template <int bytes>
OPGEN_ALWAYS_INLINE bool all_divide_exactly(const Doubles<bytes>& a,
                                            const Doubles<bytes>& b) noexcept {
  using V = Doubles<bytes>;
  return !any(~((magnitude(a / b) < V(0x1p22)) &
                (magnitude(b) < V(std::numeric_limits<double>::infinity()))));
}

// -|x - y|, and 0 for equal infinities.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> less_the_larger(const Doubles<bytes>& x,
                                                   const Doubles<bytes>& y) noexcept {
  return select(x == y, Doubles<bytes>(0.0), -magnitude(x - y));
}

}  // namespace detail

template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> log(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  V e;
  const V f = detail::any_log_fraction(x, e);
  return detail::log_or_special(x, detail::log_of(e, f, V(0.0)));
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> log2(const Doubles<bytes>& x) noexcept {
  return detail::log_in_base(x, {0x1.7154765p+0, 0x1.5c17f0bbbe88p-31, 1.0, 0.0});
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> log10(const Doubles<bytes>& x) noexcept {
  return detail::log_in_base(
      x, {0x1.bcb7b15p-2, 0x1.37287195355bbp-33, 0x1.34413509f78p-2, 0x1.fef311f12b358p-46});
}

template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> log1p(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const V u = x + V(1.0);
  detail::WideUnsigned<bytes> biased;
  const V rounded = detail::log_fraction(u, biased);
  // (1 + x) / 2^e - 1 without the rounding of 1 + x; beyond 2^54, the 1 does not count.
  const V scale = V::from_bits(((2047 - biased) << 52).bits());
  const V scaled = x * scale, below = scale - V(1.0);
  const V f = below + scaled;
  const V error = (scaled - (f - below)) * (V(1.0) - f);
  const typename V::Mask counts = x < V(0x1p54);
  const V y = detail::log_of(detail::exponent_of<bytes>(biased), select(counts, f, rounded),
                             select(counts, error, V(0.0)));
  // Small numbers, and 0 with its sign, are their own logarithm.
  return select(detail::magnitude(x) < V(0x1p-54), x, detail::log_or_special(u, y));
}

template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> expm1(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const V bounded = min(V(710.0), max(V(-40.0), x));
  const V sum = multiply_add(bounded, V(0x1.71547652b82fep+0), V(detail::kWideRounder));
  const V n = sum - V(detail::kWideRounder);
  const V first = multiply_add(n, V(-detail::kUpperLn2), bounded),
          second = n * V(detail::kLowerLn2);
  const V r = first - second;
  // (exp(r) - 1 + 1 - 2^-n) 2^n, with what the sum and r lack; from 60 on, 2^-n does not count.
  const V inverse = V(detail::kWideRounder) - min(V(60.0), n);
  const V less = V(1.0) - detail::wide_scale_of<bytes>(inverse.bits());
  const V whole = less + r;
  const V lost = (r - (whole - less)) + ((first - r) - second);
  const V y = detail::times_power(whole + (r * r * detail::exp_polynomial(r) + lost), n, sum);
  return select(detail::magnitude(x) < V(0x1p-54), x, y);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> exp2(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const V bounded = min(V(1025.0), max(V(-1076.0), x));
  const V sum = bounded + V(detail::kWideRounder);
  const V n = sum - V(detail::kWideRounder);
  const V rest = bounded - n;
  return detail::exp2_from(rest, n, sum);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> tanh(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  // From 22 on, the result is 1.
  const V t = min(V(22.0), detail::magnitude(x));
  const V grown = expm1(t + t);
  const V far = V(1.0) - V(2.0) / (grown + V(2.0));
  return detail::with_sign(select(t < V(0.55), grown / (grown + V(2.0)), far), x);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> sinh(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const V t = detail::magnitude(x);
  const V grown = expm1(t);
  const V y = V(0.5) * (grown + grown / (grown + V(1.0)));
  // exp(t) overflows before half of it does.
  const V root = exp(t * V(0.5));
  return detail::with_sign(select(t < V(709.0), y, root * V(0.5) * root), x);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> cosh(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const V t = detail::magnitude(x);
  const V power = exp(t), root = exp(t * V(0.5));
  return select(t < V(709.0), V(0.5) * power + V(0.5) / power, root * V(0.5) * root);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> atanh(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const V t = detail::magnitude(x);
  return detail::with_sign(V(0.5) * log1p((t + t) / (V(1.0) - t)), x);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> sin(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  // Small numbers, and 0 with its sign, are their own sine.
  const V y = select(detail::magnitude(x) < V(0x1p-27), x, detail::precise_sine_of(x, 0));
  return detail::unless_large(y, x, detail::kMostWideAngle,
                              [](double one) { return std::sin(one); });
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> cos(const Doubles<bytes>& x) noexcept {
  return detail::unless_large(detail::precise_sine_of(x, 1), x, detail::kMostWideAngle,
                              [](double one) { return std::cos(one); });
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> tan(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  V lower;
  typename V::Mask quarter;
  const V r = detail::angle_rest(x, lower, quarter);
  const V z = r * r;
  const V sine = detail::sine_of_rest(r, z, lower), cosine = detail::cosine_of_rest(r, z, lower);
  const typename V::Mask even = (quarter & 1) == 0;
  const V y = select(even, sine, -cosine) / select(even, cosine, sine);
  return detail::unless_large(select(detail::magnitude(x) < V(0x1p-27), x, y), x,
                              detail::kMostWideAngle, [](double one) { return std::tan(one); });
}

template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> hypot(const Doubles<bytes>& x,
                                         const Doubles<bytes>& y) noexcept {
  using V = Doubles<bytes>;
  const V a = detail::magnitude(x), b = detail::magnitude(y);
  const V most = select(a < b, b, a);
  // Squares neither overflow nor lose digits.
  const typename V::Mask large = most > V(0x1p500), small = most < V(0x1p-450);
  const V scale = select(large, V(0x1p-600), select(small, V(0x1p600), V(1.0)));
  const V back = select(large, V(0x1p600), select(small, V(0x1p-600), V(1.0)));
  const V u = a * scale, v = b * scale;
  const V result = detail::root(multiply_add(u, u, v * v)) * back;
  const V infinity(std::numeric_limits<double>::infinity());
  return select((a == infinity) | (b == infinity), infinity, result);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> softplus(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  return select(x > V(0.0), x, V(0.0)) + log1p(exp(-detail::magnitude(x)));
}
// log(e^x + e^y).
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> log_add_exp(const Doubles<bytes>& x,
                                               const Doubles<bytes>& y) noexcept {
  return select(x < y, y, x) + log1p(exp(detail::less_the_larger(x, y)));
}
// log2(2^x + 2^y).
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> log_add_exp2(const Doubles<bytes>& x,
                                                const Doubles<bytes>& y) noexcept {
  using V = Doubles<bytes>;
  return multiply_add(log1p(exp2(detail::less_the_larger(x, y))), V(0x1.71547652b82fep+0),
                      select(x < y, y, x));
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> xlogy(const Doubles<bytes>& x,
                                         const Doubles<bytes>& y) noexcept {
  using V = Doubles<bytes>;
  return select((x == V(0.0)) & (y == y), V(0.0), x * log(y));
}

template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> asin(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  using HalfPi = detail::HalfPi<double>;
  typename V::Mask near;
  V s, lost;
  const V rest = detail::asin_rest(detail::magnitude(x), near, s, lost);
  // Beyond 1/2, pi/2 - 2 asin(root of (1 - t) / 2).
  const V upper = V(HalfPi::upper / 2) - (s + s);
  const V far = ((V(HalfPi::lower) - (lost + lost)) - (rest + rest)) + upper;
  return detail::with_sign(select(near, s + rest, far + V(HalfPi::upper / 2)), x);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> acos(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  using HalfPi = detail::HalfPi<double>;
  typename V::Mask near;
  V s, lost;
  const V rest = detail::asin_rest(detail::magnitude(x), near, s, lost);
  const V y = detail::with_sign(V(1.0), x);
  const V middle = V(HalfPi::upper) - y * (s + (rest - y * V(HalfPi::lower)));
  const V end = s + (rest + lost);
  const V far =
      select(x < V(0.0), V(2 * HalfPi::upper) - ((end + end) - V(2 * HalfPi::lower)), end + end);
  return select(near, middle, far);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> atan2(const Doubles<bytes>& y,
                                         const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  using Mask = typename V::Mask;
  using HalfPi = detail::HalfPi<double>;
  const V infinity(std::numeric_limits<double>::infinity());
  const V a = detail::magnitude(y), b = detail::magnitude(x);
  const Mask steep = a > b;
  V high = select(steep, a, b), low = select(steep, b, a);
  // Two infinities have the ratio 1, an infinity and another number 0, and 0 and 0, too.
  const Mask endless = high == infinity;
  low = select(endless, select(low == infinity, V(1.0), V(0.0)), low);
  high = select(endless | (high == V(0.0)), V(1.0), high);
  // Sums do not overflow, and products have all digits.
  const V up = select(high < V(0x1p-900), V(0x1p100), V(1.0));
  const V scale = select(high > V(0x1p1000), V(0x1p-100), up);
  low = low * scale;
  high = high * scale;
  // The angle, up to pi/4, is atan(low / high) or pi/4 + atan((low - high) / (low + high)).
  const Mask middle = low > high * V(0.66), left = x.bits() < 0;
  const V ratio = select(middle, low - high, low) / select(middle, low + high, high);
  // Of a steep angle, what lacks to pi/2; and of those, where the sign bit of x is set, to pi: a
  // number of eighths of a circle, and the ratio with a sign.
  const Mask odd = steep ^ left;
  const V beyond_1(HalfPi::upper / 2), beyond_2(HalfPi::upper), beyond_4(2 * HalfPi::upper);
  const V base =
      select(steep, select(middle, select(left, V(0x1.2d97c7f3321d2p+1), beyond_1), beyond_2),
             select(left, select(middle, V(0x1.2d97c7f3321d2p+1), beyond_4),
                    select(middle, beyond_1, V(0.0))));
  const V rest = select(base == V(0x1.2d97c7f3321d2p+1), V(0x1.a79394c9e8a0ap-54),
                        base * V(HalfPi::lower / HalfPi::upper));
  const V angle = detail::atan_from(base, rest, select(odd, -ratio, ratio));
  return select((y != y) | (x != x), y + x, detail::with_sign(detail::magnitude(angle), y));
}

template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> erf(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  // From 6 on, the result is 1.
  const V t = min(V(6.0), detail::magnitude(x));
  const V far = V(1.0) - detail::times_normal(detail::scaled_erfc(t), t, 1.0);
  return detail::with_sign(select(t < V(0.95), detail::small_erf(t), far), x);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> erfc(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const V t = min(V(27.5), detail::magnitude(x));
  const V tail = detail::times_normal(detail::scaled_erfc(t), t, 1.0);
  const V near = V(1.0) - detail::with_sign(detail::small_erf(t), x);
  return select(t < V(0.5), near, select(x < V(0.0), V(2.0) - tail, tail));
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> gelu(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  // As of floats; the lower tail at -|x| is erfc(|x| / sqrt(2)) / 2.
  const V t = min(V(38.7), detail::magnitude(x));
  const V half = t * V(0.5) * detail::scaled_erfc(t * V(0x1.6a09e667f3bcdp-1));
  return select(x < V(0.0), x * V(0.0), x) - detail::times_normal(half, t, 0.5);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> erfinv(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  // erfinv(x) / x as polynomials in w = -log(1 - x^2), and in its root less 4.
  constexpr double c[] = {
      0x1.c5bf891b4ef6bp-1,   0x1.db29fb2fee55cp-3,   0x1.7a72e72c2fdd7p-7,  -0x1.321102615f87cp-9,
      -0x1.0c86b6edcd5a6p-13, 0x1.870136a4be99dp-15,  0x1.0f226113d5036p-19, -0x1.0fde286bf36d1p-20,
      -0x1.3d82d2ab68d2cp-25, 0x1.81704f3ccb660p-26,  0x1.20c8b8e45159ep-30, -0x1.88b07c73eed0ap-31,
      0x1.5a554f0ad191dp-34,  -0x1.b118932c146f0p-36, 0x1.8fd3b232100d7p-37, -0x1.822d8a5772e31p-39,
      0x1.a7961a9c9c87fp-42,  -0x1.031bbd5248fc0p-45, 0x1.b5a4283d62888p-51, 0x1.1fbebdf6f3da5p-54,
      -0x1.c2165a7ac6cb3p-58, 0x1.847e944433021p-63};
  constexpr double outer[] = {
      0x1.eb7e0914cbf1bp+1,   0x1.026e265c38c33p+0,   0x1.4a42eb3d5cc02p-10,
      -0x1.c79a1b10abe06p-11, 0x1.508bb6bfc09abp-12,  -0x1.ee5c5b598e82ap-14,
      0x1.d309077cf210cp-15,  -0x1.110ad3385df12p-15, 0x1.394422fd02b2ep-16,
      -0x1.29f38dc81f02fp-17, 0x1.94a2e8dc4d3f7p-19,  -0x1.be6368489cd02p-22,
      -0x1.26fbe8a913aa9p-22, 0x1.009c5dcf13443p-22,  -0x1.9282e99e103b6p-24,
      0x1.03374e53b8a6dp-26,  0x1.7e3b0ecbd9166p-28,  -0x1.48110d6625e6ap-28,
      0x1.9974448e72df9p-30,  -0x1.b00d26a73597bp-34, -0x1.83fb49489d6a3p-34,
      0x1.316d885cbdcdap-35,  -0x1.d2858652182d7p-37, 0x1.ad2df6b45e031p-38,
      -0x1.4c58eac6a16aap-42, -0x1.1ec1aa50a058dp-40, 0x1.6b4cb8565e440p-42,
      0x1.15cf7d6654ae5p-46,  -0x1.77274edb80c97p-46, 0x1.72bbf52ab2c9fp-49};
  const V w = -log((V(1.0) - x) * (V(1.0) + x));
  const typename V::Mask central = w < V(5.0);
  V factor = detail::polynomial(w, c);
  if (detail::any(~central)) {
    factor = select(central, factor, detail::polynomial(detail::root(w) - V(4.0), outer));
  }
  return detail::infinite_at_one(x, x * factor);
}

// The modified Bessel functions of the first kind of the orders 0 and 1.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> bessel_i0(const Doubles<bytes>& x) noexcept {
  constexpr double near[] = {0x1p+0,
                             0x1p-2,
                             0x1p-6,
                             0x1.c71c71c71c71dp-12,
                             0x1.c71c71c71c705p-18,
                             0x1.23456789abe20p-24,
                             0x1.02e85c08974c5p-31,
                             0x1.522a43f678544p-39,
                             0x1.522a43f3c5cffp-47,
                             0x1.0b3132ac6604fp-55,
                             0x1.5601859c1e784p-64,
                             0x1.69cac787efc6fp-73,
                             0x1.4195b658aa38cp-82,
                             0x1.e7477a048e22cp-92,
                             0x1.3d45e4ad1d75dp-101,
                             0x1.71eed78904823p-111,
                             0x1.38c9bb9def199p-121,
                             0x1.f2ba28a423f36p-131};
  constexpr double far[] = {0x1.9bd428ad249a5p-2,   0x1.b87969bb93bcbp-9,   0x1.1daa72b5ccfadp-13,
                            0x1.75e5ee702e57ap-17,  0x1.8e513c6a21829p-20,  0x1.3f49ac32e14bfp-22,
                            0x1.7d0cd4fd1f2b8p-24,  0x1.51ccdc47b6c77p-25,  0x1.7288379f891f7p-26,
                            0x1.03bcdeab408e2p-27,  -0x1.d72c8d3f0b6bcp-28, -0x1.cd5da3da6b614p-27,
                            -0x1.58ce729fc478ap-28, 0x1.05248ba2f26a0p-27,  0x1.c034e59a2db9bp-28,
                            -0x1.ece52144ada18p-29, -0x1.3756a636aa04fp-28, 0x1.ba2352eb42f20p-30,
                            0x1.295fc465ff477p-29,  -0x1.5be16a36a0da0p-31, -0x1.650b3e7f898b0p-31,
                            0x1.852f5d42d1ca3p-33,  0x1.90df137cc1a36p-34,  -0x1.ada2c97f3fdddp-36};
  return detail::bessel_from(detail::magnitude(x), detail::polynomial(x * x, near), far);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> bessel_i1(const Doubles<bytes>& x) noexcept {
  constexpr double near[] = {0x1p-1,
                             0x1p-4,
                             0x1.5555555555556p-9,
                             0x1.c71c71c71c70fp-15,
                             0x1.6c16c16c16d20p-21,
                             0x1.845c8a0ce3807p-28,
                             0x1.27e4fb77a30bbp-35,
                             0x1.522a43f427f3bp-43,
                             0x1.2c9758fda3036p-51,
                             0x1.ab81e74959342p-60,
                             0x1.f176cf1f1237fp-69,
                             0x1.e260acd0c17e6p-78,
                             0x1.8be972f0e252ep-87,
                             0x1.159f90570389ap-96,
                             0x1.5ac53da80dc82p-106,
                             0x1.38dbeef3ff4f1p-116,
                             0x1.08fbc76dd1df0p-125};
  constexpr double far[] = {0x1.8ebe783a84030p-2,   -0x1.3f796198ee628p-7,  -0x1.cbc54df1ece76p-13,
                            -0x1.f89c23066d278p-17, -0x1.ec8e101744487p-20, -0x1.76137e6905189p-22,
                            -0x1.ad8db6e1fecbbp-24, -0x1.727a73a8063a8p-25, -0x1.9180f82a1d429p-26,
                            -0x1.21895bb7ba33fp-27, 0x1.cd81846fb3ff1p-28,  0x1.e20e7d69649cap-27,
                            0x1.9f203cf2783b7p-28,  -0x1.0630cddd4e099p-27, -0x1.1465ce7d29637p-27,
                            0x1.d4345a69bfc30p-29,  0x1.bdc8daed57db9p-28,  -0x1.858c7591014bdp-30,
                            -0x1.162964d5f91dbp-28, 0x1.1aee882806184p-31,  0x1.fce6b32270b52p-30,
                            -0x1.272ae05110368p-33, -0x1.2839623e2341cp-31, 0x1.33e83e12ca3b4p-36,
                            0x1.432b0a4121172p-34};
  const Doubles<bytes> size = detail::magnitude(x);
  return detail::with_sign(detail::bessel_from(size, size * detail::polynomial(x * x, near), far),
                           x);
}

// The first term of the sums is not in the fraction: it is the largest, and would be rounded often.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> digamma(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const typename V::Mask negative = x < V(0.0);
  const V positive = select(negative, V(1.0) - x, x);
  const typename V::Mask small = positive < V(16.0);
  V at;
  const V rest = detail::digamma_less_log<5>(select(small, positive + V(1.0), positive), at);
  V result = (rest + log(at)) - select(small, V(1.0) / positive, V(0.0));
  if (detail::any(negative)) {
    const V angle = detail::fraction_of_negative(x) * V(detail::kPi);
    const V reflected = select(angle == V(0.0), V(std::numeric_limits<double>::quiet_NaN()),
                               result - V(detail::kPi) / tan(angle));
    result = select(negative, reflected, result);
  }
  const V end = detail::with_sign(V(std::numeric_limits<double>::infinity()), -x);
  return select(x == V(0.0), end, result);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> trigamma(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const typename V::Mask negative = x < V(0.0);
  const V positive = select(negative, V(1.0) - x, x);
  const typename V::Mask small = positive < V(16.0);
  const V u = V(1.0) / positive;
  const V result = detail::trigamma_of_positive<10>(select(small, positive + V(1.0), positive)) +
                   select(small, u * u, V(0.0));
  if (OPGEN_LIKELY(!detail::any(negative))) return result;
  const V ratio = V(detail::kPi) / sin(detail::fraction_of_negative(x) * V(detail::kPi));
  const V reflected = select(x == V(-std::numeric_limits<double>::infinity()),
                             V(std::numeric_limits<double>::quiet_NaN()), ratio * ratio - result);
  return select(negative, reflected, result);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> pow(const Doubles<bytes>& x, const Doubles<bytes>& y) noexcept {
  using V = Doubles<bytes>;
  const V a = detail::magnitude(x), infinity(std::numeric_limits<double>::infinity());
  V lower_log;
  const V upper_log = detail::long_log2(a, lower_log);
  // From 2^66 on, any power of another number than 1 is 0 or infinite.
  const V bounded = max(V(-0x1p66), min(V(0x1p66), y)), upper = detail::leading(bounded);
  const V rest_product = multiply_add(bounded - upper, upper_log, bounded * lower_log);
  const V product = upper * upper_log;
  const V exponent = min(V(1100.0), max(V(-1100.0), product + rest_product));
  const V sum = exponent + V(detail::kWideRounder);
  const V n = sum - V(detail::kWideRounder);
  const V rest =
      select(detail::magnitude(exponent) < V(1100.0), (product - n) + rest_product, V(0.0));
  V result = detail::exp2_from(rest, n, sum);
  const V end = select((a < V(1.0)) == (y < V(0.0)), infinity, V(0.0));
  result =
      select((a == V(0.0)) | (a == infinity) | (detail::magnitude(y) == infinity), end, result);
  return detail::power_or_special(x, y, result);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> fmod(const Doubles<bytes>& a, const Doubles<bytes>& b) noexcept {
  using V = Doubles<bytes>;
  if (OPGEN_UNLIKELY(!detail::all_divide_exactly(a, b))) {
    return detail::one_by_one(a, b, [](double x, double y) { return std::fmod(x, y); });
  }
  V whole;
  const V rest = detail::nearest_rest(a, b, whole);
  const typename V::Mask other_sign = (rest != V(0.0)) & ((rest < V(0.0)) != (a < V(0.0)));
  const V result = select(other_sign, rest + detail::with_sign(detail::magnitude(b), a), rest);
  // 0 has the sign of a.
  return detail::with_sign(detail::magnitude(result), a);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> remainder(const Doubles<bytes>& a,
                                             const Doubles<bytes>& b) noexcept {
  using V = Doubles<bytes>;
  if (OPGEN_UNLIKELY(!detail::all_divide_exactly(a, b))) {
    return detail::one_by_one(a, b,
                              [](double x, double y) { return detail::remainder_of_one(x, y); });
  }
  V whole;
  const V rest = detail::nearest_rest(a, b, whole);
  const typename V::Mask other_sign = (rest != V(0.0)) & ((rest < V(0.0)) != (b < V(0.0)));
  const V result = select(other_sign, rest + b, rest);
  return select(result == V(0.0), detail::with_sign(V(0.0), a), result);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> divide_floor(const Doubles<bytes>& a,
                                                const Doubles<bytes>& b) noexcept {
  using V = Doubles<bytes>;
  if (OPGEN_UNLIKELY(!detail::all_divide_exactly(a, b))) {
    return detail::one_by_one(a, b, [](double x, double y) { return divide_floor(x, y); });
  }
  V whole;
  const V rest = detail::nearest_rest(a, b, whole);
  const typename V::Mask above = (rest != V(0.0)) & ((rest < V(0.0)) != (b < V(0.0)));
  const V result = select(above, whole - V(1.0), whole);
  // 0 has the sign of the quotient.
  return select(result == V(0.0), detail::with_sign(V(0.0), a / b), result);
}

}  // namespace opgen::vec
