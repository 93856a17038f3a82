// schema_parser.cpp: schema text into FunctionSchema, by recursive descent.
#include <charconv>
#include <cstdlib>
#include <memory>

#include "opgen/function_schema.h"
#include "type_names.h"

namespace opgen {

namespace {

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

}  // namespace opgen
