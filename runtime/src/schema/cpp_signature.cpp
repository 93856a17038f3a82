// cpp_signature.cpp: infers a schema from a C++ function type, and compares a schema with a
// function type.
#include "opgen/schema/cpp_signature.h"

#include <memory>

#include "dispatch/schema_functions.h"
#include "opgen/schema/function_schema.h"

namespace opgen {

namespace {

SchemaType schema_type(const CppType& type) {
  SchemaType result;
  result.kind = type.kind;
  result.size = type.size;
  if (type.element != nullptr) {
    result.element = std::make_shared<const SchemaType>(schema_type(*type.element));
  }
  for (auto member = type.members; member != nullptr && *member != nullptr; ++member) {
    result.members.push_back(schema_type(**member));
  }
  if (type.any) result.kind = TypeKind::Any;
  return result;
}

std::string text_of(const CppType& type) {
  return type.any ? "any value" : schema_type(type).str();  // an IValue may also be a custom class
}

// Several schema types have the same C++ type, and custom classes have no C++ types of their own
// here.
bool same_kind(TypeKind written, TypeKind cpp) noexcept {
  switch (written) {
    case TypeKind::SymIntType:
      return cpp == TypeKind::Int;
    case TypeKind::DeviceIndexType:
      return cpp == TypeKind::Int || cpp == TypeKind::DeviceIndexType;
    case TypeKind::SymBoolType:
      return cpp == TypeKind::Bool;
    default:
      return written == cpp;
  }
}

bool serves(const CppType& cpp, const SchemaType& written) {
  if (cpp.any) return true;
  if (written.kind == TypeKind::DimVectorType) {
    return cpp.kind == TypeKind::List && cpp.element->kind == TypeKind::Int;
  }
  if (!same_kind(written.kind, cpp.kind)) return false;
  if (cpp.members != nullptr) {
    auto member = cpp.members;
    for (const SchemaType& type : written.members) {
      if (*member == nullptr || !serves(**member++, type)) return false;
    }
    return *member == nullptr;
  }
  if (cpp.element == nullptr) return written.kind != TypeKind::CustomClass;
  if (cpp.kind == TypeKind::List && cpp.size != 0 && cpp.size != written.size) return false;
  return serves(*cpp.element, *written.element);
}

std::string list_of(const CppType* const* types, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + text_of(*types[i]);
  return text;
}

std::string parenthesized(const std::string& list) {
  std::string text(1, '(');
  return text.append(list).append(1, ')');
}

std::string returns_text(const std::string& list, std::size_t count) {
  return count == 1 ? list : parenthesized(list);
}

std::vector<std::size_t> bits_of(std::uint64_t mask) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < 64; ++i) {
    if ((mask >> i & 1) != 0) found.push_back(i);
  }
  return found;
}

// Returns the type with the alias set of argument `i`: "Tensor(b!)".
std::string written_tensor(std::size_t i) {
  return "Tensor(" + std::string(1, static_cast<char>('a' + i % 26)) +
         (i < 26 ? "" : std::to_string(i / 26)) + "!)";
}

}  // namespace

std::string CppSignature::str() const {
  std::string text = parenthesized(list_of(arguments, argument_count));
  return text + " -> " + returns_text(list_of(returns, return_count), return_count);
}

std::string CppSignature::infer_schema(std::string_view name) const {
  std::string text = std::string(name) + "(";
  for (std::size_t i = 0; i < argument_count; ++i) {
    OPGEN_CHECK(!arguments[i]->any, name, ": argument ", i,
                " is an IValue, from which no type can be inferred; write the schema");
    bool is_written = i < 64 && (written >> i & 1) != 0;
    text += (i == 0 ? "" : ", ") + (is_written ? written_tensor(i) : text_of(*arguments[i])) +
            " _" + std::to_string(i);
  }
  std::vector<std::size_t> sources = bits_of(written);
  std::vector<std::size_t> references = bits_of(returned);
  OPGEN_CHECK(references.size() <= sources.size(), name, ": ", references.size(),
              " results are Tensor&, but only ", sources.size(), " arguments are");
  std::size_t source = sources.size() - references.size();
  std::string list;
  for (std::size_t i = 0; i < return_count; ++i) {
    bool is_reference = i < 64 && (returned >> i & 1) != 0;
    list += (i == 0 ? "" : ", ") +
            (is_reference ? written_tensor(sources[source++]) : text_of(*returns[i]));
  }
  return text + ") -> " + returns_text(list, return_count);
}

std::string CppSignature::mismatch(const FunctionSchema& schema) const {
  auto counts = [](std::size_t declared, std::size_t got, const char* what) {
    return "the schema has " + std::to_string(declared) + " " + what + (declared == 1 ? "" : "s") +
           ", but the function has " + std::to_string(got);
  };
  if (schema.arguments.size() != argument_count)
    return counts(schema.arguments.size(), argument_count, "argument");
  for (std::size_t i = 0; i < argument_count; ++i) {
    const SchemaArgument& argument = schema.arguments[i];
    if (serves(*arguments[i], argument.type)) continue;
    return "argument " + argument.name + " is " + argument.type.str() +
           ", but the function takes " + text_of(*arguments[i]);
  }
  if (return_count == 0 && schema.returns.empty()) return {};
  if (schema.returns.size() != return_count)
    return counts(schema.returns.size(), return_count, "result");
  for (std::size_t i = 0; i < return_count; ++i) {
    if (serves(*returns[i], schema.returns[i].type)) continue;
    return "result " + std::to_string(i) + " is " + schema.returns[i].type.str() +
           ", but the function returns " + text_of(*returns[i]);
  }
  return {};
}

namespace {

ParsedSchema parse(std::string_view text, std::string_view ns) {
  auto schema = std::make_shared<const FunctionSchema>(parse_schema(text, ns));
  const auto count = static_cast<std::int64_t>(schema->arguments.size());
  return {std::move(schema), count};
}

void check_against_schema(const FunctionSchema& schema, std::string_view defined_by,
                          DispatchKey key, const CppSignature& signature,
                          std::string_view library) {
  std::string why = signature.mismatch(schema);
  OPGEN_CHECK(why.empty(), schema.full_name(), ": the kernel for ", key,
              " does not match the schema: ", why, "\n  schema:   ", schema.str(), ", from ",
              defined_by, "\n  function: ", signature.str(), ", from ", library);
}

constexpr SchemaFunctions kFunctions{&parse, &check_against_schema};
const bool is_set = (schema_functions.store_release(&kFunctions), true);

}  // namespace

}  // namespace opgen
