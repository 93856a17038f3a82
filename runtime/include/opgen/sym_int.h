// sym_int.h: symbolic sizes of a schema. This runtime has none, so they are plain values; what meta
// functions say of sizes is written so that it compiles where they may be symbolic, too.
#pragma once

#include <cstdint>

#include "opgen/array_ref.h"

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

// Whether it holds; false (true) where a symbolic size leaves that open.
constexpr bool guard_or_false(bool condition) noexcept {
  return condition;
}
constexpr bool guard_or_true(bool condition) noexcept {
  return condition;
}

}  // namespace opgen
