// vec.h: Vec<T>, 32 bytes of elements with arithmetic on all of them at once. Built on the
// compiler's vector types: one register with AVX2, two without. Vec<T, 16> has 16 bytes: one
// register on every processor. vec_math.h has exp, log and other functions of vectors.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "opgen/core/macros.h"

namespace opgen {

namespace detail {

template <std::size_t size>
struct LaneOf;
template <>
struct LaneOf<1> {
  using type = std::int8_t;
};
template <>
struct LaneOf<2> {
  using type = std::int16_t;
};
template <>
struct LaneOf<4> {
  using type = std::int32_t;
};
template <>
struct LaneOf<8> {
  using type = std::int64_t;
};

// Vectors for sums and products. Those of integers wrap around: signed overflow is undefined in
// C++.
template <class T, int bytes, bool = std::is_integral_v<T>>
struct WrappingVector {
  typedef T type __attribute__((vector_size(bytes)));
};
template <class T, int bytes>
struct WrappingVector<T, bytes, true> {
  typedef std::make_unsigned_t<T> type __attribute__((vector_size(bytes)));
};

// The compiler must compute the value as it is written: -ffast-math and its parts let it combine a
// sum with the next one, and a rounding trick or the lost digits of a sum disappear.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#if defined(__x86_64__)
#define OPGEN_VECTOR_REGISTER "+x"
#elif defined(__aarch64__)
#define OPGEN_VECTOR_REGISTER "+w"
#else
#define OPGEN_VECTOR_REGISTER "+m"
#endif
template <class V>
OPGEN_ALWAYS_INLINE void keep_as_written(V& value) noexcept {
  // A register of every processor has 16 bytes.
  typedef int Part __attribute__((vector_size(16)));
  constexpr std::size_t count = sizeof(V) / sizeof(Part);
  Part parts[count];
  std::memcpy(parts, &value, sizeof value);
  for (std::size_t i = 0; i < count; ++i) asm("" : OPGEN_VECTOR_REGISTER(parts[i]));
  std::memcpy(&value, parts, sizeof value);
}
#undef OPGEN_VECTOR_REGISTER
// In double, because quotients of floats become products with an estimate of the reciprocal.
template <int bytes>
struct WideOf {
  typedef double type __attribute__((vector_size(2 * bytes)));
};
template <class T, int bytes, class V>
OPGEN_ALWAYS_INLINE void divide(V& a, const V& b) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    using Wide = typename WideOf<bytes>::type;
    Wide ratio = __builtin_convertvector(a, Wide), divisor = __builtin_convertvector(b, Wide);
    keep_as_written(ratio);
    keep_as_written(divisor);
    ratio /= divisor;
    keep_as_written(ratio);
    a = __builtin_convertvector(ratio, V);
  } else {
    a /= b;
    keep_as_written(a);
  }
}
#else
template <class V>
OPGEN_ALWAYS_INLINE void keep_as_written(V&) noexcept {}
template <class T, int bytes, class V>
OPGEN_ALWAYS_INLINE void divide(V& a, const V& b) noexcept {
  a /= b;
}
#endif

}  // namespace detail

template <class T, int bytes = 32>
struct Vec {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
  typedef T Native __attribute__((vector_size(bytes)));
  using Element = T;
  static constexpr std::int64_t size = bytes / static_cast<std::int64_t>(sizeof(T));
  // An integer of the size of an element: all bits of a lane are set where a comparison is true.
  using Lane = typename detail::LaneOf<sizeof(T)>::type;
  using Mask = Vec<Lane, bytes>;

  Native values;

