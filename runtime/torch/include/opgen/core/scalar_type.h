// scalar_type.h: ATen's dtypes under the runtime's names.
#pragma once

#include <ATen/OpMathType.h>
#include <c10/core/ScalarType.h>

namespace opgen {

using at::opmath_type;
using at::toOpMathType;
using c10::canCast;
using c10::elementSize;
using c10::isComplexType;
using c10::isFloatingType;
using c10::isIntegralType;
using c10::isReducedFloatingType;
using c10::isSignedType;
using c10::ScalarType;
using c10::toComplexType;
using c10::toRealValueType;
using c10::toString;

template <class T>
inline constexpr ScalarType scalar_type_of = c10::CppTypeToScalarType<T>::value;
template <ScalarType t>
using cpp_type_of = c10::impl::ScalarTypeToCPPTypeT<t>;

}  // namespace opgen
