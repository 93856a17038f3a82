// half.h: Half, IEEE binary16, and BFloat16, the upper half of a float.
#pragma once

#include <bit>
#include <cstdint>

namespace opgen {

namespace detail {

// Rounds to nearest, ties to even. Overflow becomes infinity, NaN stays NaN.
constexpr std::uint16_t float_to_half_bits(float value) noexcept {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  std::uint32_t sign = (bits >> 16) & 0x8000u;
  std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // below 2^-14: subnormal or zero
    if (magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);
    std::uint32_t exponent = magnitude >> 23;
    std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    std::uint32_t shift = 126u - exponent;
    std::uint32_t result = mantissa >> shift;
    std::uint32_t rest = mantissa & ((1u << shift) - 1u);
    std::uint32_t halfway = 1u << (shift - 1u);
    if (rest > halfway || (rest == halfway && (result & 1u) != 0)) ++result;
    return static_cast<std::uint16_t>(sign | result);
  }
  std::uint32_t result = (magnitude - 0x38000000u) >> 13;
  std::uint32_t rest = magnitude & 0x1fffu;
  if (rest > 0x1000u || (rest == 0x1000u && (result & 1u) != 0)) ++result;
  return static_cast<std::uint16_t>(sign | result);
}

constexpr float half_bits_to_float(std::uint16_t half) noexcept {
  std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  std::uint32_t exponent = (half >> 10) & 0x1fu;
  std::uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1fu) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {  // mantissa * 2^-24 is exact in float
    float value = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

// Rounds to nearest, ties to even; every NaN becomes the same quiet NaN.
constexpr std::uint16_t float_to_bfloat16_bits(float value) noexcept {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Arithmetic of the 16-bit type T, computed in float. It is a base class, so that the compiler
// considers conversions to and from T as for any class.
template <class T>
struct HalfOperators {
  struct FromBits {};
  static constexpr T from_bits(std::uint16_t bits) noexcept { return {bits, FromBits{}}; }

  friend constexpr T operator+(T a, T b) noexcept { return float(a) + float(b); }
  friend constexpr T operator-(T a, T b) noexcept { return float(a) - float(b); }
  friend constexpr T operator*(T a, T b) noexcept { return float(a) * float(b); }
  friend constexpr T operator/(T a, T b) noexcept { return float(a) / float(b); }
  friend constexpr T operator-(T a) noexcept {
    return T::from_bits(static_cast<std::uint16_t>(a.x ^ 0x8000u));
  }
  friend constexpr T& operator+=(T& a, T b) noexcept { return a = a + b; }
  friend constexpr T& operator-=(T& a, T b) noexcept { return a = a - b; }
  friend constexpr T& operator*=(T& a, T b) noexcept { return a = a * b; }
  friend constexpr T& operator/=(T& a, T b) noexcept { return a = a / b; }
};

}  // namespace detail

struct Half : detail::HalfOperators<Half> {
  std::uint16_t x;

  Half() = default;
  constexpr Half(std::uint16_t bits, FromBits) noexcept : x(bits) {}
  constexpr Half(float value) noexcept : x(detail::float_to_half_bits(value)) {}  // NOLINT
  constexpr operator float() const noexcept {                                     // NOLINT
    return detail::half_bits_to_float(x);
  }
};

struct BFloat16 : detail::HalfOperators<BFloat16> {
  std::uint16_t x;

  BFloat16() = default;
  constexpr BFloat16(std::uint16_t bits, FromBits) noexcept : x(bits) {}
  constexpr BFloat16(float value) noexcept : x(detail::float_to_bfloat16_bits(value)) {}  // NOLINT
  constexpr operator float() const noexcept {                                             // NOLINT
    return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
  }
};

}  // namespace opgen
