// type_names.h: the names of types in a schema. Internal.
#pragma once

#include "opgen/schema/function_schema.h"

namespace opgen {

struct TypeName {
  const char* name;
  TypeKind kind;
};
inline constexpr TypeName kTypeNames[] = {
    {"Tensor", TypeKind::Tensor},
    {"Scalar", TypeKind::Scalar},
    {"int", TypeKind::Int},
    {"SymInt", TypeKind::SymIntType},
    {"DeviceIndex", TypeKind::DeviceIndexType},
    {"float", TypeKind::Float},
    {"bool", TypeKind::Bool},
    {"SymBool", TypeKind::SymBoolType},
    {"str", TypeKind::Str},
    {"Device", TypeKind::Device},
    {"ScalarType", TypeKind::ScalarType},
    {"Layout", TypeKind::Layout},
    {"MemoryFormat", TypeKind::MemoryFormat},
    {"QScheme", TypeKind::QScheme},
    {"Generator", TypeKind::Generator},
    {"Storage", TypeKind::Storage},
    {"Stream", TypeKind::Stream},
    {"DimVector", TypeKind::DimVectorType},
    {"GraphModule", TypeKind::GraphModule},
    {"complex", TypeKind::Complex},
    {"Any", TypeKind::Any},
    {"NoneType", TypeKind::None},
    {"None", TypeKind::None},
};

// Types that PyTorch's parser accepts and the runtime does not have.
inline constexpr const char* kTypesOfPyTorch[] = {
    "Quantizer", "ConstQuantizerPtr", "Capsule", "AnyEnumType", "Future", "Await", "RRef",
    "Union",     "SymFloat",          "Dimname", "PyObject"};

}  // namespace opgen
