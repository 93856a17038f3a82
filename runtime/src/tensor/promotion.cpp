// promotion.cpp: the type promotion of element types.
#include "opgen/tensor/promotion.h"

#include <atomic>

#include "opgen/tensor/tensor.h"

namespace opgen {

namespace {

constinit std::atomic<ScalarType> default_dtype{kFloat};

// Returns a rank that orders types by category, then by size.
int integer_rank(ScalarType t) noexcept {
  switch (t) {
    case ScalarType::Bool:
      return 0;
    case ScalarType::Byte:
    case ScalarType::Char:
      return 1;
    case ScalarType::Short:
      return 2;
    case ScalarType::Int:
      return 3;
    default:
      return 4;
  }
}

ScalarType promote_integers(ScalarType a, ScalarType b) noexcept {
  // No 8-bit type can represent both signed and unsigned bytes.
  if ((a == kByte && b == kChar) || (a == kChar && b == kByte)) return kShort;
  return integer_rank(a) >= integer_rank(b) ? a : b;
}

ScalarType promote_floats(ScalarType a, ScalarType b) noexcept {
  if (a == kDouble || b == kDouble) return kDouble;
  // Two different 16-bit formats are promoted to Float.
  return kFloat;
}

ScalarType combine_categories(ScalarType higher, ScalarType lower) noexcept {
  if (isComplexType(higher)) return higher;
  if (isFloatingType(higher)) {
    return isComplexType(lower) ? toComplexType(higher) : higher;
  }
  bool mixes = higher == kBool || isFloatingType(lower) || isComplexType(lower);
  if (higher == ScalarType::Undefined) return lower;
  if (lower == ScalarType::Undefined || !mixes) return higher;
  return opgen::promote_types(higher, lower);
}

ScalarType merge(ScalarType a, ScalarType b) noexcept {
  if (a == ScalarType::Undefined) return b;
  if (b == ScalarType::Undefined) return a;
  return opgen::promote_types(a, b);
}

// Returns the dtype of a number. It has no precision of its own: 1.5 takes the default dtype.
ScalarType number_type(ScalarType t) noexcept {
  if (isComplexType(t)) return get_default_complex_dtype();
  if (isFloatingType(t)) return get_default_dtype();
  return t;
}

}  // namespace

ScalarType get_default_dtype() noexcept {
  return default_dtype.load(std::memory_order_relaxed);
}
void set_default_dtype(ScalarType dtype) {
  OPGEN_CHECK_TYPE(isFloatingType(dtype), "the default dtype must be a floating type, not ", dtype);
  default_dtype.store(dtype, std::memory_order_relaxed);
}
ScalarType get_default_complex_dtype() noexcept {
  return toComplexType(get_default_dtype());
}

namespace tensor_functions {

ScalarType promote_types(ScalarType a, ScalarType b) noexcept {
  if (a == b) return a;
  if (a == ScalarType::Undefined || b == ScalarType::Undefined) return ScalarType::Undefined;
  if (isComplexType(a) || isComplexType(b)) {
    bool wide = a == kComplexDouble || b == kComplexDouble || a == kDouble || b == kDouble;
    return wide ? kComplexDouble : kComplexFloat;
  }
  if (isFloatingType(a) && isFloatingType(b)) return promote_floats(a, b);
  if (isFloatingType(a)) return a;
  if (isFloatingType(b)) return b;
  return promote_integers(a, b);
}

ResultTypeState update_result_type(const TensorBase& tensor, ResultTypeState state) noexcept {
  if (!tensor.defined()) return state;
  bool wrapped = tensor.unsafeGetTensorImpl()->is_wrapped_number();
  ScalarType current = wrapped ? number_type(tensor.scalar_type()) : tensor.scalar_type();
  ScalarType& slot = tensor.dim() > 0 ? state.dim_result
                     : wrapped        ? state.wrapped_result
                                      : state.zero_result;
  slot = merge(slot, current);
  return state;
}

ResultTypeState update_result_type(const Scalar& number, ResultTypeState state) noexcept {
  state.wrapped_result = merge(state.wrapped_result, number_type(number.type()));
  return state;
}

ScalarType result_type(const ResultTypeState& state) noexcept {
  return combine_categories(state.dim_result,
                            combine_categories(state.zero_result, state.wrapped_result));
}

}  // namespace tensor_functions
}  // namespace opgen
