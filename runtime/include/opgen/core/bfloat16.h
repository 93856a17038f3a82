// bfloat16.h: BFloat16, the upper half of a float. Arithmetic is done in float.
#pragma once

#include <bit>
#include <cstdint>

#include "opgen/core/half.h"

namespace opgen {

namespace detail {

// Rounds to nearest, ties to even; every NaN becomes the same quiet NaN.
constexpr std::uint16_t float_to_bfloat16_bits(float value) noexcept {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace detail

struct BFloat16 : detail::HalfOperators<BFloat16> {
  struct FromBits {};

  std::uint16_t x;

  BFloat16() = default;
  constexpr BFloat16(std::uint16_t bits, FromBits) noexcept : x(bits) {}
  constexpr BFloat16(float value) noexcept : x(detail::float_to_bfloat16_bits(value)) {}  // NOLINT
  constexpr operator float() const noexcept {                                             // NOLINT
    return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
  }
  static constexpr BFloat16 from_bits(std::uint16_t bits) noexcept { return {bits, FromBits{}}; }
};

}  // namespace opgen
