// schema_parser.cpp: parses schema strings by recursive descent.
#include <charconv>
#include <cstdlib>
#include <memory>

#include "opgen/schema/function_schema.h"
#include "schema/type_names.h"

namespace opgen {

namespace {

struct NamedValue {
  const char* name;
  std::int64_t value;
};
// Names that are valid defaults for all number types. PyTorch's parser accepts them for old
// schemas.
constexpr NamedValue kNumbers[] = {{"Mean", 1},
                                   {"Sum", 2},
                                   {"float", 6},
                                   {"complex", 9},
                                   {"long", 4},
                                   {"strided", 0},
                                   {"contiguous_format", 0}};
constexpr NamedValue kMemoryFormats[] = {
    {"preserve_format", 1}, {"channels_last", 2}, {"channels_last_3d", 3}};
constexpr NamedValue kLayouts[] = {{"sparse_coo", 1}, {"sparse_csr", 2}};
// Includes dtypes without a ScalarType here, because a user's backend may have them.
constexpr NamedValue kDtypes[] = {{"uint8", 0},
                                  {"int8", 1},
                                  {"short", 2},
                                  {"int16", 2},
                                  {"int", 3},
                                  {"int32", 3},
                                  {"int64", 4},
                                  {"half", 5},
                                  {"float16", 5},
                                  {"float32", 6},
                                  {"double", 7},
                                  {"float64", 7},
                                  {"chalf", 8},
                                  {"complex32", 8},
                                  {"cfloat", 9},
                                  {"complex64", 9},
                                  {"cdouble", 10},
                                  {"complex128", 10},
                                  {"bool", 11},
                                  {"qint8", 12},
                                  {"quint8", 13},
                                  {"qint32", 14},
                                  {"bfloat16", 15},
                                  {"quint4x2", 16},
                                  {"quint2x4", 17},
                                  {"bits1x8", 18},
                                  {"bits2x4", 19},
                                  {"bits4x2", 20},
                                  {"bits8", 21},
                                  {"bits16", 22},
                                  {"float8_e5m2", 23},
                                  {"float8_e4m3fn", 24},
                                  {"float8_e5m2fnuz", 25},
                                  {"float8_e4m3fnuz", 26},
                                  {"uint16", 27},
                                  {"uint32", 28},
                                  {"uint64", 29},
                                  {"bit", 30},
                                  {"uint1", 30},
                                  {"uint2", 31},
                                  {"uint3", 32},
                                  {"uint4", 33},
                                  {"uint5", 34},
                                  {"uint6", 35},
                                  {"uint7", 36},
                                  {"int1", 37},
                                  {"int2", 38},
                                  {"int3", 39},
                                  {"int4", 40},
                                  {"int5", 41},
                                  {"int6", 42},
                                  {"int7", 43},
                                  {"float8_e8m0fnu", 44},
                                  {"float4_e2m1fn_x2", 45}};

template <std::size_t N>
std::optional<IValue> find_named(const NamedValue (&values)[N], std::string_view name) {
  for (const NamedValue& value : values) {
    if (name == value.name) return IValue(value.value);
  }
  return std::nullopt;
}

std::optional<IValue> find_constant(std::string_view name, TypeKind kind) {
  std::optional<IValue> value = find_named(kNumbers, name);
  if (!value && kind == TypeKind::ScalarType) value = find_named(kDtypes, name);
  if (!value && kind == TypeKind::MemoryFormat) value = find_named(kMemoryFormats, name);
  if (!value && kind == TypeKind::Layout) value = find_named(kLayouts, name);
  return value;
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_name_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}
bool is_blank(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}

// Returns whether None is the only possible default of the type.
bool takes_only_none(TypeKind kind) noexcept {
  switch (kind) {
    case TypeKind::Tensor:
    case TypeKind::Generator:
    case TypeKind::Storage:
    case TypeKind::Stream:
    case TypeKind::QScheme:
    case TypeKind::GraphModule:
    case TypeKind::CustomClass:
    case TypeKind::Any:
    case TypeKind::None:
    case TypeKind::Tuple:
    case TypeKind::Dict:
      return true;
    default:
      return false;
  }
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view ns) : text_(text), ns_(ns) {}

