// promotion.h: the common dtype of two dtypes, and of tensors and numbers in one expression.
#pragma once

#include "opgen/core/array_ref.h"
#include "opgen/core/scalar.h"
#include "opgen/core/scalar_type.h"

namespace opgen {

// Returns whether a result of type `from` may be stored in an output of type `to`.
[[nodiscard]] constexpr bool canCast(ScalarType from, ScalarType to) noexcept {
  if (isComplexType(from) && !isComplexType(to)) return false;
  if (isFloatingType(from) && isIntegralType(to, false)) return false;
  return !(from != kBool && to == kBool);
}

// The floating dtype that factories and integer division use by default: initially Float.
[[nodiscard]] OPGEN_API ScalarType get_default_dtype() noexcept;
OPGEN_API void set_default_dtype(ScalarType dtype);
[[nodiscard]] OPGEN_API ScalarType get_default_complex_dtype() noexcept;

class TensorBase;

namespace tensor_functions {

// Returns the smallest dtype that both convert to; Undefined if one is Undefined.
[[nodiscard]] OPGEN_API ScalarType promote_types(ScalarType a, ScalarType b) noexcept;

// The operands seen so far. Tensors with dimensions take precedence over zero-dim tensors, and
// these over numbers, unless the one with lower precedence has a higher category (bool, integer,
// floating, complex).
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

// Returns the common dtype of any mixture of tensors and Scalars.
template <class... T>
[[nodiscard]] ScalarType result_type_of(const T&... values) noexcept {
  ResultTypeState state;
  ((state = update_result_type(values, state)), ...);
  return result_type(state);
}

}  // namespace tensor_functions

using namespace tensor_functions;  // NOLINT(google-build-using-namespace)
}  // namespace opgen
