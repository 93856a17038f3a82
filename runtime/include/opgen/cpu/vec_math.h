// vec_math.h: mathematical functions of vectors of floats, in namespace opgen::vec, for the loops
// cpu_kernel_vec<T> of loops.h.
//
//   vec::exp(x), vec::log(x), vec::log1p(x), vec::tanh(x), vec::sigmoid(x), vec::silu(x),
//   vec::erf(x), vec::gelu(x), vec::gelu_tanh(x), vec::sin(x), vec::cos(x), vec::atan(x),
//   vec::pow(x, y), vec::remainder(x, y), vec::divide_floor(x, y), and sin, cos, log2, log10, erf
//   and gelu of half types, as vec::sin_of_half(x); vec_functions.h has more
//
// exp, log, log1p, tanh, erf, sin, cos, atan and pow are within one unit in the last place of the
// exact value, for all numbers; infinities, NaN, zeros and subnormal numbers give what <cmath>
// gives. The other functions are built from them. tests/integration/run/vec_math measures all of
// them. With -ffast-math, they are as exact for finite numbers, but take longer.
//
// Everything is written with the compiler's vector types, so it needs no library, and a loop that
// is compiled for AVX2 and FMA uses these. The coefficients are Chebyshev interpolations, computed
// with 40 digits.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "opgen/cpu/vec.h"

namespace opgen::vec {

template <int bytes>
using Floats = Vec<float, bytes>;
template <int bytes>
using Doubles = Vec<double, bytes>;

namespace detail {

// c[0] + x * (c[1] + x * (c[2] + …)).
template <class T, int bytes, std::size_t n>
OPGEN_ALWAYS_INLINE Vec<T, bytes> polynomial(const Vec<T, bytes>& x, const T (&c)[n]) noexcept {
  Vec<T, bytes> sum(c[n - 1]);
  for (std::size_t i = n - 1; i-- > 0;) sum = multiply_add(sum, x, Vec<T, bytes>(c[i]));
  return sum;
}

// Adding and subtracting this rounds a small number to an integer, which is then in the low bits.
inline constexpr float kRounder = 12582912.0f;              // 1.5 * 2^23
inline constexpr double kWideRounder = 6755399441055744.0;  // 1.5 * 2^52
inline constexpr std::int32_t kSign = std::int32_t(0x80000000u);
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <class T, int bytes>
OPGEN_ALWAYS_INLINE Vec<T, bytes> magnitude(const Vec<T, bytes>& x) noexcept {
  using V = Vec<T, bytes>;
  return V::from_bits(x.bits() & std::numeric_limits<typename V::Lane>::max());
}
// `x` with the sign of `y`, for an x that is not negative.
template <class T, int bytes>
OPGEN_ALWAYS_INLINE Vec<T, bytes> with_sign(const Vec<T, bytes>& x,
                                            const Vec<T, bytes>& y) noexcept {
  using V = Vec<T, bytes>;
  return V::from_bits(x.bits() | (y.bits() & std::numeric_limits<typename V::Lane>::min()));
}
template <int bytes>
using WideUnsigned = Vec<std::uint64_t, bytes>;

// Functions below return several vectors by reference: g++ keeps a structure of vectors in memory.

// exp(r) - 1, for |r| up to ln(2) / 2.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> exp_of_rest(const Floats<bytes>& r) noexcept {
  constexpr float c[] = {0.5f,           0x1.555556p-3f,  0x1.5554e4p-5f,
                         0x1.1110e0p-7f, 0x1.6d4920p-10f, 0x1.a12a42p-13f};
  return multiply_add(r * r, polynomial(r, c), r);
}
// exp(x) is (1 + result) * 2^n, for x from -104 to 89. The low bits of `shifted` are n.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> exp_tail(const Floats<bytes>& x,
                                           typename Floats<bytes>::Mask& shifted) noexcept {
  using V = Floats<bytes>;
  const V sum = multiply_add(x, V(0x1.715476p+0f), V(kRounder));
  const V n = sum - V(kRounder);
  shifted = sum.bits();
  // ln 2 in two parts; products with the first are exact.
  const V r = multiply_add(n, V(-0x1.62e4p-1f), x);
  return exp_of_rest(multiply_add(n, V(-0x1.7f7d1cp-20f), r));
}
// 2^n of the n in the low bits, for n from -126 to 127.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> scale_of(const typename Floats<bytes>::Mask& shifted) noexcept {
  return Floats<bytes>::from_bits((shifted << 23) + (127 << 23));
}
// The same for n from -1022 to 1023.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> wide_scale_of(
    const typename Doubles<bytes>::Mask& shifted) noexcept {
  return Doubles<bytes>::from_bits((shifted << 52) + (std::int64_t(1023) << 52));
}
#ifdef OPGEN_ROWS_AVX512
// value * 2^n: one instruction, which rounds once.
OPGEN_ALWAYS_INLINE Floats<64> times_power_of_two(const Floats<64>& value,
                                                  const Floats<64>& n) noexcept {
  return Floats<64>::of(__builtin_ia32_scalefps512_mask(value.values, n.values, n.values, -1, 4));
}
OPGEN_ALWAYS_INLINE Doubles<64> times_power_of_two(const Doubles<64>& value,
                                                   const Doubles<64>& n) noexcept {
  return Doubles<64>::of(__builtin_ia32_scalefpd512_mask(value.values, n.values, n.values, -1, 4));
}
#endif
// (1 + tail) * 2^n, for n from -150 to 128: in two steps, because 2^128 and 2^-150 are not normal.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> scaled(const Floats<bytes>& tail,
                                         const typename Floats<bytes>::Mask& shifted) noexcept {
#ifdef OPGEN_ROWS_AVX512
  if constexpr (bytes == 64) {
    const Floats<bytes> n = Floats<bytes>::from_bits(shifted) - Floats<bytes>(kRounder);
    return times_power_of_two(tail + Floats<bytes>(1.0f), n);
  }
#endif
  const typename Floats<bytes>::Mask half = shifted >> 1;
  return (tail + Floats<bytes>(1.0f)) * scale_of<bytes>(shifted - half) * scale_of<bytes>(half);
}
// value * 2^n, for n from -186 to 60: with 2^-60 last, because 2^n may be subnormal where the
// product is not. The low bits of `shifted` are n.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> scaled_down(
    const Floats<bytes>& value, const typename Floats<bytes>::Mask& shifted) noexcept {
  using V = Floats<bytes>;
#ifdef OPGEN_ROWS_AVX512
  if constexpr (bytes == 64) return times_power_of_two(value, V::from_bits(shifted) - V(kRounder));
#endif
  const V scale = V::from_bits((shifted << 23) + (187 << 23));
  return value * scale * V(0x1p-60f);
}
// exp(x + rest) is (1 + result) * 2^n, for a sum from -106 to 0. The low bits of `shifted` are n.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> exp_tail_of(const Floats<bytes>& x, const Floats<bytes>& rest,
                                              typename Floats<bytes>::Mask& shifted) noexcept {
  using V = Floats<bytes>;
  const V sum = multiply_add(x + rest, V(0x1.715476p+0f), V(kRounder));
  const V n = sum - V(kRounder);
  shifted = sum.bits();
  return exp_of_rest(multiply_add(n, V(-0x1.62e4p-1f), x) +
                     multiply_add(n, V(-0x1.7f7d1cp-20f), rest));
}
// exp(x + rest), for a sum from -87 to 0, without the rounding of the sum.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> small_exp(const Floats<bytes>& x,
                                            const Floats<bytes>& rest) noexcept {
  typename Floats<bytes>::Mask shifted;
  const Floats<bytes> tail = exp_tail_of(x, rest, shifted);
  return (tail + Floats<bytes>(1.0f)) * scale_of<bytes>(shifted);
}