  FunctionSchema parse() {
    FunctionSchema schema;
    skip_lines();
    parse_name(schema);
    expect("(", "expected '(' after the operator's name");
    ++depth_;
    parse_arguments(schema);
    expect("->");
    parse_returns(schema);
    skip_lines();
    if (position_ != text_.size()) fail("unexpected text after the returns");
    return schema;
  }

 private:
  // ---- Tokens ----

  [[noreturn]] void fail(std::string_view what) const {
    OPGEN_CHECK_VALUE(false, "schema '", text_, "', character ", position_ + 1, ": ", what);
    __builtin_unreachable();
  }
  // Skips the same as PyTorch's lexer: blanks, comments and, between parentheses or after a
  // backslash, line breaks.
  void skip_blanks() {
    while (position_ < text_.size()) {
      char c = text_[position_];
      if (c == '#') {
        while (position_ < text_.size() && text_[position_] != '\n') ++position_;
      } else if (c == '\\' && position_ + 1 < text_.size() && text_[position_ + 1] == '\n') {
        position_ += 2;
      } else if (is_blank(c) || (c == '\n' && depth_ > 0)) {
        ++position_;
      } else {
        return;
      }
    }
  }
  // Also skips line breaks: before and after a schema.
  void skip_lines() {
    ++depth_;
    skip_blanks();
    --depth_;
  }
  [[nodiscard]] char peek() {
    skip_blanks();
    return position_ < text_.size() ? text_[position_] : '\0';
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
  void expect(std::string_view token, std::string_view what = {}) {
    if (accept(token)) return;
    if (peek() == '\n') fail("a line break is only allowed between parentheses");
    fail(what.empty() ? std::string("expected '").append(token).append("'") : std::string(what));
  }
  // Enters parentheses, where line breaks are allowed.
  void open() {
    expect("(");
    ++depth_;
  }
  void close() {
    expect(")");
    --depth_;
  }
  bool accept_close() {
    if (!accept(")")) return false;
    --depth_;
    return true;
  }
  // Reads a word; empty if there is none.
  std::string_view name() {
    skip_blanks();
    std::size_t start = position_;
    if (start < text_.size() && is_digit(text_[start])) return {};
    while (position_ < text_.size() && is_name_char(text_[position_])) ++position_;
    return text_.substr(start, position_ - start);
  }
  std::string_view expect_name(std::string_view what) {
    std::string_view word = name();
    if (word.empty()) fail(std::string("expected ").append(what));
    return word;
  }

  // ---- Operator, arguments, returns ----

  void parse_name(FunctionSchema& schema) {
    std::string full(expect_name("an operator name"));
    bool qualified = false;
    while (accept(":")) {
      expect(":");
      full.append("::").append(expect_name("an operator name after '::'"));
      qualified = true;
    }
    if (accept(".")) schema.overload_name = expect_name("an overload's name after '.'");
    if (text_.substr(position_).find('(') == std::string_view::npos) {
      fail("expected '(' after the operator's name");
    }
    if (!at("(")) fail("bad character in the operator's name");
    schema.name = qualified || ns_.empty() ? full : std::string(ns_) + "::" + full;
  }

  void parse_arguments(FunctionSchema& schema) {
    bool kwarg_only = false;
    if (accept_close()) return;
    do {
      if (at("..."))
        fail("'...' stands for any number of arguments, which a C++ function cannot take");
      if (accept("*")) {
        kwarg_only = true;
        continue;
      }
      schema.arguments.push_back(parse_argument(kwarg_only));
      check_order(schema);
    } while (accept(","));
    close();
  }
  SchemaArgument parse_argument(bool kwarg_only) {
    SchemaArgument argument;
    argument.kwarg_only = kwarg_only;
    parse_declared_type(argument);
    argument.name = expect_name("an argument name");
    argument.is_out = kwarg_only && argument.is_written();
    if (accept("=")) parse_default(argument);
    return argument;
  }
  // A list without a default may follow an argument with one: old schemas could not give lists
  // defaults.
  void check_order(const FunctionSchema& schema) const {
    const SchemaArgument& last = schema.arguments.back();
    if (last.kwarg_only || last.default_text || last.type.kind == TypeKind::List) return;
    for (const SchemaArgument& argument : schema.arguments) {
      if (argument.default_text) {
        fail("argument " + last.name + " has no default, but follows " + argument.name +
             ", which has one");
      }
    }
  }

  void parse_returns(FunctionSchema& schema) {
    if (at("..."))
      fail("'...' stands for any number of results, which a C++ function cannot return");
    if (!at("(")) {
      schema.returns.push_back(parse_return());
      return;
    }
    open();
    if (accept_close()) return;
    do {
      if (at("..."))
        fail("'...' stands for any number of results, which a C++ function cannot return");
      schema.returns.push_back(parse_return());
    } while (accept(","));
    close();
  }
  SchemaArgument parse_return() {
    SchemaArgument result;
    parse_declared_type(result);
    result.name = name();
    return result;
  }

  // ---- Types ----

  void parse_declared_type(SchemaArgument& argument) {
    skip_blanks();
    std::size_t start = position_;
    argument.type = parse_type(argument.aliases, true);
    if (argument.is_written() && !argument.type.may_hold_tensors()) {
      position_ = start;
      fail(argument.type.str() + " cannot be written to: only tensors can");
    }
  }

  // Parses a type and the annotations after it. With `sized`, its last list may have a length.
  SchemaType parse_type(std::vector<AliasInfo>& aliases, bool sized) {
    SchemaType type = parse_base(aliases);
    for (std::size_t lists = 0;;) {
      if (accept("?")) {
        // '??' means '?', as in PyTorch.
        if (type.kind != TypeKind::Optional) wrap(type, TypeKind::Optional);
        continue;
      }
      std::size_t before = position_;
      if (!accept("[")) return type;
      wrap(type, TypeKind::List);
      ++lists;
      std::int64_t size = 0;
      if (!at("]")) {
        if (!sized) {
          position_ = before;
          fail("a list inside of another type cannot have a length");
        }
        size = list_size();
      }
      expect("]");
      parse_alias(aliases, lists);
      if (size == 0) continue;
      SchemaType list = type;
      list.size = size;
      if (accept("?")) wrap(list, TypeKind::Optional);
      return list;
    }
  }
  static void wrap(SchemaType& type, TypeKind kind) {
    SchemaType outer;
    outer.kind = kind;
    outer.element = std::make_shared<const SchemaType>(std::move(type));
    type = std::move(outer);
  }

  SchemaType parse_base(std::vector<AliasInfo>& aliases) {
    SchemaType type;
    if (at("(")) {  // no annotation can follow
      type.kind = TypeKind::Tuple;
      parse_members(type);
      return type;
    }
    skip_blanks();
    std::size_t start = position_;
    std::string_view word = expect_name("a type");
    if (word == "__torch__") {
      type.kind = TypeKind::CustomClass;
      type.class_name = class_name();
    } else if (word == "Dict") {
      type.kind = TypeKind::Dict;
      parse_members(type);
      check_dict(type, start);
    } else {
      type.kind = base_kind(word, start);
    }
    parse_alias(aliases, 0);
    return type;
  }
  TypeKind base_kind(std::string_view word, std::size_t start) {
    for (const TypeName& candidate : kTypeNames) {
      if (word == candidate.name) return candidate.kind;
    }
    position_ = start;
    for (const char* name : kTypesOfPyTorch) {
      if (word == name) {
        fail(std::string("type '").append(word).append("' has no counterpart in this runtime"));
      }
    }
    fail(std::string("unknown type '").append(word).append("'"));
  }
  // Drops annotations inside, as PyTorch does, because they do not apply to the whole type.
  void parse_members(SchemaType& type) {
    open();
    if (type.kind == TypeKind::Tuple && accept_close()) return;
    do {
      std::vector<AliasInfo> dropped;
      type.members.push_back(parse_type(dropped, false));
    } while (accept(","));
    close();
  }
  void check_dict(const SchemaType& type, std::size_t start) {
    if (type.members.size() == 2) {
      switch (type.members[0].kind) {
        case TypeKind::Int:
        case TypeKind::Float:
        case TypeKind::Bool:
        case TypeKind::Complex:
        case TypeKind::Str:
        case TypeKind::Device:
        case TypeKind::Tensor:
          return;
        default:
          break;
      }
    }
    position_ = start;
    if (type.members.size() != 2) fail("a Dict needs two types: those of its keys and its values");
    fail("the keys of a Dict must be int, float, bool, complex, str, Device or Tensor, not " +
         type.members[0].str());
  }
  // Parses the rest of a class name after "__torch__".
  std::string class_name() {
    std::string full("__torch__");
    while (accept(".")) full.append(".").append(expect_name("a name after '.'"));
    if (!full.starts_with("__torch__.torch.classes.")) {
      fail("the name of a class must be __torch__.torch.classes.NAMESPACE.NAME");
    }
    return full;
  }
  std::int64_t list_size() {
    skip_blanks();
    std::int64_t size = 0;
    const char* first = text_.data() + position_;
    auto [end, error] = std::from_chars(first, text_.data() + text_.size(), size);
    if (error != std::errc() || size <= 0) fail("expected a list size");
    position_ += static_cast<std::size_t>(end - first);
    return size;
  }

  void parse_alias(std::vector<AliasInfo>& aliases, std::size_t lists) {
    AliasInfo alias;
    alias.lists = lists;
    if (accept("!")) {
      alias.before = "$" + std::to_string(unnamed_sets_++);
      alias.is_write = true;
    } else if (at("(")) {
      open();
      alias.before = alias_sets();
      alias.is_write = accept("!");
      if (accept("->")) alias.after = alias_sets();
      close();
      if (alias.after == alias.before) alias.after.clear();
    } else {
      return;
    }
    aliases.push_back(std::move(alias));
  }
  // Reads "a|b"; each set is listed once.
  std::string alias_sets() {
    std::string sets;
    bool any = false;
    do {
      std::string_view set("*");
      if (any) {  // no name can follow
        accept("*");
      } else if (!accept("*")) {
        set = expect_name("the name of an alias set");
      }
      any = set == "*";
      if (sets.empty()) {
        sets = set;
      } else if (("|" + sets + "|").find("|" + std::string(set) + "|") == std::string::npos) {
        sets.append("|").append(set);
      }
    } while (accept("|"));
    return sets;
  }

  // ---- Defaults ----

  void parse_default(SchemaArgument& argument) {
    skip_blanks();
    std::size_t start = position_;
    argument.default_value = default_value(argument.type);
    argument.default_text = one_line(text_.substr(start, position_ - start));
  }
  // Removes line breaks and comments, which a list may contain.
  static std::string one_line(std::string_view value) {
    if (value.front() != '[' || value.find_first_of("\n#\\") == std::string_view::npos) {
      return std::string(value);
    }
    std::string text;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i] == '\'' || value[i] == '"') {
        std::size_t end = string_end(value, i);
        text.append(value.substr(i, end - i));
        i = end - 1;
      } else if (value[i] == '#') {
        while (i < value.size() && value[i] != '\n') ++i;
      } else if (value[i] != '\n' && value[i] != '\\') {
        text += value[i];
      }
    }
    return text;
  }

  IValue default_value(const SchemaType& type, bool is_optional = false) {
    if (type.kind == TypeKind::Optional) {
      if (accept_word("None")) return IValue();
      const SchemaType& value = *type.element;
      bool is_list = value.kind == TypeKind::List && (value.size != 0 || at("["));
      if (is_list || !(value.kind == TypeKind::List || takes_only_none(value.kind))) {
        return default_value(value, true);
      }
      return literal(value);  // may have another type; PyTorch does not check it either
    }
    if (type.kind == TypeKind::List) return default_of_list(type);
    if (takes_only_none(type.kind)) {
      if (accept_word("None")) return IValue();
      fail_default("only None can be the default of type " + type.str());
    }
    std::size_t start = position_;
    IValue value = literal(type);
    try {
      return convert_to_type(value, type);
    } catch (const Error& error) {
      if (type.kind == TypeKind::Device && !is_optional) {
        position_ = start;
        fail(error.msg());
      }
      return value;  // a call that needs the default reports the wrong type, as in PyTorch
    }
  }
  IValue default_of_list(const SchemaType& type) {
    if (!accept("[")) {
      if (type.size == 0) fail_default("the default of a list without a size must be in brackets");
      return IValue(
          std::vector<IValue>(static_cast<std::size_t>(type.size), list_item(*type.element)));
    }
    std::vector<IValue> items;
    if (accept("]")) return IValue(std::move(items));
    do {
      items.push_back(list_item(*type.element));
    } while (accept(","));
    if (!accept("]")) fail("a list without an end");
    return IValue(std::move(items));
  }
  IValue list_item(const SchemaType& type) {
    if (peek() == ']') fail("an empty list item");
    skip_blanks();
    std::size_t start = position_;
    IValue value = default_value(type);
    const SchemaType& plain = type.kind == TypeKind::Optional ? *type.element : type;
    try {
      // A number would become a tensor that all calls share.
      if (value.isNone() || !takes_only_none(plain.kind)) {
        return convert_to_type(std::move(value), type);
      }
    } catch (const Error&) {
    }
    std::string text(text_.substr(start, position_ - start));
    position_ = start;
    fail("'" + text + "' cannot be an item of a list of type " + type.str());
  }

  [[noreturn]] void fail_default(const std::string& what) {
    skip_blanks();
    if (position_ == text_.size() || at(",") || at(")")) fail("expected a default value");
    fail(what);
  }
  bool accept_word(std::string_view word) {
    skip_blanks();
    std::size_t start = position_;
    if (name() == word) return true;
    position_ = start;
    return false;
  }

  IValue literal(const SchemaType& type) {
    char first = peek();
    if (first == '\'' || first == '"') return IValue(string());
    if (is_digit(first) || first == '-' || first == '.') return number(type.kind);
    std::size_t start = position_;
    std::string_view word = name();
    if (word == "True") return IValue(true);
    if (word == "False") return IValue(false);
    if (word == "None") return IValue();
    if (auto value = find_constant(word, type.kind)) return *value;
    if (type.kind == TypeKind::Device && !word.empty()) {  // cpu, cuda:1
      while (position_ < text_.size() &&
             (is_name_char(text_[position_]) || text_[position_] == ':')) {
        ++position_;
      }
      return IValue(text_.substr(start, position_ - start));
    }
    position_ = start;
    std::string shown(word.empty() ? text_.substr(start, 1) : word);
    fail_default("'" + shown + "' is not a valid default for type " + type.str());
  }

  // Parses a number. A point or an exponent makes it a float, and a j an imaginary number.
  IValue number(TypeKind kind) {
    skip_blanks();
    std::size_t start = position_;
    bool negative = accept("-");
    skip_blanks();
    std::size_t digits = position_;
    bool whole = scan_number();
    std::string text(negative ? "-" : "");
    text.append(text_.substr(digits, position_ - digits));
    bool imaginary = position_ < text_.size() && text_[position_] == 'j';
    if (imaginary) ++position_;
    if (position_ < text_.size() && is_name_char(text_[position_])) {
      position_ = start;
      fail("bad number");
    }
    const char* end = text.data() + text.size();
    if (whole && !imaginary && kind != TypeKind::Float) {
      std::int64_t value = 0;
      if (std::from_chars(text.data(), end, value).ec == std::errc()) return IValue(value);
    } else {
      double value = 0;
      if (std::from_chars(text.data(), end, value).ec == std::errc()) {
        return imaginary ? IValue(complex<double>(0, value)) : IValue(value);
      }
    }
    position_ = start;
    fail("expected a number that is in range");
  }
  // Skips a number. Returns whether it has neither a point nor an exponent.
  bool scan_number() {
    std::size_t start = position_;
    scan_digits();
    bool whole = true;
    if (position_ < text_.size() && text_[position_] == '.') {
      whole = false;
      ++position_;
      scan_digits();
    }
    std::size_t exponent = position_;
    if (exponent != start && exponent < text_.size() && (text_[exponent] | 0x20) == 'e') {
      ++position_;
      if (position_ < text_.size() && (text_[position_] == '-' || text_[position_] == '+')) {
        ++position_;
      }
      std::size_t power = position_;
      scan_digits();
      if (position_ == power) {
        position_ = exponent;
      } else {
        whole = false;
      }
    }
    return whole;
  }
  void scan_digits() {
    while (position_ < text_.size() && is_digit(text_[position_])) ++position_;
  }

  // Returns the position after the closing quotes of the string at `start`; npos if there are none.
  static std::size_t string_end(std::string_view text, std::size_t start) {
    std::string_view quotes = text.substr(start, 1);
    std::string_view three = text.substr(start, 3);
    if (three.size() == 3 && three[1] == three[0] && three[2] == three[0]) quotes = three;
    for (std::size_t i = start + quotes.size(); i < text.size(); ++i) {
      if (text[i] == '\\') {
        ++i;
      } else if (text.substr(i, quotes.size()) == quotes) {
        return i + quotes.size();
      } else if (text[i] == '\n' && quotes.size() == 1) {
        break;
      }
    }
    return std::string_view::npos;
  }
  std::string string() {
    std::size_t end = string_end(text_, position_);
    if (end == std::string_view::npos) fail("a string without an end");
    std::string_view whole = text_.substr(position_, end - position_);
    bool three = whole.size() >= 6 && whole[1] == whole[0] && whole[2] == whole[0];
    std::size_t quotes = three ? 3 : 1;
    std::string result = unescape(whole.substr(quotes, whole.size() - 2 * quotes));
    position_ = end;
    return result;
  }
  std::string unescape(std::string_view text) const {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\') {
        result += text[i];
        continue;
      }
      char c = text[++i];
      constexpr std::string_view letters = "abfntv";
      constexpr std::string_view meanings = "\a\b\f\n\t\v";
      std::size_t letter = letters.find(c);
      if (letter != std::string_view::npos) {
        result += meanings[letter];
      } else if (c == '\'' || c == '"' || c == '\\' || c == '\n') {
        result += c;
      } else {
        result += octal(text.substr(i, 3));
        i += 2;
      }
    }
    return result;
  }
  // Converts three octal digits.
  char octal(std::string_view digits) const {
    int value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
    if (error != std::errc() || digits.size() != 3 || end != digits.data() + 3 || value > 255) {
      fail(
          "after a backslash, expected a, b, f, n, t, v, a backslash, a quote or three octal "
          "digits");
    }
    return static_cast<char>(value);
  }

  std::string_view text_;
  std::string_view ns_;
  std::size_t position_ = 0;
  int depth_ = 0;  // number of open parentheses
  int unnamed_sets_ = 0;
};

}  // namespace

FunctionSchema parse_schema(std::string_view text, std::string_view ns) {
  return Parser(text, ns).parse();
}

}  // namespace opgen
