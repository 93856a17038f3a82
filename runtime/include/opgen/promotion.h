// promotion.h: which element type two types have in common, and which one an expression of tensors
// and numbers has.
#pragma once

#include "opgen/array_ref.h"
#include "opgen/scalar.h"
#include "opgen/scalar_type.h"

namespace opgen {

// Whether a result of type `from` may be stored in an output of type `to`.
[[nodiscard]] constexpr bool canCast(ScalarType from, ScalarType to) noexcept {
  if (isComplexType(from) && !isComplexType(to)) return false;
  if (isFloatingType(from) && isIntegralType(to, false)) return false;
  return !(from != kBool && to == kBool);
}

// The floating type that factories and integer division use unless told otherwise: Float at start.
[[nodiscard]] OPGEN_API ScalarType get_default_dtype() noexcept;
OPGEN_API void set_default_dtype(ScalarType dtype);
[[nodiscard]] OPGEN_API ScalarType get_default_complex_dtype() noexcept;

class TensorBase;

namespace detail {

// The smallest type that both convert to; Undefined if one is Undefined.
[[nodiscard]] OPGEN_API ScalarType promote_types(ScalarType a, ScalarType b) noexcept;

// Dimensioned tensors win over zero-dim tensors, those over numbers, unless a lower one is of a
// higher category.
struct ResultTypeState {
  ScalarType dim_result = ScalarType::Undefined;
  ScalarType zero_result = ScalarType::Undefined;
  ScalarType wrapped_result = ScalarType::Undefined;
};
[[nodiscard]] OPGEN_API ResultTypeState update_result_type(const TensorBase& tensor,
                                                           ResultTypeState state) noexcept;
[[nodiscard]] OPGEN_API ResultTypeState update_result_type(const Scalar& number,
                                                           ResultTypeState state) noexcept;
[[nodiscard]] OPGEN_API ScalarType result_type(const ResultTypeState& state) noexcept;

// For any mixture of tensors and Scalars.
template <class... T>
[[nodiscard]] ScalarType result_type_of(const T&... values) noexcept {
  ResultTypeState state;
  ((state = update_result_type(values, state)), ...);
  return result_type(state);
}

}  // namespace detail
}  // namespace opgen
