// sym_int.h: SymInt, a size that may be a symbol while torch.compile and torch.export trace.
//
// A symbol is a number that stands for an object of Python's torch.SymInt. Arithmetic and
// comparisons of symbols are answered by the Python part of the library (symbolic/sym_functions.h);
// for numbers they are those of int64_t.
#pragma once

#include <concepts>
#include <cstdint>

#include "opgen/core/array_ref.h"

namespace opgen {

namespace detail {

enum class SymOperation : std::int32_t { Add, Subtract, Multiply, Divide, Remainder, Max, Min };
enum class SymComparison : std::int32_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };
// How an undecided comparison becomes a bool.
enum class SymDecision : std::int32_t {
  Guard,    // by the values with which the program is traced: it is valid only for this answer
  OrFalse,  // false
  OrTrue,   // true
  Expect,   // true, and the compiled program checks it
};

// No size is this small.
inline constexpr std::int64_t kFirstNumber = -(std::int64_t(1) << 62);

[[nodiscard]] OPGEN_API std::int64_t sym_compute(SymOperation operation, std::int64_t a,
                                                 std::int64_t b);
[[nodiscard]] OPGEN_API std::int64_t sym_compare(SymComparison comparison, std::int64_t a,
                                                 std::int64_t b);
[[nodiscard]] OPGEN_API bool sym_decide(SymDecision decision, std::int64_t condition);
[[nodiscard]] OPGEN_API std::int64_t sym_guard_int(std::int64_t a);

}  // namespace detail

// A comparison of sizes, which may be undecided.
class SymBool {
 public:
  constexpr SymBool(bool value) noexcept : bits_(value ? 1 : 0) {}  // NOLINT
  [[nodiscard]] static constexpr SymBool of_bits(std::int64_t bits) noexcept {
    SymBool made(false);
    made.bits_ = bits;
    return made;
  }
  [[nodiscard]] constexpr bool is_symbolic() const noexcept { return bits_ < detail::kFirstNumber; }
  [[nodiscard]] bool decide(detail::SymDecision decision) const {
    return is_symbolic() ? detail::sym_decide(decision, bits_) : bits_ != 0;
  }
  [[nodiscard]] bool guard_bool(const char*, std::int64_t) const {
    return decide(detail::SymDecision::Guard);
  }

 private:
  std::int64_t bits_;
};

class SymInt {
 public:
  constexpr SymInt() noexcept = default;
  template <class T>
  requires std::integral<T>
  constexpr SymInt(T value) noexcept : bits_(static_cast<std::int64_t>(value)) {}  // NOLINT
  [[nodiscard]] static constexpr SymInt of_bits(std::int64_t bits) noexcept { return SymInt(bits); }

  [[nodiscard]] constexpr bool is_symbolic() const noexcept { return bits_ < detail::kFirstNumber; }
  // The number, or the symbol's number: for the library's own code.
  [[nodiscard]] constexpr std::int64_t bits() const noexcept { return bits_; }
  // Returns the number. The program that is traced is then valid for this size only.
  [[nodiscard]] std::int64_t guard_int(const char*, std::int64_t) const {
    return is_symbolic() ? detail::sym_guard_int(bits_) : bits_;
  }
  [[nodiscard]] SymInt max(const SymInt& other) const;
  [[nodiscard]] SymInt min(const SymInt& other) const;

  friend SymInt operator+(const SymInt& a, const SymInt& b) {
    if (either(a, b)) return compute(detail::SymOperation::Add, a, b);
    return a.bits_ + b.bits_;
  }
  friend SymInt operator-(const SymInt& a, const SymInt& b) {
    if (either(a, b)) return compute(detail::SymOperation::Subtract, a, b);
    return a.bits_ - b.bits_;
  }
  friend SymInt operator*(const SymInt& a, const SymInt& b) {
    if (either(a, b)) return compute(detail::SymOperation::Multiply, a, b);
    return a.bits_ * b.bits_;
  }
  friend SymInt operator/(const SymInt& a, const SymInt& b) {
    if (either(a, b)) return compute(detail::SymOperation::Divide, a, b);
    return a.bits_ / b.bits_;
  }
  friend SymInt operator%(const SymInt& a, const SymInt& b) {
    if (either(a, b)) return compute(detail::SymOperation::Remainder, a, b);
    return a.bits_ % b.bits_;
  }
  SymInt& operator+=(const SymInt& other) { return *this = *this + other; }
  SymInt& operator-=(const SymInt& other) { return *this = *this - other; }
  SymInt& operator*=(const SymInt& other) { return *this = *this * other; }
  SymInt& operator/=(const SymInt& other) { return *this = *this / other; }
  SymInt& operator%=(const SymInt& other) { return *this = *this % other; }
  SymInt& operator++() { return *this += 1; }
  SymInt operator-() const { return SymInt(0) - *this; }

