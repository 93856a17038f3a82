// schema_text.h: reads the text of a schema that opgen has checked, also while the compiler runs.
#pragma once

#include <cstddef>
#include <string_view>

namespace opgen::detail {

struct ArgumentText {
  std::string_view type;  // `Tensor(a!)`
  std::string_view name;

  [[nodiscard]] constexpr bool is_written() const noexcept {
    return type.find('!') != std::string_view::npos;
  }
};

// Calls f(ArgumentText) for each argument; never if the text has none.
template <class F>
constexpr void for_each_argument(std::string_view schema, const F& f) {
  std::size_t begin = schema.find('(');
  if (begin++ == std::string_view::npos) return;
  std::size_t depth = 0;
  char quote = '\0';
  for (std::size_t i = begin; i < schema.size(); ++i) {
    const char c = schema[i];
    if (quote != '\0') {
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        quote = '\0';
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if (depth != 0) {
      depth -= c == ')' || c == ']' ? 1 : 0;
    } else if (c == ',' || c == ')') {
      std::string_view argument = schema.substr(begin, i - begin);
      argument = argument.substr(0, argument.find('='));
      const std::size_t space = argument.rfind(' ');  // `*` has none
      if (space != std::string_view::npos) {
        f(ArgumentText{argument.substr(0, space), argument.substr(space + 1)});
      }
      if (c == ')') return;
      begin = i + 2;
    }
  }
}

// Returns the argument at `position`; empty texts if there are fewer.
constexpr ArgumentText schema_argument(std::string_view schema, std::size_t position) {
  ArgumentText found;
  for_each_argument(schema, [&](const ArgumentText& argument) {
    if (position-- == 0) found = argument;
  });
  return found;
}

}  // namespace opgen::detail
