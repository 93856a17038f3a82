// scalar_type.h: ScalarType, the element types of tensors, and their properties.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "opgen/core/complex.h"
#include "opgen/core/error.h"
#include "opgen/core/half.h"

// X(C++ type, name, number). The numbers are PyTorch's, because schemas and files store them as
// integers.
#define OPGEN_FORALL_SCALAR_TYPES(X)             \
  X(std::uint8_t, Byte, 0)                       \
  X(std::int8_t, Char, 1)                        \
  X(std::int16_t, Short, 2)                      \
  X(std::int32_t, Int, 3)                        \
  X(std::int64_t, Long, 4)                       \
  X(::opgen::Half, Half, 5)                      \
  X(float, Float, 6)                             \
  X(double, Double, 7)                           \
  X(::opgen::complex<float>, ComplexFloat, 9)    \
  X(::opgen::complex<double>, ComplexDouble, 10) \
  X(bool, Bool, 11)                              \
  X(::opgen::BFloat16, BFloat16, 15)

namespace opgen {

enum class ScalarType : std::int8_t {
#define OPGEN_ENUMERATOR(type, name, number) name = number,
  OPGEN_FORALL_SCALAR_TYPES(OPGEN_ENUMERATOR)
#undef OPGEN_ENUMERATOR
      Undefined = 31,
};

#define OPGEN_CONSTANT(type, name, number) inline constexpr ScalarType k##name = ScalarType::name;
OPGEN_FORALL_SCALAR_TYPES(OPGEN_CONSTANT)
#undef OPGEN_CONSTANT

namespace detail {

template <class T>
struct CppTypeToScalarType {};
template <ScalarType t>
struct ScalarTypeToCppType {};
#define OPGEN_MAP(cpp_type, name, number)                 \
  template <>                                             \
  struct CppTypeToScalarType<cpp_type> {                  \
    static constexpr ScalarType value = ScalarType::name; \
  };                                                      \
  template <>                                             \
  struct ScalarTypeToCppType<ScalarType::name> {          \
    using type = cpp_type;                                \
  };
OPGEN_FORALL_SCALAR_TYPES(OPGEN_MAP)
#undef OPGEN_MAP

}  // namespace detail

// Maps a C++ type to its ScalarType and back. On Linux, `long long` is not `int64_t` and has no
// ScalarType.
template <class T>
inline constexpr ScalarType scalar_type_of = detail::CppTypeToScalarType<T>::value;
template <ScalarType t>
using cpp_type_of = typename detail::ScalarTypeToCppType<t>::type;

// Returns the size of an element in bytes; 0 for Undefined.
[[nodiscard]] constexpr std::size_t elementSize(ScalarType t) noexcept {
  switch (t) {
#define OPGEN_CASE(type, name, number) \
  case ScalarType::name:               \
    return sizeof(type);
    OPGEN_FORALL_SCALAR_TYPES(OPGEN_CASE)
#undef OPGEN_CASE
    case ScalarType::Undefined:
      return 0;
  }
  return 0;
}

// Returns the name for messages and dumps, such as "Float".
[[nodiscard]] constexpr const char* toString(ScalarType t) noexcept {
  switch (t) {
#define OPGEN_CASE(type, name, number) \
  case ScalarType::name:               \
    return #name;
    OPGEN_FORALL_SCALAR_TYPES(OPGEN_CASE)
#undef OPGEN_CASE
    case ScalarType::Undefined:
      return "Undefined";
  }
  return "Unknown";
}

[[nodiscard]] constexpr bool isValidScalarType(std::int64_t number) noexcept {
#define OPGEN_TEST(type, name, value) number == value ||
  return OPGEN_FORALL_SCALAR_TYPES(OPGEN_TEST) false;
#undef OPGEN_TEST
}

[[nodiscard]] constexpr bool isFloatingType(ScalarType t) noexcept {
  return t == kHalf || t == kFloat || t == kDouble || t == kBFloat16;
}
[[nodiscard]] constexpr bool isReducedFloatingType(ScalarType t) noexcept {
  return t == kHalf || t == kBFloat16;
}
[[nodiscard]] constexpr bool isComplexType(ScalarType t) noexcept {
  return t == kComplexFloat || t == kComplexDouble;
}
[[nodiscard]] constexpr bool isIntegralType(ScalarType t, bool include_bool) noexcept {
  return (t >= kByte && t <= kLong) || (include_bool && t == kBool);
}
[[nodiscard]] constexpr bool isSignedType(ScalarType t) noexcept {
  return t != kByte && t != kBool && t != ScalarType::Undefined;
}

// Returns the real type of a complex type's parts; other types unchanged.
[[nodiscard]] constexpr ScalarType toRealValueType(ScalarType t) noexcept {
  if (t == kComplexFloat) return kFloat;
  if (t == kComplexDouble) return kDouble;
  return t;
}
// Returns the complex type for a floating type; ComplexFloat for half types, which have none here.
[[nodiscard]] constexpr ScalarType toComplexType(ScalarType t) noexcept {
  if (t == kDouble || t == kComplexDouble) return kComplexDouble;
  if (isFloatingType(t) || t == kComplexFloat) return kComplexFloat;
  return ScalarType::Undefined;
}
// Returns the type in which arithmetic on elements of `t` is done.
[[nodiscard]] constexpr ScalarType toOpMathType(ScalarType t) noexcept {
  return isReducedFloatingType(t) ? kFloat : t;
}

// The same for C++ types.
template <class T>
using opmath_type =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

}  // namespace opgen