// (log(1 + f) - f + f^2 / 2) / f^3, for 1 + f from sqrt(1/2) to sqrt(2).
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> log_polynomial(const Floats<bytes>& f) noexcept {
  constexpr float c[] = {0x1.555554p-2f,  -0x1.fffffcp-3f, 0x1.999d5ap-3f,
                         -0x1.555b4ap-3f, 0x1.23d21ap-3f,  -0x1.fcf4c6p-4f,
                         0x1.dea282p-4f,  -0x1.d635bcp-4f, 0x1.1d8ea6p-4f};
  return polynomial(f, c);
}
// log(2^e * (1 + f)), for 1 + f from sqrt(1/2) to sqrt(2). `error`: what f lacks.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> log_of(const Floats<bytes>& e, const Floats<bytes>& f,
                                         const Floats<bytes>& error) noexcept {
  using V = Floats<bytes>;
  const V square = f * f;
  V rest = multiply_add(square * f, log_polynomial(f), error);
  rest = multiply_add(e, V(0x1.0bfbe8p-15f), rest);
  rest = multiply_add(square, V(-0.5f), rest);
  return multiply_add(e, V(0x1.62ep-1f), f + rest);
}
// The fraction and the exponent of log_of, for a normal number.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> log_fraction(const Floats<bytes>& x,
                                               typename Floats<bytes>::Mask& e) noexcept {
  using V = Floats<bytes>;
  constexpr std::int32_t half_root = 0x3f3504f3;  // sqrt(1/2)
  const typename V::Mask above = x.bits() - half_root;
  e = above >> 23;
  return V::from_bits((above & 0x007fffff) + half_root) - V(1.0f);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> numbers_of(
    const typename Floats<bytes>::Mask& integers) noexcept {
  using V = Floats<bytes>;
  return V::of(__builtin_convertvector(integers.values, typename V::Native));
}
#ifdef OPGEN_ROWS_AVX512
// The same for any number. e is an infinity for 0 and infinity, and the fraction NaN for a negative
// number.
template <class T>
OPGEN_ALWAYS_INLINE Vec<T, 64> log_parts(const Vec<T, 64>& x, Vec<T, 64>& e) noexcept {
  using V = Vec<T, 64>;
  // From 1 to 2, and positive for -0.
  V significand;
  if constexpr (std::is_same_v<T, float>) {
    significand = V::of(__builtin_ia32_getmantps512_mask(x.values, 12, x.values, -1, 4));
    e = V::of(__builtin_ia32_getexpps512_mask(x.values, x.values, -1, 4));
  } else {
    significand = V::of(__builtin_ia32_getmantpd512_mask(x.values, 12, x.values, -1, 4));
    e = V::of(__builtin_ia32_getexppd512_mask(x.values, x.values, -1, 4));
  }
  const typename V::Mask above = significand > V(T(1.4142135623730951));
  e = select(above, e + V(T(1)), e);
  return select(above, significand * V(T(0.5)), significand) - V(T(1));
}
#endif
// The same for any positive number: subnormal ones are scaled.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> any_log_fraction(const Floats<bytes>& x,
                                                   Floats<bytes>& e) noexcept {
  using V = Floats<bytes>;
#ifdef OPGEN_ROWS_AVX512
  if constexpr (bytes == 64) return log_parts(x, e);
#endif
  const typename V::Mask small = x < V(0x1p-126f);
  typename V::Mask exponent;
  const V f = log_fraction(select(small, x * V(0x1p25f), x), exponent);
  e = numbers_of<bytes>(exponent - (small & 25));
  return f;
}
// `y`, the logarithm of x, unless x is 0, infinite, negative or NaN.
template <class T, int bytes>
OPGEN_ALWAYS_INLINE Vec<T, bytes> log_or_special(const Vec<T, bytes>& x,
                                                 const Vec<T, bytes>& y) noexcept {
  using V = Vec<T, bytes>;
  const V infinity(std::numeric_limits<T>::infinity());
  V result = select(x == infinity, x, y);
  result = select(x == V(T(0)), -infinity, result);
  return select(x >= V(T(0)), result, V(std::numeric_limits<T>::quiet_NaN()));
}
// The same of a `y` from any_log_fraction, which knows these numbers with AVX-512.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> whole_log(const Floats<bytes>& x,
                                            const Floats<bytes>& y) noexcept {
#ifdef OPGEN_ROWS_AVX512
  if constexpr (bytes == 64) return y;
#endif
  return log_or_special(x, y);
}

