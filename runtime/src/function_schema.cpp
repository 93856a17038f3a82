// function_schema.cpp: schema text into FunctionSchema, by recursive descent, and back.
#include "opgen/function_schema.h"

#include <charconv>
#include <cstdlib>
#include <memory>

#include "opgen/empty.h"

namespace opgen {

namespace {

struct TypeName {
  const char* name;
  TypeKind kind;
};
constexpr TypeName kTypeNames[] = {
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
};
constexpr std::string_view kClassPrefix = "__torch__.torch.classes.";

struct NamedValue {
  const char* name;
  std::int64_t value;
};
constexpr NamedValue kReductions[] = {{"Mean", 1}, {"Sum", 2}};
constexpr NamedValue kMemoryFormats[] = {{"contiguous_format", 0},
                                         {"preserve_format", 1},
                                         {"channels_last", 2},
                                         {"channels_last_3d", 3}};
constexpr NamedValue kLayouts[] = {{"strided", 0}, {"sparse_coo", 1}, {"sparse_csr", 2}};
constexpr NamedValue kDtypes[] = {
    {"uint8", 0},       {"int8", 1},    {"short", 2},    {"int16", 2},   {"int", 3},
    {"int32", 3},       {"long", 4},    {"int64", 4},    {"half", 5},    {"float16", 5},
    {"float", 6},       {"float32", 6}, {"double", 7},   {"float64", 7}, {"complex64", 9},
    {"complex128", 10}, {"bool", 11},   {"bfloat16", 15}};

template <std::size_t N>
std::optional<IValue> find_named(const NamedValue (&values)[N], std::string_view name) {
  for (const NamedValue& value : values) {
    if (name == value.name) return IValue(value.value);
  }
  return std::nullopt;
}

bool is_name_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view ns) : text_(text), ns_(ns) {}

