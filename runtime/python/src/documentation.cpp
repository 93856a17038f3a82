// documentation.cpp: what help() and inspect.signature() show of a function, made when it is asked
// for.
#include <string>
#include <string_view>

#include "objects.h"

namespace opgen::python {

namespace {

// "input: Tensor, other: Tensor": what stands between the parentheses of a signature.
struct SignatureParts {
  std::string_view name, arguments, after;
};
SignatureParts parts_of(const Overload& overload) {
  const std::string_view text = overload.signature;
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(") -> ");
  return {text.substr(0, open), text.substr(open + 1, close - open - 1), text.substr(close)};
}

// Where the argument that begins at `at` ends: the comma after it, or the end of all. Commas in
// brackets part no arguments.
std::size_t argument_end(std::string_view arguments, std::size_t at) {
  int depth = 0;
  for (; at < arguments.size(); ++at) {
    const char c = arguments[at];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c == '"') at = arguments.find('"', at + 1);
    if (c == ',' && depth == 0) break;
  }
  return at;
}

// `arguments` without that of this index.
std::string without(std::string_view arguments, int index) {
  std::size_t begin = 0;
  for (int i = 0; i < index; ++i) begin = argument_end(arguments, begin) + 2;
  const std::size_t end = argument_end(arguments, begin);
  if (end < arguments.size()) {
    return std::string(arguments.substr(0, begin)) + std::string(arguments.substr(end + 2));
  }
  return std::string(arguments.substr(0, begin < 2 ? 0 : begin - 2));
}

// A method's arguments are the function's, but for the tensor that it is called on.
std::string arguments_of(const Function& function, const Overload& overload) {
  const std::string_view all = parts_of(overload).arguments;
  return function.method ? without(all, overload.self) : std::string(all);
}

// "alpha: Number = 1" as "alpha = 1".
std::string without_annotation(std::string_view argument) {
  const std::size_t colon = argument.find(':');
  const std::size_t equals = argument.find(" = ");
  std::string text(argument.substr(0, colon));
  if (equals != std::string_view::npos) text += argument.substr(equals);
  return text;
}

// zeros(2, 3) is zeros((2, 3)): a function that can be called in two ways.
bool takes_several_ints(const Function& function, const Overload& overload) {
  const int first = function.method && overload.self == 0 ? 1 : 0;
  const int own = function.method ? 1 : 0;
  return overload.positional == own + 1 && overload.arguments[first].type == Type::Ints &&
         overload.arguments[first].size == 0;
}

}  // namespace

PyObject* documentation(const Function& function) {
  std::string text;
  for (std::size_t i = 0; i < function.count; ++i) {
    const Overload& overload = *function.overloads[i];
    const SignatureParts parts = parts_of(overload);
    text += std::string(parts.name) + "(" + arguments_of(function, overload) +
            std::string(parts.after) + "\n";
  }
  text += "\n";
  for (std::size_t i = 0; i < function.count; ++i) text += function.overloads[i]->facts;
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

// "(self, other, *, alpha = 1)": inspect.signature() reads no annotations. None for a function that
// is called in several ways.
PyObject* text_signature(const Function& function) {
  if (function.count != 1 || takes_several_ints(function, *function.overloads[0])) {
    Py_RETURN_NONE;
  }
  const std::string arguments = arguments_of(function, *function.overloads[0]);
  const std::string_view all = arguments;
  std::string text = function.method ? "(self" : "(";
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = argument_end(all, begin);
    if (text.back() != '(') text += ", ";
    text += without_annotation(all.substr(begin, end - begin));
    begin = end + 2;
  }
  return PyUnicode_FromString((text + ")").c_str());
}

}  // namespace opgen::python
