// schema_text.h: the arguments in the text of a schema, which opgen has checked, for messages. The
// parser is in a higher layer. Internal.
#pragma once

#include <cstddef>
#include <string_view>

namespace opgen::detail {

// Calls f(type, name) for each argument: `Tensor(a!)`, `out`. Does nothing if the text has none.
template <class F>
void for_each_argument(std::string_view schema, const F& f) {
  std::size_t begin = schema.find('(');
  if (begin++ == std::string_view::npos) return;
  std::size_t depth = 0;
  char quote = 0;
  for (std::size_t i = begin; i < schema.size(); ++i) {
    const char c = schema[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if (depth != 0) {
      depth -= c == ')' || c == ']' ? 1 : 0;
    } else if (c == ',' || c == ')') {
      std::string_view argument = schema.substr(begin, i - begin);
      argument = argument.substr(0, argument.find('='));
      const std::size_t space = argument.rfind(' ');
      if (space != std::string_view::npos) f(argument.substr(0, space), argument.substr(space + 1));
      if (c == ')') return;
      begin = i + 2;
    }
  }
}

}  // namespace opgen::detail