  FunctionSchema parse() {
    FunctionSchema schema;
    parse_name(schema);
    expect("(");
    parse_arguments(schema);
    expect("->");
    parse_returns(schema);
    if (position_ != text_.size()) fail("unexpected text after the returns");
    mark_out_arguments(schema);
    return schema;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    OPGEN_CHECK_VALUE(false, "schema '", text_, "', character ", position_ + 1, ": ", what);
    __builtin_unreachable();
  }
  void skip_blanks() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }
  [[nodiscard]] bool at(std::string_view token) {
    skip_blanks();
    return text_.substr(position_, token.size()) == token;
  }
  bool accept(std::string_view token) {
    if (!at(token)) return false;
    position_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(std::string("expected '").append(token).append("'"));
  }
  std::string_view name() {
    skip_blanks();
    std::size_t start = position_;
    while (position_ < text_.size() && is_name_char(text_[position_])) ++position_;
    return text_.substr(start, position_ - start);
  }

  void parse_name(FunctionSchema& schema) {
    skip_blanks();
    std::size_t open = text_.find('(', position_);
    if (open == std::string_view::npos) fail("expected '(' after the operator's name");
    std::size_t end = open;
    while (end > position_ && text_[end - 1] == ' ') --end;
    auto [full, overload] = split_operator_name(text_.substr(position_, end - position_));
    if (full.empty()) fail("expected an operator name");
    for (std::string_view part : {std::string_view(full), std::string_view(overload)}) {
      for (char c : part) {
        if (!is_name_char(c) && c != ':' && c != '.') fail("bad character in the operator's name");
      }
    }
    bool qualified = full.find("::") != std::string::npos;
    schema.name = qualified || ns_.empty() ? full : std::string(ns_) + "::" + full;
    schema.overload_name = overload;
    position_ = open;
  }

  void parse_arguments(FunctionSchema& schema) {
    bool kwarg_only = false;
    if (accept(")")) return;
    do {
      if (accept("*")) {
        if (kwarg_only) fail("a second '*'");
        kwarg_only = true;
        continue;
      }
      SchemaArgument argument;
      argument.kwarg_only = kwarg_only;
      parse_type(argument);
      argument.name = name();
      if (argument.name.empty()) fail("expected an argument name");
      if (schema.find_argument(argument.name).has_value()) fail("two arguments of the same name");
      if (accept("=")) {
        argument.default_text = default_text();
        argument.default_value = default_value(*argument.default_text, argument.type);
      }
      schema.arguments.push_back(std::move(argument));
    } while (accept(","));
    expect(")");
  }

  void parse_returns(FunctionSchema& schema) {
    if (!accept("(")) {
      schema.returns.push_back(parse_return());
      return skip_blanks();
    }
    if (!at(")")) {
      do {
        schema.returns.push_back(parse_return());
      } while (accept(","));
    }
    expect(")");
    skip_blanks();
  }
  SchemaArgument parse_return() {
    SchemaArgument result;
    parse_type(result);
    result.name = name();
    return result;
  }

  void parse_type(SchemaArgument& argument) {
    SchemaType type;
    skip_blanks();
    if (at(kClassPrefix)) {
      std::size_t start = position_;
      while (position_ < text_.size() &&
             (is_name_char(text_[position_]) || text_[position_] == '.')) {
        ++position_;
      }
      type.kind = TypeKind::CustomClass;
      type.class_name = text_.substr(start, position_ - start);
    } else {
      std::size_t start = position_;
      std::string_view word = name();
      bool known = false;
      for (const TypeName& candidate : kTypeNames) {
        if (word != candidate.name) continue;
        type.kind = candidate.kind;
        known = true;
      }
      if (!known) {
        position_ = start;
        fail(std::string("unknown type '").append(word).append("'"));
      }
      if (type.kind == TypeKind::Tensor && position_ < text_.size() && text_[position_] == '(') {
        argument.alias = parse_alias();
      }
    }
    for (;;) {
      SchemaType outer;
      if (accept("?")) {
        outer.kind = TypeKind::Optional;
      } else if (accept("[")) {
        outer.kind = TypeKind::List;
        if (!at("]")) outer.size = list_size();
        expect("]");
      } else {
        break;
      }
      outer.element = std::make_shared<const SchemaType>(std::move(type));
      type = std::move(outer);
    }
    argument.type = std::move(type);
  }

  std::int64_t list_size() {
    std::int64_t size = 0;
    std::string_view digits = name();
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (error != std::errc() || end != digits.data() + digits.size() || size <= 0) {
      fail("expected a list size");
    }
    return size;
  }

  AliasInfo parse_alias() {
    expect("(");
    AliasInfo alias;
    alias.before = alias_set();
    alias.is_write = accept("!");
    if (accept("->")) alias.after = alias_set();
    expect(")");
    return alias;
  }
  std::string alias_set() {
    if (accept("*")) return "*";
    std::string set;
    do {
      std::string_view letter = name();
      if (letter.size() != 1 || letter[0] < 'a' || letter[0] > 'z')
        fail("expected a letter of an alias set");
      if (!set.empty()) set += "|";
      set += letter;
    } while (accept("|"));
    return set;
  }

  // Up to the next comma or parenthesis that is not inside quotes or brackets.
  std::string default_text() {
    skip_blanks();
    std::size_t start = position_;
    int depth = 0;
    char quote = 0;
    for (; position_ < text_.size(); ++position_) {
      char c = text_[position_];
      if (quote != 0) {
        if (c == '\\') {
          ++position_;
        } else if (c == quote) {
          quote = 0;
        }
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == '[') {
        ++depth;
      } else if (c == ']') {
        --depth;
      } else if (depth == 0 && (c == ',' || c == ')')) {
        break;
      }
    }
    if (quote != 0) fail("a string without an end");
    std::string_view value = text_.substr(start, position_ > text_.size() ? 0 : position_ - start);
    while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
    if (value.empty()) fail("expected a default value");
    return std::string(value);
  }

  IValue default_value(std::string_view text, const SchemaType& type) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    if (text.empty()) fail("an empty list item");
    if (type.kind == TypeKind::Optional) {
      if (text == "None") return IValue();
      return default_value(text, *type.element);
    }
    if (type.kind == TypeKind::List) {
      if (text.front() == '[') return default_list(text, *type.element);
      if (type.size == 0) fail("the default of a list without a size must be in brackets");
      return IValue(
          std::vector<IValue>(std::size_t(type.size), default_value(text, *type.element)));
    }
    switch (type.kind) {
      case TypeKind::Bool:
      case TypeKind::SymBoolType:
        if (text == "True") return IValue(true);
        if (text == "False") return IValue(false);
        break;
      case TypeKind::Int:
      case TypeKind::SymIntType:
      case TypeKind::DeviceIndexType:
        if (auto value = find_named(kReductions, text)) return *value;
        if (auto value = integer(text)) return IValue(*value);
        break;
      case TypeKind::Float:
        if (auto value = floating(text)) return IValue(*value);
        break;
      case TypeKind::Scalar:
        if (text == "True") return IValue(true);
        if (text == "False") return IValue(false);
        if (auto value = integer(text)) return IValue(*value);
        if (auto value = floating(text)) return IValue(*value);
        break;
      case TypeKind::Str:
        if (text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0]) {
          return IValue(unescape(text.substr(1, text.size() - 2)));
        }
        break;
      case TypeKind::ScalarType:
        if (auto value = find_named(kDtypes, text)) return *value;
        if (auto value = integer(text)) return IValue(*value);
        break;
      case TypeKind::MemoryFormat:
        if (auto value = find_named(kMemoryFormats, text)) return *value;
        if (auto value = integer(text)) return IValue(*value);
        break;
      case TypeKind::Layout:
        if (auto value = find_named(kLayouts, text)) return *value;
        if (auto value = integer(text)) return IValue(*value);
        break;
      case TypeKind::Device:
        if (text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0]) {
          return IValue(Device(text.substr(1, text.size() - 2)));
        }
        return IValue(Device(text));
      default:
        if (text == "None") return IValue();
        break;
    }
    fail(std::string("'").append(text).append("' is no default for type ").append(type.str()));
  }
  IValue default_list(std::string_view text, const SchemaType& element) {
    if (text.back() != ']') fail("a list without an end");
    text = text.substr(1, text.size() - 2);
    std::vector<IValue> items;
    while (text.find_first_not_of(' ') != std::string_view::npos) {
      std::size_t comma = text.find(',');
      items.push_back(default_value(text.substr(0, comma), element));
      text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return IValue(std::move(items));
  }

  static std::optional<std::int64_t> integer(std::string_view text) {
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  }
  static std::optional<double> floating(std::string_view text) {
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  }
  static std::string unescape(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      if (c != '\\' || i + 1 == text.size()) {
        result += c;
        continue;
      }
      c = text[++i];
      if (c == 'n') {
        result += '\n';
      } else if (c == 't') {
        result += '\t';
      } else if (c == '\'' || c == '"' || c == '\\') {
        result += c;
      } else {
        result += '\\';
        result += c;
      }
    }
    return result;
  }

  static void mark_out_arguments(FunctionSchema& schema) {
    bool in_out = false;
    for (SchemaArgument& argument : schema.arguments) {
      bool written = argument.alias.has_value() && argument.alias->is_write;
      in_out = argument.kwarg_only && (in_out || written);
      argument.is_out = in_out;
    }
  }

  std::string_view text_;
  std::string_view ns_;
  std::size_t position_ = 0;
};

}  // namespace

