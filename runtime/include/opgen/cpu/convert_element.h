// convert_element.h: convert<To>(value), the conversion of one element to another dtype in copies,
// casts and fills.
#pragma once

#include <cstdint>
#include <type_traits>

#include "opgen/core/complex.h"
#include "opgen/core/scalar_type.h"

// A float outside of an integer's range converts to an unspecified value.
#if defined(__clang__)
#define OPGEN_ANY_FLOAT_TO_INT __attribute__((no_sanitize("float-cast-overflow")))
#else
#define OPGEN_ANY_FLOAT_TO_INT
#endif

namespace opgen {

// Complex to real drops the imaginary part; any nonzero value is true; a float converts to uint8
// through int64, so that -1.0 becomes 255.
template <class To, class From>
OPGEN_ANY_FLOAT_TO_INT constexpr To convert(From value) noexcept {
  constexpr bool from_complex = is_complex_type<From>::value;
  constexpr bool from_half = std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>;
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (from_half) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (is_complex_type<To>::value) {
    using V = typename To::value_type;
    if constexpr (from_complex) {
      return To(static_cast<V>(value.real_), static_cast<V>(value.imag_));
    } else {
      return To(static_cast<V>(value));
    }
  } else if constexpr (std::is_same_v<To, bool>) {
    if constexpr (from_complex) {
      return value.real_ != 0 || value.imag_ != 0;
    } else {
      return value != From(0);
    }
  } else if constexpr (from_complex) {
    return convert<To>(value.real_);
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, std::uint8_t>) {
    return static_cast<To>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace opgen
