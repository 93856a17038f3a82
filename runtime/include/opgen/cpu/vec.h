// vec.h: Vec<T>, 32 bytes of elements with arithmetic on all of them at once. Built on the
// compiler's vector types: one register with AVX2, two without.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "opgen/core/macros.h"

// g++ warns that the ABI of 32-byte vectors passed by value depends on the processor. All functions
// here are inlined, so no vector is passed.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace opgen {

template <class T>
struct Vec {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
  typedef T Native __attribute__((vector_size(32)));
  static constexpr std::int64_t size = 32 / static_cast<std::int64_t>(sizeof(T));

  Native values;

  Vec() noexcept = default;
  OPGEN_ALWAYS_INLINE Vec(T value) noexcept : values(Native{} + value) {}  // NOLINT
  OPGEN_ALWAYS_INLINE static Vec of(const Native& native) noexcept {
    Vec result;
    result.values = native;
    return result;
  }

  // `from` needs only the alignment of a T.
  OPGEN_ALWAYS_INLINE static Vec load(const T* from) noexcept {
    Vec result;
    std::memcpy(&result.values, from, sizeof(Native));
    return result;
  }
  OPGEN_ALWAYS_INLINE void store(T* to) const noexcept { std::memcpy(to, &values, sizeof(Native)); }
  OPGEN_ALWAYS_INLINE T operator[](std::int64_t i) const noexcept { return values[i]; }

  OPGEN_ALWAYS_INLINE friend Vec operator+(const Vec& a, const Vec& b) noexcept {
    return of(a.values + b.values);
  }
  OPGEN_ALWAYS_INLINE friend Vec operator-(const Vec& a, const Vec& b) noexcept {
    return of(a.values - b.values);
  }
  OPGEN_ALWAYS_INLINE friend Vec operator*(const Vec& a, const Vec& b) noexcept {
    return of(a.values * b.values);
  }
  OPGEN_ALWAYS_INLINE friend Vec operator/(const Vec& a, const Vec& b) noexcept {
    return of(a.values / b.values);
  }
  OPGEN_ALWAYS_INLINE Vec operator-() const noexcept { return of(-values); }
  // If an element of either is NaN, the result is that of `b`.
  OPGEN_ALWAYS_INLINE friend Vec min(const Vec& a, const Vec& b) noexcept {
    return of(a.values < b.values ? a.values : b.values);
  }
  OPGEN_ALWAYS_INLINE friend Vec max(const Vec& a, const Vec& b) noexcept {
    return of(a.values > b.values ? a.values : b.values);
  }
};

}  // namespace opgen

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