// Two vectors of doubles for one of floats.
template <class T, int bytes>
struct HalfOf {
  typedef T type __attribute__((vector_size(bytes / 2)));
};
template <class Half, class Whole>
OPGEN_ALWAYS_INLINE Half lower_half(const Whole& x) noexcept {
  Half half;
  std::memcpy(&half, &x, sizeof half);
  return half;
}
template <class Half, class Whole>
OPGEN_ALWAYS_INLINE Half upper_half(const Whole& x) noexcept {
  if constexpr (sizeof(Whole) == 16) {
    return lower_half<Half>(__builtin_shufflevector(x, x, 2, 3, 2, 3));
  } else if constexpr (sizeof(Whole) == 32) {
    return __builtin_shufflevector(x, x, 4, 5, 6, 7);
  } else {
    return __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
  }
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> lower_doubles(const Floats<bytes>& x) noexcept {
  using Half = typename HalfOf<float, bytes>::type;
  using Native = typename Doubles<bytes>::Native;
  return Doubles<bytes>::of(__builtin_convertvector(lower_half<Half>(x.values), Native));
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> upper_doubles(const Floats<bytes>& x) noexcept {
  using Half = typename HalfOf<float, bytes>::type;
  using Native = typename Doubles<bytes>::Native;
  return Doubles<bytes>::of(__builtin_convertvector(upper_half<Half>(x.values), Native));
}
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> narrowed(const Doubles<bytes>& lower,
                                           const Doubles<bytes>& upper) noexcept {
  using Half = typename HalfOf<float, bytes>::type;
  const Half low = __builtin_convertvector(lower.values, Half);
  const Half high = __builtin_convertvector(upper.values, Half);
  using V = Floats<bytes>;
  if constexpr (bytes == 16) {
    return V::of(__builtin_shufflevector(low, high, 0, 1, 2, 3));
  } else if constexpr (bytes == 32) {
    return V::of(__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7));
  } else {
    return V::of(
        __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  }
}
template <class Mask>
OPGEN_ALWAYS_INLINE bool any(const Mask& mask) noexcept {
  typedef std::int64_t Pair __attribute__((vector_size(16)));
  Pair parts[sizeof(Mask) / sizeof(Pair)];
  std::memcpy(parts, &mask, sizeof mask);
  for (std::size_t i = 1; i < sizeof(Mask) / sizeof(Pair); ++i) parts[0] |= parts[i];
  return (parts[0][0] | parts[0][1]) != 0;
}

// sin(x) for a `shift` of 0, cos(x) for 1, with 26 bits, for |x| < 2^20.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> sine_of(const Doubles<bytes>& x, std::int64_t shift) noexcept {
  using V = Doubles<bytes>;
  constexpr double s[] = {1.0, -0x1.555552a083263p-3, 0x1.110c23a42d3f1p-7, -0x1.9ac6fbcca5f6cp-13};
  constexpr double c[] = {1.0, -0x1.fffffffaa6f9bp-2, 0x1.55554cae0fa7ep-5, -0x1.6c0dff970d462p-10,
                          0x1.9a6c494416c15p-16};
  const V shifted = multiply_add(x, V(0x1.45f306dc9c883p-1), V(kWideRounder));
  const V n = shifted - V(kWideRounder);
  // pi/2 in two parts; products with the first are exact.
  V r = multiply_add(n, V(-0x1.921fb544p+0), x);
  r = multiply_add(n, V(-0x1.0b4611a626331p-34), r);
  const V z = r * r;
  // The number of right angles, in the low bits.
  const typename V::Mask quarter = shifted.bits() + shift;
  const V chosen = select((quarter & 1) == 0, r * polynomial(z, s), polynomial(z, c));
  return V::from_bits(chosen.bits() ^ ((quarter & 2) << 62));
}
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> sine_of(const Floats<bytes>& x, std::int64_t shift) noexcept {
  return narrowed(sine_of(lower_doubles(x), shift), sine_of(upper_doubles(x), shift));
}
// `result`, except f(x) for elements that are too large for the vector's method, or NaN: others do
// not depend on their neighbours.
template <class T, class F>
OPGEN_NOINLINE void replace_large(T* result, const T* x, std::int64_t n, T most,
                                  const F& f) noexcept {
  for (std::int64_t i = 0; i < n; ++i) {
    if (!(std::abs(x[i]) < most)) result[i] = f(x[i]);
  }
}
template <class T, int bytes, class F>
OPGEN_ALWAYS_INLINE Vec<T, bytes> unless_large(const Vec<T, bytes>& result, const Vec<T, bytes>& x,
                                               T most, const F& f) noexcept {
  using V = Vec<T, bytes>;
  if (OPGEN_LIKELY(!any(~(magnitude(x) < V(most))))) return result;
  T results[V::size], lanes[V::size];
  result.store(results);
  x.store(lanes);
  replace_large(results, lanes, V::size, most, f);
  return V::load(results);
}
inline constexpr float kMostAngle = 0x1p20f;

// The fraction and the exponent of a positive, normal number: it is 2^e (1 + result), and 1 +
// result is from sqrt(1/2) to sqrt(2). `biased` is e + 1024.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> log_fraction(const Doubles<bytes>& x,
                                                WideUnsigned<bytes>& biased) noexcept {
  using V = Doubles<bytes>;
  constexpr std::uint64_t half_root = 0x3fe6a09e667f3bcd;  // sqrt(1/2)
  // With 1024, because processors shift signed 64-bit numbers slowly.
  const WideUnsigned<bytes> above =
      WideUnsigned<bytes>::from_bits(x.bits()) - half_root + (std::uint64_t(1024) << 52);
  biased = above >> 52;
  return V::from_bits(((above & 0x000fffffffffffff) + half_root).bits()) - V(1.0);
}
// e of `biased`.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> exponent_of(const WideUnsigned<bytes>& biased) noexcept {
  using V = Doubles<bytes>;
  return V::from_bits((biased | 0x4330000000000000).bits()) - V(0x1p52 + 1024);
}

