// schema_conversion.cpp: converts boxed values to the types that a schema declares.
#include <vector>

#include "opgen/schema/function_schema.h"
#include "opgen/tensor/factories.h"

namespace opgen {

namespace {

bool is_number(TypeKind kind) noexcept {
  return kind == TypeKind::Int || kind == TypeKind::SymIntType || kind == TypeKind::Float ||
         kind == TypeKind::Bool;
}

// Converts a tuple or a list to a tuple.
IValue tuple_of(const IValue& value, const SchemaType& type) {
  OPGEN_CHECK_TYPE(value.isTuple() || value.isList(), "expected ", type.str(), ", got ",
                   toString(value.tag()));
  const std::vector<IValue>& given = value.elements();
  OPGEN_CHECK_TYPE(given.size() == type.members.size(), "expected ", type.str(), ", got ",
                   given.size(), " values");
  std::vector<IValue> elements;
  elements.reserve(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    elements.push_back(convert_to_type(given[i], type.members[i]));
  }
  return IValue::tuple(std::move(elements));
}

IValue dict_of(const IValue& value, const SchemaType& type) {
  OPGEN_CHECK_TYPE(value.isDict(), "expected ", type.str(), ", got ", toString(value.tag()));
  std::vector<IValue> elements;
  elements.reserve(value.toDict().size());
  for (const IValue& element : value.toDict()) {
    elements.push_back(convert_to_type(element, type.members[elements.size() % 2]));
  }
  return IValue::dict(std::move(elements));
}

}  // namespace

IValue convert_to_type(IValue value, const SchemaType& type) {
  bool fits = false;
  switch (type.kind) {
    case TypeKind::Optional:
      if (value.isNone()) return value;
      return convert_to_type(std::move(value), *type.element);
    case TypeKind::List: {
      if (!value.isList() && type.size != 0 && is_number(type.element->kind)) {
        IValue one = convert_to_type(std::move(value), *type.element);
        return IValue(std::vector<IValue>(static_cast<std::size_t>(type.size), one));
      }
      // A tuple is also accepted, as in calls of PyTorch from Python.
      OPGEN_CHECK_TYPE(value.isList() || value.isTuple(), "expected ", type.str(), ", got ",
                       toString(value.tag()));
      std::vector<IValue> items;
      items.reserve(value.elements().size());
      for (const IValue& item : value.elements())
        items.push_back(convert_to_type(item, *type.element));
      return IValue(std::move(items));
    }
    case TypeKind::Tensor:
      if (value.isScalar()) return IValue(detail::wrapped_scalar_tensor(value.toScalar()));
      fits = value.isTensor();
      break;
    case TypeKind::Scalar:
      fits = value.isScalar();
      break;
    case TypeKind::Int:
    case TypeKind::SymIntType:
    case TypeKind::DeviceIndexType:
    case TypeKind::ScalarType:
    case TypeKind::Layout:
    case TypeKind::MemoryFormat:
    case TypeKind::QScheme:
      fits = value.isInt();
      break;
    case TypeKind::Float:
      if (value.isInt()) return IValue(value.toDouble());
      fits = value.isDouble();
      break;
    case TypeKind::Bool:
    case TypeKind::SymBoolType:
      fits = value.isBool();
      break;
    case TypeKind::Str:
      fits = value.isString();
      break;
    case TypeKind::Device:
      if (value.isString()) return IValue(Device(value.toStringView()));
      fits = value.isDevice();
      break;
    case TypeKind::Generator:
      fits = value.tag() == IValue::Tag::Generator;
      break;
    case TypeKind::Storage:
      fits = value.tag() == IValue::Tag::Storage;
      break;
    case TypeKind::Stream:
      fits = value.tag() == IValue::Tag::Stream;
      break;
    case TypeKind::Complex:
      if (value.isInt() || value.isDouble()) return IValue(value.toComplexDouble());
      fits = value.isComplexDouble();
      break;
    case TypeKind::Any:
      fits = true;
      break;
    case TypeKind::None:
      fits = value.isNone();
      break;
    case TypeKind::Tuple:
      return tuple_of(value, type);
    case TypeKind::Dict:
      return dict_of(value, type);
    case TypeKind::DimVectorType:
      fits = value.isList();
      break;
    case TypeKind::GraphModule:
    case TypeKind::CustomClass:
      fits = value.tag() == IValue::Tag::Custom;
      break;
  }
  OPGEN_CHECK_TYPE(fits, "expected ", type.str(), ", got ", toString(value.tag()));
  return value;
}

}  // namespace opgen
