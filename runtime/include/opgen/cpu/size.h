// size.h: Size, an integer for sizes, strides and offsets whose sums, differences and products
// throw Error where they do not fit 64 bits.
//
//   const int64_t width = Size(dilation) * (kernel - 1) + 1;
//
// Kernels and meta functions compute with it what depends on the numbers that a caller passes, from
// the first operation on: a product that wraps around may pass each later check. One operand that
// is a Size is enough. Loops over memory that exists need no checks.
#pragma once

#include <concepts>
#include <cstdint>

#include "opgen/core/error.h"
#include "opgen/core/macros.h"

namespace opgen {

namespace detail {

[[noreturn]] OPGEN_COLD OPGEN_NOINLINE inline void throw_size_overflow(std::int64_t a,
                                                                       const char* operation,
                                                                       std::int64_t b) {
  OPGEN_CHECK(false, "a size does not fit 64 bits: ", a, operation, b);
  __builtin_unreachable();
}

}  // namespace detail

class Size {
 public:
  constexpr Size(std::int64_t value) noexcept : value_(value) {}       // NOLINT(*-explicit-*)
  constexpr operator std::int64_t() const noexcept { return value_; }  // NOLINT(*-explicit-*)

  friend constexpr Size operator+(Size a, Size b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &sum)) {
      detail::throw_size_overflow(a.value_, " + ", b.value_);
    }
    return sum;
  }
  friend constexpr Size operator-(Size a, Size b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.value_, b.value_, &difference)) {
      detail::throw_size_overflow(a.value_, " - ", b.value_);
    }
    return difference;
  }
  friend constexpr Size operator*(Size a, Size b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a.value_, b.value_, &product)) {
      detail::throw_size_overflow(a.value_, " * ", b.value_);
    }
    return product;
  }
  constexpr Size operator-() const { return Size(0) - *this; }

  // Exact matches for integers: otherwise the operators of integers would be candidates as well.
  template <std::integral T>
  friend constexpr Size operator+(Size a, T b) {
    return a + Size(b);
  }
  template <std::integral T>
  friend constexpr Size operator+(T a, Size b) {
    return Size(a) + b;
  }
  template <std::integral T>
  friend constexpr Size operator-(Size a, T b) {
    return a - Size(b);
  }
  template <std::integral T>
  friend constexpr Size operator-(T a, Size b) {
    return Size(a) - b;
  }
  template <std::integral T>
  friend constexpr Size operator*(Size a, T b) {
    return a * Size(b);
  }
  template <std::integral T>
  friend constexpr Size operator*(T a, Size b) {
    return Size(a) * b;
  }
  constexpr Size& operator+=(Size b) { return *this = *this + b; }
  constexpr Size& operator-=(Size b) { return *this = *this - b; }
  constexpr Size& operator*=(Size b) { return *this = *this * b; }

 private:
  std::int64_t value_;
};

inline void append_message(Message& message, Size size) {
  message.append_integer(size);
}

}  // namespace opgen