// log2 of positive numbers, with 44 bits. -1e300 for 0, 1e300 for infinity.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> log2_of(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  constexpr double c[] = {0x1.71547652b8250p+1, 0x1.ec709dc53e155p-1, 0x1.2776c290c2449p-1,
                          0x1.a61a3127f9858p-2, 0x1.4794e6127b0dep-2, 0x1.21b7f057b2a99p-2};
  WideUnsigned<bytes> biased;
  const V f = log_fraction(x, biased);
  const V e = exponent_of<bytes>(biased);
  const V s = f / (f + V(2.0));
  V result = multiply_add(s, polynomial(s * s, c), e);
  result = select(x == V(0.0), V(-1e300), result);
  return select(x == V(std::numeric_limits<double>::infinity()), V(1e300), result);
}
// 2^x with 34 bits, and 2^-200 or 2^200 beyond these.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> exp2_of(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  constexpr double c[] = {0x1.ffffffffa65c7p-1,  0x1.62e42fef9cb88p-1, 0x1.ebfbe0ab15f60p-3,
                          0x1.c6b08da761307p-5,  0x1.3b29d7d6d7badp-7, 0x1.5d87750bb25c0p-10,
                          0x1.446d30541ffd7p-13, 0x1.00c1552eaeb61p-16};
  const V bounded = min(V(200.0), max(V(-200.0), x));
  const V shifted = bounded + V(kWideRounder);
  const V r = bounded - (shifted - V(kWideRounder));
  // The low bits of `shifted` are the integer; the shift removes the others.
  return polynomial(r, c) * wide_scale_of<bytes>(shifted.bits());
}

}  // namespace detail

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> exp(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  typename V::Mask shifted;
  // max and min keep NaN, their second argument.
  const V tail = detail::exp_tail(min(V(89.0f), max(V(-104.0f), x)), shifted);
  return detail::scaled(tail, shifted);
}

