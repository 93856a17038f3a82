// math.h: arithmetic on one element of any dtype: wrapping integers, half types through float,
// complex.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include <aten/TensorBody.h>
#include <opgen/kernel.h>

namespace kernels {

using namespace at::types;

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<complex<T>> = true;
template <class T>
inline constexpr bool is_complex_v<std::complex<T>> = true;

template <class T>
inline constexpr bool is_half_v = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class T>
inline constexpr bool is_float_v = is_half_v<T> || std::is_floating_point_v<T>;

// The type in which an element is computed. Rounding every step to a half type would lose too much
// precision.
template <class T>
using wide_t = std::conditional_t<is_half_v<T>, float, T>;

// The type in which a long sum is accumulated.
template <class T>
struct SumOf {
  using type = T;
};
template <>
struct SumOf<Half> {
  using type = float;
};
template <>
struct SumOf<BFloat16> {
  using type = float;
};
template <class T>
using sum_t = typename SumOf<T>::type;

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<complex<T>> {
  using type = T;
};
template <class T>
using real_t = typename RealOf<T>::type;

// `widen` converts to a type that <cmath> and std::complex accept; `narrowed` converts back.
template <class T>
auto widen(T x) {
  if constexpr (is_complex_v<T>) {
    return std::complex<real_t<T>>(x.real(), x.imag());
  } else {
    return static_cast<wide_t<T>>(x);
  }
}

template <class T, class W>
T narrowed(W x) {
  if constexpr (is_complex_v<T>) {
    return T(static_cast<real_t<T>>(std::real(x)), static_cast<real_t<T>>(std::imag(x)));
  } else {
    return static_cast<T>(x);
  }
}

// Builds an element from its parts. A real type ignores the imaginary part.
template <class T>
T element_from(double real, [[maybe_unused]] double imag) {
  if constexpr (is_complex_v<T>) {
    return T(static_cast<real_t<T>>(real), static_cast<real_t<T>>(imag));
  } else {
    return static_cast<T>(static_cast<wide_t<T>>(real));
  }
}

template <class T>
double modulus_of(T x) {
  if constexpr (is_complex_v<T>) {
    return std::hypot(static_cast<double>(x.real()), static_cast<double>(x.imag()));
  } else {
    return std::abs(static_cast<double>(x));
  }
}

template <class T>
bool is_nan(T x) {
  if constexpr (is_complex_v<T>) {
    return std::isnan(x.real()) || std::isnan(x.imag());
  } else if constexpr (is_float_v<T>) {
    return std::isnan(static_cast<wide_t<T>>(x));
  } else {
    return false;
  }
}

// Integer overflow wraps. Uses unsigned arithmetic, because signed overflow is undefined in C++.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else if constexpr (is_complex_v<T>) {
    return T(a.real() + b.real(), a.imag() + b.imag());
  } else {
    return static_cast<T>(static_cast<wide_t<T>>(a) + static_cast<wide_t<T>>(b));
  }
}

template <class T>
T minus(T a, T b) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
  } else if constexpr (is_complex_v<T>) {
    return T(a.real() - b.real(), a.imag() - b.imag());
  } else {
    return static_cast<T>(static_cast<wide_t<T>>(a) - static_cast<wide_t<T>>(b));
  }
}

template <class T>
T times(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a && b;
  } else if constexpr (std::is_integral_v<T>) {
    // At least `unsigned`, because two unsigned short factors would be promoted to int, and their
    // product could overflow.
    using U = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else if constexpr (is_complex_v<T>) {
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return static_cast<T>(static_cast<wide_t<T>>(a) * static_cast<wide_t<T>>(b));
  }
}

// a + factor * b, rounded once for half types.
template <class T>
T plus_scaled(T a, T factor, T b) {
  using W = wide_t<T>;
  return static_cast<T>(plus(static_cast<W>(a), times(static_cast<W>(factor), static_cast<W>(b))));
}

// a / b, rounded toward zero. The only quotient that overflows (smallest / -1) wraps.
template <class T>
T divide_trunc(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return minus(T(0), a);
  }
  return static_cast<T>(a / b);
}

template <class T>
T divide_floor(T a, T b) {
  T quotient = divide_trunc(a, b);
  if constexpr (std::is_signed_v<T>) {
    if ((a < 0) != (b < 0) && times(quotient, b) != a) quotient = static_cast<T>(quotient - 1);
  }
  return quotient;
}

// The remainder that goes with divide_floor: it has the sign of the divisor.
template <class T>
T modulo(T a, T b) {
  return minus(a, times(divide_floor(a, b), b));
}

// a ** b for integers, by squaring; a negative power is 0 except for the bases 1 and -1.
template <class T>
T power_integer(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == T(-1)) return exponent % 2 == 0 ? T(1) : T(-1);
      return 0;
    }
  }
  T result = 1;
  while (exponent != 0) {
    if (exponent & 1) result = times(result, base);
    base = times(base, base);
    exponent = static_cast<T>(exponent >> 1);
  }
  return result;
}

// |x| of a real number; the smallest integer is unchanged.
template <class T>
T magnitude_of(T x) {
  if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    return x < 0 ? minus(T(0), x) : x;
  } else if constexpr (is_half_v<T>) {
    return T::from_bits(static_cast<uint16_t>(x.x & 0x7fffu));
  } else {
    return static_cast<T>(std::abs(widen(x)));
  }
}

// |x| with the sign of y, for floats. A half type needs only its bits.
template <class T>
T with_sign_of(T x, T y) {
  if constexpr (is_half_v<T>) {
    constexpr unsigned sign = 0x8000;
    return T::from_bits(static_cast<uint16_t>((x.x & ~sign) | (y.x & sign)));
  } else {
    return std::copysign(x, y);
  }
}

// -1, 0 or 1.
template <class T>
T sign_of(T x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x;
  } else {
    // Without a difference of conditions, which would be converted.
    const auto w = widen(x);
    using Wide = decltype(widen(x));
    return static_cast<T>(w > 0 ? Wide(1) : w < 0 ? Wide(-1) : Wide(0));
  }
}

// log(1 + x), accurate near zero.
struct Log1p {
  template <class T>
  T operator()(T x) const {
    return std::log1p(x);
  }
  // Near zero, log|1 + z| is accurate only if the 1 is left out of the squared modulus.
  template <class T>
  std::complex<T> operator()(std::complex<T> z) const {
    const T x = z.real(), y = z.imag(), angle = std::atan2(y, 1 + x);
    if (std::abs(z) < T(0.5)) return {std::log1p(x * (2 + x) + y * y) / 2, angle};
    return {std::log(std::hypot(1 + x, y)), angle};
  }
};

// Flips all bits of an integer; a bool has one bit.
template <class T>
T inverted(T x) {
  if constexpr (std::is_same_v<T, bool>) {
    // As `!x`, which g++ 12 does not vectorise.
    return static_cast<bool>(static_cast<uint8_t>(static_cast<uint8_t>(x) - 1) >> 7);
  } else {
    return static_cast<T>(~x);
  }
}

// The larger and the smaller of two; NaN wins. Without branches, so that compilers vectorise loops.
template <class T>
T greater_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a | b;
  const auto x = static_cast<wide_t<T>>(a), y = static_cast<wide_t<T>>(b);
  return (x < y) | (y != y) ? b : a;
}
template <class T>
T lesser_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a & b;
  const auto x = static_cast<wide_t<T>>(a), y = static_cast<wide_t<T>>(b);
  return (x > y) | (y != y) ? b : a;
}

}  // namespace kernels