  // These decide at once, as the program is traced.
  friend bool operator==(const SymInt& a, const SymInt& b) {
    return decided(detail::SymComparison::Equal, a, b, a.bits_ == b.bits_);
  }
  friend bool operator!=(const SymInt& a, const SymInt& b) {
    return decided(detail::SymComparison::NotEqual, a, b, a.bits_ != b.bits_);
  }
  friend bool operator<(const SymInt& a, const SymInt& b) {
    return decided(detail::SymComparison::Less, a, b, a.bits_ < b.bits_);
  }
  friend bool operator<=(const SymInt& a, const SymInt& b) {
    return decided(detail::SymComparison::LessEqual, a, b, a.bits_ <= b.bits_);
  }
  friend bool operator>(const SymInt& a, const SymInt& b) {
    return decided(detail::SymComparison::Greater, a, b, a.bits_ > b.bits_);
  }
  friend bool operator>=(const SymInt& a, const SymInt& b) {
    return decided(detail::SymComparison::GreaterEqual, a, b, a.bits_ >= b.bits_);
  }

  // These may stay undecided.
  [[nodiscard]] SymBool compare(detail::SymComparison comparison, const SymInt& other,
                                bool of_numbers) const {
    if (!either(*this, other)) return of_numbers;
    return SymBool::of_bits(detail::sym_compare(comparison, bits_, other.bits_));
  }

 private:
  constexpr explicit SymInt(std::int64_t bits, int) noexcept : bits_(bits) {}
  static constexpr bool either(const SymInt& a, const SymInt& b) noexcept {
    return a.is_symbolic() || b.is_symbolic();
  }
  static SymInt compute(detail::SymOperation operation, const SymInt& a, const SymInt& b) {
    return SymInt(detail::sym_compute(operation, a.bits_, b.bits_), 0);
  }
  static bool decided(detail::SymComparison comparison, const SymInt& a, const SymInt& b,
                      bool of_numbers) {
    return a.compare(comparison, b, of_numbers).decide(detail::SymDecision::Guard);
  }

  std::int64_t bits_ = 0;
};

inline SymInt SymInt::max(const SymInt& other) const {
  if (either(*this, other)) return compute(detail::SymOperation::Max, *this, other);
  return bits_ < other.bits_ ? other : *this;
}
inline SymInt SymInt::min(const SymInt& other) const {
  if (either(*this, other)) return compute(detail::SymOperation::Min, *this, other);
  return other.bits_ < bits_ ? other : *this;
}

using SymIntArrayRef = ArrayRef<SymInt>;
using OptionalSymIntArrayRef = OptionalArrayRef<SymInt>;

OPGEN_API void append_message(Message& message, const SymInt& size);
OPGEN_API void append_message(Message& message, SymIntArrayRef sizes);

// Comparisons for OPGEN_SYM_CHECK and guard_or_...: of numbers they are ordinary ones.
#define OPGEN_SYM_COMPARISON(name, comparison, symbol)                                \
  constexpr bool name(std::int64_t a, std::int64_t b) noexcept {                      \
    return a symbol b;                                                                \
  }                                                                                   \
  [[nodiscard]] inline SymBool name(const SymInt& a, const SymInt& b) {               \
    return a.compare(detail::SymComparison::comparison, b, a.bits() symbol b.bits()); \
  }
OPGEN_SYM_COMPARISON(sym_eq, Equal, ==)
OPGEN_SYM_COMPARISON(sym_ne, NotEqual, !=)
OPGEN_SYM_COMPARISON(sym_lt, Less, <)
OPGEN_SYM_COMPARISON(sym_le, LessEqual, <=)
OPGEN_SYM_COMPARISON(sym_gt, Greater, >)
OPGEN_SYM_COMPARISON(sym_ge, GreaterEqual, >=)
#undef OPGEN_SYM_COMPARISON

constexpr std::int64_t sym_max(std::int64_t a, std::int64_t b) noexcept {
  return a < b ? b : a;
}
[[nodiscard]] inline SymInt sym_max(const SymInt& a, const SymInt& b) {
  return a.max(b);
}
constexpr std::int64_t sym_min(std::int64_t a, std::int64_t b) noexcept {
  return b < a ? b : a;
}
[[nodiscard]] inline SymInt sym_min(const SymInt& a, const SymInt& b) {
  return a.min(b);
}

// Returns whether the condition holds. If symbolic sizes leave it undecided, guard_or_false
// returns false and guard_or_true returns true.
constexpr bool guard_or_false(bool condition) noexcept {
  return condition;
}
[[nodiscard]] inline bool guard_or_false(const SymBool& condition) {
  return condition.decide(detail::SymDecision::OrFalse);
}
constexpr bool guard_or_true(bool condition) noexcept {
  return condition;
}
[[nodiscard]] inline bool guard_or_true(const SymBool& condition) {
  return condition.decide(detail::SymDecision::OrTrue);
}

namespace detail {

// For OPGEN_SYM_CHECK: an undecided condition is recorded, and the compiled program checks it.
constexpr bool expect_true(bool condition, const char* = nullptr, int = 0) noexcept {
  return condition;
}
[[nodiscard]] inline bool expect_true(const SymBool& condition, const char* = nullptr, int = 0) {
  return condition.decide(SymDecision::Expect);
}

}  // namespace detail

}  // namespace opgen
