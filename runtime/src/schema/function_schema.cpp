// function_schema.cpp: prints and compares FunctionSchemas.
#include "opgen/schema/function_schema.h"

#include <algorithm>

#include "schema/type_names.h"

namespace opgen {

std::pair<std::string, std::string> split_operator_name(std::string_view text) {
  std::size_t colons = text.find("::");
  std::size_t dot = text.find('.', colons == std::string_view::npos ? 0 : colons);
  if (dot == std::string_view::npos) return {std::string(text), std::string()};
  return {std::string(text.substr(0, dot)), std::string(text.substr(dot + 1))};
}

namespace {

const char* plain_name(TypeKind kind) noexcept {
  for (const TypeName& candidate : kTypeNames) {
    if (candidate.kind == kind) return candidate.name;
  }
  return "?";
}

// Returns how deeply lists are nested in a type.
std::size_t list_depth(const SchemaType& type) noexcept {
  if (type.kind == TypeKind::Optional) return list_depth(*type.element);
  return type.kind == TypeKind::List ? 1 + list_depth(*type.element) : 0;
}

std::string members_text(const std::vector<SchemaType>& members) {
  std::string text("(");
  for (const SchemaType& member : members) {
    if (text.size() > 1) text += ", ";
    text += member.str();
  }
  return text + ")";
}

// Returns the type with its annotations, each after the type or list to which it belongs.
std::string type_text(const SchemaType& type, const std::vector<AliasInfo>& aliases) {
  std::string text;
  switch (type.kind) {
    case TypeKind::Optional:
      return type_text(*type.element, aliases) + "?";
    case TypeKind::List:
      text = type_text(*type.element, aliases) + "[";
      if (type.size != 0) text += std::to_string(type.size);
      text += "]";
      break;
    case TypeKind::CustomClass:
      text = type.class_name;
      break;
    case TypeKind::Tuple:
      return members_text(type.members);
    case TypeKind::Dict:
      text = "Dict" + members_text(type.members);
      break;
    default:
      text = plain_name(type.kind);
  }
  for (const AliasInfo& alias : aliases) {
    if (alias.lists == list_depth(type)) text += alias.str();
  }
  return text;
}

// Sorts the sets: "b|a" becomes "a|b".
std::vector<std::string_view> sorted_sets(std::string_view joined) {
  std::vector<std::string_view> sets;
  for (std::size_t bar = 0; bar != std::string_view::npos;) {
    bar = joined.find('|');
    sets.push_back(joined.substr(0, bar));
    if (bar != std::string_view::npos) joined.remove_prefix(bar + 1);
  }
  std::sort(sets.begin(), sets.end());
  return sets;
}

template <class List>
std::string list_text(const List& arguments, bool kwarg_only) {
  std::string text;
  for (const SchemaArgument& argument : arguments) {
    if (!text.empty()) text += ", ";
    if (argument.kwarg_only && !kwarg_only) {
      text += "*, ";
      kwarg_only = true;
    }
    text += argument.str();
  }
  return text;
}

}  // namespace

std::string SchemaType::str() const {
  return type_text(*this, {});
}

bool SchemaType::operator==(const SchemaType& other) const noexcept {
  if (kind != other.kind || size != other.size || class_name != other.class_name) return false;
  if (members != other.members) return false;
  if (element == nullptr || other.element == nullptr) return element == other.element;
  return *element == *other.element;
}

std::string AliasInfo::str() const {
  if (is_unnamed()) return "!";
  return "(" + before + (is_write ? "!" : "") + (after.empty() ? "" : " -> " + after) + ")";
}

bool AliasInfo::operator==(const AliasInfo& other) const {
  return is_write == other.is_write && lists == other.lists &&
         sorted_sets(before) == sorted_sets(other.before) &&
         sorted_sets(after) == sorted_sets(other.after);
}

std::string SchemaArgument::str() const {
  std::string text = type_text(type, aliases);
  if (!name.empty()) text += " " + name;
  if (default_text.has_value()) text += "=" + *default_text;
  return text;
}

bool SchemaArgument::operator==(const SchemaArgument& other) const {
  return name == other.name && type == other.type && aliases == other.aliases &&
         kwarg_only == other.kwarg_only && default_text == other.default_text;
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
  std::string text = full_name() + "(" + list_text(arguments, false) + ") -> ";
  std::string results = list_text(returns, true);
  // A single tuple without parentheses would be read as several results.
  return text + (returns.size() == 1 && results[0] != '(' ? results : "(" + results + ")");
}

bool FunctionSchema::operator==(const FunctionSchema& other) const {
  return name == other.name && overload_name == other.overload_name &&
         arguments == other.arguments && returns == other.returns;
}

}  // namespace opgen
