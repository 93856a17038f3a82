// documentation.cpp: makes the texts of help() and inspect.signature() for a function when they are
// requested.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects.h"

namespace opgen::python {

namespace {

// "input: Tensor, other: Tensor": the text between the parentheses of a signature.
struct SignatureParts {
  std::string_view name, arguments, after;
};
SignatureParts parts_of(const Overload& overload) {
  const std::string_view text = overload.signature;
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(") -> ");
  return {text.substr(0, open), text.substr(open + 1, close - open - 1), text.substr(close)};
}

// Returns the end of the argument that begins at `at`: the comma after it, or the end of the
// string. Commas in brackets do not separate arguments.
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

// Removes the argument with this index.
std::string without(std::string_view arguments, int index) {
  std::size_t begin = 0;
  for (int i = 0; i < index; ++i) begin = argument_end(arguments, begin) + 2;
  const std::size_t end = argument_end(arguments, begin);
  if (end < arguments.size()) {
    return std::string(arguments.substr(0, begin)) + std::string(arguments.substr(end + 2));
  }
  return std::string(arguments.substr(0, begin < 2 ? 0 : begin - 2));
}

// Returns the part of the signature between the parentheses. A method does not list the tensor that
// it is called on.
std::string arguments_of(const Function& function, const Overload& overload) {
  const std::string_view all = parts_of(overload).arguments;
  return function.method ? without(all, overload.self) : std::string(all);
}

// A parameter for inspect.signature(), without annotation: "alpha" with the default "1".
struct Parameter {
  std::string name;
  std::optional<std::string> value;
};
// Parses "alpha: Number = 1".
Parameter parameter_of(std::string_view argument) {
  const std::size_t colon = argument.find(':');
  const std::size_t equals = argument.find(" = ");
  Parameter found{std::string(argument.substr(0, colon)), std::nullopt};
  if (equals != std::string_view::npos) found.value = argument.substr(equals + 3);
  return found;
}

// Returns whether the function can also be called with separate ints, as in zeros(2, 3).
bool takes_several_ints(const Function& function, const Overload& overload) {
  const int first = function.method && overload.self == 0 ? 1 : 0;
  const int own = function.method ? 1 : 0;
  return overload.positional == own + 1 && overload.arguments[first].type == Type::Ints &&
         overload.arguments[first].size == 0;
}

// The parameters of one overload. `several` is the parameter that takes any number of ints.
struct Parameters {
  std::vector<Parameter> positional, keyword;
  std::string several;
};
Parameters parameters_of(const Function& function, const Overload& overload) {
  const std::string arguments = arguments_of(function, overload);
  const std::string_view all = arguments;
  Parameters found;
  bool after_star = false;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = argument_end(all, begin);
    const std::string_view argument = all.substr(begin, end - begin);
    begin = end + 2;
    if (argument == "*") {
      after_star = true;
      continue;
    }
    (after_star ? found.keyword : found.positional).push_back(parameter_of(argument));
  }
  if (takes_several_ints(function, overload)) {
    found.several = found.positional[0].name;
    found.positional.clear();
  }
  return found;
}

const Parameter* find(const std::vector<Parameter>& parameters, std::string_view name) {
  const auto at = std::find_if(parameters.begin(), parameters.end(),
                               [name](const Parameter& one) { return one.name == name; });
  return at == parameters.end() ? nullptr : &*at;
}

// Merges the parameters `name` of several overloads. The result has a default if any overload can
// be called without the parameter: the default that all overloads share, or else "...".
Parameter merged(const std::vector<Parameters>& overloads, const std::string& name) {
  Parameter found{name, std::nullopt};
  bool is_first = true;
  bool is_optional = false;
  for (const Parameters& overload : overloads) {
    const Parameter* own = find(overload.positional, name);
    if (own == nullptr) own = find(overload.keyword, name);
    if (own == nullptr || own->value) is_optional = true;
    if (own == nullptr) continue;
    if (!is_first && found.value != own->value) found.value = "...";
    if (is_first) found.value = own->value;
    is_first = false;
  }
  if (is_optional && !found.value) found.value = "...";
  return found;
}

// Merges the signatures of all overloads into one that accepts each call that an overload accepts.
class Merged {
 public:
  explicit Merged(const std::vector<Parameters>& overloads) : overloads_(overloads) {
    while (add_positional()) {
    }
    if (!is_open_) {
      for (const Parameters& overload : overloads) add_keywords(overload);
    }
  }