  Vec() noexcept = default;
  // Not trivial, so that functions pass vectors by address: one that is not inlined may be compiled
  // for other instructions than its caller, with other registers for vectors.
  OPGEN_ALWAYS_INLINE Vec(const Vec& other) noexcept : values(other.values) {}
  OPGEN_ALWAYS_INLINE Vec& operator=(const Vec& other) noexcept {
    values = other.values;
    return *this;
  }
  OPGEN_ALWAYS_INLINE Vec(T value) noexcept : values(value - Native{}) {}  // NOLINT (0 + -0.0 is 0)
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
    return of_wrapped((Wrapped)a.values + (Wrapped)b.values);
  }
  OPGEN_ALWAYS_INLINE friend Vec operator-(const Vec& a, const Vec& b) noexcept {
    return of_wrapped((Wrapped)a.values - (Wrapped)b.values);
  }
  OPGEN_ALWAYS_INLINE friend Vec operator*(const Vec& a, const Vec& b) noexcept {
    return of_wrapped((Wrapped)a.values * (Wrapped)b.values);
  }
  OPGEN_ALWAYS_INLINE friend Vec operator/(const Vec& a, const Vec& b) noexcept {
    Vec result = a;
    detail::divide<T, bytes>(result.values, b.values);
    return result;
  }
  OPGEN_ALWAYS_INLINE Vec operator-() const noexcept { return of_wrapped(-(Wrapped)values); }
  // If an element of either is NaN, the result is that of `b`.
  OPGEN_ALWAYS_INLINE friend Vec min(const Vec& a, const Vec& b) noexcept {
    return of(a.values < b.values ? a.values : b.values);
  }
  OPGEN_ALWAYS_INLINE friend Vec max(const Vec& a, const Vec& b) noexcept {
    return of(a.values > b.values ? a.values : b.values);
  }

  OPGEN_ALWAYS_INLINE friend Mask operator==(const Vec& a, const Vec& b) noexcept {
    return Mask::of(a.values == b.values);
  }
  OPGEN_ALWAYS_INLINE friend Mask operator!=(const Vec& a, const Vec& b) noexcept {
    return Mask::of(a.values != b.values);
  }
  OPGEN_ALWAYS_INLINE friend Mask operator<(const Vec& a, const Vec& b) noexcept {
    return Mask::of(a.values < b.values);
  }
  OPGEN_ALWAYS_INLINE friend Mask operator<=(const Vec& a, const Vec& b) noexcept {
    return Mask::of(a.values <= b.values);
  }
  OPGEN_ALWAYS_INLINE friend Mask operator>(const Vec& a, const Vec& b) noexcept {
    return Mask::of(a.values > b.values);
  }
  OPGEN_ALWAYS_INLINE friend Mask operator>=(const Vec& a, const Vec& b) noexcept {
    return Mask::of(a.values >= b.values);
  }
  // An element of `a` where the mask is set, else of `b`.
  OPGEN_ALWAYS_INLINE friend Vec select(const Mask& mask, const Vec& a, const Vec& b) noexcept {
#ifdef __CUDACC__
    // nvcc, which only reads this, stops at a conditional operator on vectors.
    return from_bits((mask & a.bits()) | (~mask & b.bits()));
#else
    return of(mask.values ? a.values : b.values);
#endif
  }
  // a * b + c, rounded once if the processor has such an instruction and the loop uses it.
  OPGEN_ALWAYS_INLINE friend Vec multiply_add(const Vec& a, const Vec& b, const Vec& c) noexcept {
    // (x * y + x would become x * (y + 1).)
    Vec addend = c;
    detail::keep_as_written(addend.values);
    return of_wrapped((Wrapped)a.values * (Wrapped)b.values + (Wrapped)addend.values);
  }

  // The bits of the elements, and back.
  OPGEN_ALWAYS_INLINE Mask bits() const noexcept {
    return Mask::of(__builtin_bit_cast(typename Mask::Native, values));
  }
  OPGEN_ALWAYS_INLINE static Vec from_bits(const Mask& bits) noexcept {
    return of(__builtin_bit_cast(Native, bits.values));
  }
  // Of integers; >> keeps the sign.
  OPGEN_ALWAYS_INLINE friend Vec operator&(const Vec& a, const Vec& b) noexcept {
    return of(a.values & b.values);
  }
  OPGEN_ALWAYS_INLINE friend Vec operator|(const Vec& a, const Vec& b) noexcept {
    return of(a.values | b.values);
  }
  OPGEN_ALWAYS_INLINE friend Vec operator^(const Vec& a, const Vec& b) noexcept {
    return of(a.values ^ b.values);
  }
  OPGEN_ALWAYS_INLINE Vec& operator|=(const Vec& other) noexcept {
    return *this = *this | other;
  }
  OPGEN_ALWAYS_INLINE Vec& operator&=(const Vec& other) noexcept {
    return *this = *this & other;
  }
  OPGEN_ALWAYS_INLINE Vec operator~() const noexcept {
    return of(~values);
  }
  OPGEN_ALWAYS_INLINE Vec operator<<(int count) const noexcept {
    return of((Native)((Wrapped)values << count));
  }
  OPGEN_ALWAYS_INLINE Vec operator>>(int count) const noexcept {
    return of(values >> count);
  }

 private:
  using Wrapped = typename detail::WrappingVector<T, bytes>::type;

  OPGEN_ALWAYS_INLINE static Vec of_wrapped(const Wrapped& value) noexcept {
    Vec result = of((Native)value);
    if constexpr (std::is_floating_point_v<T>) detail::keep_as_written(result.values);
    return result;
  }
};

}  // namespace opgen