namespace detail {

// ln 2 in two parts; products of the first with exponents are exact.
inline constexpr double kUpperLn2 = 0x1.62e42fefa38p-1, kLowerLn2 = 0x1.ef35793c7673p-45;

// (exp(r) - 1 - r) / r^2, for |r| up to ln(2) / 2.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> exp_polynomial(const Doubles<bytes>& r) noexcept {
  constexpr double c[] = {0x1.0000000000000p-1,  0x1.5555555555557p-3,  0x1.5555555555556p-5,
                          0x1.11111111100dcp-7,  0x1.6c16c16c162d4p-10, 0x1.a01a01abe7fe1p-13,
                          0x1.a01a01a6d889cp-16, 0x1.71de0231960ebp-19, 0x1.27e4db646b17ep-22,
                          0x1.af4de97ca4194p-26, 0x1.1f730349868cep-29};
  return polynomial(r, c);
}
// value * 2^n, where kWideRounder + n is `sum`: in two steps, because 2^1024 and 2^-1076 are not
// normal. Low bits are integers.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> times_power(const Doubles<bytes>& value, const Doubles<bytes>& n,
                                               const Doubles<bytes>& sum) noexcept {
#ifdef OPGEN_ROWS_AVX512
  if constexpr (bytes == 64) return times_power_of_two(value, n);
#endif
  using V = Doubles<bytes>;
  const V half = multiply_add(n, V(0.5), V(kWideRounder));
  const typename V::Mask lower = half.bits();
  return value * wide_scale_of<bytes>(sum.bits() - lower) * wide_scale_of<bytes>(lower);
}

}  // namespace detail

