// vec_doubles.h: functions of vectors of doubles, with all of their digits. In namespace
// opgen::vec, beside those of floats with the same names (vec_math.h, vec_functions.h,
// vec_special.h):
//
//   log, log2, log10, log1p, expm1, exp2, sinh, cosh, tanh, atanh, sin, cos, tan, hypot(x, y),
//   softplus, log_add_exp(x, y), log_add_exp2(x, y), xlogy(x, y)
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
  const typename V::Mask small = x < V(0x1p-1022);
  WideWrapping<bytes> biased;
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
  detail::WideWrapping<bytes> biased;
  const V rounded = detail::log_fraction(u, biased);
  // (1 + x) / 2^e - 1 without the rounding of 1 + x; beyond 2^54, the 1 does not count.
  const detail::WideWrapping<bytes> scale_bits = (std::uint64_t(2047) - biased) << 52;
  const V scale = V::from_bits(__builtin_bit_cast(typename V::Mask, scale_bits));
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
  const V less = V(1.0) - detail::wide_scale_of<bytes>(
                              __builtin_bit_cast(detail::WideWrapping<bytes>, inverse.bits()));
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
  // The product with ln 2 in two parts.
  const V r = multiply_add(rest, V(detail::kLowerLn2), rest * V(detail::kUpperLn2));
  const V tail = multiply_add(r * r, detail::exp_polynomial(r), r);
  return detail::times_power(tail + V(1.0), n, sum);
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

}  // namespace opgen::vec
