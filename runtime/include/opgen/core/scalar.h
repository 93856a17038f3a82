// scalar.h: Scalar, a number of a schema: bool, int64, double or complex double.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "opgen/core/complex.h"
#include "opgen/core/error.h"
#include "opgen/core/scalar_type.h"

namespace opgen {

class Scalar {
 public:
  constexpr Scalar() noexcept : integer_(0), tag_(Tag::Integer) {}
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Scalar(T value) noexcept : integer_(0), tag_(Tag::Integer) {  // NOLINT
    if constexpr (std::is_same_v<T, bool>) {
      tag_ = Tag::Bool;
      integer_ = value ? 1 : 0;
    } else if constexpr (std::is_integral_v<T>) {
      integer_ = static_cast<std::int64_t>(value);
    } else {
      tag_ = Tag::Double;
      double_ = static_cast<double>(value);
    }
  }
  constexpr Scalar(Half value) noexcept : Scalar(static_cast<float>(value)) {}      // NOLINT
  constexpr Scalar(BFloat16 value) noexcept : Scalar(static_cast<float>(value)) {}  // NOLINT
  template <class T>
  constexpr Scalar(complex<T> value) noexcept  // NOLINT
      : double_(static_cast<double>(value.real_)),
        imag_(static_cast<double>(value.imag_)),
        tag_(Tag::Complex) {}

  [[nodiscard]] constexpr bool isBoolean() const noexcept { return tag_ == Tag::Bool; }
  [[nodiscard]] constexpr bool isIntegral(bool include_bool) const noexcept {
    return tag_ == Tag::Integer || (include_bool && tag_ == Tag::Bool);
  }
  [[nodiscard]] constexpr bool isFloatingPoint() const noexcept { return tag_ == Tag::Double; }
  [[nodiscard]] constexpr bool isComplex() const noexcept { return tag_ == Tag::Complex; }

  // Returns Bool, Long, Double or ComplexDouble.
  [[nodiscard]] constexpr ScalarType type() const noexcept {
    constexpr ScalarType types[] = {kBool, kLong, kDouble, kComplexDouble};
    return types[static_cast<int>(tag_)];
  }

  // Returns the value as T. Throws Error if T cannot represent it: out of range, or complex to
  // real.
  template <class T>
  [[nodiscard]] T to() const;

  [[nodiscard]] bool toBool() const { return to<bool>(); }
  [[nodiscard]] std::int64_t toLong() const { return to<std::int64_t>(); }
  [[nodiscard]] double toDouble() const { return to<double>(); }
  [[nodiscard]] float toFloat() const { return to<float>(); }
  [[nodiscard]] complex<double> toComplexDouble() const { return to<complex<double>>(); }

  [[nodiscard]] constexpr Scalar operator-() const {
    OPGEN_CHECK(tag_ != Tag::Bool, "a boolean number cannot be negated");
    if (tag_ == Tag::Complex) return Scalar(complex<double>(-double_, -imag_));
    if (tag_ == Tag::Double) return Scalar(-double_);
    return Scalar(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(integer_)));
  }

  [[nodiscard]] constexpr Scalar conj() const noexcept {
    return tag_ == Tag::Complex ? Scalar(complex<double>(double_, -imag_)) : *this;
  }

  // Compares values without rounding either side. A boolean equals only a boolean.
  template <class T>
  requires std::is_arithmetic_v<T>
  [[nodiscard]] constexpr bool equal(T number) const noexcept {
    const bool is_real = tag_ != Tag::Complex || imag_ == 0;
    if constexpr (std::is_same_v<T, bool>) {
      if (tag_ == Tag::Double || tag_ == Tag::Complex)
        return is_real && double_ == (number ? 1 : 0);
      return tag_ == Tag::Bool && (integer_ != 0) == number;
    } else if constexpr (std::is_integral_v<T>) {
      if (tag_ == Tag::Double || tag_ == Tag::Complex) return is_real && same(number, double_);
      // A negative number differs from the unsigned number with the same bits.
      const bool in_range = std::is_signed_v<T> || integer_ >= 0;
      return tag_ == Tag::Integer && in_range && static_cast<T>(integer_) == number &&
             static_cast<std::int64_t>(static_cast<T>(integer_)) == integer_;
    } else {
      if (tag_ == Tag::Double || tag_ == Tag::Complex) {
        return is_real && double_ == static_cast<double>(number);
      }
      return tag_ == Tag::Integer && same(integer_, static_cast<double>(number));
    }
  }