template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> exp(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const V bounded = min(V(710.0), max(V(-746.0), x));
  const V sum = multiply_add(bounded, V(0x1.71547652b82fep+0), V(detail::kWideRounder));
  const V n = sum - V(detail::kWideRounder);
  V r = multiply_add(n, V(-detail::kUpperLn2), bounded);
  r = multiply_add(n, V(-detail::kLowerLn2), r);
  const V tail = multiply_add(r * r, detail::exp_polynomial(r), r);
  return detail::times_power(tail + V(1.0), n, sum);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> log(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  V e;
  const V f = detail::any_log_fraction(x, e);
  return detail::whole_log(x, detail::log_of(e, f, V(0.0f)));
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> log1p(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  const V u = x + V(1.0f);
  typename V::Mask e;
  const V rounded = detail::log_fraction(u, e);
  // (1 + x) / 2^e - 1 without the rounding of 1 + x; beyond 2^25, the 1 does not count.
  const V scale = V::from_bits((127 - e) << 23);
  const V scaled = x * scale, below = scale - V(1.0f);
  const V f = below + scaled;
  const V error = (scaled - (f - below)) * (V(1.0f) - f);
  const typename V::Mask counts = x < V(0x1p25f);
  const V y = detail::log_of(detail::numbers_of<bytes>(e), select(counts, f, rounded),
                             select(counts, error, V(0.0f)));
  // Small numbers, and 0 with its sign, are their own logarithm.
  return select(detail::magnitude(x) < V(0x1p-25f), x, detail::log_or_special(u, y));
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> tanh(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  // The first coefficient, -1/3, is in two parts.
  constexpr float c[] = {0x1.555556p-27f, 0x1.1110f2p-3f, -0x1.ba117cp-5f,  0x1.65a7c4p-6f,
                         -0x1.1d02d6p-7f, 0x1.a45278p-9f, -0x1.e42e30p-11f, 0x1.2b7582p-13f};
  const V t = detail::magnitude(x);
  const V z = t * t;
  const V near = multiply_add(t * z, detail::polynomial(z, c) - V(0x1.555556p-2f), t);
  // 1 - 2 / (exp(2 t) + 1), rounding the sum once. From 10 on, the result is 1.
  typename V::Mask shifted;
  const V tail = detail::exp_tail(min(V(20.0f), t + t), shifted);
  const V scale = detail::scale_of<bytes>(shifted);
  const V far = V(1.0f) - V(2.0f) / multiply_add(scale, tail, scale + V(1.0f));
  return detail::with_sign(select(t < V(0.9f), near, far), x);
}

template <class T, int bytes>
OPGEN_ALWAYS_INLINE Vec<T, bytes> sigmoid(const Vec<T, bytes>& x) noexcept {
  return Vec<T, bytes>(T(1)) / (Vec<T, bytes>(T(1)) + exp(-x));
}
template <class T, int bytes>
OPGEN_ALWAYS_INLINE Vec<T, bytes> silu(const Vec<T, bytes>& x) noexcept {
  return x / (Vec<T, bytes>(T(1)) + exp(-x));
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> erf(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  constexpr float small[] = {0x1.06eba8p-3f,  -0x1.812746p-2f,  0x1.ce2f0ep-4f,
                             -0x1.b82ae2p-6f, 0x1.56416ap-8f,   -0x1.bea4b0p-11f,
                             0x1.ec03b4p-14f, -0x1.ac6e58p-17f, 0x1.b930dcp-21f};
  // log(1 - erf(t)) + 2 t, from 0.95 to 4, where erf becomes 1.
  constexpr float large[] = {0x1.50b5a8p-12f, 0x1.bd5136p-1f,  -0x1.437cdp-1f,
                             -0x1.c2f48ap-4f, 0x1.b10f1p-6f,   -0x1.383274p-8f,
                             0x1.396622p-11f, -0x1.835e8p-15f, 0x1.b92b94p-20f};
  const V t = min(V(4.0f), detail::magnitude(x));
  const V near = multiply_add(t, detail::polynomial(t * t, small), t);
  const V far = V(1.0f) - detail::small_exp(t * V(-2.0f), detail::polynomial(t, large));
  return detail::with_sign(select(t < V(0.95f), near, far), x);
}

// x times the normal distribution function at x: x or -0, less |x| times the function's lower tail
// at -|x|, so that no digits cancel for negative x. NaN at -infinity, as in libtorch.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> gelu(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  // The tail is exp(-t^2 / 2) * u * polynomial(u) with u = 1 / (4 + t).
  constexpr float c[] = {0x1.9896dep-2f,   0x1.971ffcp+0f,  0x1.8a4c2cp+2f, 0x1.199d0cp+4f,
                         0x1.86aab2p+6f,   -0x1.351754p+3f, 0x1.7264f6p+9f, 0x1.47e97p+11f,
                         -0x1.dd165ap+13f, 0x1.0307cep+14f};
  const V t = min(V(14.6f), detail::magnitude(x));
  const V u = V(1.0f) / (t + V(4.0f));
  // t^2 in two parts, the first of which is exact: a product of 12 bits.
  const V upper = V::from_bits(t.bits() & std::int32_t(0xfffff000u));
  const V half = t * V(-0.5f), upper_half = upper * V(-0.5f);
  typename V::Mask shifted;
  const V tail =
      detail::exp_tail_of(upper * upper_half, (t - upper) * (half + upper_half), shifted);
  const V ratio = t * (u * detail::polynomial(u, c));
  const V part = detail::scaled_down(multiply_add(ratio, tail, ratio), shifted);
  return select(x < V(0.0f), x * V(0.0f), x) - part;
}
template <class T, int bytes>
OPGEN_ALWAYS_INLINE Vec<T, bytes> gelu_tanh(const Vec<T, bytes>& x) noexcept {
  using V = Vec<T, bytes>;
  // x * (1 + tanh(v)) / 2 is x / (1 + exp(-2 v)).
  const V v = x * multiply_add(x * x, V(T(0.044715)), V(T(1)));
  return x / (V(T(1)) + exp(v * V(T(-1.5957691216057308))));
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> sin(const Floats<bytes>& x) noexcept {
  return detail::unless_large(detail::sine_of(x, 0), x, detail::kMostAngle,
                              [](float one) { return std::sin(one); });
}
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> cos(const Floats<bytes>& x) noexcept {
  return detail::unless_large(detail::sine_of(x, 1), x, detail::kMostAngle,
                              [](float one) { return std::cos(one); });
}

namespace detail {

// sin(x) for a `shift` of 0, cos(x) for 1, of a number with up to 11 bits, for |x| < 3000, with 20
// bits.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> sine_of_half(const Floats<bytes>& x,
                                               std::int32_t shift) noexcept {
  using V = Floats<bytes>;
  constexpr float s[] = {1.0f, -0x1.555540p-3f, 0x1.110624p-7f, -0x1.990332p-13f};
  constexpr float c[] = {1.0f, -0x1.ffffa0p-2f, 0x1.553cccp-5f, -0x1.642096p-10f};
  const V shifted = multiply_add(x, V(0x1.45f306p-1f), V(kRounder));
  const V n = shifted - V(kRounder);
  // pi/2 in three parts; products with the first two, and the differences, are exact.
  V r = multiply_add(n, V(-0x1.92p+0f), x);
  r = multiply_add(n, V(-0x1.fb4p-12f), r);
  r = multiply_add(n, V(-0x1.4442d2p-24f), r);
  const V z = r * r;
  const typename V::Mask quarter = shifted.bits() + shift;
  const V chosen = select((quarter & 1) == 0, r * polynomial(z, s), polynomial(z, c));
  return V::from_bits(chosen.bits() ^ ((quarter & 2) << 30));
}

}  // namespace detail

// sin and cos of numbers of a half type, as floats, with the digits that a half type needs: twice
// as fast as those of any float.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> sin_of_half(const Floats<bytes>& x) noexcept {
  if (OPGEN_UNLIKELY(detail::any(~(detail::magnitude(x) < Floats<bytes>(3000.0f))))) return sin(x);
  return detail::sine_of_half(x, 0);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> cos_of_half(const Floats<bytes>& x) noexcept {
  if (OPGEN_UNLIKELY(detail::any(~(detail::magnitude(x) < Floats<bytes>(3000.0f))))) return cos(x);
  return detail::sine_of_half(x, 1);
}
// Others of half types: log2 and log10 with 20 bits, erf with 18 and gelu with 15.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> log2_of_half(const Floats<bytes>& x) noexcept {
  return log(x) * Floats<bytes>(0x1.715476p+0f);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> log10_of_half(const Floats<bytes>& x) noexcept {
  return log(x) * Floats<bytes>(0x1.bcb7b2p-2f);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> erf_of_half(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  constexpr float upper[] = {0x1.20dd54p+0f, 0x1.3cee9ap-3f, 0x1.61492p-5f, 0x1.865c7ep-11f};
  constexpr float lower[] = {1.0f, 0x1.e1c86cp-2f, 0x1.84eb4p-4f, 0x1.2f3db6p-7f};
  const V t = min(V(3.3f), max(V(-3.3f), x));
  const V z = t * t;
  return t * detail::polynomial(z, upper) / detail::polynomial(z, lower);
}
// As gelu, with a square that is exact.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> gelu_of_half(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  constexpr float c[] = {0x1.97e5e8p-2f, 0x1.3808fap+0f, 0x1.782752p+1f,
                         0x1.f0871ep+2f, 0x1.3776f6p+4f, -0x1.34cf68p+5f};
  constexpr float power[] = {0x1.ffffe8p-1f, 0x1.62e0dcp-1f, 0x1.ec06dap-3f, 0x1.ca1440p-5f,
                             0x1.3997d4p-7f};
  const V t = min(V(14.625f), detail::magnitude(x));
  const V u = V(1.0f) / (t + V(3.0f));
  const V square = t * t, factor(-0x1.715476p-1f);
  const V sum = multiply_add(square, factor, V(detail::kRounder));
  const V rest = multiply_add(square, factor, V(detail::kRounder) - sum);
  const V tail = t * (u * detail::polynomial(u, c)) * detail::polynomial(rest, power);
  return select(x < V(0.0f), x * V(0.0f), x) - detail::scaled_down(tail, sum.bits());
}

namespace detail {

// pi/2 in two parts.
template <class T>
struct HalfPi;
template <>
struct HalfPi<float> {
  static constexpr float upper = 0x1.921fb6p+0f, lower = -0x1.777a5cp-25f;
};
template <>
struct HalfPi<double> {
  static constexpr double upper = 0x1.921fb54442d18p+0, lower = 0x1.1a62633145c07p-54;
};
// (atan(a) - a) / a^3 as a function of a^2, for |a| up to 0.66.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> atan_polynomial(const Floats<bytes>& z) noexcept {
  constexpr float c[] = {-0x1.555554p-2f, 0x1.9998d2p-3f, -0x1.247542p-3f, 0x1.c3ddd8p-4f,
                         -0x1.5d90d4p-4f, 0x1.c7db4ep-5f, -0x1.50e5p-6f};
  return polynomial(z, c);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> atan_polynomial(const Doubles<bytes>& z) noexcept {
  constexpr double c[] = {-0x1.5555555555555p-2, 0x1.999999999976cp-3,  -0x1.249249247adbep-3,
                          0x1.c71c71baa11acp-4,  -0x1.745d1586379c0p-4, 0x1.3b138b4ad4bf7p-4,
                          -0x1.110ef49c982dap-4, 0x1.e1b852854077ap-5,  -0x1.ae04568d3c0e1p-5,
                          0x1.80401618119aap-5,  -0x1.4e15a0944be5dp-5, 0x1.09b8f441bef69p-5,
                          -0x1.5bf9c6c21fdd5p-6, 0x1.3e152718244cfp-7,  -0x1.248d20ae7d574p-9};
  return polynomial(z, c);
}
// base + rest + atan(a).
template <class T, int bytes>
OPGEN_ALWAYS_INLINE Vec<T, bytes> atan_from(const Vec<T, bytes>& base, const Vec<T, bytes>& rest,
                                            const Vec<T, bytes>& a) noexcept {
  const Vec<T, bytes> z = a * a, first = base + a;
  const Vec<T, bytes> lost = (base - first) + a;
  return first + multiply_add(a * z, atan_polynomial(z), lost + rest);
}

}  // namespace detail

template <class T, int bytes>
OPGEN_ALWAYS_INLINE Vec<T, bytes> atan(const Vec<T, bytes>& x) noexcept {
  using V = Vec<T, bytes>;
  using HalfPi = detail::HalfPi<T>;
  const V t = detail::magnitude(x), one(T(1));
  // atan(t), pi/4 + atan((t - 1) / (t + 1)) or pi/2 + atan(-1 / t).
  const typename V::Mask middle = t > V(T(0.66)), large = t > V(T(2.414213562373095));
  const V upper = select(large, -one, select(middle, t - one, t));
  const V lower = select(large, t, select(middle, t + one, one));
  const V base = select(large, V(HalfPi::upper), select(middle, V(HalfPi::upper / 2), V(T(0))));
  const V rest = base * V(HalfPi::lower / HalfPi::upper);
  return detail::with_sign(detail::atan_from(base, rest, upper / lower), x);
}

namespace detail {

// x^y, of which `result` is |x|^y, for special numbers too.
template <class T, int bytes>
OPGEN_ALWAYS_INLINE Vec<T, bytes> power_or_special(const Vec<T, bytes>& x, const Vec<T, bytes>& y,
                                                   const Vec<T, bytes>& result) noexcept {
  using V = Vec<T, bytes>;
  using Mask = typename V::Mask;
  const V one(T(1)), infinity(std::numeric_limits<T>::infinity());
  const V a = magnitude(x), size = magnitude(y), half = size * V(T(0.5));
  // From this number on, all are integers, and from twice that on, even.
  const V shift(1 / std::numeric_limits<T>::epsilon());
  const Mask whole = (size >= shift) | ((size + shift) - shift == size);
  const Mask even = (half >= shift) | ((half + shift) - shift == half);
  const V with_sign = V::from_bits(
      result.bits() | (x.bits() & whole & ~even & std::numeric_limits<typename V::Lane>::min()));
  const Mask undefined = (x < V(T(0))) & (a < infinity) & ~whole;
  const V none(std::numeric_limits<T>::quiet_NaN());
  const V found = select((x != x) | (y != y), x + y, select(undefined, none, with_sign));
  return select((size == V(T(0))) | (x == one) | ((a == one) & (size == infinity)), one, found);
}
// f of each pair of elements.
template <class T, int bytes, class F>
OPGEN_ALWAYS_INLINE Vec<T, bytes> one_by_one(const Vec<T, bytes>& a, const Vec<T, bytes>& b,
                                             const F& f) noexcept {
  T x[Vec<T, bytes>::size], y[Vec<T, bytes>::size];
  a.store(x);
  b.store(y);
  for (std::int64_t i = 0; i < Vec<T, bytes>::size; ++i) x[i] = f(x[i], y[i]);
  return Vec<T, bytes>::load(x);
}

}  // namespace detail

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> pow(const Floats<bytes>& x, const Floats<bytes>& y) noexcept {
  const Floats<bytes> a = detail::magnitude(x);
  const Floats<bytes> result = detail::narrowed(
      detail::exp2_of(detail::lower_doubles(y) * detail::log2_of(detail::lower_doubles(a))),
      detail::exp2_of(detail::upper_doubles(y) * detail::log2_of(detail::upper_doubles(a))));
  return detail::power_or_special(x, y, result);
}

namespace detail {

// a - floor(a / b) * b, for quotients below 2^28.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> remainder_of(const Doubles<bytes>& a,
                                                const Doubles<bytes>& b) noexcept {
  using V = Doubles<bytes>;
  const V quotient = a / b;
  const V whole = (quotient + V(kWideRounder)) - V(kWideRounder);
  // Exact: the product has at most 53 bits. The quotient may be rounded to the next integer.
  const V rest = a - whole * b;
  return select((rest != V(0.0)) & ((rest < V(0.0)) != (b < V(0.0))), rest + b, rest);
}

template <class T>
OPGEN_ALWAYS_INLINE T remainder_of_one(T a, T b) noexcept {
  const T rest = std::fmod(a, b);
  return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}

}  // namespace detail

// The remainder that has the sign of b, as Python's %.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> remainder(const Floats<bytes>& a,
                                            const Floats<bytes>& b) noexcept {
  using V = Floats<bytes>;
  const V quotient = detail::magnitude(a / b);
  const V divisor = detail::magnitude(b);
  if (OPGEN_UNLIKELY(detail::any(~((quotient < V(0x1p28f)) & (divisor < V(detail::kInfinity)))))) {
    return detail::one_by_one(a, b,
                              [](float x, float y) { return detail::remainder_of_one(x, y); });
  }
  const V rest =
      detail::narrowed(detail::remainder_of(detail::lower_doubles(a), detail::lower_doubles(b)),
                       detail::remainder_of(detail::upper_doubles(a), detail::upper_doubles(b)));
  // 0 has the sign of a, as fmod's.
  return select(rest == V(0.0f), detail::with_sign(detail::magnitude(rest), a), rest);
}

