// sym_int.h: symbolic sizes of a schema. This runtime has none, so they are plain values; the
// functions below let one meta function compile both here and with symbolic sizes.
#pragma once

#include <cstdint>

#include "opgen/core/array_ref.h"

namespace opgen {

using SymInt = std::int64_t;
using SymBool = bool;
using SymIntArrayRef = ArrayRef<SymInt>;
using OptionalSymIntArrayRef = OptionalArrayRef<SymInt>;

// Comparisons of sizes for OPGEN_SYM_CHECK and guard_or_...
constexpr bool sym_eq(std::int64_t a, std::int64_t b) noexcept {
  return a == b;
}
constexpr bool sym_ne(std::int64_t a, std::int64_t b) noexcept {
  return a != b;
}
constexpr bool sym_lt(std::int64_t a, std::int64_t b) noexcept {
  return a < b;
}
constexpr bool sym_le(std::int64_t a, std::int64_t b) noexcept {
  return a <= b;
}
constexpr bool sym_gt(std::int64_t a, std::int64_t b) noexcept {
  return a > b;
}
constexpr bool sym_ge(std::int64_t a, std::int64_t b) noexcept {
  return a >= b;
}
constexpr std::int64_t sym_max(std::int64_t a, std::int64_t b) noexcept {
  return a < b ? b : a;
}
constexpr std::int64_t sym_min(std::int64_t a, std::int64_t b) noexcept {
  return b < a ? b : a;
}

// Returns the condition; false (true) if a symbolic size leaves it undecided.
constexpr bool guard_or_false(bool condition) noexcept {
  return condition;
}
constexpr bool guard_or_true(bool condition) noexcept {
  return condition;
}

}  // namespace opgen