 private:
  enum class Tag : std::uint8_t { Bool, Integer, Double, Complex };

  // Returns whether an integer and a double are the same number. (2^53 + 1, for example, is not a
  // double.)
  template <class T>
  [[nodiscard]] static constexpr bool same(T integer, double number) noexcept {
    // The first power of two beyond T.
    constexpr double limit = 2.0 * static_cast<double>(static_cast<std::uint64_t>(1)
                                                       << (std::numeric_limits<T>::digits - 1));
    return number >= (std::is_signed_v<T> ? -limit : 0.0) && number < limit &&
           static_cast<double>(integer) == number && static_cast<T>(number) == integer;
  }

  union {
    std::int64_t integer_;
    double double_;
  };
  double imag_ = 0;
  Tag tag_;
};

namespace detail {

[[noreturn]] OPGEN_API OPGEN_COLD void throw_scalar_overflow(ScalarType target);

// Converts a value to T if it fits. The integer -1 fits an unsigned type (it wraps, as in C), -300
// does not fit uint8, and -1.0 does not fit any unsigned type.
template <class T, class V>
T checked_convert(V value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != V(0);
  } else if constexpr (std::is_integral_v<T> && std::is_integral_v<V>) {
    if constexpr (std::is_unsigned_v<T>) {
      std::uint64_t magnitude = value < 0 ? std::uint64_t(0) - static_cast<std::uint64_t>(value)
                                          : static_cast<std::uint64_t>(value);
      if (magnitude > static_cast<T>(~T(0))) throw_scalar_overflow(scalar_type_of<T>);
    } else {
      if (static_cast<V>(static_cast<T>(value)) != value) throw_scalar_overflow(scalar_type_of<T>);
    }
    return static_cast<T>(value);
  } else if constexpr (std::is_integral_v<T>) {
    // Fractions beyond the last value count as out of range; 2^63 - 1 is not a double, 2^63 is.
    constexpr int digits = static_cast<int>(sizeof(T)) * 8 - (std::is_signed_v<T> ? 1 : 0);
    constexpr double limit = 2.0 * static_cast<double>(std::uint64_t(1) << (digits - 1));
    constexpr double lowest = std::is_signed_v<T> ? -limit : 0.0;
    bool fits = value >= lowest && (digits <= 53 ? value <= limit - 1 : value < limit);
    if (!fits) throw_scalar_overflow(scalar_type_of<T>);
    return static_cast<T>(value);
  } else if constexpr (std::is_same_v<V, double> && std::is_same_v<T, double>) {
    return value;
  } else if constexpr (std::is_same_v<V, double>) {
    // A finite double beyond the type's largest value is an error; infinity and NaN are kept.
    constexpr double limit = std::is_same_v<T, Half> ? 65504.0 : 0x1.fffffep+127;
    double magnitude = value < 0 ? -value : value;
    if (magnitude > limit && magnitude <= 0x1.fffffffffffffp+1023) {
      throw_scalar_overflow(scalar_type_of<T>);
    }
    return static_cast<T>(static_cast<float>(value));
  } else {
    if constexpr (std::is_same_v<T, Half>) {
      if (value > 65504 || value < -65504) throw_scalar_overflow(kHalf);
    }
    if constexpr (std::is_same_v<T, double>) return static_cast<double>(value);
    return static_cast<T>(static_cast<float>(value));
  }
}

}  // namespace detail

template <class T>
T Scalar::to() const {
  if constexpr (is_complex_type<T>::value) {
    using V = typename T::value_type;
    if (tag_ == Tag::Complex) {
      return T(detail::checked_convert<V>(double_), detail::checked_convert<V>(imag_));
    }
    return T(to<V>());
  } else {
    switch (tag_) {
      case Tag::Bool:
        return static_cast<T>(integer_ != 0);
      case Tag::Integer:
        return detail::checked_convert<T>(integer_);
      case Tag::Double:
        return detail::checked_convert<T>(double_);
      case Tag::Complex:
        if constexpr (std::is_same_v<T, bool>) return double_ != 0 || imag_ != 0;
        if (imag_ != 0) detail::throw_scalar_overflow(scalar_type_of<T>);
        return detail::checked_convert<T>(double_);
    }
    return T();
  }
}

OPGEN_API void append_message(Message& message, const Scalar& value);

}  // namespace opgen
