// sym_int.h: comparisons of sizes that may be symbolic. Operators such as `<` must decide
// immediately, and fail if the size is unknown until the program runs; these functions can leave
// the result undecided.
#pragma once

#include <c10/core/SymBool.h>
#include <c10/core/SymInt.h>

#include <cstdint>

namespace opgen {

// For numbers they are ordinary comparisons and cost no more.
using c10::sym_eq;
using c10::sym_ge;
using c10::sym_gt;
using c10::sym_le;
using c10::sym_lt;
using c10::sym_ne;

constexpr std::int64_t sym_max(std::int64_t a, std::int64_t b) noexcept {
  return a < b ? b : a;
}
[[nodiscard]] inline c10::SymInt sym_max(const c10::SymInt& a, const c10::SymInt& b) {
  return a.max(b);
}
constexpr std::int64_t sym_min(std::int64_t a, std::int64_t b) noexcept {
  return b < a ? b : a;
}
[[nodiscard]] inline c10::SymInt sym_min(const c10::SymInt& a, const c10::SymInt& b) {
  return a.min(b);
}

// Returns whether the condition holds. If symbolic sizes leave it undecided, guard_or_false
// returns false and guard_or_true returns true.
constexpr bool guard_or_false(bool condition) noexcept {
  return condition;
}
[[nodiscard]] inline bool guard_or_false(const c10::SymBool& condition) {
  return condition.guard_or_false(__FILE__, __LINE__);
}
constexpr bool guard_or_true(bool condition) noexcept {
  return condition;
}
[[nodiscard]] inline bool guard_or_true(const c10::SymBool& condition) {
  return condition.guard_or_true(__FILE__, __LINE__);
}

namespace detail {

// For OPGEN_SYM_CHECK: an undecided condition is recorded, and the compiled program checks it.
constexpr bool expect_true(bool condition, const char*, int) noexcept {
  return condition;
}
[[nodiscard]] inline bool expect_true(const c10::SymBool& condition, const char* file, int line) {
  return condition.expect_true(file, line);
}

}  // namespace detail

}  // namespace opgen
