// special.h: the digamma function, its derivatives, the Hurwitz zeta function, modified Bessel
// functions and the inverse of erf, in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace kernels {

inline constexpr double pi = 3.14159265358979323846;

// Returns the sum of (q + k)^-s over k >= 0, for s > 1. Adds the first terms, and approximates the
// rest with the Euler-Maclaurin formula.
inline double hurwitz_zeta(double s, double q) {
  if (s == 1) return std::numeric_limits<double>::infinity();
  if (s < 1 || std::isnan(q)) return std::numeric_limits<double>::quiet_NaN();
  if (q <= 0) {
    if (q == std::floor(q)) return std::numeric_limits<double>::infinity();
    if (s != std::floor(s)) return std::numeric_limits<double>::quiet_NaN();
    // Few terms are added one by one. The negative ones of a distant q are powers of fraction,
    // fraction + 1, ..., -q.
    if (q < -32) {
      const double fraction = -q - std::floor(-q);
      const double sign = std::fmod(s, 2) == 0 ? 1 : -1;
      // The first two may cancel.
      return hurwitz_zeta(s, 1 - fraction) + sign * hurwitz_zeta(s, fraction) -
             sign * hurwitz_zeta(s, 1 - q);
    }
  }
  // B(2j) / (2j)!
  static constexpr double coefficient[] = {1.0 / 12,
                                           -1.0 / 720,
                                           1.0 / 30240,
                                           -1.0 / 1209600,
                                           1.0 / 47900160,
                                           -691.0 / 1307674368000,
                                           1.0 / 74724249600,
                                           -3617.0 / 10670622842880000,
                                           43867.0 / 5109094217170944000};
  double sum = 0;
  while (q < 12) {
    sum += std::pow(q, -s);
    q += 1;
  }
  const double power = std::pow(q, -s);
  // The integral is larger than its last term, and may be finite where that is NaN.
  const double integral = power < 1e-290 && std::isfinite(q) ? std::pow(q, 1 - s) : power * q;
  sum += integral / (s - 1) + power / 2;
  double factor = power / q;
  double rising = s;
  for (int j = 0; j < 9; ++j) {
    const double term = coefficient[j] * rising * factor;
    sum += term;
    if (std::abs(term) <= std::abs(sum) * 1e-17) break;
    rising *= (s + 2 * j + 1) * (s + 2 * j + 2);
    factor /= q * q;
  }
  return sum;
}

inline double digamma(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  double result = 0;
  if (x < 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    // Pass only the fraction, with the sign of x, to tan: the fraction is exact, so the result is
    // accurate for x near 0.
    result = -pi / std::tan(pi * (x - std::trunc(x)));
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  if (x == 10) return result + 2.25175258906672110764;
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 -
                           z * (1.0 / 252 -
                                z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return result + std::log(x) - 0.5 / x - series;
}

// The sum of (x + k)^-2 over k >= 0, for x of at least 1/2: its first ten terms as one fraction,
// and the rest with the Euler-Maclaurin formula.
inline double trigamma_of_positive(double x) {
  double upper = 0, lower = 1;
  // For larger numbers, the series alone is exact, and the product of the squares might overflow.
  for (int k = 0; k < 10 && x < 16; ++k, x += 1) {
    upper = upper * (x * x) + lower;
    lower *= x * x;
  }
  const double u = 1 / x, z = u * u;
  const double series =
      u * z *
      (1.0 / 6 -
       z * (1.0 / 30 -
            z * (1.0 / 42 - z * (1.0 / 30 - z * (5.0 / 66 - z * (691.0 / 2730 - z * (7.0 / 6)))))));
  return upper / lower + (u + z / 2 + series);
}

inline double trigamma(double x) {
  if (std::isinf(x)) return x > 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
  if (x >= 0.5 || std::isnan(x)) return trigamma_of_positive(x);
  if (x == std::floor(x)) return std::numeric_limits<double>::infinity();
  const double sine = std::sin(pi * x);
  return pi * pi / (sine * sine) - trigamma_of_positive(1 - x);
}

// The n-th derivative of digamma.
inline double polygamma(int64_t n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1) return trigamma(x);
  const double order = static_cast<double>(n);
  const double value = std::exp(std::lgamma(order + 1)) * hurwitz_zeta(order + 1, x);
  return n % 2 == 0 ? -value : value;
}

// The modified Bessel function of the first kind of order 0 or 1: a sum of positive terms, or for
// large numbers the asymptotic series, which is exact there.
template <int order>
double modified_bessel(double number) {
  const double x = std::abs(number);
  double sum = 1, term = 1;
  if (x < 25) {
    const double square = x * x / 4;
    for (int k = 1; term > sum * 1e-17; ++k) {
      term *= square / (static_cast<double>(k) * (k + order));
      sum += term;
    }
    return order == 0 ? sum : sum * number / 2;
  }
  for (int k = 1; k < 40 && std::abs(term) > sum * 1e-17; ++k) {
    const double odd = 2 * k - 1;
    term *= (odd * odd - 4 * order * order) / (8 * x * k);
    sum += term;
  }
  // Of half of the exponent, because the exponential overflows before the result does.
  const double root = std::exp(x / 2);
  return std::copysign(root / std::sqrt(2 * pi * x) * sum * root, order == 0 ? 1.0 : number);
}
inline double bessel_i0(double x) {
  return std::isinf(x) ? std::abs(x) : modified_bessel<0>(x);
}
inline double bessel_i1(double x) {
  return std::isinf(x) ? x : modified_bessel<1>(x);
}

}  // namespace kernels
