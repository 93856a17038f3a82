// function_schema.cpp: FunctionSchema back into text.
#include "opgen/function_schema.h"

#include "type_names.h"

namespace opgen {

std::pair<std::string, std::string> split_operator_name(std::string_view text) {
  std::size_t colons = text.find("::");
  std::size_t dot = text.find('.', colons == std::string_view::npos ? 0 : colons);
  if (dot == std::string_view::npos) return {std::string(text), std::string()};
  return {std::string(text.substr(0, dot)), std::string(text.substr(dot + 1))};
}

std::string SchemaType::str() const {
  if (kind == TypeKind::Optional) return element->str() + "?";
  if (kind == TypeKind::List) {
    return element->str() + "[" + (size != 0 ? std::to_string(size) : std::string()) + "]";
  }
  if (kind == TypeKind::CustomClass) return class_name;
  for (const TypeName& candidate : kTypeNames) {
    if (candidate.kind == kind) return candidate.name;
  }
  return "?";
}

bool SchemaType::operator==(const SchemaType& other) const noexcept {
  if (kind != other.kind || size != other.size || class_name != other.class_name) return false;
  if (element == nullptr || other.element == nullptr) return element == other.element;
  return *element == *other.element;
}

std::string AliasInfo::str() const {
  return before + (is_write ? "!" : "") + (after.empty() ? "" : " -> " + after);
}

std::string SchemaArgument::str() const {
  std::string text = type.str();
  // The annotation stands behind the innermost type, which is Tensor.
  if (alias.has_value()) text = "Tensor(" + alias->str() + ")" + text.substr(6);
  if (!name.empty()) text += " " + name;
  if (default_text.has_value()) text += "=" + *default_text;
  return text;
}

std::string FunctionSchema::full_name() const {
  return overload_name.empty() ? name : name + "." + overload_name;
}

std::optional<std::size_t> FunctionSchema::find_argument(std::string_view argument) const noexcept {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name == argument) return i;
  }
  return std::nullopt;
}

std::string FunctionSchema::str() const {
  std::string text = full_name() + "(";
  bool kwarg_only = false;
  const char* separator = "";
  for (const SchemaArgument& argument : arguments) {
    text += separator;
    if (argument.kwarg_only && !kwarg_only) {
      text += "*, ";
      kwarg_only = true;
    }
    text += argument.str();
    separator = ", ";
  }
  text += ") -> ";
  if (returns.size() == 1) return text + returns[0].str();
  text += "(";
  separator = "";
  for (const SchemaArgument& result : returns) {
    text += separator + result.str();
    separator = ", ";
  }
  return text + ")";
}

}  // namespace opgen
