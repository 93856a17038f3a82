// type_kind.h: TypeKind, the kinds of types of the schema language.
#pragma once

#include <cstdint>

namespace opgen {

enum class TypeKind : std::uint8_t {
  Tensor,
  Scalar,
  Int,
  SymIntType,
  DeviceIndexType,
  Float,
  Bool,
  SymBoolType,
  Str,
  Device,
  ScalarType,
  Layout,
  MemoryFormat,
  QScheme,
  Generator,
  Storage,
  Stream,
  DimVectorType,
  GraphModule,
  CustomClass,
  Optional,  // of `element`
  List,      // of `element`; size 0: any length
  Complex,
  Any,
  None,
  Tuple,  // of `members`
  Dict,   // of `members`: keys and values
};

}  // namespace opgen