FunctionSchema parse_schema(std::string_view text, std::string_view ns) {
  return Parser(text, ns).parse();
}

std::pair<std::string, std::string> split_operator_name(std::string_view text) {
  std::size_t colons = text.find("::");
  std::size_t dot = text.find('.', colons == std::string_view::npos ? 0 : colons);
  if (dot == std::string_view::npos) return {std::string(text), std::string()};
  return {std::string(text.substr(0, dot)), std::string(text.substr(dot + 1))};
}

// ---- Back to text ------------------------------------------------------------------------------

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

// ---- Conversion of arguments -------------------------------------------------------------------

namespace {

// A number where a tensor is wanted: zero-dim, and in promotion still a number.
TensorBase wrapped_number(const Scalar& value) {
  TensorBase tensor = detail::empty({}, TensorOptions(value.type()));
  switch (value.type()) {
    case ScalarType::Bool:
      *tensor.data_ptr<bool>() = value.toBool();
      break;
    case ScalarType::Long:
      *tensor.data_ptr<std::int64_t>() = value.toLong();
      break;
    case ScalarType::Double:
      *tensor.data_ptr<double>() = value.toDouble();
      break;
    default:
      *tensor.data_ptr<complex<double>>() = value.toComplexDouble();
      break;
  }
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

bool is_number(TypeKind kind) noexcept {
  return kind == TypeKind::Int || kind == TypeKind::SymIntType || kind == TypeKind::Float ||
         kind == TypeKind::Bool;
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
      OPGEN_CHECK_TYPE(value.isList(), "expected ", type.str(), ", got ", toString(value.tag()));
      std::vector<IValue> items;
      items.reserve(value.toList().size());
      for (const IValue& item : value.toList())
        items.push_back(convert_to_type(item, *type.element));
      return IValue(std::move(items));
    }
    case TypeKind::Tensor:
      if (value.isScalar()) return IValue(wrapped_number(value.toScalar()));
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
