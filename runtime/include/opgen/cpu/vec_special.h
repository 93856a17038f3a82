// vec_special.h: Bessel functions, the logarithm of the gamma function and others of vectors of
// floats, in namespace opgen::vec.
//
//   vec::bessel_i0(x), vec::bessel_i1(x), vec::lgamma(x), vec::sinc(x), vec::xlogy(x, y)
//
// All are within 0.52 units in the last place of the exact value. They compute vectors of doubles,
// with 30 bits or more.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "opgen/cpu/vec_functions.h"

// Of a function that is called from loops that are compiled for an instruction set.
#define OPGEN_INLINE_LAMBDA __attribute__((always_inline))

namespace opgen::vec {

namespace detail {

// The modified Bessel function of the first kind of order 0 or 1, for x >= 0: a polynomial, or for
// large numbers the exponential over the root, times another.
template <int order, int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> bessel_of_positive(const Doubles<bytes>& given) noexcept {
  using V = Doubles<bytes>;
  constexpr double near0[] = {0x1.fffffffdcb230p-1,  0x1.00000013da385p-2,  0x1.fffffe2793d6dp-7,
                              0x1.c71c82f3c8de1p-12, 0x1.c71bcce4be7eep-18, 0x1.23490ba397e17p-24,
                              0x1.02ce550ab2805p-31, 0x1.531e4c09647c9p-39, 0x1.4c3cc00f7d4adp-47,
                              0x1.234c94c56c434p-55, 0x1.b83220c1e48a2p-65, 0x1.5d383bc4c1e51p-72};
  constexpr double near1[] = {0x1.ffffffffd638ep-2,  0x1.00000002efc9ap-4,  0x1.5555550f717a7p-9,
                              0x1.c71c76dc3cb7bp-15, 0x1.6c16909d0c135p-21, 0x1.845eb21d0b466p-28,
                              0x1.27d58edd575fep-35, 0x1.52baffe65364ap-43, 0x1.291241e309bb4p-51,
                              0x1.c830370b9fc2dp-60, 0x1.5ffa5ba179b0dp-69, 0x1.bb5e9645db2e2p-77};
  constexpr double far0[] = {0x1.98845335586d6p-2,  0x1.9884a244aa446p-5, 0x1.cb51d16762058p-6,
                             0x1.ec046a6e64d3bp-6,  0x1.775a0f5b7a2cep-6, 0x1.a9393396ce23bp-2,
                             -0x1.2aaa59d39b4fbp+1, 0x1.2ec6e8aa687dcp+3};
  constexpr double far1[] = {0x1.9884534679732p-2,  -0x1.32635561a1ac2p-3, -0x1.7ed535e5e32fdp-5,
                             -0x1.56c7795a66c1ep-5, -0x1.09dc4dd90df5ap-5, -0x1.ece97df9a136bp-2,
                             0x1.5165bb03c7fcep+1,  -0x1.55ebe751333c5p+3};
  // From 2^9 on, the result is infinite; NaN stays.
  const V x = min(V(0x1p9), given);
  const V square = x * x;
  V result;
  if constexpr (order == 0) {
    result = polynomial(square, near0);
  } else {
    result = x * polynomial(square, near1);
  }
  const typename V::Mask near = x <= V(8.0);
  if (OPGEN_LIKELY(!any(~near))) return result;
  const V u = V(1.0) / x;
  const V rest = order == 0 ? polynomial(u, far0) : polynomial(u, far1);
  return select(near, result, exp_of(x) * rest * root(u));
}

// sin(pi x) / x for x from -1/2 to 1/2, as a function of x^2, with 43 bits.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> sine_ratio(const Doubles<bytes>& square) noexcept {
  constexpr double c[] = {0x1.921fb54442bb4p+1,  -0x1.4abbce624ad99p+2, 0x1.466bc66ed3d1cp+1,
                          -0x1.32d2c9b2d1df5p-1, 0x1.50770f6a5a66bp-4,  -0x1.e29b82ab98ea9p-8,
                          0x1.d53abdeb199c1p-12};
  return polynomial(square, c);
}

// log(gamma(x)), for x > 0, with 40 bits, and to 31 near its zeros, 1 and 2.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> lgamma_of_positive(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  using Mask = typename V::Mask;
  // lgamma(2 + y) / (y (y + 1)), for y from -1 to 1.
  constexpr double c[] = {
      0x1.b0ee6071763efp-2,  -0x1.9ae6509d888bfp-4,  0x1.0e0ca03d7ef98p-5,  -0x1.95ce269a92f10p-7,
      0x1.4795caa7e6c43p-8,  -0x1.144fb5d632746p-9,  0x1.e0498de07419ap-11, -0x1.a9c3ae4982c50p-12,
      0x1.7940d98c660e2p-13, -0x1.573255e168528p-14, 0x1.6d9e0c91a37aep-15, -0x1.53a497546d057p-16,
      0x1.39c59f425683dp-19, -0x1.17cfe646d002fp-20, 0x1.4564f2f5c3f05p-18, -0x1.34df482ac2f00p-19};
  // What Stirling's formula lacks, as a function of 1 / x up to 1/3.
  constexpr double s[] = {0x1.d67f1c8637129p-1,  0x1.55555616a6b1ap-4,   -0x1.2fb9c5835c346p-23,
                          -0x1.6bb9a6adfd8a9p-9, -0x1.c87777d7f4c05p-16, 0x1.eccc199259bafp-11,
                          -0x1.c433b55fbd792p-12};
  const Mask small = x < V(1.0), large = x >= V(3.0);
  const V y = select(small, x - V(1.0), x - V(2.0));
  // Adding 0 makes the zeros positive.
  V result = multiply_add(y * (y + V(1.0)), polynomial(y, c), V(0.0));
  if (OPGEN_LIKELY(any(small | large))) {
    const V logarithm = log2_of(x) * V(kLog2);
    // gamma(x) is gamma(x + 1) / x.
    result = select(small, result - logarithm, result);
    if (any(large)) {
      const V far = multiply_add(x - V(0.5), logarithm, polynomial(V(1.0) / x, s) - x);
      result = select(large, far, result);
    }
  }
  return result;
}
// What is added to -lgamma(1 - x), for x < 0: log(pi / |sin(pi x)|), which is infinite for
// integers.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> lgamma_reflection(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const V rest = fraction_of_negative(x);
  const V sine = magnitude(rest) * sine_ratio(rest * rest);
  return (V(1.65149612947231879804) - log2_of(sine)) * V(kLog2);  // log2(pi)
}

}  // namespace detail

