// schema_text.h: reads the text of a schema while the compiler runs.
#pragma once

#include <cstddef>
#include <string_view>

namespace opgen::detail {

// Returns the text of the argument at `position`, such as `Tensor(a!) self`.
constexpr std::string_view schema_argument(std::string_view schema, std::size_t position) noexcept {
  schema.remove_prefix(schema.find('(') + 1);
  int depth = 0;
  char quote = '\0';
  std::size_t start = 0;
  for (std::size_t i = 0; i < schema.size(); ++i) {
    const char c = schema[i];
    if (quote != '\0') {
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        quote = '\0';
      }
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (depth == 0 && (c == ',' || c == ')')) {
      const std::string_view argument = schema.substr(start, i - start);
      if (argument != "*" && position-- == 0) return argument;
      if (c == ')') break;
      start = i + 2;
    }
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
  }
  return {};
}
constexpr bool is_written(std::string_view argument) noexcept {
  return argument.substr(0, argument.rfind('=')).find('!') != std::string_view::npos;
}
constexpr std::string_view name_of_argument(std::string_view argument) noexcept {
  argument = argument.substr(0, argument.find('='));
  return argument.substr(argument.rfind(' ') + 1);
}

}  // namespace opgen::detail
