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

  // Returns the value as T, an element type. Throws Error if T cannot represent it: out of range,
  // or complex to real.
  template <class T>
  [[nodiscard]] OPGEN_API T to() const;

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

}  // namespace detail

OPGEN_API void append_message(Message& message, const Scalar& value);

}  // namespace opgen
