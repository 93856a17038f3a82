// special.h: derivatives of the digamma function and the Hurwitz zeta function, in double.
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

// The n-th derivative of digamma, for n > 0.
inline double polygamma(int64_t n, double x) {
  const double order = static_cast<double>(n);
  const double value = std::exp(std::lgamma(order + 1)) * hurwitz_zeta(order + 1, x);
  return n % 2 == 0 ? -value : value;
}

}  // namespace kernels
