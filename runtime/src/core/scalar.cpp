// scalar.cpp: conversions of numbers to the element types.
#include "opgen/core/scalar.h"

namespace opgen {

namespace detail {

namespace {

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

}  // namespace

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

#define OPGEN_INSTANCE(type, name, number) template OPGEN_API type Scalar::to<type>() const;
OPGEN_FORALL_SCALAR_TYPES(OPGEN_INSTANCE)
#undef OPGEN_INSTANCE

}  // namespace opgen