  // "self, other, *, alpha = 1".
  std::string text(bool method) const {
    std::string text = method ? "self" : "";
    const auto add = [&text](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
    bool is_optional = false;
    for (const Parameter& one : positional_) {
      is_optional = is_optional || one.value;
      add(is_optional ? one.name + " = " + one.value.value_or("...") : one.name);
    }
    if (is_open_) {
      add("*args");
      add("**kwargs");
      return text;
    }
    if (!several_.empty()) add("*" + several_);
    if (several_.empty() && !keyword_.empty()) add("*");
    for (const Parameter& one : keyword_) {
      add(one.value ? one.name + " = " + *one.value : one.name);
    }
    return text;
  }

 private:
  // Adds the next positional parameter. Returns false if its name is not the same in all overloads.
  bool add_positional() {
    const std::size_t at = positional_.size();
    const std::string* name = nullptr;
    for (const Parameters& overload : overloads_) {
      if (at == 0 && !overload.several.empty()) {
        several_ = overload.several;
        is_open_ = overloads_.size() > 1;
      }
      if (at >= overload.positional.size()) continue;
      const std::string& own = overload.positional[at].name;
      if (name != nullptr && *name != own) is_open_ = true;
      name = &own;
    }
    if (name == nullptr || is_open_) return false;
    positional_.push_back(merged(overloads_, *name));
    return true;
  }

  void add_keywords(const Parameters& overload) {
    for (const Parameter& one : overload.keyword) {
      if (find(positional_, one.name) == nullptr && find(keyword_, one.name) == nullptr) {
        keyword_.push_back(merged(overloads_, one.name));
      }
    }
  }

  const std::vector<Parameters>& overloads_;
  std::vector<Parameter> positional_, keyword_;
  std::string several_;
  bool is_open_ = false;  // the names of later parameters differ
};

// Appends the lines, indented by four spaces.
void append_indented(std::string& text, std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n') + 1;
    if (end > 1) text += "    ";
    text += lines.substr(0, end);
    lines.remove_prefix(end);
  }
}

bool has_one_doc(const Function& function) {
  for (std::size_t i = 1; i < function.count; ++i) {
    if (std::string_view(function.overloads[i]->doc) != function.overloads[0]->doc) return false;
  }
  return function.count > 0;
}

}  // namespace

PyObject* documentation(const Function& function) {
  std::string text;
  const bool one_doc = has_one_doc(function);
  for (std::size_t i = 0; i < function.count; ++i) {
    const Overload& overload = *function.overloads[i];
    const SignatureParts parts = parts_of(overload);
    text += std::string(parts.name) + "(" + arguments_of(function, overload) +
            std::string(parts.after) + "\n";
    if (!one_doc) append_indented(text, overload.doc);
  }
  text += "\n";
  if (one_doc && *function.overloads[0]->doc != 0) {
    text += function.overloads[0]->doc;
    text += "\n";
  }
  for (std::size_t i = 0; i < function.count; ++i) text += function.overloads[i]->facts;
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

// Returns "(self, other, *, alpha = 1)", also for a function with several overloads.
PyObject* text_signature(const Function& function) {
  std::vector<Parameters> overloads;
  for (std::size_t i = 0; i < function.count; ++i) {
    overloads.push_back(parameters_of(function, *function.overloads[i]));
  }
  const std::string text = "(" + Merged(overloads).text(function.method) + ")";
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

}  // namespace opgen::python