// a / b rounded down, as Python's //, for one float or double. Subtracts the remainder from `a`
// before it divides, so the result is exact where the rounded quotient is not; of quotients of 2^22
// or more, it is within two units in the last place, as PyTorch's.
template <class T>
requires std::is_floating_point_v<T> T divide_floor(T a, T b)
noexcept {
  if (b == 0) return a / b;
  const T rest = std::fmod(a, b);
  T quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(T(0), a / b);
  T whole = std::floor(quotient);
  if (quotient - whole > T(0.5)) whole += 1;
  return whole;
}

namespace detail {

// floor(a / b), for quotients below 2^28.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> floor_of(const Doubles<bytes>& a,
                                            const Doubles<bytes>& b) noexcept {
  using V = Doubles<bytes>;
  const V whole = (a / b + V(kWideRounder)) - V(kWideRounder);
  // Exact, as in remainder_of.
  const V rest = a - whole * b;
  return select((rest != V(0.0)) & ((rest < V(0.0)) != (b < V(0.0))), whole - V(1.0), whole);
}

}  // namespace detail

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> divide_floor(const Floats<bytes>& a,
                                               const Floats<bytes>& b) noexcept {
  using V = Floats<bytes>;
  const V quotient = a / b;
  const V divisor = detail::magnitude(b);
  // Below 2^22, one element's method is exact, too.
  if (OPGEN_UNLIKELY(detail::any(
          ~((detail::magnitude(quotient) < V(0x1p22f)) & (divisor < V(detail::kInfinity)))))) {
    return detail::one_by_one(a, b, [](float x, float y) { return divide_floor(x, y); });
  }
  const V whole =
      detail::narrowed(detail::floor_of(detail::lower_doubles(a), detail::lower_doubles(b)),
                       detail::floor_of(detail::upper_doubles(a), detail::upper_doubles(b)));
  // 0 has the sign of the quotient.
  return select(whole == V(0.0f), detail::with_sign(V(0.0f), quotient), whole);
}

}  // namespace opgen::vec