// The modified Bessel functions of the first kind of the orders 0 and 1.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> bessel_i0(const Floats<bytes>& x) noexcept {
  using D = Doubles<bytes>;
  return detail::by_doubles<bytes>(
      [](const D& a)
          OPGEN_INLINE_LAMBDA { return detail::bessel_of_positive<0>(detail::magnitude(a)); },
      x);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> bessel_i1(const Floats<bytes>& x) noexcept {
  using D = Doubles<bytes>;
  return detail::by_doubles<bytes>(
      [](const D& a) OPGEN_INLINE_LAMBDA {
        return detail::with_sign(detail::bessel_of_positive<1>(detail::magnitude(a)), a);
      },
      x);
}

// The logarithm of |gamma(x)|.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> lgamma(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  using D = Doubles<bytes>;
  const typename V::Mask negative = x < V(0.0f);
  const V positive = detail::by_doubles<bytes>(
      [](const D& a) OPGEN_INLINE_LAMBDA {
        const typename D::Mask below = a < D(0.0);
        const D result = detail::lgamma_of_positive(select(below, D(1.0) - a, a));
        if (OPGEN_LIKELY(!detail::any(below))) return result;
        return select(below, detail::lgamma_reflection(a) - result, result);
      },
      x);
  const V result =
      select(detail::magnitude(x) == V(detail::kInfinity), V(detail::kInfinity), positive);
  // Near the zeros of negative numbers, the difference of the logarithms has lost digits.
  const typename V::Mask cancelled = negative & (detail::magnitude(result) < V(0x1p-7f));
  if (OPGEN_LIKELY(!detail::any(cancelled))) return result;
  float results[V::size], lanes[V::size];
  result.store(results);
  x.store(lanes);
  for (std::int64_t i = 0; i < V::size; ++i) {
    if (std::abs(results[i]) < 0x1p-7f && lanes[i] < 0) {
      results[i] = detail::by_double(lanes[i], [](double a) { return std::lgamma(a); });
    }
  }
  return V::load(results);
}

// sin(pi x) / (pi x), which is 0 for integers other than 0, and 1 for 0.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> sinc(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  using D = Doubles<bytes>;
  const V y = detail::by_doubles<bytes>(
      [](const D& a) OPGEN_INLINE_LAMBDA {
        const D rounder(detail::kWideRounder);
        // From 2^24 on, all floats are even integers.
        const typename D::Mask usual = detail::magnitude(a) < D(0x1p24);
        const D shifted = select(usual, a + rounder, rounder);
        // NaN for infinities.
        const D rest = select(usual, a - (shifted - rounder), a - a);
        const D ratio = rest / a * detail::sine_ratio(rest * rest) * D(1 / detail::kPi);
        // The number of half turns, in the low bits.
        return D::from_bits(ratio.bits() ^ ((shifted.bits() & 1) << 63));
      },
      x);
  return select(x == V(0.0f), V(1.0f), y);
}

// x log(y), and 0 for x = 0 unless y is NaN.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> xlogy(const Floats<bytes>& x, const Floats<bytes>& y) noexcept {
  using V = Floats<bytes>;
  using D = Doubles<bytes>;
  const V product = detail::by_doubles<bytes>(
      [](const D& a, const D& b)
          OPGEN_INLINE_LAMBDA { return a * (detail::log2_of(b) * D(detail::kLog2)); },
      x, y);
  const typename V::Mask known = y == y;
  const V result = select(y >= V(0.0f), product, select(known, V(detail::kNaN), y));
  return select((x == V(0.0f)) & known, V(0.0f), result);
}

}  // namespace opgen::vec

#undef OPGEN_INLINE_LAMBDA
