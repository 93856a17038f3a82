// vec_functions.h: more functions of vectors of floats, in namespace opgen::vec, built from those
// of vec_math.h.
//
//   vec::expm1(x), vec::exp2(x), vec::log2(x), vec::log10(x), vec::sinh(x), vec::cosh(x),
//   vec::tan(x), vec::asin(x), vec::acos(x), vec::atanh(x), vec::atan2(y, x), vec::erfc(x),
//   vec::erfinv(x), vec::digamma(x), vec::trigamma(x), vec::hypot(x, y), vec::fmod(x, y),
//   vec::log_add_exp(x, y), vec::log_add_exp2(x, y), vec::softplus(x), vec::mish(x),
//   vec::power_of_magnitude(x, order)
//
// softplus and mish are within 1.6 and 4 units in the last place, digamma within 1 except near its
// zeros, and all others within 1, of the exact value. Most compute vectors of doubles, with 26 bits
// or more: that takes less time than to keep the digits of floats in two parts.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "opgen/cpu/vec_math.h"

// Of a function that is called from loops that are compiled for an instruction set.
#define OPGEN_INLINE_LAMBDA __attribute__((always_inline))

namespace opgen::vec {

namespace detail {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kLog2 = 0.69314718055994530942;
inline constexpr double kLog2OfE = 1.44269504088896340736;

// f(x), or f(x, y), of vectors of doubles.
template <int bytes, class F, class... X>
OPGEN_ALWAYS_INLINE Floats<bytes> by_doubles(const F& f, const X&... x) noexcept {
  return narrowed<bytes>(f(lower_doubles(x)...), f(upper_doubles(x)...));
}
// f(x) of a function of doubles. (With -ffast-math, that of floats would replace it.)
template <class F>
float by_double(float x, const F& f) noexcept {
  const volatile double wide = static_cast<double>(x);
  return static_cast<float>(f(wide));
}
template <class T, int bytes>
OPGEN_ALWAYS_INLINE Vec<T, bytes> root(const Vec<T, bytes>& x) noexcept {
  typename Vec<T, bytes>::Native roots;
  // One instruction, if it is compiled with -fno-math-errno, as kernels are.
  for (std::int64_t i = 0; i < Vec<T, bytes>::size; ++i) roots[i] = std::sqrt(x.values[i]);
  return Vec<T, bytes>::of(roots);
}
// `y` for |x| < 1, an infinity with the sign of x for |x| = 1, and NaN beyond.
template <class T, int bytes>
OPGEN_ALWAYS_INLINE Vec<T, bytes> infinite_at_one(const Vec<T, bytes>& x,
                                                  const Vec<T, bytes>& y) noexcept {
  using V = Vec<T, bytes>;
  const V t = magnitude(x), one(T(1));
  const V end = with_sign(V(std::numeric_limits<T>::infinity()), x);
  return select(t < one, y, select(t == one, end, V(std::numeric_limits<T>::quiet_NaN())));
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> exp_of(const Doubles<bytes>& x) noexcept {
  return exp2_of(x * Doubles<bytes>(kLog2OfE));
}

}  // namespace detail

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> expm1(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  constexpr float c[] = {0.5f,           0x1.555556p-3f,  0x1.555556p-5f,
                         0x1.110fccp-7f, 0x1.6c15b8p-10f, 0x1.a2a342p-13f,
                         0x1.a22552p-16f};
  const V bounded = min(V(89.0f), max(V(-20.0f), x));
  // As exp_tail, but n is 0 up to 1/2, where the difference from 1 would cancel digits.
  const V near(detail::kRounder);
  const V sum =
      select(detail::magnitude(x) < V(0.5f), near, multiply_add(bounded, V(0x1.715476p+0f), near));
  const V n = sum - near;
  V r = multiply_add(n, V(-0x1.62e4p-1f), bounded);
  r = multiply_add(n, V(-0x1.7f7d1cp-20f), r);
  const V tail = multiply_add(r * r, detail::polynomial(r, c), r);
  const typename V::Mask shifted = sum.bits();
  // (1 + tail) 2^n - 1, without the rounding of 1 + tail where that counts. Halves, because 2^128
  // is infinite.
  const V half = detail::scale_of<bytes>(shifted - 1);
  // Where half - 1/2 would be rounded, the products are small enough for the 1/2.
  const typename V::Mask large = x > V(16.0f);
  const V inner = select(large, V(-0.5f), half - V(0.5f)), outer = select(large, half, V(0.0f));
  const V result = multiply_add(half, tail, inner) + outer;
  // Half of a subnormal number would be rounded.
  return select(detail::magnitude(x) < V(0x1p-26f), x, result + result);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> exp2(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  const V bounded = min(V(128.0f), max(V(-150.0f), x));
  const V sum = bounded + V(detail::kRounder);
  const V r = bounded - (sum - V(detail::kRounder));  // exact
  return detail::scaled(detail::exp_of_rest(r * V(0x1.62e430p-1f)), sum.bits());
}

namespace detail {

// log(x) times upper + lower, of which `upper` has 12 bits; `power` and `rest` are the result for
// 2, of which `power` has 15 bits.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> scaled_log(const Floats<bytes>& x, float upper, float lower,
                                             float power, float rest) noexcept {
  using V = Floats<bytes>;
  V e;
  const V f = any_log_fraction(x, e);
  // The first digits of log(1 + f): the product of two numbers with 12 bits is exact.
  const V square = f * f, half(-0.5f);
  const V leading = V::from_bits(multiply_add(square, half, f).bits() & std::int32_t(0xfffff000u));
  const V others =
      multiply_add(square * f, log_polynomial(f), multiply_add(square, half, f - leading));
  V sum = multiply_add(leading, V(lower), others * V(upper + lower));
  if (rest != 0.0f) sum = multiply_add(e, V(rest), sum);  // An infinite e times 0 is NaN.
  sum = multiply_add(leading, V(upper), sum);
  return whole_log(x, multiply_add(e, V(power), sum));
}

}  // namespace detail

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> log2(const Floats<bytes>& x) noexcept {
  return detail::scaled_log(x, 0x1.716p+0f, -0x1.7135a8p-13f, 1.0f, 0.0f);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> log10(const Floats<bytes>& x) noexcept {
  return detail::scaled_log(x, 0x1.bccp-2f, -0x1.09d5b2p-15f, 0x1.344p-2f, 0x1.3509f8p-18f);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> cosh(const Floats<bytes>& x) noexcept {
  using D = Doubles<bytes>;
  return detail::by_doubles<bytes>(
      [](const D& a) OPGEN_INLINE_LAMBDA {
        const D e = detail::exp_of(detail::magnitude(a));
        return (e + D(1.0) / e) * D(0.5);
      },
      x);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> sinh(const Floats<bytes>& x) noexcept {
  using D = Doubles<bytes>;
  return detail::by_doubles<bytes>(
      [](const D& a) OPGEN_INLINE_LAMBDA {
        constexpr double c[] = {0x1.0000000036aadp+0, 0x1.555554ffed0dfp-3, 0x1.11113bbde50b1p-7,
                                0x1.9ffc2d927bc9bp-13, 0x1.7a5cbf456d7cfp-19};
        const D t = detail::magnitude(a);
        const D near = a * detail::polynomial(a * a, c);
        const D e = detail::exp_of(t);
        return select(t < D(1.0), near, detail::with_sign((e - D(1.0) / e) * D(0.5), a));
      },
      x);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> tan(const Floats<bytes>& x) noexcept {
  using D = Doubles<bytes>;
  const auto of_doubles = [](const D& a) OPGEN_INLINE_LAMBDA {
    constexpr double s[] = {0x1.fffffffff67c3p-1, -0x1.55555549480f4p-3, 0x1.1111074b326d2p-7,
                            -0x1.a00ee7e5cea35p-13, 0x1.6cb7496931eebp-19};
    constexpr double c[] = {0x1.ffffffff9785fp-1, -0x1.ffffffbdd5423p-2, 0x1.55553a80f0d04p-5,
                            -0x1.6c078410702ccp-10, 0x1.990693f1a2622p-16};
    const D shifted = multiply_add(a, D(0x1.45f306dc9c883p-1), D(detail::kWideRounder));
    const D n = shifted - D(detail::kWideRounder);
    // pi/2 in two parts, as in sine_of.
    D r = multiply_add(n, D(-0x1.921fb544p+0), a);
    r = multiply_add(n, D(-0x1.0b4611a626331p-34), r);
    const D z = r * r;
    const D sine = r * detail::polynomial(z, s), cosine = detail::polynomial(z, c);
    const typename D::Mask even = (shifted.bits() & 1) == 0;
    return select(even, sine, -cosine) / select(even, cosine, sine);
  };
  return detail::unless_large(
      detail::by_doubles<bytes>(of_doubles, x), x, detail::kMostAngle,
      [](float one) { return detail::by_double(one, [](double a) { return std::tan(a); }); });
}

namespace detail {

// asin(t), for t from 0 to 1/2; `z` is t * t.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> small_asin(const Doubles<bytes>& t,
                                              const Doubles<bytes>& z) noexcept {
  constexpr double c[] = {0x1.ffffffffe1e21p-1, 0x1.55555645c5606p-3, 0x1.333296d2f0dc6p-4,
                          0x1.6ddd4a2d244e2p-5, 0x1.ed30bb8293891p-6, 0x1.93f03ab417488p-6,
                          0x1.e44a06e0041ddp-8, 0x1.1cc62101320d6p-5};
  return t * polynomial(z, c);
}

}  // namespace detail

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> asin(const Floats<bytes>& x) noexcept {
  using D = Doubles<bytes>;
  return detail::by_doubles<bytes>(
      [](const D& a) OPGEN_INLINE_LAMBDA {
        const D t = detail::magnitude(a);
        // Beyond 1/2, pi/2 - 2 asin(root of (1 - t) / 2).
        const typename D::Mask near = t <= D(0.5);
        const D z = select(near, t * t, (D(1.0) - t) * D(0.5));
        const D y = detail::small_asin(select(near, t, detail::root(z)), z);
        return detail::with_sign(select(near, y, D(detail::kPi / 2) - (y + y)), a);
      },
      x);
}
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> acos(const Floats<bytes>& x) noexcept {
  using D = Doubles<bytes>;
  return detail::by_doubles<bytes>(
      [](const D& a) OPGEN_INLINE_LAMBDA {
        const D t = detail::magnitude(a);
        const typename D::Mask near = t <= D(0.5);
        const D z = select(near, t * t, (D(1.0) - t) * D(0.5));
        const D y = detail::small_asin(select(near, a, detail::root(z)), z);
        const D far = select(a < D(0.0), D(detail::kPi) - (y + y), y + y);
        return select(near, D(detail::kPi / 2) - y, far);
      },
      x);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> atanh(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  using D = Doubles<bytes>;
  const V y = detail::by_doubles<bytes>(
      [](const D& a) OPGEN_INLINE_LAMBDA {
        const D log2 = detail::log2_of((D(1.0) + a) / (D(1.0) - a));
        const D near = multiply_add(a * a, a * D(1.0 / 3), a);
        return select(detail::magnitude(a) < D(0x1p-9), near, log2 * D(detail::kLog2 / 2));
      },
      x);
  return detail::infinite_at_one(x, y);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> atan2(const Floats<bytes>& y, const Floats<bytes>& x) noexcept {
  using D = Doubles<bytes>;
  return detail::by_doubles<bytes>(
      [](const D& v, const D& u) OPGEN_INLINE_LAMBDA {
        constexpr double c[] = {0x1.ffffffffd04b7p-1,  -0x1.555554804421bp-2, 0x1.9998fd4003053p-3,
                                -0x1.247c9b0b6b4c7p-3, 0x1.c436aa358dbaap-4,  -0x1.5a567b9e7c546p-4,
                                0x1.818223d67fe37p-5};
        // Two infinities have the ratio 1, and an infinity no finite one.
        const D a = min(D(1e300), detail::magnitude(v)), b = min(D(1e300), detail::magnitude(u));
        const typename D::Mask steep = a > b;
        const D low = select(steep, b, a), high = select(steep, a, b);
        // The angle, up to pi/4, is atan(low / high) or pi/4 + atan((low - high) / (low + high)).
        const typename D::Mask middle = low > high * D(0.41421356237309504880);
        const D over = select(middle, low - high, low);
        const D under = select(middle, low + high, high);
        const D ratio = over / select(under == D(0.0), D(1.0), under);
        D angle = ratio * detail::polynomial(ratio * ratio, c);
        angle = angle + select(middle, D(detail::kPi / 4), D(0.0));
        angle = select(steep, D(detail::kPi / 2) - angle, angle);
        // The sign bit of x decides, that of -0 too.
        angle = select(u.bits() < 0, D(detail::kPi) - angle, angle);
        return select((v != v) | (u != u), v + u, detail::with_sign(detail::magnitude(angle), v));
      },
      y, x);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> erfc(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  using D = Doubles<bytes>;
  const V y = detail::by_doubles<bytes>(
      [](const D& a) OPGEN_INLINE_LAMBDA {
        // exp(t^2) erfc(t), divided by u = 1 / (t + 3).
        constexpr double c[] = {0x1.20d0cd408aa46p-1,   0x1.b2f0a9cf46646p+0,
                                0x1.26f48c301be47p+2,   0x1.fac9ddb324766p+3,
                                -0x1.68bcb5e3b340fp+1,  0x1.33380304207cfp+8,
                                -0x1.f9e1eb06fe64dp+9,  0x1.c485c076a4923p+11,
                                -0x1.6fc85688fc5c8p+12, 0x1.a485d36c151aep+11};
        const D t = min(D(10.2), detail::magnitude(a));
        const D u = D(1.0) / (t + D(3.0));
        const D tail = detail::exp_of(-t * t) * (u * detail::polynomial(u, c));
        return select(a < D(0.0), D(2.0) - tail, tail);
      },
      x);
  return select(x == x, y, x);
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> erfinv(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  using D = Doubles<bytes>;
  const V y = detail::by_doubles<bytes>(
      [](const D& a) OPGEN_INLINE_LAMBDA {
        // erfinv(x) / x as polynomials in w = -log(1 - x^2), and in its root.
        constexpr double c[] = {
            0x1.c5bf891fdde9fp-1,  0x1.db29f71873b1fp-3,   0x1.7a754eed81676p-7,
            -0x1.3233ffd4a5e05p-9, -0x1.087cfe6048c1ap-13, 0x1.75df8937c5fe2p-15,
            0x1.bf17e87f92e17p-19, -0x1.976067aa5b351p-20, 0x1.15b9f39b5dd1cp-24,
            0x1.641ad7aa42ff8p-26, -0x1.96fd94ffd7cfbp-29, 0x1.0f810cd458b53p-33};
        constexpr double outer[] = {
            0x1.95cbe0cc47aa6p+1,  -0x1.77a61dcb17b08p+3, 0x1.a517663c7b31bp+4,
            -0x1.0c2040471ff74p+5, 0x1.be65a97523b06p+4,  -0x1.fc7491e7f321dp+3,
            0x1.981b96d9f30c7p+2,  -0x1.d3fa7e106f42ap+0, 0x1.7e7b421976c15p-2,
            -0x1.b46f1cca92214p-5, 0x1.4b12f0cea6eb1p-8,  -0x1.2c98ebe2dbee4p-12,
            0x1.ef0fb39d0ad1fp-18};
        const D w = detail::log2_of((D(1.0) - a) * (D(1.0) + a)) * D(-detail::kLog2);
        const typename D::Mask central = w < D(5.0);
        D factor = detail::polynomial(w, c);
        if (detail::any(~central)) {
          factor = select(central, factor, detail::polynomial(detail::root(w), outer));
        }
        return a * factor;
      },
      x);
  return detail::infinite_at_one(x, y);
}

namespace detail {

// digamma(x) - log(at) for x > 0: an asymptotic series, and the first terms as one fraction: of the
// first and the last one, of the second and the second last, and so on, the sum is the same, over
// x (x + last) + k (last - k). With five pairs, it has all digits of doubles.
template <int pairs, int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> digamma_less_log(const Doubles<bytes>& x,
                                                    Doubles<bytes>& at) noexcept {
  using V = Doubles<bytes>;
  constexpr double c[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                          1.0 / 132, -691.0 / 32760, 1.0 / 12};
  constexpr int last = 2 * pairs - 1;
  const typename V::Mask small = x < V(16.0);
  const V product = x * (x + V(double(last)));
  V upper(0.0), lower(1.0);
  for (int k = 0; k < pairs; ++k) {
    const V factor = product + V(double(k * (last - k)));
    upper = multiply_add(upper, factor, lower);
    lower = lower * factor;
  }
  const V first_terms = upper / lower * (x + x + V(double(last)));
  at = select(small, x + V(double(last + 1)), x);
  const V u = V(1.0) / at;
  const V z = u * u;
  const V rest = multiply_add(z, polynomial(z, c), u * V(0.5));
  return -rest - select(small, first_terms, V(0.0));
}
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> digamma_of_positive(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  V at;
  const V rest = digamma_less_log<3>(x, at);
  return multiply_add(log2_of(at), V(kLog2), rest);
}
// x less the nearest integer, for x < 0.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> fraction_of_negative(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const V rounder(-0x1p52);
  return select(x > rounder, x - ((x + rounder) - rounder), V(0.0));
}
// The same for x < 0, by reflection; NaN for integers.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> digamma_of_negative(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const V rest = fraction_of_negative(x) * V(kPi);
  const V reflected = V(-kPi) * sine_of(rest, 1) / sine_of(rest, 0);
  return select(rest == V(0.0), V(std::numeric_limits<double>::quiet_NaN()),
                reflected + digamma_of_positive(V(1.0) - x));
}

// The sum of (x + k)^-2 over k >= 0, for x >= 0: the first terms as one fraction, and the rest with
// the Euler-Maclaurin formula. With ten terms, it has all digits of doubles.
template <int terms, int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> trigamma_of_positive(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  // For larger numbers, the series alone is exact.
  const typename V::Mask small = x < V(16.0);
  V upper(0.0), lower(1.0), at = x;
  for (int k = 0; k < terms; ++k) {
    const V square = at * at;
    upper = multiply_add(upper, square, lower);
    lower = lower * square;
    at = at + V(1.0);
  }
  constexpr double c[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                          5.0 / 66, -691.0 / 2730, 7.0 / 6};
  const V u = V(1.0) / select(small, at, x);
  const V z = u * u;
  const V rest = multiply_add(u * z, polynomial(z, c), multiply_add(z, V(0.5), u));
  return select(small, upper / lower, V(0.0)) + rest;
}
// The same for x < 0, by reflection; infinity for integers.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> trigamma_of_negative(const Doubles<bytes>& x) noexcept {
  using V = Doubles<bytes>;
  const V sine = sine_of(fraction_of_negative(x) * V(kPi), 0);
  return V(kPi * kPi) / (sine * sine) - trigamma_of_positive<3>(V(1.0) - x);
}

// `of_positive(x)`, and of_negative(x) where x is negative.
template <int bytes, class F, class G>
OPGEN_ALWAYS_INLINE Floats<bytes> reflected(const Floats<bytes>& x, const F& of_positive,
                                            const G& of_negative) noexcept {
  using V = Floats<bytes>;
  const V result = by_doubles<bytes>(of_positive, x);
  const typename V::Mask negative = x < V(0.0f);
  if (OPGEN_LIKELY(!any(negative))) return result;
  const V others = select(x == V(-kInfinity), V(kNaN), by_doubles<bytes>(of_negative, x));
  return select(negative, others, result);
}

}  // namespace detail

// The first and the second derivative of the logarithm of the gamma function.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> digamma(const Floats<bytes>& x) noexcept {
  using V = Floats<bytes>;
  using D = Doubles<bytes>;
  const V y = detail::reflected(
      x, [](const D& a) OPGEN_INLINE_LAMBDA { return detail::digamma_of_positive(a); },
      [](const D& a) OPGEN_INLINE_LAMBDA { return detail::digamma_of_negative(a); });
  return select(x == V(0.0f), detail::with_sign(V(detail::kInfinity), -x),
                select(x == V(detail::kInfinity), x, y));
}
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> trigamma(const Floats<bytes>& x) noexcept {
  using D = Doubles<bytes>;
  return detail::reflected(
      x, [](const D& a) OPGEN_INLINE_LAMBDA { return detail::trigamma_of_positive<3>(a); },
      [](const D& a) OPGEN_INLINE_LAMBDA { return detail::trigamma_of_negative(a); });
}

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> hypot(const Floats<bytes>& x, const Floats<bytes>& y) noexcept {
  using V = Floats<bytes>;
  using D = Doubles<bytes>;
  const V z = detail::by_doubles<bytes>(
      [](const D& a, const D& b)
          OPGEN_INLINE_LAMBDA { return detail::root(multiply_add(a, a, b * b)); },
      x, y);
  const V most(std::numeric_limits<float>::max());
  // An infinity wins over NaN.
  return select((detail::magnitude(x) > most) | (detail::magnitude(y) > most), V(detail::kInfinity),
                z);
}

namespace detail {

// a - trunc(a / b) * b, for quotients below 2^28.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> fmod_of(const Doubles<bytes>& a,
                                           const Doubles<bytes>& b) noexcept {
  using V = Doubles<bytes>;
  const V whole = (a / b + V(kWideRounder)) - V(kWideRounder);
  // Exact: the product has at most 53 bits. The quotient may be rounded to the next integer.
  const V rest = a - whole * b;
  return select((rest != V(0.0)) & ((rest < V(0.0)) != (a < V(0.0))),
                rest + with_sign(magnitude(b), a), rest);
}

}  // namespace detail

template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> fmod(const Floats<bytes>& a, const Floats<bytes>& b) noexcept {
  using V = Floats<bytes>;
  using D = Doubles<bytes>;
  const V divisor = detail::magnitude(b);
  if (OPGEN_UNLIKELY(detail::any(
          ~((detail::magnitude(a / b) < V(0x1p28f)) & (divisor < V(detail::kInfinity)))))) {
    return detail::one_by_one(a, b, [](float x, float y) { return std::fmod(x, y); });
  }
  const V rest = detail::by_doubles<bytes>(
      [](const D& u, const D& v) OPGEN_INLINE_LAMBDA { return detail::fmod_of(u, v); }, a, b);
  // 0 has the sign of a.
  return detail::with_sign(detail::magnitude(rest), a);
}

namespace detail {

// The logarithm of the sum of two powers, by the larger exponent and log(1 + e), where e is the
// power of the difference. `to_binary` is the binary logarithm of the base.
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> log_of_sum(const Floats<bytes>& x, const Floats<bytes>& y,
                                             double to_binary) noexcept {
  using V = Floats<bytes>;
  using D = Doubles<bytes>;
  const V sum = by_doubles<bytes>(
      [to_binary](const D& a, const D& b) OPGEN_INLINE_LAMBDA {
        // log(1 + e) / e, for e from 0 to 1, with 30 bits.
        constexpr double c[] = {0x1.fffffff8bf536p-1,  -0x1.fffff23ca5d8fp-2, 0x1.55532471bce50p-2,
                                -0x1.ffb933dac867dp-3, 0x1.9742f82e42739p-3,  -0x1.49797a179fca6p-3,
                                0x1.fb00b1a6ce14cp-4,  -0x1.4f61d4fd9d9cap-4, 0x1.4fed049df857ap-5,
                                -0x1.b02381e6f92c7p-7, 0x1.046679cb2b7ebp-9};
        const D e = exp2_of(magnitude(a - b) * D(-to_binary));
        return multiply_add(e * D(kLog2OfE / to_binary), polynomial(e, c), max(a, b));
      },
      x, y);
  // Equal infinities have no difference.
  const V result = select(x == y, x + V(static_cast<float>(1 / to_binary)), sum);
  return select((x != x) | (y != y), x + y, result);
}

}  // namespace detail

// log(exp(x) + exp(y)).
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> log_add_exp(const Floats<bytes>& x,
                                              const Floats<bytes>& y) noexcept {
  return detail::log_of_sum(x, y, detail::kLog2OfE);
}
// log2(2^x + 2^y).
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> log_add_exp2(const Floats<bytes>& x,
                                               const Floats<bytes>& y) noexcept {
  return detail::log_of_sum(x, y, 1.0);
}

// |x| to a power other than 0, for the digits of floats: of doubles, with 34 bits where the result
// is between 2^-200 and 2^200.
template <int bytes>
OPGEN_ALWAYS_INLINE Doubles<bytes> power_of_magnitude(const Doubles<bytes>& x,
                                                      double order) noexcept {
  using V = Doubles<bytes>;
  const V a = detail::magnitude(x);
  const typename V::Mask usual = (a > V(0.0)) & (a < V(std::numeric_limits<double>::infinity()));
  const V exponent = detail::log2_of(a) * V(order);
  if (OPGEN_UNLIKELY(detail::any(usual & ~(detail::magnitude(exponent) < V(200.0))))) {
    double lanes[V::size];
    a.store(lanes);
    for (std::int64_t i = 0; i < V::size; ++i) lanes[i] = std::pow(lanes[i], order);
    return V::load(lanes);
  }
  // The powers of 0, infinity and NaN.
  return select(usual, detail::exp2_of(exponent), order < 0 ? V(1.0) / a : a);
}

// log(1 + exp(x)).
template <int bytes>
OPGEN_ALWAYS_INLINE Floats<bytes> softplus(const Floats<bytes>& x) noexcept {
  return log1p(exp(x));
}
// x tanh(log(1 + exp(x))), also of vectors of doubles.
template <class T, int bytes>
OPGEN_ALWAYS_INLINE Vec<T, bytes> mish(const Vec<T, bytes>& x) noexcept {
  using V = Vec<T, bytes>;
  // With e = exp(x), it is x n / (n + 2), where n = e (e + 2). From here on, the quotient is 1.
  constexpr T most = std::is_same_v<T, float> ? T(20) : T(40);
  const V e = exp(min(V(most), x));
  const V n = e * (e + V(T(2)));
  return x * (n / (n + V(T(2))));
}

}  // namespace opgen::vec

#undef OPGEN_INLINE_LAMBDA
