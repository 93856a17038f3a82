// half.h: Half, IEEE binary16, and BFloat16, the upper half of a float.
#pragma once

#include <bit>
#include <cstdint>

namespace opgen {

namespace detail {

// Both without branches, so that compilers vectorise loops.
//
// Rounds to nearest, ties to even. Overflow becomes infinity, NaN stays NaN.
constexpr std::uint16_t float_to_half_bits(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto magnitude = static_cast<std::int32_t>(bits & 0x7fffffffu);
  const std::int32_t normal = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // Below 2^-14: the last digit of 1/2 is that of subnormal results, so the sum rounds to it.
  const float sum = std::bit_cast<float>(magnitude < 0x38800000 ? magnitude : 0) + 0.5f;
  std::int32_t result = std::bit_cast<std::int32_t>(sum) - 0x3f000000;
  result = magnitude < 0x38800000 ? result : normal;
  result = magnitude < 0x477ff000 ? result : 0x7c00;
  result = magnitude <= 0x7f800000 ? result : 0x7e00;
  return static_cast<std::uint16_t>(((bits >> 16) & 0x8000u) | static_cast<std::uint32_t>(result));
}

constexpr float half_bits_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::int32_t magnitude = (half & 0x7fff) << 13;
  // Subnormal: 2^-14 times 1 + the fraction, less 2^-14. Then infinity and NaN.
  const float small = std::bit_cast<float>(magnitude + 0x38800000) - 0x1p-14f;
  std::int32_t result = magnitude + (magnitude < 0x0f800000 ? 0x38000000 : 0x70000000);
  result = magnitude < 0x00800000 ? std::bit_cast<std::int32_t>(small) : result;
  return std::bit_cast<float>(sign | static_cast<std::uint32_t>(result));
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
